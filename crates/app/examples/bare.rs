//! A bare actix handler that answers a constant redirect: the yardstick of `make bench`.

use actix_web::{App, HttpResponse, HttpServer, web};

async fn redirect() -> HttpResponse {
    HttpResponse::Found()
        .insert_header(("Location", "https://shop.example.com/"))
        .insert_header(("Cache-Control", "private, no-store"))
        .finish()
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8091".to_owned());
    let workers = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(1);
    HttpServer::new(|| App::new().route("/{code}", web::get().to(redirect)))
        .workers(workers)
        .bind(address)?
        .run()
        .await
}
