use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use super::support::*;
use crate::*;

/// Writes into the newest segment behind its last record.
fn scribble(dir: &std::path::Path, bytes: &[u8]) {
    let newest = segments(dir).pop().unwrap();
    let content = std::fs::read(&newest).unwrap();
    let end = format::without_trailing_zeros(&content).len();
    OpenOptions::new().write(true).open(newest).unwrap().write_all_at(bytes, end as u64).unwrap();
}

#[test]
fn a_second_process_is_told_who_has_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let _journal = open(dir.path());
    let error = Journal::open(dir.path(), options()).unwrap_err();
    assert!(matches!(error, OpenError::InUse(_)));
    assert!(error.to_string().contains(dir.path().to_str().unwrap()));
    assert!(matches!(adopt(dir.path()), Err(OpenError::InUse(_))));
}

#[test]
fn a_torn_tail_is_cut() {
    for torn in [&b"\x05"[..], b"\x05\0\0\0\xff\xff", &[0xff; 300], &[1; 40]] {
        let dir = tempfile::tempdir().unwrap();
        append(&open(dir.path()), 1..=10);
        scribble(dir.path(), torn);
        assert_eq!(verify(dir.path()).unwrap().damage.len(), 1);
        let journal = open(dir.path());
        assert_eq!(verify(dir.path()).unwrap().damage, vec![]);
        append(&journal, 11..=12);
        assert_eq!(read(&journal), ((1..=12).collect(), vec![]));
    }
}

#[test]
fn a_last_record_cut_at_any_byte_costs_only_itself() {
    let home = tempfile::tempdir().unwrap();
    append(&open(home.path()), 1..=3);
    let newest = segments(home.path()).pop().unwrap();
    let whole = std::fs::read(&newest).unwrap();
    let end = format::without_trailing_zeros(&whole).len();
    let frame = format::FRAME + payload(3).len();
    for cut in end - frame..end {
        std::fs::write(&newest, &whole[..cut]).unwrap();
        let journal = open(home.path());
        assert_eq!(journal.durable(), 2, "{cut}");
        append(&journal, 3..=3);
        assert_eq!(read(&journal), (vec![1, 2, 3], vec![]), "{cut}");
    }
}

#[test]
fn a_copy_is_refused_until_it_is_adopted() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("journal");
    let journal = open(&dir);
    append(&journal, 1..=5);
    let id = journal.id();
    drop(journal);
    let copied = home.path().join("copy");
    copy(&dir, &copied);
    let error = Journal::open(&copied, options()).unwrap_err();
    assert!(matches!(error, OpenError::Copied(_)));
    assert!(error.to_string().contains("adopt"));
    assert_eq!(adopt(&copied).unwrap(), id);
    let journal = open(&copied);
    append(&journal, 6..=6);
    assert_eq!(journal.id(), id);
    // Renaming is not copying.
    let moved = home.path().join("moved");
    std::fs::rename(&dir, &moved).unwrap();
    append(&open(&moved), 6..=6);
}

#[test]
fn a_journal_without_its_identity_is_refused_until_it_is_adopted() {
    let dir = tempfile::tempdir().unwrap();
    let id = open(dir.path()).id();
    for content in [None, Some("nonsense")] {
        let path = dir.path().join("identity");
        std::fs::remove_file(&path).unwrap();
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        assert!(matches!(Journal::open(dir.path(), options()), Err(OpenError::Identity(_))));
        assert_eq!(adopt(dir.path()).unwrap(), id);
        drop(open(dir.path()));
    }
    assert!(matches!(adopt(&dir.path().join("none")), Err(OpenError::NoJournal(_))));
}

#[test]
fn an_id_that_lost_its_segments_is_not_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    append(&journal, 1..=5);
    let id = journal.id();
    drop(journal);
    for segment in segments(dir.path()) {
        std::fs::remove_file(segment).unwrap();
    }
    let journal = open(dir.path());
    assert_ne!(journal.id(), id);
    append(&journal, 1..=1);
}

#[test]
fn a_segment_of_another_journal_is_set_aside() {
    let home = tempfile::tempdir().unwrap();
    let (ours, other) = (home.path().join("ours"), home.path().join("other"));
    append(&open(&ours), 1..=10);
    append(&open(&other), 1..=100);
    let foreign = segments(&other).pop().unwrap();
    std::fs::copy(&foreign, ours.join(foreign.file_name().unwrap())).unwrap();
    assert_eq!(verify(&ours).unwrap().strange.len(), 1);
    let journal = open(&ours);
    append(&journal, 11..=11);
    assert_eq!(read(&journal), ((1..=11).collect(), vec![]));
    assert!(ours.join("quarantine").join(foreign.file_name().unwrap()).exists());
}

#[test]
fn a_backlog_opens_by_its_newest_segment_alone() {
    let dir = tempfile::tempdir().unwrap();
    append(&open(dir.path()), 1..=500);
    // None of the older ones can be read at all.
    let files = segments(dir.path());
    for file in &files[..files.len() - 1] {
        let header = std::fs::read(file).unwrap()[..format::HEADER].to_vec();
        std::fs::write(file, header).unwrap();
    }
    let journal = open(dir.path());
    assert_eq!(journal.durable(), 500);
    append(&journal, 501..=501);
}
