//! Numbers for Prometheus, on a listener of their own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{HttpResponse, web};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::wiring::{ClickFlow, Traffic};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RedirectLabels {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

/// The numbers that handlers count.
#[derive(Clone)]
pub(crate) struct Metrics {
    redirects: Family<RedirectLabels, Counter>,
    requests: Family<RequestLabels, Histogram>,
    registry: Arc<Registry>,
    traffic: Arc<Traffic>,
}

impl Metrics {
    /// Numbers that start at zero; those of clicks are asked from the journal and its loader.
    pub(crate) fn new(traffic: Arc<Traffic>) -> Self {
        let redirects = Family::<RedirectLabels, Counter>::default();
        let requests = Family::<RequestLabels, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.000_25, 2.0, 16))
        });
        let mut registry = Registry::default();
        registry.register("redirects", "Visits by what became of them", redirects.clone());
        registry.register(
            "http_server_request_duration_seconds",
            "API requests by method, route and status",
            requests.clone(),
        );
        Self { redirects, requests, registry: Arc::new(registry), traffic }
    }

    /// Counts a visit.
    pub(crate) fn redirect(&self, result: &'static str) {
        self.redirects.get_or_create(&RedirectLabels { result }).inc();
    }

    /// Counts an API request; the route is its pattern, never a path with somebody's code.
    pub(crate) fn request(&self, method: &str, route: String, status: u16, took: Duration) {
        let labels = RequestLabels { method: method.to_owned(), route, status };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// All numbers as text.
    pub(crate) fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        let mut flow = Registry::default();
        describe(&mut flow, &self.traffic.flow());
        let mut flow_text = String::new();
        encode(&mut flow_text, &flow)?;
        // Each text ends with a mark of its own; only the last one may stay.
        let text = text.trim_end_matches("# EOF\n");
        Ok(format!("{text}{flow_text}"))
    }
}

/// The numbers of the way that clicks take, as they are now.
fn describe(registry: &mut Registry, flow: &ClickFlow) {
    let ClickFlow { counts, journal, loader, .. } = flow;
    for (name, help, value) in [
        ("clicks_recorded", "Clicks in the journal before their redirect", counts.recorded),
        ("click_ack_degraded", "Redirects sent before the disk had their click", counts.degraded),
        ("clicks_dropped", "Clicks lost because the disk was full or failed", counts.dropped),
        ("clicks_loaded", "Clicks stored in the database", loader.stored),
        ("clicks_known_already", "Clicks that were stored before", loader.known_already),
        ("clicks_discarded", "Clicks of links deleted meanwhile", loader.discarded),
        ("dead_letters", "Records set aside", loader.dead_letters),
        ("loader_failures", "Tries to load that failed", loader.failures),
        ("journal_syncs", "Times records were brought to stable storage", journal.syncs),
        ("journal_sync_failures", "Of these, failed", journal.sync_failures),
        ("journal_damaged_records", "Records lost in damaged places", journal.damaged_records),
    ] {
        registry.register(name, help, ConstCounter::new(value));
    }
    let oldest = journal.oldest.map_or(0, |age| age.as_secs());
    for (name, help, value) in [
        ("journal_bytes", "Size of the journal's files", journal.bytes),
        ("journal_backlog_records", "Records not yet in the database", flow.backlog()),
        ("journal_oldest_seconds", "Age of the oldest of them", oldest),
    ] {
        registry.register(name, help, ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX)));
    }
}

/// Answers Prometheus.
pub(crate) async fn metrics(metrics: web::Data<Metrics>) -> HttpResponse {
    match metrics.text() {
        Ok(text) => HttpResponse::Ok()
            .content_type("application/openmetrics-text; version=1.0.0; charset=utf-8")
            .body(text),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

/// Middleware: measures API requests.
pub(crate) async fn metered<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let metrics = request.app_data::<web::Data<Metrics>>().cloned();
    let begun = Instant::now();
    let response = next.call(request).await?;
    if let Some(metrics) = metrics {
        let route = response.request().match_pattern().unwrap_or_default();
        let method = response.request().method().as_str();
        metrics.request(method, route, response.status().as_u16(), begun.elapsed());
    }
    Ok(response)
}
