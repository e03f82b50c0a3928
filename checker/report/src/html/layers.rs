//! Tables with a column for each layer.
//!
//! The layer of a tensor is the first number in its name that is not at the end. Its kind is the
//! name with `*` for each number: `blk.7.attn_q.weight` is of layer 7 and of the kind
//! `blk.*.attn_q.weight`. Exporters to ONNX number what has no name, as in `onnx::MatMul_1234` and
//! `Conv_45.bias`; there the number of a layer stands alone between dots or slashes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The most columns. If there are more layers, several layers share a column.
const COLUMNS: usize = 256;

/// The layers of a table. Column 0 is for tensors without a layer.
pub(super) struct Layers {
    layers: Vec<u64>,
    /// Layers in a column.
    step: usize,
}

impl Layers {
    pub(super) fn new(layers: BTreeSet<u64>) -> Self {
        let step = layers.len().div_ceil(COLUMNS - 1).max(1);
        Self { layers: layers.into_iter().collect(), step }
    }

    pub(super) fn column(&self, layer: Option<u64>) -> usize {
        let at = layer.and_then(|layer| self.layers.binary_search(&layer).ok());
        at.map_or(0, |at| 1 + at / self.step)
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        1 + self.layers.len().div_ceil(self.step)
    }

    /// The beginning of a table, with the layers.
    pub(super) fn head(&self, label: &str, first: &str) -> String {
        let mut head = format!(
            "<div class=wide tabindex=0 role=region aria-label=\"{label}\">\
             <table class=matrix><thead><tr><th scope=col>{first}<th scope=col>no layer"
        );
        for some in self.layers.chunks(self.step) {
            // Writing to a string cannot fail.
            let _ = match some {
                [first, .., last] => write!(head, "<th scope=col>{first}-{last}"),
                [first] => write!(head, "<th scope=col>{first}"),
                [] => Ok(()),
            };
        }
        head + "<tbody>\n"
    }
}

/// A row with these cells, by column in ascending order. Other columns are empty.
pub(super) fn row(
    head: &str,
    cells: impl Iterator<Item = (usize, String)>,
    width: usize,
) -> String {
    let mut row = format!("<tr><th scope=row>{head}");
    let mut at = 0;
    let mut gap = |row: &mut String, to: usize, next: usize| {
        let _ = match to - at {
            0 => Ok(()),
            1 => write!(row, "<td>"),
            cells => write!(row, "<td colspan={cells}>"),
        };
        at = next;
    };
    for (column, cell) in cells {
        gap(&mut row, column, column + 1);
        row.push_str(&cell);
    }
    gap(&mut row, width, width);
    row.push('\n');
    row
}

/// The kind and the layer of a tensor, by its name. Digits are a number if no letter is adjacent.
/// In a file that `is_numbered`, a number is a layer only between dots or slashes.
pub(super) fn parse(name: Option<&str>, is_numbered: bool) -> (String, Option<u64>) {
    let Some(name) = name else { return ("(no name)".to_owned(), None) };
    let (mut kind, mut layer) = (String::new(), None);
    let mut rest = name;
    while !rest.is_empty() {
        let is_word = |char: char| char.is_alphanumeric();
        let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        match word.parse::<u64>() {
            Ok(number) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                let stands_alone = (kind.is_empty() || kind.ends_with(['.', '/']))
                    && behind.starts_with(['.', '/']);
                if !behind.is_empty() && (stands_alone || !is_numbered) {
                    layer = layer.or(Some(number));
                }
                kind.push('*');
            }
            _ => kind.push_str(word),
        }
        let end = behind.find(is_word).unwrap_or(behind.len());
        kind.push_str(&behind[..end]);
        rest = &behind[end..];
    }
    (kind, layer)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn layers_of_names() {
        for (name, is_numbered, kind, layer) in [
            ("blk.7.attn_q.weight", false, "blk.*.attn_q.weight", Some(7)),
            ("down_blocks_3_norm.1.bias", false, "down_blocks_*_norm.*.bias", Some(3)),
            ("arr_12", false, "arr_*", None),
            ("conv2d.w1", false, "conv2d.w1", None),
            ("/model/layers.12/mlp/Add_3_scale", true, "/model/layers.*/mlp/Add_*_scale", Some(12)),
            ("encoder.0.weight", true, "encoder.*.weight", Some(0)),
            ("onnx::MatMul_1234", true, "onnx::MatMul_*", None),
            ("Conv_45.bias", true, "Conv_*.bias", None),
            ("123", true, "*", None),
        ] {
            assert_eq!(parse(Some(name), is_numbered), (kind.to_owned(), layer), "{name}");
        }
    }
}
