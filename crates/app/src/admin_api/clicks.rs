//! The clicks of a link, one by one.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use serde::Serialize;
use signpost_domain::click::{BotReason, Click, ClickId, DeviceClass, MatchMethod};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{ClickCursor, ClickQuery};
use signpost_domain::time::parse_day_or_moment;
use signpost_domain::{Invalid, InvalidCode};
use utoipa::ToSchema;
use uuid::Uuid;

use super::visible_link;
use crate::auth::admin::SignedInAdmin;
use crate::blocking;
use crate::extract::QueryParameters;
use crate::problem::ApiError;
use crate::public_api::view::{time, to_json};
use crate::wiring::Services;

/// How deep pages reach; beyond, cursors lead on, because a database counts through everything
/// that a page passes over.
const DEEPEST: u32 = 10_000;

/// A click; unknown values are `null`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClickEvent)]
pub(crate) struct ClickView {
    /// A UUID of version 7.
    #[schema(example = "01938f0e-7d2c-7cc0-b2c8-1d1f0a9a4c11")]
    id: String,
    #[schema(example = 42)]
    link_id: i64,
    #[schema(example = "2026-01-05T09:00:00.000Z")]
    timestamp: String,
    /// As far as addresses are kept.
    #[schema(example = "198.51.100.7")]
    ip_address: Option<String>,
    user_agent: Option<String>,
    #[schema(example = "iOS")]
    operating_system: Option<String>,
    #[schema(example = "18.5")]
    os_version: Option<String>,
    /// `ios`, `android` or `web`.
    #[schema(example = "ios")]
    platform: &'static str,
    #[schema(example = "Safari")]
    browser: Option<String>,
    /// `phone`, `tablet`, `desktop`, `tv`, `console` or `wearable`.
    #[schema(example = "phone")]
    device: Option<&'static str>,
    /// ISO 3166 alpha-2.
    #[schema(example = "DE")]
    country: Option<String>,
    /// Origin and path of the page that led here.
    #[schema(example = "https://news.example/article")]
    referrer: Option<String>,
    /// `direct`, `install_referrer`, `clipboard` or `probabilistic`.
    matching_method: Option<&'static str>,
    /// From 0.0 to 1.0.
    confidence_score: Option<f64>,
    is_bot: bool,
    /// Why the click counts as a bot's.
    bot_reason: Option<&'static str>,
}

impl From<Click> for ClickView {
    fn from(click: Click) -> Self {
        let read = click.classification;
        Self {
            id: click.id.0.to_string(),
            link_id: click.link_id.0,
            timestamp: time(click.at),
            ip_address: click.address.map(|address| address.to_string()),
            user_agent: click.user_agent,
            operating_system: read.operating_system,
            os_version: read.os_version,
            platform: click.platform.as_str(),
            browser: read.browser,
            device: read.device.map(DeviceClass::as_str),
            country: click.country,
            referrer: click.referrer,
            matching_method: click.matched.map(|(method, _)| MatchMethod::as_str(method)),
            confidence_score: click.matched.map(|(_, confidence)| confidence),
            is_bot: read.bot.is_some(),
            bot_reason: read.bot.map(BotReason::as_str),
        }
    }
}

/// The clicks of a link, newest first.
///
/// Pages reach 10,000 clicks deep; the `next` link of every answer leads on without that limit.
#[utoipa::path(
    get,
    path = "/api/v1/admin/links/{id}/clicks",
    tag = "analytics",
    operation_id = "listLinkClicks",
    params(
        ("id" = String, Path, description = "The link's number or short code", example = "42"),
        ("page" = Option<u32>, Query, description = "The page, from 1", example = 1),
        ("limit" = Option<u32>, Query, description = "Clicks on a page, 1–500", example = 50),
        ("cursor" = Option<String>, Query, description = "From a `next` link; leaves `page` without effect"),
        ("startDate" = Option<String>, Query, description = "First UTC day"),
        ("endDate" = Option<String>, Query, description = "Last UTC day, included"),
        ("includeBots" = Option<bool>, Query, description = "Whether bots are listed"),
    ),
    responses(
        (status = 200, description = "The clicks", body = Vec<ClickView>, headers(
            ("Link" = Option<String>, description = "`next`, while there are more"),
            ("X-Total-Count" = String, description = "How many there are: exact to 10,000, then `10000+`"))),
    ),
    security(("session" = []))
)]
pub(crate) async fn link_clicks(
    request: HttpRequest,
    who: SignedInAdmin,
    services: web::Data<Services>,
    named: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let query = QueryParameters::of(&request);
    let path = request.path().to_owned();
    let admin = who.admin().clone();
    let (next, total, body) = blocking::run(move || {
        let link = visible_link(&services, &admin, &named)?;
        let asked = read_query(&query, link.id)?;
        let wanted = asked.limit as usize;
        // One more than wanted tells whether there is a next page.
        let mut page =
            services.analytics.clicks(&ClickQuery { limit: asked.limit + 1, ..asked })?;
        let more = page.clicks.len() > wanted;
        page.clicks.truncate(wanted);
        let next = page.clicks.last().filter(|_| more).map(|last| next_link(&path, &query, last));
        let total = match page.total {
            n if n > u64::from(DEEPEST) => format!("{DEEPEST}+"),
            n => n.to_string(),
        };
        let views: Vec<ClickView> = page.clicks.into_iter().map(ClickView::from).collect();
        Ok::<_, ApiError>((next, total, to_json(&views)))
    })
    .await?;
    let mut response = HttpResponse::Ok();
    if let Some(next) = next {
        response.insert_header((header::LINK, next));
    }
    Ok(response
        .insert_header(("X-Total-Count", total))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("application/json")
        .body(body))
}

