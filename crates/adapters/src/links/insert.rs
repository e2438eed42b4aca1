//! Storing new links.

use chrono::{DateTime, Utc};
use signpost_domain::link::{CodeChoice, Link, LinkDraft, LinkId, LinkVersion, ShortCode, Tags};
use signpost_domain::ports::{Idempotent, Insertion, Outcome};

use super::idempotency::{KeptColumns, cutoff};
use super::row::LinkColumns;
use super::statements::LinkStatements;
use crate::db::{DbError, is_lock_timeout};

/// Names the lock of insertions that could wait for each other in a circle.
const OWN_CODES_LOCK: i64 = 0x6f77_6e63;

/// How the transaction of an insertion ends.
pub(super) enum End {
    /// With a commit.
    Commit(Insertion),
    /// With nothing stored.
    RollBack(Insertion),
}

/// True when storing these drafts takes one statement, which is a transaction by itself.
pub(super) fn is_one_statement(drafts: &[LinkDraft], once: Option<&Idempotent>) -> bool {
    once.is_none() && matches!(drafts, [link] if link.content.tags.iter().len() == 0)
}

/// Stores links inside a transaction.
pub(super) fn insert(
    conn: &mut dyn LinkStatements,
    drafts: &[LinkDraft],
    once: Option<&Idempotent>,
    now: DateTime<Utc>,
) -> Result<End, DbError> {
    let Some(once) = once else {
        return Ok(End::Commit(Insertion::Fresh(store(conn, drafts)?)));
    };
    let claim = KeptColumns::claim(once, now);
    match conn.claim(&claim, cutoff(now)) {
        Ok(true) => {}
        Ok(false) => {
            let kept = conn.kept(&once.key, cutoff(now))?;
            // Only a cleaning job can have taken the row away meanwhile; the client may try again.
            let earlier = kept.map_or(Ok(Insertion::InProgress), |row| row.answer_to(once.body))?;
            return Ok(End::RollBack(earlier));
        }
        // A claim waits for the transaction of a twin and for nothing else.
        Err(error) if is_lock_timeout(&error) => return Ok(End::RollBack(Insertion::InProgress)),
        Err(error) => return Err(error.into()),
    }
    let outcomes = store(conn, drafts)?;
    let ids: Vec<i64> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Stored(link) => Some(link.id.0),
            Outcome::CodeTaken => None,
        })
        .collect();
    if ids.is_empty() {
        return Ok(End::RollBack(Insertion::Fresh(outcomes)));
    }
    let only = match ids[..] {
        [id] => Some(id),
        _ => None,
    };
    conn.keep(&claim.answered(&(once.render)(&outcomes), only))?;
    Ok(End::Commit(Insertion::Fresh(outcomes)))
}

/// Stores each draft under the first of its codes that is free.
pub(super) fn store(
    conn: &mut dyn LinkStatements,
    drafts: &[LinkDraft],
) -> Result<Vec<Outcome>, DbError> {
    let own = |draft: &&LinkDraft| matches!(draft.code, CodeChoice::Own(_));
    if drafts.iter().filter(own).nth(1).is_some() {
        // Two requests with the same codes in another order would wait for each other.
        conn.lock_exclusively(OWN_CODES_LOCK)?;
    }
    let mut stored: Vec<Option<Link>> = drafts.iter().map(|_| None).collect();
    for round in 0.. {
        let candidates: Vec<(usize, Link)> = (0..)
            .zip(drafts)
            .filter(|(at, _)| stored[*at].is_none())
            .filter_map(|(at, draft)| Some((at, link(draft, draft.code.candidates().get(round)?))))
            .collect();
        if candidates.is_empty() {
            break;
        }
        for (at, link) in insert_free(conn, candidates)? {
            stored[at] = Some(link);
        }
    }
    let tags: Vec<(i64, &Tags)> =
        stored.iter().flatten().map(|link| (link.id.0, &link.content.tags)).collect();
    conn.insert_tags(&tags)?;
    Ok(stored
        .into_iter()
        .map(|link| link.map_or(Outcome::CodeTaken, |link| Outcome::Stored(Box::new(link))))
        .collect())
}

/// Stores those links whose code is free and answers them with their numbers.
fn insert_free(
    conn: &mut dyn LinkStatements,
    candidates: Vec<(usize, Link)>,
) -> Result<Vec<(usize, Link)>, DbError> {
    let columns: Vec<LinkColumns<'_>> =
        candidates.iter().map(|(_, link)| LinkColumns::from(link)).collect();
    let mut ids: Vec<(i64, String)> = match &columns[..] {
        // Its text is always the same, so that it is prepared once.
        [one] => {
            let id = conn.insert(one)?;
            id.map(|id| (id, candidates[0].1.code.as_str().to_owned())).into_iter().collect()
        }
        many => conn.insert_all(many)?,
    };
    let stored = candidates.into_iter().filter_map(|(at, link)| {
        // Each number is given once: of two drafts with one code, to the first.
        let found = ids.iter().position(|(_, code)| code == link.code.as_str())?;
        let (id, _) = ids.swap_remove(found);
        Some((at, Link { id: LinkId(id), ..link }))
    });
    Ok(stored.collect())
}

fn link(draft: &LinkDraft, code: &ShortCode) -> Link {
    Link {
        // The database gives the number.
        id: LinkId(0),
        app_id: draft.app_id,
        code: code.clone(),
        content: draft.content.clone(),
        version: LinkVersion(1),
        created_at: draft.created_at,
        updated_at: draft.created_at,
    }
}
