#include "nonfinite_ggml.h"

#include <stdlib.h>
#include <string.h>

#include "ggml-backend.h"

/* The format of a type of ggml, and 0 if its elements are not floating-point numbers. */
static nf_format format_of(enum ggml_type type) {
  switch (type) {
    case GGML_TYPE_F64: return NF_FORMAT_F64;
    case GGML_TYPE_F32: return NF_FORMAT_F32;
    case GGML_TYPE_F16: return NF_FORMAT_F16;
    case GGML_TYPE_BF16: return NF_FORMAT_BF16;
    default: return 0;
  }
}

/* Looks for the element in `data`, which is laid out as the tensor. */
static nf_status look(struct nonfinite_ggml *self, const struct ggml_tensor *tensor,
                      const void *data) {
  size_t sizes[GGML_MAX_DIMS], coordinate[GGML_MAX_DIMS];
  ptrdiff_t strides[GGML_MAX_DIMS];
  const size_t bytes = ggml_type_size(tensor->type);
  /* ggml counts the dimensions from the innermost one. */
  for (int i = 0; i < GGML_MAX_DIMS; i++) {
    const int dimension = GGML_MAX_DIMS - 1 - i;
    if (tensor->nb[dimension] % bytes != 0 && tensor->ne[dimension] > 1) return NF_ERR_MISALIGNED;
    sizes[i] = (size_t)tensor->ne[dimension];
    strides[i] = (ptrdiff_t)(tensor->nb[dimension] / bytes);
  }
  const nf_view view = {.data = data,
                        .format = format_of(tensor->type),
                        .rank = GGML_MAX_DIMS,
                        .sizes = sizes,
                        .strides = strides};
  uint64_t first;
  const nf_status status = nf_view_first(&view, self->predicate, &first, coordinate);
  if (status != NF_OK || first == NF_NONE) return status;

  self->found = true;
  memcpy(self->name, tensor->name, sizeof self->name);
  self->op = tensor->op;
  self->type = tensor->type;
  for (int i = 0; i < GGML_MAX_DIMS; i++)
    self->index[i] = (int64_t)coordinate[GGML_MAX_DIMS - 1 - i];
  return NF_OK;
}

bool nonfinite_ggml_eval(struct ggml_tensor *tensor, bool ask, void *user_data) {
  struct nonfinite_ggml *self = user_data;
  /* ggml asks whether to show the tensor once it is computed. */
  if (ask) return !self->found && self->status == NF_OK && format_of(tensor->type) != 0;

  const ggml_backend_buffer_t buffer = tensor->view_src ? tensor->view_src->buffer : tensor->buffer;
  if (buffer == NULL || ggml_backend_buffer_is_host(buffer)) {
    self->status = look(self, tensor, tensor->data);
  } else {
    const size_t bytes = ggml_nbytes(tensor);
    void *copy = malloc(bytes > 0 ? bytes : 1);
    if (copy == NULL) {
      self->status = NF_ERR_INTERNAL; /* out of memory */
    } else {
      ggml_backend_tensor_get(tensor, copy, 0, bytes);
      self->status = look(self, tensor, copy);
      free(copy);
    }
  }
  /* After false, ggml would go on at the next split of the graph, with inputs that were not
   * computed. */
  return true;
}
