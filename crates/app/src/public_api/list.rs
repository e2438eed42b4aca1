//! Listing links.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use signpost_domain::link::{LinkFilter, LinkStatus, SearchTerm, Tag, Tags};
use signpost_domain::page::PageRequest;
use signpost_domain::{Invalid, InvalidCode};

use super::view::LinkPageView;
use crate::auth::api_key::{Caller, LinksRead};
use crate::blocking;
use crate::extract::QueryParameters;
use crate::problem::{ApiError, FieldError};
use crate::wiring::Services;

/// Lists links, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/public/links",
    tag = "links",
    operation_id = "listLinks",
    params(
        ("page" = Option<u32>, Query, description = "The page, from 1", example = 1),
        ("limit" = Option<u32>, Query, description = "Links on a page, 1–100", example = 20),
        ("search" = Option<String>, Query, description = "Part of code, title, channel or campaign, in any case"),
        ("tag" = Option<Vec<String>>, Query, description = "A tag the links must have; may be repeated: all of them"),
        ("channel" = Option<String>, Query, description = "The exact channel"),
        ("campaign" = Option<String>, Query, description = "The exact campaign"),
        ("status" = Option<String>, Query, description = "`active` or `expired`"),
    ),
    responses(
        (status = 200, description = "One page; empty past the end", body = LinkPageView<'_>, headers(
            ("Link" = String, description = "`first`, `prev`, `next` and `last`, as far as they exist"),
            ("X-Total-Count" = u64, description = "How many links there are"))),
    ),
    security(("apiKey" = []), ("bearer" = []))
)]
pub(crate) async fn list_links(
    request: HttpRequest,
    caller: Caller<LinksRead>,
    services: web::Data<Services>,
) -> Result<HttpResponse, ApiError> {
    let query = QueryParameters::of(&request);
    let (filter, page) = read_query(&query, services.views.now())?;
    let app = caller.app().clone();
    let (total, body) = blocking::run(move || {
        let found = services.links.page(app.id, &filter, page)?;
        Ok::<_, ApiError>((found.total, services.views.page_json(&app, &found, page)))
    })
    .await?;
    Ok(HttpResponse::Ok()
        .insert_header((header::LINK, link_header(request.path(), &query, page, total)))
        .insert_header(("X-Total-Count", total.to_string()))
        .content_type("application/json")
        .body(body))
}

