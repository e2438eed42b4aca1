//! Requests that must have their effect once: their kept answers.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use signpost_domain::ports::{Answer, BodyHash, IdempotencyKey, Idempotent, Insertion};

use crate::db::DbError;
use crate::db::schema::idempotency;

/// How long an answer is kept.
const KEPT: TimeDelta = TimeDelta::hours(24);

/// What was created at this moment or before is forgotten, in microseconds.
pub(super) fn cutoff(now: DateTime<Utc>) -> i64 {
    (now - KEPT).timestamp_micros()
}

/// An answer as it is kept.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = idempotency)]
pub(super) struct KeptRow {
    body_sha: Vec<u8>,
    status: i64,
    answer: String,
}

impl KeptRow {
    /// What a request with this body gets for an answer.
    pub(super) fn answer_to(self, body: BodyHash) -> Result<Insertion, DbError> {
        if self.body_sha != body.0 {
            return Ok(Insertion::Mismatch);
        }
        let text: AnswerJson = serde_json::from_str(&self.answer)
            .map_err(|e| DbError::corrupt("idempotency", "answer", e))?;
        let status =
            u16::try_from(self.status).map_err(|e| DbError::corrupt("idempotency", "status", e))?;
        Ok(Insertion::Replayed(Answer {
            status,
            body: text.body,
            location: text.location,
            etag: text.etag,
        }))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerJson {
    body: String,
    location: Option<String>,
    etag: Option<String>,
}

/// What is written of a request and its answer.
#[derive(Debug, Insertable, AsChangeset, Identifiable)]
#[diesel(
    table_name = idempotency,
    primary_key(app_id, key_id, key),
    treat_none_as_default_value = false,
    treat_none_as_null = true
)]
pub(super) struct KeptColumns<'a> {
    app_id: i64,
    key_id: i64,
    key: &'a str,
    body_sha: &'a [u8],
    status: i64,
    answer: String,
    link_id: Option<i64>,
    created_at: i64,
}

impl<'a> KeptColumns<'a> {
    /// A request under way; nobody else sees it before it has an answer.
    pub(super) fn claim(once: &'a Idempotent, now: DateTime<Utc>) -> Self {
        let IdempotencyKey { app_id, key_id, text } = &once.key;
        Self {
            app_id: app_id.0,
            key_id: key_id.0,
            key: text,
            body_sha: &once.body.0,
            status: 0,
            answer: String::new(),
            link_id: None,
            created_at: now.timestamp_micros(),
        }
    }

    /// The same request with its answer and, when it made one link, that link's number.
    pub(super) fn answered(self, answer: &Answer, link_id: Option<i64>) -> Self {
        let json = serde_json::json!({
            "body": answer.body,
            "location": answer.location,
            "etag": answer.etag,
        });
        Self { status: answer.status.into(), answer: json.to_string(), link_id, ..self }
    }
}
