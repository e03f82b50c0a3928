//! Blocks that block expansion has inserted into a model.

use std::collections::BTreeMap;

use crate::lint::model::ReportedTensor;
use crate::lint::tensor_names::{is_output, layer};

/// The layers that block expansion (LLaMA-Pro) has inserted.
pub(super) struct Inserted<'a> {
    pub(super) named: BTreeMap<&'a str, &'a ReportedTensor>,
    /// The answers so far, by the beginning of the names of a layer.
    layers: BTreeMap<String, bool>,
}

impl<'a> Inserted<'a> {
    pub(super) fn new(tensors: &'a [ReportedTensor]) -> Self {
        let named = tensors.iter().map(|tensor| (tensor.name(), tensor)).collect();
        Self { named, layers: BTreeMap::new() }
    }

    /// Whether the zeros are an output projection of such a layer: everything else in the layer is
    /// equal to that of the layer before or behind.
    pub(super) fn has(&mut self, name: &str) -> bool {
        let Some((before, number, _)) = layer(name).filter(|_| is_output(name)) else {
            return false;
        };
        let named = &self.named;
        let is_zero = |tensor: &ReportedTensor| is_output(tensor.name()) && tensor.is_all_zero();
        *self.layers.entry(format!("{before}{number}.")).or_insert_with_key(|own| {
            [number.wrapping_sub(1), number.wrapping_add(1)].iter().any(|other| {
                let of_layer = named.range(own.as_str()..);
                let mut rests = of_layer
                    .map_while(|(name, tensor)| Some((name.strip_prefix(&**own)?, tensor)))
                    .filter(|(_, tensor)| !is_zero(tensor))
                    .peekable();
                rests.peek().is_some()
                    && rests.all(|(rest, tensor)| {
                        let other = named.get(format!("{before}{other}.{rest}").as_str());
                        other.is_some_and(|other| tensor.is_equal_to(other) == Some(true))
                    })
            })
        })
    }
}
