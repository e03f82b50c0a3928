//! The lint of models: quantised checkpoints that load without a word and compute garbage.
//!
//! A [`Linter`] checks the files of a model, as [`check_file`](crate::check_file) does, and keeps
//! what rules need: names, dtypes, shapes and statistics. [`Linter::findings`] applies the rules
//! ([`RULES`]) to each folder. All bytes are read once, except those of scales and blocks that seem
//! wrong.
//!
//! ```
//! use nonfinite_check::lint::Linter;
//! use nonfinite_check::Options;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("lint-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("model.safetensors");
//! // Weights of fp8 and their scale, which is NaN.
//! let header = r#"{"a.weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},
//!     "a.weight_scale":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
//! let data = [&[0x38; 4][..], &f32::NAN.to_le_bytes()].concat();
//! let length = (header.len() as u64).to_le_bytes();
//! std::fs::write(&path, [&length[..], header.as_bytes(), &data].concat())?;
//!
//! let mut linter = Linter::new(Options::default());
//! linter.check(&path)?;
//! let findings = linter.findings();
//! assert_eq!(findings.len(), 1);
//! assert_eq!(findings[0].rule.id, "scale-nonfinite");
//! assert_eq!(findings[0].tensor.as_deref(), Some("a.weight_scale"));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! Each module uses only those above it. `ci/layers` reads this list and checks it:
//!
//! 1. `finding`: a [`Finding`], and the table of rules;
//! 2. `suppression`, `evidence` and `document`: what is meant to be there, links, and JSON;
//! 3. `tensor_names` and `module_names`: those of files, and those of a configuration;
//! 4. `sizes` and `config`: what the configuration says;
//! 5. `layouts`: the layouts of quantised matrices;
//! 6. `model`: the tensors and matrices of a model;
//! 7. `purpose`: what a tensor is to its model;
//! 8. `rules`: what must hold.

mod config;
mod document;
mod evidence;
mod finding;
mod layouts;
mod model;
mod module_names;
mod purpose;
mod rules;
mod sizes;
mod suppression;
mod tensor_names;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use document::document;
use finding::{CONFIG_UNREADABLE, COUNT};
pub use finding::{Finding, RULES, Rule, Severity, rule};
pub use suppression::{Suppression, SuppressionError};

use crate::check::{report, tally};
use crate::formats::onnx::Quantised;
use crate::input::{open, opened, url};
use crate::model::reader::Contents;
use crate::model::{Content, Error, FileFormat, ReadAt, Tensor};
use crate::options::Options;
use crate::places::Places;
use crate::remote;
use crate::report::Report;
use crate::scan::{ByteKind, ByteTally, TensorTallies, places};
use crate::work::{self, Plan, Tallies};
use config::Config;
use layouts::Role;
use model::{Model, ReportedTensor};
use sizes::Sizes;

/// The configuration files of a model.
const CONFIGS: [&str; 5] = [
    "config.json",
    "hf_quant_config.json",
    "quantize_config.json",
    "quant_config.json",
    "adapter_config.json",
];

/// Checks the files of models, and applies the rules.
pub struct Linter {
    options: Options,
    /// By folder. Files that have a tensor of one name, such as variants, are of several models.
    models: BTreeMap<PathBuf, Vec<Model>>,
}

impl std::fmt::Debug for Linter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Linter").field("folders", &self.models.keys()).finish_non_exhaustive()
    }
}

