//! The statistics of a link.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;
use signpost_domain::click::{Count, DateRange, Interval, LinkStats, PlatformClicks};
use signpost_domain::link::Link;
use signpost_domain::{Invalid, InvalidCode};
use utoipa::ToSchema;

use super::visible_link;
use crate::auth::admin::SignedInAdmin;
use crate::blocking;
use crate::extract::QueryParameters;
use crate::problem::ApiError;
use crate::public_api::view::{time, to_json};
use crate::wiring::Services;

/// What the clicks of a link add up to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LinkStats)]
pub(crate) struct StatsView {
    #[schema(example = 42)]
    link_id: i64,
    #[schema(example = "k7Qm2xT")]
    short_code: String,
    /// The first day, as it was used.
    #[schema(example = "2025-12-07")]
    start_date: String,
    /// The last day, as it was used.
    #[schema(example = "2026-01-05")]
    end_date: String,
    /// All clicks, bots left out unless asked for.
    #[schema(example = 46)]
    total_clicks: u64,
    /// Distinct visitors per UTC day, summed; `null` when addresses are not kept.
    #[schema(example = 39)]
    unique_visitors: Option<u64>,
    /// Clicks of bots.
    #[schema(example = 5)]
    bot_clicks: u64,
    platforms: PlatformsView,
    browsers: Vec<CountView>,
    /// `phone`, `tablet`, `desktop`, `tv`, `console`, `wearable` or `Unknown`.
    devices: Vec<CountView>,
    operating_systems: Vec<CountView>,
    /// ISO 3166 alpha-2.
    countries: Vec<CountView>,
    /// Hosts of the pages that visitors came from.
    referrers: Vec<CountView>,
    /// Matched clicks per method.
    matching_methods: Vec<CountView>,
    /// One entry per day, or per hour with `interval=hour`; zero where nothing happened.
    series: Vec<PointView>,
}

/// Clicks per platform; they add up to `totalClicks`.
#[derive(Serialize, ToSchema)]
#[schema(as = PlatformClicks)]
pub(crate) struct PlatformsView {
    ios: u64,
    android: u64,
    web: u64,
}

/// A line of a ranking.
#[derive(Serialize, ToSchema)]
#[schema(as = Count)]
pub(crate) struct CountView {
    #[schema(example = "Chrome")]
    name: String,
    #[schema(example = 29)]
    clicks: u64,
}

/// An entry of a series.
#[derive(Serialize, ToSchema)]
#[schema(as = SeriesPoint)]
pub(crate) struct PointView {
    /// The day, or the moment the hour begins.
    #[schema(example = "2025-12-07")]
    date: String,
    clicks: u64,
}

/// The statistics of a link over a range of UTC days.
#[utoipa::path(
    get,
    path = "/api/v1/admin/links/{id}/stats",
    tag = "analytics",
    operation_id = "getLinkStats",
    params(
        ("id" = String, Path, description = "The link's number or short code", example = "42"),
        ("startDate" = Option<String>, Query, description = "First day, an ISO 8601 date or date-time; 30 days before the end without it"),
        ("endDate" = Option<String>, Query, description = "Last day, included; today without it"),
        ("interval" = Option<String>, Query, description = "`day` (default), or `hour` for ranges up to 7 days"),
        ("includeBots" = Option<bool>, Query, description = "Whether bots are counted"),
    ),
    responses(
        (status = 200, description = "The statistics", body = StatsView),
    ),
    security(("session" = []))
)]
pub(crate) async fn link_stats(
    request: HttpRequest,
    who: SignedInAdmin,
    services: web::Data<Services>,
    named: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let query = QueryParameters::of(&request);
    let admin = who.admin().clone();
    let view = blocking::run(move || {
        let link = visible_link(&services, &admin, &named)?;
        let now = services.clock.now();
        let range = DateRange::parse(query.one("startDate")?, query.one("endDate")?, now)?;
        let interval = read_interval(&query, range)?;
        let stats = services.analytics.stats(&link, range, interval, query.flag("includeBots")?)?;
        Ok::<_, ApiError>(StatsView::new(&link, range, interval, stats))
    })
    .await?;
    Ok(HttpResponse::Ok()
        .insert_header((actix_web::http::header::CACHE_CONTROL, "no-store"))
        .content_type("application/json")
        .body(to_json(&view)))
}

fn read_interval(query: &QueryParameters, range: DateRange) -> Result<Interval, ApiError> {
    let refuse = |code, message: String| {
        Err(ApiError::invalid_field("interval", &Invalid::new(code, message)))
    };
    match query.one("interval")? {
        None | Some("day") => Ok(Interval::Day),
        Some("hour") if range.days() <= DateRange::MAX_HOURLY_DAYS => Ok(Interval::Hour),
        Some("hour") => refuse(
            InvalidCode::OutOfRange,
            format!("hours are for ranges up to {} days", DateRange::MAX_HOURLY_DAYS),
        ),
        Some(_) => refuse(InvalidCode::UnknownValue, "must be day or hour".to_owned()),
    }
}

impl StatsView {
    fn new(link: &Link, range: DateRange, interval: Interval, stats: LinkStats) -> Self {
        let PlatformClicks { ios, android, web } = stats.platforms;
        let lines = |counts: Vec<Count>| {
            counts.into_iter().map(|c| CountView { name: c.name, clicks: c.clicks }).collect()
        };
        Self {
            link_id: link.id.0,
            short_code: link.code.as_str().to_owned(),
            start_date: range.start().to_string(),
            end_date: range.end().to_string(),
            total_clicks: stats.total_clicks,
            unique_visitors: stats.unique_visitors,
            bot_clicks: stats.bot_clicks,
            platforms: PlatformsView { ios, android, web },
            browsers: lines(stats.browsers),
            devices: lines(stats.devices),
            operating_systems: lines(stats.operating_systems),
            countries: lines(stats.countries),
            referrers: lines(stats.referrers),
            matching_methods: lines(stats.matching_methods),
            series: stats
                .series
                .into_iter()
                .map(|point| PointView {
                    date: match interval {
                        Interval::Day => point.at.date_naive().to_string(),
                        Interval::Hour => time(point.at),
                    },
                    clicks: point.clicks,
                })
                .collect(),
        }
    }
}
