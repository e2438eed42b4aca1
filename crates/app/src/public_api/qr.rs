//! QR codes of links.

use std::fmt::Write as _;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use fast_qr::qr::{QRBuilder, QRCode};
use signpost_domain::{Invalid, InvalidCode};

use super::parse_code;
use crate::auth::api_key::{Caller, LinksRead};
use crate::blocking;
use crate::extract::QueryParameters;
use crate::problem::ApiError;
use crate::wiring::Services;

/// White modules around the code (ISO/IEC 18004 asks for four).
const QUIET_ZONE: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

/// The QR code of a link's URL.
#[utoipa::path(
    get,
    path = "/api/v1/public/links/{shortCode}/qr",
    tag = "links",
    operation_id = "getLinkQr",
    params(
        ("shortCode" = String, Path, description = "The link's short code", example = "k7Qm2xT"),
        ("format" = Option<String>, Query, description = "`svg` (default) or `png`"),
        ("size" = Option<u32>, Query, description = "Width and height in pixels, 64–2048; 512 without it"),
    ),
    responses(
        (status = 200, description = "The picture", content(
            (String = "image/svg+xml"), (Vec<u8> = "image/png"))),
    ),
    security(("apiKey" = []), ("bearer" = []))
)]
pub(crate) async fn link_qr(
    request: HttpRequest,
    caller: Caller<LinksRead>,
    services: web::Data<Services>,
    code: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let code = parse_code(&code)?;
    let query = QueryParameters::of(&request);
    let app = caller.app().clone();
    let picture = blocking::run(move || {
        let link = services.links.find(app.id, &code)?.ok_or_else(ApiError::link_not_found)?;
        Picture::new(&query, &services.views.url(&app, &link.code))
    })
    .await?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "private, max-age=3600"))
        .content_type(picture.kind)
        .body(picture.bytes))
}

/// A picture and its media type.
struct Picture {
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Picture {
    /// The QR code of `url` that a query asks for.
    fn new(query: &QueryParameters, url: &str) -> Result<Self, ApiError> {
        let format = match query.one("format")? {
            None | Some("svg") => Format::Svg,
            Some("png") => Format::Png,
            Some(_) => {
                let unknown = Invalid::new(InvalidCode::UnknownValue, "must be svg or png");
                return Err(ApiError::invalid_field("format", &unknown));
            }
        };
        let size = query.number("size", 512)?;
        if !(64..=2048).contains(&size) {
            let range = Invalid::new(InvalidCode::OutOfRange, "must be from 64 to 2048");
            return Err(ApiError::invalid_field("size", &range));
        }
        let code = QRBuilder::new(url)
            .build()
            .map_err(|_| ApiError::internal("the URL makes no QR code"))?;
        Ok(match format {
            Format::Svg => Self { kind: "image/svg+xml", bytes: svg(&code, size).into_bytes() },
            Format::Png => Self { kind: "image/png", bytes: png(&code, size as usize)? },
        })
    }
}

fn is_dark(code: &QRCode, x: usize, y: usize) -> bool {
    x < code.size && y < code.size && code[y][x].value()
}

fn svg(code: &QRCode, size: u32) -> String {
    let side = code.size + 2 * QUIET_ZONE;
    let mut path = String::new();
    for y in 0..code.size {
        for x in (0..code.size).filter(|x| is_dark(code, *x, y)) {
            let _ = write!(path, "M{} {}h1v1h-1z", x + QUIET_ZONE, y + QUIET_ZONE);
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{size}\" \
         viewBox=\"0 0 {side} {side}\" shape-rendering=\"crispEdges\">\
         <rect width=\"{side}\" height=\"{side}\" fill=\"#fff\"/><path d=\"{path}\"/></svg>"
    )
}

/// One bit a pixel. Modules are whole pixels wide, so that none is blurred; what is left over
/// widens the white border.
fn png(code: &QRCode, size: usize) -> Result<Vec<u8>, ApiError> {
    let scale = (size / (code.size + 2 * QUIET_ZONE)).max(1);
    let Some(spare) = size.checked_sub(code.size * scale) else {
        let small = Invalid::new(InvalidCode::OutOfRange, "is too small for the code of this URL");
        return Err(ApiError::invalid_field("size", &small));
    };
    let border = spare / 2;
    let mut rows = Vec::with_capacity(size * size.div_ceil(8));
    for y in 0..size {
        let mut row = vec![0xff_u8; size.div_ceil(8)];
        for x in 0..size {
            let inside = x >= border && y >= border;
            if inside && is_dark(code, (x - border) / scale, (y - border) / scale) {
                row[x / 8] &= !(0x80 >> (x % 8));
            }
        }
        rows.extend_from_slice(&row);
    }
    let mut picture = Vec::new();
    let side = u32::try_from(size).map_err(ApiError::internal)?;
    let mut encoder = png::Encoder::new(&mut picture, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header().map_err(ApiError::internal)?;
    writer.write_image_data(&rows).map_err(ApiError::internal)?;
    writer.finish().map_err(ApiError::internal)?;
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://go.example.com/k7Qm2xT";

    fn decode(picture: &[u8]) -> String {
        let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let width = info.width as usize;
        let bit = |x: usize, y: usize| pixels[y * info.line_size + x / 8] >> (7 - x % 8) & 1;
        let mut image =
            rqrr::PreparedImage::prepare_from_greyscale(width, info.height as usize, |x, y| {
                bit(x, y) * 255
            });
        image.detect_grids()[0].decode().unwrap().1
    }

    #[test]
    fn a_reader_finds_the_url_in_the_picture_of_any_size() {
        let code = QRBuilder::new(URL).build().unwrap();
        for size in [64, 100, 512, 2048] {
            assert_eq!(decode(&png(&code, size).unwrap()), URL, "{size}");
        }
    }

    #[test]
    fn the_drawing_has_the_size_asked_for() {
        let code = QRBuilder::new(URL).build().unwrap();
        let drawing = svg(&code, 300);
        assert!(drawing.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"300\""));
        let dark = (0..code.size).flat_map(|y| (0..code.size).map(move |x| (x, y)));
        let dark = dark.filter(|(x, y)| is_dark(&code, *x, *y)).count();
        assert_eq!(drawing.matches("h1v1h-1z").count(), dark);
    }
}
