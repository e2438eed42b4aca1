//! `signpost serve`.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use signpost_domain::service::FirstSecrets;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info, warn};

use super::{Failure, build, chores};
use crate::config::Config;
use crate::server::{Readiness, Shared, serve, serve_metrics};
use crate::wiring::{Services, Traffic};

/// How long the clicks of the journal may take to be loaded at the end; the rest is loaded after
/// the next start.
const LAST_CLICKS: Duration = Duration::from_secs(10);

/// Runs the service until a signal ends it.
pub(super) fn run(config: &Config) -> Result<(), Failure> {
    let services = build(config)?;
    let listener = TcpListener::bind(config.listen)
        .map_err(|error| Failure::because(format!("SIGNPOST_LISTEN={}: {error}", config.listen)))?;
    let traffic = Traffic::open(config, &services).map_err(|e| Failure::because(chain(&e)))?;
    let traffic = Arc::new(traffic);
    let readiness = Readiness::default();
    let shared = Shared::new(config, services.clone(), traffic.clone(), readiness.clone());
    prepare_in_background(config.clone(), services.clone());
    chores::do_in_background(config.retention, shared.clone(), services.clone());
    actix_web::rt::System::new().block_on(async move {
        let metrics = config.metrics_listen.and_then(|address| {
            serve_metrics(address, &shared)
                .inspect_err(|error| warn!(%address, %error, "no metrics: the address can't be had"))
                .ok()
        });
        if let Some(metrics) = metrics {
            actix_web::rt::spawn(metrics);
        }
        let server = serve(listener, shared, None).map_err(|e| Failure::because(e.to_string()))?;
        let handle = server.handle();
        info!(listen = %config.listen, base_url = config.base_url, database = %config.database, "started");
        actix_web::rt::spawn(async move {
            wait_for_signal().await;
            info!("stopping");
            readiness.stop();
            handle.stop(true).await;
        });
        server.await.map_err(|error| Failure::because(error.to_string()))
    })?;
    traffic.stop(LAST_CLICKS);
    info!("stopped");
    Ok(())
}

async fn wait_for_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        error!("signals can't be caught; kill the process to end it");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Migrates and fills the database, trying again for as long as it takes.
fn prepare_in_background(config: Config, services: Services) {
    std::thread::spawn(move || {
        let mut wait = Duration::from_millis(100);
        loop {
            match services.prepare() {
                Ok(first) => {
                    info!(database = %config.database, "ready");
                    if let Some(first) = first {
                        announce(&config, &first);
                    }
                    return;
                }
                Err(error) => {
                    let why = chain(&error);
                    warn!(database = %config.database, why, "not ready yet; trying again");
                }
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(Duration::from_secs(2));
        }
    });
}

/// An error with all its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        let _ = write!(text, ": {next}");
        source = next.source();
    }
    text
}

/// Shows the first secrets once: on a terminal, or in a file that only its owner may read.
#[expect(clippy::print_stdout, reason = "a terminal is where a person looks")]
fn announce(config: &Config, first: &FirstSecrets) {
    let text = first_steps(config, first);
    if std::io::stdout().is_terminal() {
        println!("{text}");
        return;
    }
    let path = config.data_dir.join("first-run.txt");
    match crate::private_file::create(&path, text.as_bytes()) {
        Ok(()) => info!(path = %path.display(), "the first key and admin are in this file"),
        Err(error) => error!(
            path = %path.display(), %error,
            "the first secrets could not be kept; make new ones with signpost key and signpost admin"
        ),
    }
}

fn first_steps(config: &Config, first: &FirstSecrets) -> String {
    let base = &config.base_url;
    let key = first.secret_key.expose();
    let publishable = first.publishable_key.expose();
    let (owner, password) = (first.owner.as_str(), &first.password);
    format!(
        r#"
Signpost is new here. These secrets are shown once:

  app              {app} ({slug})
  secret key       {key}
  publishable key  {publishable}
  admin            {owner}
  password         {password}

Try it:

# Create a link
curl -sS {base}/api/v1/public/links -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \
  -d '{{"shortCode":"hello","payload":{{"promo":"SUMMER50"}},"iosRedirectUrl":"https://apps.apple.com/app/id0000000000","androidRedirectUrl":"https://play.google.com/store/apps/details?id=com.example.shop","webRedirectUrl":"https://shop.example.com/"}}'; echo

# Follow it as an iPhone, an Android phone and a desktop
curl -sS -o /dev/null -w '%{{http_code}} %{{redirect_url}}\n' {base}/hello -A 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
curl -sS -o /dev/null -w '%{{http_code}} %{{redirect_url}}\n' {base}/hello -A 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'
curl -sS -o /dev/null -w '%{{http_code}} %{{redirect_url}}\n' {base}/hello -A 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

# See who came; a click counts within a second
sleep 1
TOKEN=$(curl -sS {base}/api/v1/admin/sessions -H 'Content-Type: application/json' -d '{{"email":"{owner}","password":"{password}"}}' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')
curl -sS {base}/api/v1/admin/links/hello/stats -H "Authorization: Bearer $TOKEN"; echo

The API is described at {base}/docs
"#,
        app = first.app.name.as_str(),
        slug = first.app.slug,
    )
}
