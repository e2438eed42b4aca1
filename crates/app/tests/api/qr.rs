//! QR codes of links.

use crate::client::Answer;
use crate::service::Service;
use crate::table::Table;

const LINKS: &str = "/api/v1/public/links";

/// What a reader finds in a picture of black and white pixels.
fn read(side: usize, is_dark: impl Fn(usize, usize) -> bool) -> String {
    let pixel = |x, y| if is_dark(x, y) { 0 } else { 255 };
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, pixel);
    image.detect_grids()[0].decode().unwrap().1
}

fn read_png(answer: &Answer, side: usize) -> String {
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("image/png")));
    let mut reader = png::Decoder::new(std::io::Cursor::new(&answer.bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width as usize, info.height as usize), (side, side));
    assert_eq!(info.bit_depth, png::BitDepth::One);
    read(side, |x, y| pixels[y * info.line_size + x / 8] >> (7 - x % 8) & 1 == 0)
}

fn read_svg(answer: &Answer, side: usize) -> String {
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("image/svg+xml")));
    let size = format!("width=\"{side}\" height=\"{side}\"");
    assert!(answer.text.contains(&size), "{}", answer.text);
    // The drawing is a list of modules, each a square of one unit.
    let path = answer.text.split("<path d=\"").nth(1).unwrap().split('"').next().unwrap();
    let dark: Vec<(usize, usize)> = path
        .split("h1v1h-1z")
        .filter_map(|module| module.strip_prefix('M')?.split_once(' '))
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect();
    let units = 2 * dark.iter().map(|(x, _)| *x).max().unwrap();
    read(units * 4, |x, y| dark.contains(&(x / 4, y / 4)))
}

pub(crate) fn a_picture_holds_the_url_of_the_link(service: &Service) {
    let backend = service.backend();
    let code = "x".repeat(64);
    let made = backend.post(LINKS, &format!("{{\"shortCode\":\"{code}\",\"payload\":{{}}}}"));
    let url = made.json()["url"].as_str().unwrap().to_owned();
    let get = |query: &str| backend.get(&format!("{LINKS}/{code}/qr{query}"));
    assert_eq!(read_svg(&get(""), 512), url);
    assert_eq!(read_svg(&get("?format=svg&size=64"), 64), url);
    for size in [64, 65, 512, 2048] {
        assert_eq!(read_png(&get(&format!("?format=png&size={size}")), size), url);
    }
    assert_eq!(read_png(&get("?format=png"), 512), url);
    let head = backend.head(&format!("{LINKS}/{code}/qr?format=png"));
    assert_eq!((head.status, head.header("content-type")), (200, Some("image/png")));
}

pub(crate) fn a_picture_that_can_not_be_is_refused(service: &Service) {
    let backend = service.backend();
    assert_eq!(backend.post(LINKS, r#"{"shortCode":"mine","payload":{}}"#).status, 201);
    let mut table = Table::new("QR codes");
    for (query, field, code) in [
        ("size=63", "size", "out_of_range"),
        ("size=2049", "size", "out_of_range"),
        ("size=0", "size", "out_of_range"),
        ("size=4294967296", "size", "out_of_range"),
        ("size=-64", "size", "invalid_format"),
        ("size=64px", "size", "invalid_format"),
        ("size=", "size", "invalid_format"),
        ("size=64&size=64", "size", "invalid_format"),
        ("format=gif", "format", "unknown_value"),
        ("format=PNG", "format", "unknown_value"),
        ("format=", "format", "unknown_value"),
    ] {
        let answer = backend.get(&format!("{LINKS}/mine/qr?{query}"));
        table.check(query, &answer, (400, "validation_failed", &[(field, code)]));
        let absent = backend.get(&format!("{LINKS}/nowhere/qr?{query}"));
        assert_eq!(absent.status, 404, "existence comes first");
    }
    table.finish();
}
