//! The web server: what answers where.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use tokio::sync::Semaphore;
use utoipa_swagger_ui::SwaggerUi;

use crate::admin_api::{self, PasswordGate};
use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::metrics::Metrics;
use crate::problem::ApiError;
use crate::proxies::TrustedProxies;
use crate::rate_limit::Limits;
use crate::wiring::{Services, Traffic};
use crate::{front, health, hosts, openapi, public_api, request, visit};

/// Whether the service wants requests.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// Asks for no further requests.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What the service's own URLs start with.
pub(crate) struct BaseUrl(pub(crate) String);

/// What handlers find in every worker.
#[derive(Clone)]
pub struct Shared {
    services: web::Data<Services>,
    limits: web::Data<Limits>,
    gate: web::Data<PasswordGate>,
    base_url: web::Data<BaseUrl>,
    readiness: web::Data<Readiness>,
    metrics: web::Data<Metrics>,
    proxies: web::Data<TrustedProxies>,
    visits: web::Data<visit::Context>,
    traffic: web::Data<Traffic>,
    cors_origins: Arc<Vec<String>>,
}

impl Shared {
    /// Prepares what all workers share.
    pub fn new(
        config: &Config,
        services: Services,
        traffic: Arc<Traffic>,
        readiness: Readiness,
    ) -> Self {
        let metrics = Metrics::new(traffic.clone());
        let visits = visit::Context {
            services: services.clone(),
            visits: traffic.visits.clone(),
            proxies: config.trusted_proxies.clone(),
            metrics: metrics.clone(),
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            metrics: web::Data::new(metrics),
            visits: web::Data::new(visits),
            services: web::Data::new(services),
            limits: web::Data::new(Limits::new(&config.rate_limits)),
            gate: web::Data::new(PasswordGate(Semaphore::new(cores))),
            base_url: web::Data::new(BaseUrl(config.base_url.clone())),
            readiness: web::Data::new(readiness),
            proxies: web::Data::new(config.trusted_proxies.clone()),
            traffic: web::Data::from(traffic),
            cors_origins: Arc::new(config.cors_origins.clone()),
        }
    }

    /// Drops what no longer limits anybody.
    pub fn sweep_limits(&self) {
        self.limits.sweep();
    }
}

/// The endpoints that the OpenAPI document describes.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    use admin_api as admin;
    use public_api as public;
    vec![
        Endpoint::at("/api/v1/public/links").get(public::list_links).post(public::create_link),
        Endpoint::at("/api/v1/public/links/bulk").post(public::bulk_create),
        Endpoint::at("/api/v1/public/links/{shortCode}")
            .get(public::get_link)
            .put(public::update_link)
            .delete(public::delete_link),
        Endpoint::at("/api/v1/public/links/{shortCode}/qr").get(public::link_qr),
        Endpoint::at("/api/v1/admin/sessions").get(admin::list_sessions).post(admin::sign_in),
        Endpoint::at("/api/v1/admin/sessions/refresh").post(admin::refresh),
        Endpoint::at("/api/v1/admin/sessions/current").delete(admin::end_current),
        Endpoint::at("/api/v1/admin/sessions/{sid}").delete(admin::end_session),
        Endpoint::at("/api/v1/admin/links/{id}/stats").get(admin::link_stats),
        Endpoint::at("/api/v1/admin/links/{id}/clicks").get(admin::link_clicks),
        Endpoint::at("/api/v1/admin/apps").get(admin::list_apps).post(admin::create_app),
        Endpoint::at("/api/v1/admin/apps/{id}").get(admin::get_app).patch(admin::patch_app),
        Endpoint::at("/livez").get(health::livez),
        Endpoint::at("/readyz").get(health::readyz),
    ]
}

/// The endpoints beside them: pages and files.
fn plain_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::at("/api/openapi.json").get(openapi::document),
        Endpoint::at("/").get(front::front),
        Endpoint::at("/docs").get(front::docs),
        Endpoint::at("/robots.txt").get(|| async {
            HttpResponse::Ok().content_type("text/plain").body("User-agent: *\nAllow: /\n")
        }),
        Endpoint::at("/favicon.ico").get(|| async { HttpResponse::NoContent().finish() }),
    ]
}

fn configure(config: &mut web::ServiceConfig, cors_origins: &Arc<Vec<String>>) {
    for endpoint in endpoints().into_iter().chain(plain_endpoints()) {
        config.service(endpoint.surrounded(cors_origins));
    }
    let browser = utoipa_swagger_ui::Config::from("/api/openapi.json").validator_url("none");
    config.service(
        web::scope("/docs")
            .wrap(from_fn(hosts::keep_to_links))
            .wrap(from_fn(request::common))
            .service(SwaggerUi::new("/{_:.*}").config(browser)),
    );
    config.service(Endpoint::at("/{code}").get(visit::visit));
    config.service(Endpoint::at("/{slug}/{code}").get(visit::visit_of_app));
    config.default_service(web::to(|request: HttpRequest| async move {
        request::answered(&request, async { Err(ApiError::not_found()) }).await
    }));
}

/// Starts answering on `listener`; the server runs once it is awaited.
pub fn serve(listener: TcpListener, shared: Shared, workers: Option<usize>) -> io::Result<Server> {
    let server = HttpServer::new(move || {
        // This runs on each worker's own thread.
        actix_web::rt::spawn(shared.traffic.join_thread());
        App::new()
            .app_data(shared.services.clone())
            .app_data(shared.traffic.clone())
            .app_data(shared.limits.clone())
            .app_data(shared.gate.clone())
            .app_data(shared.base_url.clone())
            .app_data(shared.readiness.clone())
            .app_data(shared.metrics.clone())
            .app_data(shared.proxies.clone())
            .app_data(shared.visits.clone())
            .configure(|config| configure(config, &shared.cors_origins))
    })
    // The signals are ours, because there is work to finish after the last answer.
    .disable_signals()
    .shutdown_timeout(10);
    let server = match workers {
        Some(workers) => server.workers(workers),
        None => server,
    };
    Ok(server.listen(listener)?.run())
}

/// Starts answering Prometheus.
pub fn serve_metrics(address: SocketAddr, shared: &Shared) -> io::Result<Server> {
    let metrics = shared.metrics.clone();
    let server = HttpServer::new(move || {
        App::new()
            .app_data(metrics.clone())
            .route("/metrics", web::get().to(crate::metrics::metrics))
    });
    Ok(server.workers(1).disable_signals().bind(address)?.run())
}
