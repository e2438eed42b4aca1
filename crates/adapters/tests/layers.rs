//! The layer rule: the adapters know no web server.

#[test]
fn the_adapters_do_not_name_a_web_server() {
    let manifest = include_str!("../Cargo.toml");
    for banned in ["actix", "hyper", "axum", "utoipa", "clap"] {
        let named = manifest.lines().any(|line| line.starts_with(banned));
        assert!(!named, "{banned} belongs into the app");
    }
}