impl Linter {
    /// No file was checked yet. The options are those of the check; statistics are always measured.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options: Options { stats: true, ..options }, models: BTreeMap::new() }
    }

    /// Checks a file, by its path or URL, and keeps what rules need. The configuration is read from
    /// the folder of the file.
    ///
    /// # Errors
    /// [`Error`] if it is not a whole, valid file of a known format.
    pub fn check(&mut self, path: &Path) -> Result<Report, Error> {
        let file = self.open(path)?;
        let tallies = tally(&*file.source, &file.contents, &file.kinds, &self.options)?;
        let options = self.options.clone();
        self.keep(path, file, tallies, &options)
    }

    /// As [`Linter::check`], without the numbers: only names, dtypes, shapes and the configuration
    /// are looked at. Of a URL, only the header and the configuration are fetched. The report has
    /// the tensors, and nothing of their numbers.
    ///
    /// # Errors
    /// Those of [`Linter::check`].
    pub fn check_header(&mut self, path: &Path) -> Result<Report, Error> {
        let mut file = self.open(path)?;
        let tallies = TensorTallies::unseen(&file.contents.tensors);
        // Rules that look at bytes find none.
        file.source = Arc::new(&[][..]);
        let options = self.options.clone();
        self.keep(path, file, tallies, &options)
    }

    /// Reads the header of a file and cuts its data into pieces of at most `most` bytes, without
    /// reading the data. Elements, blocks and parts of tables stay whole. Data that has to be
    /// decoded as a stream is one piece for each tensor. The pieces show lint what it needs.
    ///
    /// The stored members of an archive have checksums. Each member is cut into pieces for its
    /// checksum, so bytes of numbers in it are in two pieces.
    ///
    /// # Errors
    /// [`work::Error::Check`] if the file is not a whole, valid file of a known format, and
    /// [`work::Error::NoPath`] unless all paths are UTF-8.
    pub fn plan(&mut self, file: &str, most: NonZeroUsize) -> Result<Plan, work::Error> {
        let File { source, format, contents, kinds, .. } = self.open(Path::new(file))?;
        Plan::new(&*source, format, &contents, &kinds, most, &self.options)
    }

    /// As [`Linter::check`], with the tallies of the pieces of a plan of [`Linter::plan`]. Reads
    /// the header of the file again. The report has no places: [`Linter::places`] finds them.
    ///
    /// # Errors
    /// [`work::Error::NotOnce`] unless every part of every tensor and checksum is there once, and
    /// [`work::Error::Check`] if a checksum is wrong or the file has changed.
    pub fn merge(
        &mut self,
        plan: &Plan,
        tallies: impl IntoIterator<Item = Tallies>,
    ) -> Result<Report, work::Error> {
        let (file, tallies) = self.tallied(plan, tallies)?;
        let options = Options { places: false, draw: false, ..self.options.clone() };
        Ok(self.keep(Path::new(plan.file()), file, tallies, &options)?)
    }

    /// The places in bad tensors, as the options ask for them, for
    /// [`Report::add_places`] of the report of [`Linter::merge`]. Reads these tensors again.
    ///
    /// # Errors
    /// Those of [`Linter::merge`].
    pub fn places(
        &mut self,
        plan: &Plan,
        tallies: impl IntoIterator<Item = Tallies>,
    ) -> Result<BTreeMap<usize, Places>, work::Error> {
        let (file, tallies) = self.tallied(plan, tallies)?;
        Ok(places(&*file.source, &file.contents.tensors, &tallies, &self.options)?)
    }

    /// The file of a plan, and its tallies.
    fn tallied(
        &mut self,
        plan: &Plan,
        tallies: impl IntoIterator<Item = Tallies>,
    ) -> Result<(File, TensorTallies), work::Error> {
        let (tallies, damaged) = work::tensor_tallies(plan, tallies)?;
        let file = self.open(Path::new(plan.file()))?;
        if !plan.is_of(&file.contents.tensors) {
            return Err(Error::Changed(plan.file().to_owned()).into());
        }
        let tallies = TensorTallies::new(&file.contents.tensors, tallies, damaged);
        Ok((file, tallies))
    }

    /// Opens a file, and finds out what its tensors are to lint.
    fn open(&mut self, path: &Path) -> Result<File, Error> {
        let options = &self.options;
        let (source, format, mut contents) = opened(path, options)?;
        let folder = folder(path);
        let loaded = || vec![loaded(&folder, options)];
        let models = self.models.entry(folder.clone()).or_insert_with(loaded);
        // The reader took the model, so its nodes are well-formed.
        let onnx =
            (format == FileFormat::ONNX).then(|| Quantised::of(&*source).unwrap_or_default());
        let mut kinds = kinds(&mut contents.tensors, &models[0].config);
        for (kind, tensor) in kinds.iter_mut().zip(&contents.tensors) {
            if *kind == ByteKind::Other && is_in(onnx.as_ref(), |onnx| &onnx.codes, tensor) {
                *kind = ByteKind::Codes;
            }
        }
        Ok(File { folder, source, format, contents, kinds, onnx })
    }

    /// Makes the report on a file, and keeps what rules need.
    fn keep(
        &mut self,
        path: &Path,
        file: File,
        mut tallies: TensorTallies,
        options: &Options,
    ) -> Result<Report, Error> {
        let File { folder, source, format, contents, onnx, .. } = file;
        let Contents { tensors, counts, .. } = contents;
        let report = report(&*source, format, &tensors, &mut tallies, options)?;
        let is_of_model = |tensor: &Tensor| {
            !matches!(tensor.content, Content::Damaged(_) | Content::Unreadable(_))
        };
        let models = self.models.entry(folder).or_default();
        let at = models.iter().position(|model| !model.has_any(&tensors));
        let at = at.unwrap_or(models.len());
        if at == models.len() {
            let config = models.first().map(|model| Arc::clone(&model.config));
            models.push(Model::new(config.unwrap_or_default(), Vec::new()));
        }
        let model = &mut models[at];
        if !counts.is_empty() {
            model.sizes = Some(Sizes::of_gguf(&counts));
        }
        if let Some((name, count)) = onnx.as_ref().and_then(|onnx| onnx.missing.as_ref()) {
            let why = format!(
                "nodes read names that no initializer, no input and no node makes ({count}; the \
                 first is {name:?}): runtimes refuse the model"
            );
            model.of_files.push((&COUNT, path.to_owned(), why));
        }
        model.note_shard(&path.to_string_lossy());
        model.names.extend(tensors.iter().filter_map(|tensor| tensor.name.clone()));
        let (of_file, unseen): (Arc<Path>, Arc<ByteTally>) = (path.into(), Arc::default());
        let reported = tensors.into_iter().zip(&report.tensors).enumerate();
        let reported = reported.filter(|(_, (tensor, _))| is_of_model(tensor));
        model.tensors.extend(reported.map(|(index, (described, report))| {
            let of_blocks = is_in(onnx.as_ref(), |onnx| &onnx.of_blocks, &described);
            ReportedTensor {
                file: Arc::clone(report.file.as_ref().unwrap_or(&of_file)),
                report: Arc::clone(report),
                source: Arc::clone(&source),
                is_of_onnx: format == FileFormat::ONNX,
                onnx_scale: is_in(onnx.as_ref(), |onnx| &onnx.scales, &described)
                    .then_some(of_blocks),
                described,
                byte_tally: tallies.bytes.remove(&index).unwrap_or_else(|| Arc::clone(&unseen)),
            }
        }));
        Ok(report)
    }

    /// The findings in all files, by folder, the worst first.
    #[must_use]
    pub fn findings(self) -> Vec<Finding> {
        let mut all = Vec::new();
        for mut models in self.models.into_values() {
            let wrong: Vec<_> = models.iter_mut().map(Model::arrange).collect();
            let (mut findings, mut names) = (Vec::new(), BTreeSet::new());
            for (model, wrong) in models.iter().zip(wrong) {
                findings.extend(rules::all(model, wrong, &mut names));
            }
            // A hostile model has many tensors, and so many findings.
            drop(names);
            drop(models);
            findings.sort_by(|a, b| {
                (b.severity, &a.file, &a.tensor).cmp(&(a.severity, &b.file, &b.tensor))
            });
            all.append(&mut findings);
        }
        all
    }
}

