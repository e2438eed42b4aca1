use std::time::Duration;

use super::support::*;
use crate::*;

#[test]
fn records_come_back_in_order_with_sequences_from_one() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    append(&journal, 1..=500);
    assert!(segments(dir.path()).len() > 5);
    assert_eq!(read(&journal), ((1..=500).collect(), vec![]));
    assert_eq!(journal.durable(), 500);
}

#[test]
fn a_reader_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let mut reader = journal.reader(0);
    assert!(reader.next().is_none());
    for n in 1..=200 {
        append(&journal, n..=n);
        assert_eq!(sequences(&items(&mut reader)), (vec![n], vec![]));
        assert_eq!(reader.position(), n);
    }
    for after in [0, 1, 57, 199, 200, 300] {
        let read = sequences(&items(&mut journal.reader(after)));
        assert_eq!(read, ((after + 1..=200).collect(), vec![]));
    }
}

#[test]
fn sequences_go_on_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let id = open(dir.path()).id();
    for round in 0..20 {
        let journal = open(dir.path());
        assert_eq!(journal.id(), id);
        append(&journal, round * 13 + 1..=round * 13 + 13);
    }
    assert_eq!(read(&open(dir.path())), ((1..=260).collect(), vec![]));
}

#[test]
fn a_record_may_be_as_large_as_the_limit_and_no_larger_or_empty() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let large = vec![7; MAX_RECORD];
    assert_eq!(journal.append(&large).wait(), Outcome::Durable(1));
    assert_eq!(journal.append(&large).wait(), Outcome::Durable(2));
    for record in [vec![], vec![7; MAX_RECORD + 1]] {
        assert_eq!(journal.append(&record).wait(), Outcome::Refused(Refusal::Size));
    }
    let all = items(&mut journal.reader(0));
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|item| matches!(item, Item::Record(record) if record.payload == large)));
    assert_eq!(journal.status().refused, 2);
}

#[test]
fn a_record_whose_ticket_is_dropped_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for n in 1..=300 {
        drop(journal.append(&payload(n)));
    }
    assert!(journal.close(LONG));
    assert_eq!(read(&open_again(journal, dir.path())), ((1..=300).collect(), vec![]));
}

fn open_again(journal: Journal, dir: &std::path::Path) -> Journal {
    drop(journal);
    open(dir)
}

#[test]
fn a_closed_journal_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    assert!(journal.close(LONG));
    assert_eq!(journal.append(b"late").wait(), Outcome::Refused(Refusal::Closed));
    assert!(journal.close(LONG));
}

#[test]
fn released_segments_are_deleted_and_the_newest_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    append(&journal, 1..=300);
    let all = segments(dir.path());
    let second: u64 = all[1].file_stem().unwrap().to_str().unwrap().parse().unwrap();
    journal.release(second - 2).unwrap();
    assert_eq!(segments(dir.path()), all);
    journal.release(second - 1).unwrap();
    assert_eq!(segments(dir.path()), all[1..]);
    std::fs::remove_file(&all[1]).unwrap();
    journal.release(u64::MAX).unwrap();
    assert_eq!(segments(dir.path()), all[all.len() - 1..]);
    append(&journal, 301..=302);
    drop(journal);
    append(&open(dir.path()), 303..=303);
}

#[test]
fn what_nobody_read_and_somebody_deleted_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    append(&journal, 1..=300);
    journal.release(300).unwrap();
    let all = items(&mut journal.reader(0));
    assert_complete(&all, 300);
    assert!(matches!(&all[0], Item::Damage(damage) if damage.bytes.is_empty()));
}

#[test]
fn a_segment_with_records_is_closed_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { max_segment_age: Duration::from_millis(40), ..options() };
    let journal = Journal::open(dir.path(), options.clone()).unwrap();
    append(&journal, 1..=1);
    wait_until(|| {
        journal.release(1).unwrap();
        segments(dir.path()) == [segments::path(dir.path(), 2)]
    });
    // An empty one holds nothing that would have to go.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(segments(dir.path()).len(), 1);
    append(&journal, 2..=2);
    drop(journal);
    let journal = Journal::open(dir.path(), options).unwrap();
    wait_until(|| segments(dir.path()).len() == 2);
    assert_eq!(sequences(&items(&mut journal.reader(1))), (vec![2], vec![]));
}

#[test]
fn in_process_mode_a_written_record_is_soon_durable() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::Process, ..options() };
    let journal = Journal::open(dir.path(), options).unwrap();
    assert_eq!(journal.append(&payload(1)).wait(), Outcome::Written(1));
    let since = std::time::Instant::now();
    wait_until(|| journal.durable() == 1);
    // The machine may be busy; the clock's part is 50 ms.
    assert!(since.elapsed() < Duration::from_secs(5));
    for n in 2..=300 {
        assert_eq!(journal.append(&payload(n)).wait(), Outcome::Written(n));
    }
    drop(journal);
    assert_eq!(read(&open(dir.path())), ((1..=300).collect(), vec![]));
}

#[test]
fn the_status_tells_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    assert_eq!(journal.status().oldest, None);
    append(&journal, 1..=200);
    let status = journal.status();
    assert_eq!((status.written, status.durable, status.released), (200, 200, 0));
    assert!(status.syncs > 0 && status.sync_time >= status.last_sync);
    assert!(status.oldest.unwrap() < LONG);
    assert!(status.bytes >= 200 * 32);
    journal.release(200).unwrap();
    let after = journal.status();
    assert_eq!((after.oldest, after.released), (None, 200));
    assert!(after.bytes < status.bytes);
}

#[test]
fn what_can_be_inspected_from_outside_is_what_was_appended() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(verify(dir.path()), Err(OpenError::NoJournal(_))));
    let journal = open(dir.path());
    append(&journal, 1..=200);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.records, report.first_and_last), (200, Some((1, 200))));
    assert_eq!((report.id, report.damage, report.strange), (journal.id(), vec![], vec![]));
    let items: Vec<_> = dump(dir.path(), 150).unwrap().map(Result::unwrap).collect();
    assert_eq!(sequences(&items), ((151..=200).collect(), vec![]));
}
