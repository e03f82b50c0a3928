//! The state file: the progress for each kind of patterns.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// How many blocks of each kind are done, and how many had a wrong answer. Kept in a file, if there
/// is one: its first line names the sweep, each other line has a kind, blocks done, blocks wrong.
pub(crate) struct State {
    file: Option<PathBuf>,
    what: String,
    kinds: BTreeMap<String, (u64, u64)>,
}

impl State {
    /// Reads the file, if it exists already. It must be about the same sweep.
    pub(crate) fn open(
        file: Option<PathBuf>,
        what: &str,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let mut state = Self { file, what: what.to_owned(), kinds: BTreeMap::new() };
        let Some(file) = state.file.as_ref().filter(|file| file.exists()) else { return Ok(state) };
        let text = fs::read_to_string(file)?;
        let mut lines = text.lines();
        if lines.next() != Some(what) {
            return Err(format!(
                "{} is the state of another sweep: remove it first",
                file.display()
            )
            .into());
        }
        for line in lines {
            let words: Vec<_> = line.split(' ').collect();
            let [kind, done, wrong] = words[..] else {
                return Err(format!("bad state: {line}").into());
            };
            state.kinds.insert(kind.to_owned(), (done.parse()?, wrong.parse()?));
        }
        Ok(state)
    }

    /// Blocks done and blocks wrong of a kind.
    pub(crate) fn progress(&self, kind: &str) -> (u64, u64) {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    /// Keeps the progress of a kind.
    pub(crate) fn note(&mut self, kind: &str, done: u64, wrong: u64) -> io::Result<()> {
        self.kinds.insert(kind.to_owned(), (done, wrong));
        let Some(file) = &self.file else { return Ok(()) };
        let mut text = format!("{}\n", self.what);
        self.kinds
            .iter()
            .for_each(|(kind, (done, wrong))| text += &format!("{kind} {done} {wrong}\n"));
        // In one step, so that a sweep that is killed leaves a whole file.
        let new = file.with_extension("new");
        fs::write(&new, text)?;
        fs::rename(new, file)
    }
}
