//! Parsers of foreign bytes do not panic: the entries of the fuzz targets on their seeds, on the
//! committed corpus and on mutations of both.

use std::path::Path;

use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRng, TestRunner};

#[path = "../../fuzz/entries.rs"]
mod entries;

use entries::{ENTRIES, Entry};

/// Mutated inputs a parser; PROPTEST_CASES asks for more.
const CASES: u32 = 200;
/// Longest input mutated: longer seeds cost time and not insight.
const LONGEST: usize = 64 << 10;

/// Seeds and corpus of an entry.
fn inputs(entry: &Entry) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut inputs: Vec<Vec<u8>> =
        entry.seeds.iter().map(|seed| std::fs::read(root.join(seed)).unwrap()).collect();
    if let Ok(folder) = std::fs::read_dir(root.join("fuzz/corpus").join(entry.name)) {
        let mut paths: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
        paths.sort();
        inputs.extend(paths.iter().map(|path| std::fs::read(path).unwrap()));
    }
    assert!(!inputs.is_empty(), "{} has nothing to start from", entry.name);
    inputs
}

/// One change: what, where (as a fraction of the input) and with which value.
type Change = (u8, u32, u64);

fn change(data: &mut Vec<u8>, (kind, place, value): Change) {
    let at = ((u64::from(place) * (data.len() as u64 + 1)) >> 32) as usize;
    let bytes = value.to_le_bytes();
    let length = (value % 64) as usize;
    let until = (at + length).min(data.len());
    match kind % 8 {
        0 => data.truncate(at),
        1 => drop(data.drain(at..until)),
        2 => data.splice(at..at, bytes[..length % 8 + 1].iter().copied()).for_each(drop),
        3 => data[at..until].fill(0xff),
        4 => {
            let copy = data[at..until].to_vec();
            data.splice(at..at, copy).for_each(drop);
        }
        5 => data.iter_mut().skip(at).zip(bytes).for_each(|(old, new)| *old = new),
        6 => data.splice(at..at, std::iter::repeat_n(b'9', length)).for_each(drop),
        _ => data.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (value % 8)),
    }
}

#[test]
fn no_parser_panics_on_its_corpus_or_on_mutations_of_it() {
    // Proptest reads its own variables: with them the search is longer, or another one.
    let asked = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { CASES };
    let seed = match asked.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => 0,
    };
    for entry in &ENTRIES {
        let inputs = inputs(entry);
        inputs.iter().for_each(|input| entries::run(entry.name, input));
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let changes = proptest::collection::vec(any::<Change>(), 1..6);
        let strategy = (0..inputs.len(), changes).prop_map(|(input, changes)| {
            let mut data = inputs[input].clone();
            data.truncate(LONGEST);
            changes.into_iter().for_each(|one| change(&mut data, one));
            data
        });
        let run = |data: Vec<u8>| {
            (entry.run)(&data);
            Ok(())
        };
        if let Err(failure) = TestRunner::new_with_rng(config, rng).run(&strategy, run) {
            panic!("{}: {failure}", entry.name);
        }
    }
}
