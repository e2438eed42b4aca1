//! The click journal's files, for the composition root and for tools that look inside.

use std::path::Path;

use serde::Serialize;
use signpost_domain::click::wire;
pub use signpost_journal::{
    Item, Journal, OpenError, Options as JournalOptions, Report, Status, adopt, verify,
};

/// A click as it stands in the journal.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalLine {
    /// Its place.
    pub sequence: u64,
    /// The click; absent when the record can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub click: Option<ClickLine>,
    /// Why the record can't be read, or what is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A click, for people.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClickLine {
    id: String,
    link_id: i64,
    app_id: i64,
    timestamp: String,
    ip_address: Option<String>,
    user_agent: Option<String>,
    referrer: Option<String>,
    platform: &'static str,
}

/// The records of a journal after a sequence, while nobody has it open.
pub fn dump(
    dir: &Path,
    after: u64,
) -> Result<impl Iterator<Item = std::io::Result<JournalLine>>, OpenError> {
    Ok(signpost_journal::dump(dir, after)?.map(|item| item.map(|item| line(&item))))
}

fn line(item: &Item) -> JournalLine {
    match item {
        Item::Record(record) => match wire::decode(&record.payload) {
            Ok(click) => JournalLine {
                sequence: record.sequence,
                click: Some(ClickLine {
                    id: click.id.0.to_string(),
                    link_id: click.link_id.0,
                    app_id: click.app_id.0,
                    timestamp: click.at.to_rfc3339(),
                    ip_address: click.address.map(|a| a.to_string()),
                    user_agent: click.user_agent,
                    referrer: click.referrer.map(|r| r.as_str().to_owned()),
                    platform: click.platform.as_str(),
                }),
                problem: None,
            },
            Err(error) => JournalLine {
                sequence: record.sequence,
                click: None,
                problem: Some(error.to_string()),
            },
        },
        Item::Damage(damage) => JournalLine {
            sequence: damage.missing.start,
            click: None,
            problem: Some(format!(
                "damaged: bytes {}–{}, {} records lost",
                damage.bytes.start,
                damage.bytes.end,
                damage.missing.end - damage.missing.start
            )),
        },
    }
}