/// A file whose tensors were not scanned yet.
struct File {
    folder: PathBuf,
    source: Arc<dyn ReadAt>,
    format: FileFormat,
    contents: Contents,
    /// What each tensor is to lint.
    kinds: Vec<ByteKind>,
    /// Of an ONNX model.
    onnx: Option<Quantised>,
}

/// Whether a tensor is among those that an ONNX model names so.
fn is_in(
    onnx: Option<&Quantised>,
    names: fn(&Quantised) -> &BTreeSet<String>,
    tensor: &Tensor,
) -> bool {
    onnx.zip(tensor.name.as_deref()).is_some_and(|(onnx, name)| names(onnx).contains(name))
}

/// The folder of a path or URL.
fn folder(path: &Path) -> PathBuf {
    match url(path) {
        Some(url) => remote::beside(url, "").into(),
        None => path.parent().unwrap_or(Path::new("")).to_owned(),
    }
}

/// A model without tensors, with the configuration of a folder.
fn loaded(folder: &Path, options: &Options) -> Model {
    let (mut config, mut broken) = (Config::default(), Vec::new());
    for name in CONFIGS {
        let path = folder.join(name);
        let Some(text) = read(&path, options) else { continue };
        let added = text.and_then(|text| config.add(&text).map_err(io::Error::other));
        if let Err(error) = added {
            broken.push((&CONFIG_UNREADABLE, path, error.to_string()));
        }
    }
    Model::new(Arc::new(config), broken)
}