/// Reads the filters and the page of a list; all mistakes are found at once.
fn read_query(
    query: &QueryParameters,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<(LinkFilter, PageRequest), ApiError> {
    let mut errors: Vec<FieldError> = Vec::new();
    let page = collect(&mut errors, query.page(20, 100));
    let search = collect(&mut errors, one(query, "search", SearchTerm::parse)).flatten();
    let plain = |text: &str| check_plain(text).map(|()| text.to_owned());
    let channel = collect(&mut errors, one(query, "channel", plain)).flatten();
    let campaign = collect(&mut errors, one(query, "campaign", plain)).flatten();
    let status = collect(
        &mut errors,
        one(query, "status", |text| match text {
            "active" => Ok(LinkStatus::Active(now)),
            "expired" => Ok(LinkStatus::Expired(now)),
            _ => Err(Invalid::new(InvalidCode::UnknownValue, "must be active or expired")),
        }),
    )
    .flatten();
    let mut tags = Vec::new();
    let asked: Vec<&str> = query.all("tag").filter(|text| !text.is_empty()).collect();
    if asked.len() > Tags::MAX {
        let many = format!("is given more than {} times", Tags::MAX);
        errors.push(FieldError::new("tag", &Invalid::new(InvalidCode::TooLong, many)));
    }
    for text in asked.into_iter().take(Tags::MAX) {
        match Tag::parse(text) {
            Ok(tag) => tags.push(tag),
            Err(invalid) => errors.push(FieldError::new("tag", &invalid)),
        }
    }
    match page {
        Some(page) if errors.is_empty() => {
            Ok((LinkFilter { search, tags, channel, campaign, status }, page))
        }
        _ => Err(ApiError::invalid(errors)),
    }
}

fn collect<T>(errors: &mut Vec<FieldError>, result: Result<T, ApiError>) -> Option<T> {
    result.map_err(|error| errors.extend(error.errors)).ok()
}

/// An empty parameter is no filter: a form sends one for every field left blank.
fn one<T>(
    query: &QueryParameters,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, ApiError> {
    query
        .one(name)?
        .filter(|text| !text.is_empty())
        .map(|text| parse(text).map_err(|invalid| ApiError::invalid_field(name, &invalid)))
        .transpose()
}

fn check_plain(text: &str) -> Result<(), Invalid> {
    if text.chars().any(char::is_control) {
        return Err(Invalid::new(InvalidCode::InvalidCharacter, "holds a control character"));
    }
    Ok(())
}

/// The neighbours of a page (RFC 8288), as references relative to the host, filters kept.
pub(crate) fn link_header(
    path: &str,
    query: &QueryParameters,
    page: PageRequest,
    total: u64,
) -> String {
    let last = page.total_pages(total).max(1);
    let current = u64::from(page.page());
    let target = |number: u64| {
        let mut pairs = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in query.pairs().filter(|(name, _)| *name != "page") {
            pairs.append_pair(name, value);
        }
        pairs.append_pair("page", &number.to_string());
        format!("{path}?{}", pairs.finish())
    };
    let mut links = vec![format!("<{}>; rel=\"first\"", target(1))];
    if current > 1 {
        links.push(format!("<{}>; rel=\"prev\"", target((current - 1).min(last))));
    }
    if current < last {
        links.push(format!("<{}>; rel=\"next\"", target(current + 1)));
    }
    links.push(format!("<{}>; rel=\"last\"", target(last)));
    links.join(", ")
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn header_of(uri: &str, total: u64) -> String {
        let request = TestRequest::with_uri(uri).to_http_request();
        let query = QueryParameters::of(&request);
        let page = query.page(20, 100).unwrap();
        link_header("/l", &query, page, total)
    }

    #[test]
    fn neighbours_keep_the_filters() {
        assert_eq!(
            header_of("/l?tag=a%26b&page=2&limit=20", 57),
            "</l?tag=a%26b&limit=20&page=1>; rel=\"first\", \
             </l?tag=a%26b&limit=20&page=1>; rel=\"prev\", \
             </l?tag=a%26b&limit=20&page=3>; rel=\"next\", \
             </l?tag=a%26b&limit=20&page=3>; rel=\"last\""
        );
        assert_eq!(header_of("/l", 0), "</l?page=1>; rel=\"first\", </l?page=1>; rel=\"last\"");
        assert!(header_of("/l?page=9", 57).contains("page=3>; rel=\"prev\""));
    }

    #[test]
    fn all_bad_parameters_are_named() {
        let request =
            TestRequest::with_uri("/l?page=0&search=a%0ab&status=x&tag=%20").to_http_request();
        let now = chrono::DateTime::from_timestamp(0, 0).unwrap();
        let error = read_query(&QueryParameters::of(&request), now).unwrap_err();
        let fields: Vec<_> = error.errors.iter().map(|e| e.field.as_str()).collect();
        assert_eq!(fields, ["page", "search", "status", "tag"]);
    }

    #[test]
    fn a_blank_parameter_is_no_filter_and_no_tag_is_passed_over() {
        let read = |uri: &str| {
            let query = QueryParameters::of(&TestRequest::with_uri(uri).to_http_request());
            read_query(&query, chrono::DateTime::from_timestamp(0, 0).unwrap()).map(|read| read.0)
        };
        assert_eq!(
            read("/l?search=&channel=&campaign=&status=&tag=").unwrap(),
            LinkFilter::default()
        );
        let tags = |n| (0..n).map(|n| format!("tag={n}")).collect::<Vec<_>>().join("&");
        assert_eq!(read(&format!("/l?{}", tags(20))).unwrap().tags.len(), 20);
        assert_eq!(read(&format!("/l?{}", tags(21))).unwrap_err().errors[0].code, "too_long");
    }
}
