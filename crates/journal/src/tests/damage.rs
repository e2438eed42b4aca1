use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use proptest::prelude::*;

use super::support::*;
use crate::*;

/// A journal of so many records, closed.
fn journal_of(dir: &Path, last: u64) {
    append(&open(dir), 1..=last);
}

fn overwrite(file: &Path, at: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(file).unwrap().write_all_at(bytes, at).unwrap();
}

fn first(file: &Path) -> u64 {
    file.file_stem().unwrap().to_str().unwrap().parse().unwrap()
}

#[test]
fn a_flipped_bit_costs_one_record() {
    let dir = tempfile::tempdir().unwrap();
    journal_of(dir.path(), 200);
    let file = segments(dir.path())[1].clone();
    let content = std::fs::read(&file).unwrap();
    let frame = format::FRAME + payload(first(&file)).len();
    let at = format::HEADER + 2 * frame;
    let lost = first(&file) + 2;
    // Any bit of the length, the checksum, the sequence or the payload.
    for bit in 0..frame * 8 {
        let byte = content[at + bit / 8] ^ (1 << (bit % 8));
        overwrite(&file, (at + bit / 8) as u64, &[byte]);
        let journal = open(dir.path());
        let all = items(&mut journal.reader(0));
        assert_complete(&all, 200);
        let (_, damage) = sequences(&all);
        assert_eq!(damage.len(), 1, "{bit}");
        assert_eq!(damage[0].missing, lost..lost + 1, "{bit}");
        assert_eq!(damage[0].bytes, at as u64..(at + frame) as u64, "{bit}");
        let kept = std::fs::read(damage[0].quarantine.as_ref().unwrap()).unwrap();
        assert_eq!(kept.len(), frame);
        // Read twice, counted once.
        assert_eq!(items(&mut journal.reader(0)), all);
        let status = journal.status();
        assert_eq!((status.damaged_places, status.damaged_records), (1, 1));
        drop(journal);
        std::fs::write(&file, &content).unwrap();
    }
}

#[test]
fn a_zeroed_page_costs_the_records_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { segment_bytes: 64 << 10, ..Options::default() };
    append(&Journal::open(dir.path(), options.clone()).unwrap(), 1..=1000);
    for file in segments(dir.path()) {
        overwrite(&file, 8192, &[0; 4096]);
        let journal = Journal::open(dir.path(), options.clone()).unwrap();
        let (read, damage) = read(&journal);
        assert_eq!(damage.len(), 1);
        let lost = damage[0].missing.end - damage[0].missing.start;
        assert!((4096 / 40..4096 / 30).contains(&lost), "{lost}");
        assert_eq!(read.len() as u64 + lost, 1000);
    }
}

#[test]
fn a_deleted_segment_costs_its_own_records() {
    for is_open in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        journal_of(dir.path(), 200);
        let files = segments(dir.path());
        let lost = first(&files[1])..first(&files[2]);
        let before = is_open.then(|| open(dir.path()));
        std::fs::remove_file(&files[1]).unwrap();
        let journal = before.unwrap_or_else(|| open(dir.path()));
        let all = items(&mut journal.reader(0));
        assert_complete(&all, 200);
        let (_, damage) = sequences(&all);
        assert_eq!(damage.len(), 1);
        assert_eq!(damage[0].missing, lost);
    }
}

#[test]
fn swapped_segments_cost_nothing() {
    let dir = tempfile::tempdir().unwrap();
    journal_of(dir.path(), 200);
    let files = segments(dir.path());
    for (a, b) in [(0, 1), (1, files.len() - 1)] {
        let other = dir.path().join("other");
        std::fs::rename(&files[a], &other).unwrap();
        std::fs::rename(&files[b], &files[a]).unwrap();
        std::fs::rename(&other, &files[b]).unwrap();
        assert_eq!(verify(dir.path()).unwrap().damage, vec![]);
        assert_eq!(read(&open(dir.path())), ((1..=200).collect(), vec![]));
        assert_eq!(segments(dir.path()), files);
    }
}

#[test]
fn damage_in_the_middle_of_the_newest_segment_is_kept_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    journal_of(dir.path(), 10);
    let file = segments(dir.path()).pop().unwrap();
    overwrite(&file, format::HEADER as u64 + 70, &[0xff; 10]);
    let journal = open(dir.path());
    append(&journal, 11..=12);
    let all = items(&mut journal.reader(0));
    assert_complete(&all, 12);
    assert_eq!(sequences(&all).1.len(), 1);
}

#[test]
fn a_reader_that_follows_finds_its_way_out_of_damage_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    append(&journal, 1..=3);
    let file = segments(dir.path()).pop().unwrap();
    let frame = (format::FRAME + payload(1).len()) as u64;
    overwrite(&file, format::HEADER as u64 + 2 * frame, &[0xff; 5]);
    let mut reader = journal.reader(0);
    let mut all = items(&mut reader);
    assert_complete(&all, 3);
    for n in 4..=200 {
        append(&journal, n..=n);
        all.extend(items(&mut reader));
    }
    assert_complete(&all, 200);
    assert_eq!(sequences(&all).1.len(), 1);
}

