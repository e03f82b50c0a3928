/*
 * Names the first tensor of a ggml graph that holds a NaN, for llama.cpp and other programs with
 * ggml: a callback for `cb_eval` of llama_context_params, or for
 * ggml_backend_sched_set_eval_callback.
 */
#ifndef NONFINITE_GGML_H
#define NONFINITE_GGML_H

#include <stdbool.h>
#include <stdint.h>

#include "ggml.h"
#include "nonfinite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to look for, and what was found. All zero but `predicate` before a graph is computed. */
struct nonfinite_ggml {
  /* What to look for: NF_IS_NAN, or NF_IS_NON_FINITE where no -Inf is expected. llama.cpp masks
   * attention with -Inf. */
  nf_predicate predicate;
  /* NF_OK, or why a tensor could not be checked. No tensor is checked after that. */
  nf_status status;
  /* Whether there is such an element. The other members describe its tensor. */
  bool found;
  /* The tensor's name, and the operation that computed it. */
  char name[GGML_MAX_NAME];
  enum ggml_op op;
  enum ggml_type type;
  /* The coordinate of the first such element, in the order of ggml: index[0] varies fastest. */
  int64_t index[GGML_MAX_DIMS];
};

/*
 * The callback. `user_data` leads to a struct nonfinite_ggml. Tensors of F64, F32, F16 and BF16 are
 * checked, with any strides; others are passed over. A tensor in the memory of another device is
 * copied first. After the first element that is found, no tensor is checked, and ggml computes the
 * graph to its end.
 */
bool nonfinite_ggml_eval(struct ggml_tensor *tensor, bool ask, void *user_data);

#ifdef __cplusplus
}
#endif

#endif