/// The bytes of a file of the configuration. None if there is none.
fn read(path: &Path, options: &Options) -> Option<io::Result<Vec<u8>>> {
    /// The longest file of a configuration.
    const MOST: u64 = 64 << 20;
    match open(path, options) {
        Ok(source) if source.length() > MOST => Some(Err(io::ErrorKind::FileTooLarge.into())),
        Ok(source) => {
            // At most that.
            let mut text = vec![0; source.length() as usize];
            Some(source.read_exact_at(&mut text, 0).map(|()| text))
        }
        Err(_) if url(path).is_some() => None,
        Err(Error::Io(error)) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(io::Error::other(error))),
    }
}

/// What each tensor is to lint. Gives scales that are stored as bytes their format.
fn kinds(tensors: &mut [Tensor], config: &Config) -> Vec<ByteKind> {
    let is_code = |tensor: &Tensor| {
        let is_weight = tensor.name.as_ref().is_some_and(|name| name.ends_with(".weight"));
        let is_integer = [1, 4].iter().any(|&bytes| layouts::is_integer(tensor, bytes));
        is_weight && is_integer && config.is_quantised()
    };
    let mut kinds: Vec<_> = tensors
        .iter()
        .map(|tensor| match tensor.content {
            Content::Floats { parts: 1, .. } => ByteKind::weights(tensor.elements()),
            Content::Blocks { .. } => ByteKind::Codes,
            // Their scales may be in another file.
            _ if is_code(tensor) => ByteKind::Codes,
            _ => ByteKind::Other,
        })
        .collect();
    let mut formats = Vec::new();
    let all: Vec<&Tensor> = tensors.iter().collect();
    for matrix in layouts::matrices(&all, config) {
        let format = || (matrix.layout.byte_scales)(&matrix.parts, &all, &matrix.scheme);
        for &(role, index) in matrix.parts.values() {
            let is_bytes = all[index].data.length() == all[index].elements();
            match role {
                Role::Codes if kinds[index] == ByteKind::Other => kinds[index] = ByteKind::Codes,
                Role::Scale if is_bytes => {
                    kinds[index] = ByteKind::ByteScales;
                    let is_raw = layouts::is_integer(all[index], 1);
                    formats.extend(format().filter(|_| is_raw).map(|format| (index, format)));
                }
                _ => {}
            }
        }
    }
    for (index, format) in formats {
        let order = crate::model::ByteOrder::NATIVE;
        tensors[index].content = Content::Floats { format, parts: 1, order };
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders() {
        for (path, of) in [
            ("https://host/a/x.safetensors?sign=a/b", "https://host/a/"),
            ("hf://owner/model/x.gguf", "hf://owner/model/"),
            ("a/x.gguf", "a"),
        ] {
            assert_eq!(folder(Path::new(path)), Path::new(of));
        }
    }
}