#[test]
fn a_frame_inside_a_payload_is_never_taken_for_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let mut fake = Vec::new();
    format::push_frame(&mut fake, b"forged");
    // A visitor knows the format, but not the id.
    format::stamp(&mut fake, 2, format::Checksum::new(JournalId([0; 16])));
    assert_eq!(journal.append(&fake).wait(), Outcome::Durable(1));
    append(&journal, 2..=3);
    overwrite(&segments(dir.path())[0], format::HEADER as u64, &[0xff]);
    let (read, damage) = read(&journal);
    assert_eq!(read, [2, 3]);
    assert_eq!(damage[0].missing, 1..2);
}

#[derive(Debug, Clone)]
enum Harm {
    Flip { file: prop::sample::Index, byte: prop::sample::Index, bit: u8 },
    Fill { file: prop::sample::Index, at: prop::sample::Index, n: usize, with: u8 },
    Truncate { file: prop::sample::Index, at: prop::sample::Index },
    Delete { file: prop::sample::Index },
    Swap { a: prop::sample::Index, b: prop::sample::Index },
    Duplicate { from: prop::sample::Index, to: prop::sample::Index },
}

fn harm() -> impl Strategy<Value = Harm> {
    let index = || any::<prop::sample::Index>();
    prop_oneof![
        (index(), index(), 0..8_u8).prop_map(|(file, byte, bit)| Harm::Flip { file, byte, bit }),
        (index(), index(), 1..3000_usize, prop_oneof![Just(0), any::<u8>()])
            .prop_map(|(file, at, n, with)| Harm::Fill { file, at, n, with }),
        (index(), index()).prop_map(|(file, at)| Harm::Truncate { file, at }),
        index().prop_map(|file| Harm::Delete { file }),
        (index(), index()).prop_map(|(a, b)| Harm::Swap { a, b }),
        (index(), index()).prop_map(|(from, to)| Harm::Duplicate { from, to }),
    ]
}

fn inflict(dir: &Path, harm: &Harm) {
    // Deleting the newest is another matter: nobody could know what it held.
    let files = segments(dir);
    let files = &files[..files.len() - 1];
    if files.is_empty() {
        return;
    }
    match harm {
        Harm::Flip { file, byte, bit } => {
            let file = file.get(files);
            let mut content = std::fs::read(file).unwrap();
            if !content.is_empty() {
                let at = byte.index(content.len());
                content[at] ^= 1 << bit;
                std::fs::write(file, content).unwrap();
            }
        }
        Harm::Fill { file, at, n, with } => {
            let file = file.get(files);
            let mut content = std::fs::read(file).unwrap();
            if !content.is_empty() {
                let at = at.index(content.len());
                let end = (at + n).min(content.len());
                content[at..end].fill(*with);
                std::fs::write(file, content).unwrap();
            }
        }
        Harm::Truncate { file, at } => {
            let file = file.get(files);
            let content = std::fs::read(file).unwrap();
            std::fs::write(file, &content[..at.index(content.len() + 1)]).unwrap();
        }
        Harm::Delete { file } => std::fs::remove_file(file.get(files)).unwrap(),
        Harm::Swap { a, b } => {
            let (a, b) = (a.get(files), b.get(files));
            let content = std::fs::read(a).unwrap();
            std::fs::copy(b, a).unwrap();
            std::fs::write(b, content).unwrap();
        }
        Harm::Duplicate { from, to } => {
            let content = std::fs::read(from.get(files)).unwrap();
            std::fs::write(to.get(files), content).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_to_older_segments_every_record_is_read_or_reported(
        harms in prop::collection::vec(harm(), 1..6)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let journal = open(dir.path());
        let tickets: Vec<_> = (1..=120).map(|n| journal.append(&payload(n))).collect();
        for (n, ticket) in (1..).zip(tickets) {
            prop_assert_eq!(ticket.wait(), Outcome::Durable(n));
        }
        drop(journal);
        for harm in &harms {
            inflict(dir.path(), harm);
        }
        verify(dir.path()).unwrap();
        let journal = open(dir.path());
        let all = items(&mut journal.reader(0));
        assert_complete(&all, 120);
        append(&journal, 121..=122);
        assert_eq!(sequences(&items(&mut journal.reader(120))), (vec![121, 122], vec![]));
    }

    #[test]
    fn whatever_bytes_the_newest_segment_holds_the_journal_opens_and_works(
        at in 0..2048_usize,
        bytes in prop::collection::vec(any::<u8>(), 0..2048),
        is_cut in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        journal_of(dir.path(), 20);
        let file = segments(dir.path()).pop().unwrap();
        let mut content = std::fs::read(&file).unwrap();
        content.truncate(at);
        content.extend(bytes);
        if !is_cut {
            content.resize(2048, 0);
        }
        std::fs::write(&file, content).unwrap();
        verify(dir.path()).unwrap();
        let journal = open(dir.path());
        let last = journal.durable();
        prop_assert!(last <= 20);
        append(&journal, last + 1..=last + 2);
        assert_complete(&items(&mut journal.reader(0)), last + 2);
    }
}
