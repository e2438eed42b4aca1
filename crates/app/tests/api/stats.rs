//! Statistics and clicks.

use serde_json::json;

use crate::service::Service;
use crate::visits::{ANDROID, DESKTOP, IPHONE, three_targets};

pub(crate) fn three_visits_are_three_clicks_one_for_each_platform(service: &Service) {
    let id = three_targets(service, "three");
    for agent in [IPHONE, ANDROID, DESKTOP] {
        assert_eq!(service.anybody().with("user-agent", agent).get("/three").status, 302);
    }
    let owner = service.owner();
    let stats = owner.get(&format!("/api/v1/admin/links/{id}/stats")).json();
    assert_eq!(stats["totalClicks"], 3, "{stats}");
    assert_eq!(stats["platforms"], json!({"ios": 1, "android": 1, "web": 1}));
    assert_eq!(stats["series"].as_array().unwrap().len(), 30);
    assert_eq!(owner.get("/api/v1/admin/links/three/stats").json(), stats);
    let clicks = owner.get(&format!("/api/v1/admin/links/{id}/clicks")).json();
    let platforms: Vec<_> = clicks.as_array().unwrap().iter().map(|c| c["platform"].clone()).collect();
    assert_eq!(platforms, ["web", "android", "ios"]);
    assert_eq!(clicks[2]["browser"], "Safari");
    assert_eq!(clicks[2]["ipAddress"], "127.0.0.1");
}
