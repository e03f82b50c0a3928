//! Names of tensors: the module, what the tensor is to the module, and the same module elsewhere.

/// A name in which every part that is a number is `*`: the name of the same tensor in all layers
/// and experts.
pub(super) fn of_all_layers(name: &str) -> String {
    starred(name, |_| true)
}

/// A name in which the number of the expert is `*`. None for a tensor of no single expert.
pub(super) fn of_all_experts(name: &str) -> Option<String> {
    let starred = starred(name, |before| before.ends_with("experts"));
    (starred != name).then_some(starred)
}

/// Replaces the parts that are numbers, if `replaces` holds for the part before.
fn starred(name: &str, replaces: impl Fn(&str) -> bool) -> String {
    let mut before = "";
    let parts = name.split('.').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let star = is_number && replaces(before);
        before = part;
        if star { "*" } else { part }
    });
    parts.collect::<Vec<_>>().join(".")
}

/// The last part of the name of a module: `down_proj` of `model.layers.0.mlp.down_proj`.
pub(super) fn last(module: &str) -> &str {
    module.rsplit('.').next().unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_starred() {
        let name = "model.layers.10.mlp.experts.3.w1.weight";
        assert_eq!(of_all_layers(name), "model.layers.*.mlp.experts.*.w1.weight");
        let experts = of_all_experts(name);
        assert_eq!(experts.as_deref(), Some("model.layers.10.mlp.experts.*.w1.weight"));
        assert_eq!(of_all_experts("model.layers.10.mlp.w1.weight"), None);
        assert_eq!(of_all_layers("conv1.weight"), "conv1.weight");
        assert_eq!(last("model.layers.0.mlp.down_proj"), "down_proj");
    }
}
