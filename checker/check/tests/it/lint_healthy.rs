//! Lint of what healthy files hold beside weights, or in place of them: masks, tables, counters,
//! moments, adapters, codebooks, and what was pruned. Nothing in them is an error. The same numbers
//! in an ordinary weight are.

use nonfinite_check::lint::Severity;

use crate::lint_model::{assert_lint, file, lint_files, model, tensors};
use crate::write::safetensors_text;

const F16: &str = r#"{"torch_dtype": "float16"}"#;

/// The parts of a name, of which each is a layout: before, between and behind the braces.
fn names(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (words, behind) = rest.split_once('}').expect(pattern);
    let words = words.split(' ');
    words.flat_map(|word| names(&format!("{before}{word}{behind}"))).collect()
}

/// In each line names, dtypes, shapes and elements of one tensor. `@` is the number of a layer: the
/// last of three has these elements, the others have ones.
const LAYOUTS: &str = "
# Masks
h.@.attn.{attn_mask causal_mask mask masked_bias causal_bias attn_bias} F32 1,1,2,2 0,-inf,0,0
h.@.attn.{attn_mask masked_bias causal_bias bias} F32 1,1,2,2 0,-3.4028235e38,0,0
{tgt_mask src_mask pad.mask buffered_future_mask} F32 2,2 0,-inf,-0,0
{tgt_mask window_mask relative} F32 2,2 0,-65504,-0,0
h.@.attn.{masked_bias mask_value} F32 - {-inf -1e9 -10000 -3.4028235e38}
h.@.attn.bias F32 1,1,2,2 0,{-1e9 -1e5 -1e30},0,0
{alibi attn.alibi} F32 2,3 -inf,-2,-1,-inf,-4,-2
h.@.attn.{attn_mask bias} BF16 1,1,2,2 0,{-inf -3.3895314e38},0,0
# Tables, statistics, counters, bounds
{rope_freqs.weight rope_factors_long.weight rope_factors_short.weight freqs freqs_cis} F32 4 1e30
h.@.rotary_emb.{inv_freq original_inv_freq cos_cached sin_cached} F32 4 1e35
{sigmas betas alphas_cumprod sqrt_recip_alphas_cumprod timesteps} F32 4 1e6
bn.@.{num_batches_tracked running_var running_mean} F32 - 131072
vq.{cluster_size usage_count} F32 8 131072
{global_step n_seen iteration t ema.num_updates tokens_seen} F32 1 131072
h.@.observer.{min_val max_val} F32 - {inf -inf}
{callbacks.checkpoint.best_model_score scheduler.best} F32 - inf
# Moments of a layer without a gradient
state.@.{exp_avg exp_avg_sq max_exp_avg_sq momentum_buffer square_avg sum acc_delta} F32 2,2 0
state.@.{exp_inf step_size prev grad_avg row_var col_var state1 exp_avg_sq_row mu} F32 2,2 0
optimizer.state.@.{exp_avg exp_avg_sq max_exp_avg_sq momentum_buffer} F32 2,2 0
optimizer.state.layers.@.q_proj.weight.{exp_avg exp_avg_sq} F32 2,2 0
optimizer_states.0.state.@.{exp_avg exp_avg_sq} F32 2,2 0
optimizer_state_dict.base_optimizer_state.state.@.{exp_avg exp_avg_sq} F32 2,2 0
{exp_avg exp_avg_sq}.layers.@.q_proj.weight F32 2,2 0
layers.@.q_proj.weight.{exp_avg momentum} F32 2,2 {0 1e8}
h.@.attn.mask F32 2,2 {1e9 0}
opt_state.0.{mu nu}.layers.@.kernel F32 2,2 0
state.@.exp_avg.{scale absmax qmap weight_scale codes} F32 4 0
# Adapters, and codebooks that nobody used
base_model.model.h.@.q_proj.{oft_R oft_r boft_R lora_E lora_embedding_A}.weight F32 2,2 0
base_model.model.h.@.q_proj.{hada_w2_a lokr_w1 hra_u bone_block miss_block} F32 2,2 0
base_model.model.h.@.q_proj.{fourierft_spectrum vera_lambda_b c3a_kernel shira_weight} F32 2,2 0
{lora_unet_@_oft_blocks unet.@.control.weight h.@.zero_conv.weight h.@.adapter_up.weight} F32 2,2 0
quantizer.layers.@.codebook.{embed embed_avg embed_sum weight} F32 2,2 0
{rvq.codebooks.@ vector_quantizer.@.embed.weight vq.layers.@.embed} F32 2,2 0
# Biases and gains of zeros
h.@.{mlp.bias attn.relative_position_bias_table ln.bias gamma} F32 2 0";

#[test]
fn no_errors() {
    let lines = LAYOUTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<_> = lines.flat_map(names).collect();
    assert!(lines.len() > 130, "{}", lines.len());
    for line in lines {
        let (head, _) = line.rsplit_once(' ').expect(&line);
        let mut model = tensors("lm_head.weight F32 2,2 1");
        for layer in ["0", "1"].iter().filter(|_| line.contains('@')) {
            model.extend(tensors(&format!("{head} 1").replace('@', layer)));
        }
        model.extend(tensors(&line.replace('@', "2")));
        for config in ["{}", F16] {
            let files = vec![("config.json", config.into()), ("x.safetensors", file(&model))];
            let mut found = lint_files(&files);
            found.retain(|found| found.severity > Severity::Note);
            assert_eq!(found, [], "{config} {line}");
        }
    }
}

