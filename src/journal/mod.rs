//! What was tried and what came of it.

use std::{collections::HashMap, io};

use crate::oracle::Verdict;

/// The content of a candidate: BLAKE3 of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

/// What came of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The verdict.
    pub verdict: Verdict,
    /// Wall time of the run, in seconds.
    pub seconds: f64,
}

/// All records of one reduction.
#[derive(Default)]
pub struct Journal {
    records: HashMap<Key, Record>,
}

impl Journal {
    /// A journal that is forgotten at the end.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// What came of a candidate.
    pub fn get(&self, key: &Key) -> Option<&Record> {
        self.records.get(key)
    }

    /// Records what came of a candidate.
    pub fn put(&mut self, key: Key, record: Record) -> io::Result<()> {
        self.records.insert(key, record);
        Ok(())
    }
}