fn read_query(query: &QueryParameters, link: LinkId) -> Result<ClickQuery, ApiError> {
    let page = query.page(50, 500)?;
    let cursor = query.one("cursor")?.map(parse_cursor).transpose()?;
    if cursor.is_none() && u64::from(page.page()) * u64::from(page.limit()) > u64::from(DEEPEST) {
        let deep = format!("pages reach {DEEPEST} clicks deep; follow the cursor of rel=\"next\"");
        return Err(ApiError::invalid_field("page", &Invalid::new(InvalidCode::OutOfRange, deep)));
    }
    let day = |name: &str| -> Result<Option<NaiveDate>, ApiError> {
        let parse = |text: &str| {
            parse_day_or_moment(text)
                .map(|d| d.day())
                .map_err(|invalid| ApiError::invalid_field(name, &invalid))
        };
        query.one(name)?.map(parse).transpose()
    };
    let (start, end) = (day("startDate")?, day("endDate")?);
    if start.zip(end).is_some_and(|(start, end)| start > end) {
        let reversed = Invalid::new(InvalidCode::OutOfRange, "startDate lies after endDate");
        return Err(ApiError::invalid_field("startDate", &reversed));
    }
    let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    Ok(ClickQuery {
        link,
        from: start.map(midnight),
        until: end.and_then(|day| day.checked_add_days(Days::new(1))).map(midnight),
        include_bots: query.flag("includeBots")?,
        after: cursor,
        offset: if cursor.is_some() { 0 } else { u32::try_from(page.offset()).unwrap_or(DEEPEST) },
        limit: page.limit(),
        count_to: DEEPEST,
    })
}

/// A cursor is the last click's time in microseconds and its number.
fn parse_cursor(text: &str) -> Result<ClickCursor, ApiError> {
    let read = || {
        let (micros, id) = text.split_once('.')?;
        let at = DateTime::<Utc>::from_timestamp_micros(micros.parse().ok()?)?;
        Some(ClickCursor { at, id: ClickId(Uuid::try_parse(id).ok()?) })
    };
    read().ok_or_else(|| {
        let invalid = Invalid::new(InvalidCode::InvalidFormat, "is not a cursor of this list");
        ApiError::invalid_field("cursor", &invalid)
    })
}

fn next_link(path: &str, query: &QueryParameters, last: &Click) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in query.pairs().filter(|(name, _)| !["page", "cursor"].contains(name)) {
        pairs.append_pair(name, value);
    }
    pairs.append_pair("cursor", &format!("{}.{}", last.at.timestamp_micros(), last.id.0));
    format!("<{path}?{}>; rel=\"next\"", pairs.finish())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn read(uri: &str) -> Result<ClickQuery, ApiError> {
        let request = TestRequest::with_uri(uri).to_http_request();
        read_query(&QueryParameters::of(&request), LinkId(1))
    }

    #[test]
    fn pages_reach_ten_thousand_clicks_deep_and_cursors_beyond() {
        assert_eq!(read("/?page=200&limit=50").unwrap().offset, 9950);
        assert_eq!(read("/?page=201&limit=50").unwrap_err().errors[0].field, "page");
        let id = Uuid::nil();
        let query = read(&format!("/?cursor=1767603600000000.{id}&page=9999")).unwrap();
        assert_eq!(query.offset, 0);
        assert_eq!(query.after.unwrap().id, ClickId(id));
        assert!(read("/?cursor=nonsense").is_err());
    }

    #[test]
    fn an_end_date_is_included() {
        let query = read("/?startDate=2026-01-05&endDate=2026-01-05").unwrap();
        let (from, until) = (query.from.unwrap(), query.until.unwrap());
        assert_eq!((until - from).num_hours(), 24);
        assert!(read("/?startDate=2026-01-06&endDate=2026-01-05").is_err());
    }
}