/// What is no error beside weights is one in them, and a NaN is one everywhere.
#[test]
fn the_same_in_weights() {
    let layers = |one: &str| format!("h.0.q.weight F32 2,2 1\nh.1.q.weight F32 2,2 {one}");
    for (config, lines, expected) in [
        ("{}", &*layers("0,-inf,0,0"), "error[nonfinite] h.1.q.weight [0, 1]"),
        ("{}", &layers("0,-3.4028235e38,0,0"), "error[magnitude] h.1.q.weight [0, 1]"),
        ("{}", &layers("1,1,1e31,1"), "error[magnitude] h.1.q.weight [1, 0]"),
        (F16, &layers("1,1,131072,1"), "error[magnitude] h.1.q.weight [1, 0]"),
        ("{}", &layers("0"), "error[all-zero] h.1.q.weight"),
        ("{}", &layers("0").replace("q.", "lora_A."), "error[all-zero] h.1.lora_A.weight"),
        ("{}", "attn_mask F32 2 0,NaN", "error[nonfinite] attn_mask [1]"),
        ("{}", "attn_mask F32 2 0,inf", "error[nonfinite] attn_mask [1]"),
        ("{}", "running_var F32 2 1,inf", "error[nonfinite] running_var [1]"),
        ("{}", "inv_freq F32 2 1,NaN", "error[nonfinite] inv_freq [1]"),
        ("{}", "logit_scale F32 1 inf", "error[nonfinite] logit_scale [0]"),
        ("{}", "state.0.exp_avg F32 2 1,inf", "error[nonfinite] state.0.exp_avg [1]"),
        ("{}", "q.bias F32 2 0,-inf", "error[nonfinite] q.bias [1]"),
        (
            "{}",
            "mask_decoder.q.weight F32 1,1 1e31",
            "error[magnitude] mask_decoder.q.weight [0, 0]",
        ),
        ("{}", "base_model.lm_head.weight F32 2,2 0", "error[all-zero] base_model.lm_head.weight"),
        // An expert with some of its matrices has lost the others, and a pruned expert has none.
        (
            "{}",
            "experts.0.w1.weight F32 1,2 1\nexperts.1.w1.weight F32 1,2 0
            experts.0.w2.weight F32 1,2 1\nexperts.1.w2.weight F32 1,2 1",
            "warning[all-zero] experts.1.w1.weight",
        ),
        (
            "{}",
            "experts.0.w1.weight F32 1,2 1\nexperts.1.w1.weight F32 1,2 0
            experts.0.w2.weight F32 1,2 1\nexperts.1.w2.weight F32 1,2 0",
            "note[all-zero] experts.1.w1.weight\nnote[all-zero] experts.1.w2.weight",
        ),
    ] {
        assert_lint(&model(config, &tensors(lines)), expected);
    }
    // Words of buffers, masks and optimizers in the names of ordinary weights.
    for name in names("{state momentum_encoder.q count rope mask}.@.weight")
        .into_iter()
        .chain(names("h.@.{count_embed window/kernel mask_token step_proj num size_table}"))
    {
        let [first, second] = ["0", "1"].map(|layer| name.replace('@', layer));
        let lines = |numbers| format!("{first} F32 2,2 1\n{second} F32 2,2 {numbers}");
        assert_lint(&model("{}", &tensors(&lines("0"))), &format!("error[all-zero] {second}"));
        let large = format!("error[nonfinite] {second} [0, 1]");
        assert_lint(&model("{}", &tensors(&lines("1,-inf,1,1"))), &large);
        if !name.ends_with("num") && !name.ends_with("table") {
            assert_lint(&model("{}", &tensors(&lines("0,-inf,-inf,0"))), &large);
        }
    }
}

/// A hole in a file has whole pages. So may have rows of pruned neurons, columns of pruned heads,
/// and blocks on a diagonal.
#[test]
fn pages_of_zeros() {
    type IsZero = fn(usize, usize) -> bool;
    let cases: [(IsZero, &str); 6] = [
        (|row, _| (3..9).contains(&row), ""),
        (|row, at| row / 32 != at / 2048, ""),
        (|_, at| (1024..2048).contains(&at), ""),
        (|row, at| row >= 8 && (1024..2048).contains(&at), ""),
        (|row, at| row == 7 && (1024..3072).contains(&at), "warning[zero-run] w [7, 1024]"),
        (|row, at| (5120..12288).contains(&(4096 * row + at)), "warning[zero-run] w [1, 1024]"),
    ];
    for (is_zero, expected) in cases {
        let number = |place: usize| f32::from(u8::from(!is_zero(place / 4096, place % 4096)));
        let data: Vec<u8> = (0..64 * 4096).flat_map(|place| number(place).to_le_bytes()).collect();
        let header = r#"{"w":{"dtype":"F32","shape":[64,4096],"data_offsets":[0,1048576]}}"#;
        // The data begins with the second page of the file.
        let file = safetensors_text(&format!("{header:4088}"), &data);
        assert_lint(&vec![("x.safetensors", file)], expected);
    }
}
