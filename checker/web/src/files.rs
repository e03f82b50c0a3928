//! The files that JavaScript has.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use js_sys::{Function, Uint8Array};
use nonfinite_check::{Error, ReadAt, Reads};
use wasm_bindgen::{JsCast, JsValue};

/// The files of an instance. WebAssembly without shared memory has one thread.
#[derive(Default)]
pub(crate) struct Files {
    /// By the path. Values of JavaScript do not leave their thread, so sources name them by it.
    by_path: BTreeMap<String, (f64, Function)>,
    /// Parts of files that JavaScript has read ahead: the path, the first byte, and the bytes.
    ahead: Vec<(String, u64, Vec<u8>)>,
}

thread_local! {
    static FILES: RefCell<Files> = RefCell::default();
}

impl Files {
    pub(crate) fn with<T>(act: impl FnOnce(&mut Self) -> T) -> T {
        FILES.with_borrow_mut(act)
    }

    pub(crate) fn add(&mut self, path: &str, length: f64, read: Function) {
        self.by_path.insert(path.to_owned(), (length, read));
    }

    /// Begins a part that is read ahead.
    pub(crate) fn begin_ahead(&mut self, path: String, at: u64, length: usize) {
        self.ahead.push((path, at, Vec::with_capacity(length)));
    }

    /// Adds the next bytes of that part.
    pub(crate) fn extend_ahead(&mut self, bytes: &Uint8Array) {
        let Some((.., part)) = self.ahead.last_mut() else { return };
        let before = part.len();
        part.resize(before + bytes.length() as usize, 0);
        bytes.copy_to(&mut part[before..]);
    }

    /// Forgets these parts.
    pub(crate) fn end_ahead(&mut self) {
        self.ahead.clear();
    }

    /// Bytes that were read ahead. Returns whether all of them were.
    fn read_ahead(&self, path: &str, out: &mut [u8], at: u64) -> bool {
        let bytes = self.ahead.iter().find_map(|(of, start, bytes)| {
            let from = at.checked_sub(*start).filter(|_| of == path)?;
            bytes.get(usize::try_from(from).ok()?..)?.get(..out.len())
        });
        bytes.is_some_and(|bytes| {
            out.copy_from_slice(bytes);
            true
        })
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.by_path.keys().map(PathBuf::from).collect()
    }
}

/// Why a file that another one names cannot be opened.
const ABSENT: &str = "it is not among the files that were chosen";

/// Opens a file.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn ReadAt>, Error> {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    let name = parts.collect::<PathBuf>().to_string_lossy().into_owned();
    let length = Files::with(|files| files.by_path.get(&name).map(|(length, _)| *length));
    match length {
        None => Err(Error::Io(io::Error::new(io::ErrorKind::NotFound, ABSENT))),
        Some(0.0) => Err(Error::Empty),
        Some(length) => Ok(Arc::new(File { path: path.to_owned(), name, length: length as u64 })),
    }
}

/// A file that is read range by range.
#[derive(Debug)]
struct File {
    path: PathBuf,
    name: String,
    length: u64,
}

impl ReadAt for File {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        if Files::with(|files| files.read_ahead(&self.name, out, at)) {
            return Ok(());
        }
        let read = Files::with(|files| files.by_path.get(&self.name).map(|(_, read)| read.clone()));
        let read = read.ok_or(io::ErrorKind::NotFound)?;
        let [at, length] = [at, out.len() as u64].map(|number| JsValue::from_f64(number as f64));
        // An exception means that the file is gone or has changed since it was chosen.
        let bytes = read.call2(&JsValue::NULL, &at, &length).ok();
        let bytes = bytes.and_then(|bytes| bytes.dyn_into::<Uint8Array>().ok());
        let bytes = bytes.ok_or_else(|| {
            io::Error::other("the file has changed or is gone since it was chosen")
        })?;
        if bytes.length() as usize != out.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.copy_to(out);
        Ok(())
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    /// A read of a `Blob` goes through another process of the browser.
    fn reads(&self) -> Reads {
        Reads { step: 4 << 20, gap: 64 << 10, at_once: 1 }
    }
}
