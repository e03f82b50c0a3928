/*
 * The callback in graphs that ggml computes, beside the checks of ggml itself
 * (ggml_validate_row_data, which llama.cpp calls for --check-tensors) and of the C library. ggml's
 * check writes a line to stderr for each NaN.
 * `test time` prints times.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "nonfinite_ggml.h"

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

enum { COLUMNS = 37, ROWS = 5 };

/* x -> sqrt -> root -> (cast to `type`) -> cast -> transpose -> a copy: out */
static struct nonfinite_ggml compute(const float *values, enum ggml_type type,
                                     nf_predicate predicate, bool callback, float *out) {
  const struct ggml_init_params params = {.mem_size = 1 << 20, .no_alloc = true};
  struct ggml_context *context = ggml_init(params);
  struct ggml_tensor *x = ggml_new_tensor_2d(context, GGML_TYPE_F32, COLUMNS, ROWS);
  ggml_set_name(x, "x");
  ggml_set_input(x);
  struct ggml_tensor *root = ggml_set_name(ggml_sqrt(context, x), "root");
  struct ggml_tensor *cast = ggml_set_name(ggml_cast(context, root, type), "cast");
  struct ggml_tensor *turned = ggml_set_name(ggml_transpose(context, cast), "turned");
  struct ggml_tensor *last = ggml_new_tensor_2d(context, GGML_TYPE_F32, ROWS, COLUMNS);
  last = ggml_set_name(ggml_cpy(context, turned, last), "last");
  ggml_set_output(last);
  struct ggml_cgraph *graph = ggml_new_graph(context);
  ggml_build_forward_expand(graph, last);

  ggml_backend_t cpu = ggml_backend_cpu_init();
  ggml_backend_sched_t sched = ggml_backend_sched_new(&cpu, NULL, 1, 64, false, false);
  struct nonfinite_ggml found = {.predicate = predicate};
  if (callback) ggml_backend_sched_set_eval_callback(sched, nonfinite_ggml_eval, &found);
  CHECK(ggml_backend_sched_alloc_graph(sched, graph));
  ggml_backend_tensor_set(x, values, 0, ggml_nbytes(x));
  ggml_backend_tensor_memset(last, 0x55, 0, ggml_nbytes(last));
  ggml_backend_sched_graph_compute(sched, graph);
  ggml_backend_tensor_get(last, out, 0, ggml_nbytes(last));
  ggml_backend_sched_free(sched);
  ggml_backend_free(cpu);
  ggml_free(context);
  return found;
}

static void graphs(void) {
  const enum ggml_type types[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16};
  float values[COLUMNS * ROWS], out[COLUMNS * ROWS], untouched;
  memset(&untouched, 0x55, sizeof untouched);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    for (int j = 0; j < COLUMNS * ROWS; j++) values[j] = (float)j;
    struct nonfinite_ggml clean = compute(values, types[i], NF_IS_NON_FINITE, true, out);
    CHECK(clean.status == NF_OK && !clean.found);
    CHECK(ggml_validate_row_data(GGML_TYPE_F32, out, sizeof out));
    CHECK(out[0] == 0.0F && out[1] != untouched);

    /* The root of -1 is NaN. That tensor is named, although the NaN goes through to the end. */
    values[3 * COLUMNS + 11] = -1.0F;
    struct nonfinite_ggml nan = compute(values, types[i], NF_IS_NAN, true, out);
    CHECK(nan.status == NF_OK && nan.found && strcmp(nan.name, "root") == 0);
    CHECK(nan.op == GGML_OP_SQRT && nan.type == GGML_TYPE_F32);
    CHECK(nan.index[0] == 11 && nan.index[1] == 3 && nan.index[2] == 0 && nan.index[3] == 0);
    CHECK(isnan(out[11 * ROWS + 3]));
    /* The same without the callback. */
    compute(values, types[i], NF_IS_NAN, false, out);
    CHECK(isnan(out[11 * ROWS + 3]));
    CHECK(!ggml_validate_row_data(GGML_TYPE_F32, out, sizeof out));

    /* Too large for f16 alone, and no NaN. */
    values[3 * COLUMNS + 11] = 1e12F;
    struct nonfinite_ggml large = compute(values, types[i], NF_IS_NON_FINITE, true, out);
    CHECK(large.status == NF_OK && large.found == (types[i] == GGML_TYPE_F16));
    if (large.found) CHECK(strcmp(large.name, "cast") == 0 && large.type == GGML_TYPE_F16);
    CHECK(!compute(values, types[i], NF_IS_NAN, true, out).found);
  }
  /* A predicate that does not exist is an error, not a clean tensor. */
  CHECK(compute(values, GGML_TYPE_F32, 0, true, out).status == NF_ERR_PREDICATE);
}

/* The callback alone, for every 16-bit code, dense and as a view with strides. */
static void codes(void) {
  enum { COUNT = 1 << 16 };
  static uint16_t memory[COUNT];
  const struct ggml_init_params params = {.mem_size = 1 << 20, .no_alloc = true};
  struct ggml_context *context = ggml_init(params);
  const enum ggml_type types[] = {GGML_TYPE_F16, GGML_TYPE_BF16};
  for (int i = 0; i < 2; i++) {
    struct ggml_tensor *x = ggml_new_tensor_2d(context, types[i], 8, 4);
    struct ggml_tensor *turned = ggml_transpose(context, x);
    x->data = turned->data = memory;
    for (int code = 0; code < COUNT; code++) {
      memset(memory, 0, 32 * sizeof *memory);
      memory[2 * 8 + 5] = (uint16_t)code;
      const bool bad = !ggml_validate_row_data(types[i], memory, 32 * sizeof *memory);
      struct nonfinite_ggml found = {.predicate = NF_IS_NON_FINITE};
      CHECK(nonfinite_ggml_eval(x, true, &found));
      CHECK(nonfinite_ggml_eval(x, false, &found) && found.found == bad);
      CHECK(nonfinite_ggml_eval(x, true, &found) == !bad);
      CHECK(!bad || (found.index[0] == 5 && found.index[1] == 2));
      found = (struct nonfinite_ggml){.predicate = NF_IS_NON_FINITE};
      CHECK(nonfinite_ggml_eval(turned, false, &found) && found.found == bad);
      CHECK(!bad || (found.index[0] == 2 && found.index[1] == 5));
    }
  }
  struct nonfinite_ggml found = {.predicate = NF_IS_NAN};
  CHECK(!nonfinite_ggml_eval(ggml_new_tensor_1d(context, GGML_TYPE_I32, 1), true, &found));
  CHECK(!nonfinite_ggml_eval(ggml_new_tensor_1d(context, GGML_TYPE_Q8_0, 32), true, &found));
  ggml_free(context);
}

static int order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Medians of 101 calls, in turns, of 1 Mi finite elements. */
static void times(enum ggml_type type) {
  enum { COUNT = 1 << 20, RUNS = 101 };
  const struct ggml_init_params params = {.mem_size = 1 << 20, .no_alloc = true};
  struct ggml_context *context = ggml_init(params);
  struct ggml_tensor *x = ggml_new_tensor_1d(context, type, COUNT);
  x->data = malloc(ggml_nbytes(x));
  CHECK(x->data != NULL);
  memset(x->data, 0x11, ggml_nbytes(x)); /* finite in each format */
  double micros[2][RUNS];
  for (int run = 0; run < RUNS; run++) {
    for (int side = 0; side < 2; side++) {
      struct nonfinite_ggml found = {.predicate = NF_IS_NON_FINITE};
      struct timespec begin, end;
      clock_gettime(CLOCK_MONOTONIC, &begin);
      if (side == 0) CHECK(nonfinite_ggml_eval(x, false, &found));
      if (side == 1) CHECK(ggml_validate_row_data(type, x->data, ggml_nbytes(x)));
      clock_gettime(CLOCK_MONOTONIC, &end);
      micros[side][run] =
          (double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
    }
  }
  for (int side = 0; side < 2; side++) qsort(micros[side], RUNS, sizeof(double), order);
  printf("| %s | %.1f | %.1f |\n", ggml_type_name(type), micros[0][RUNS / 2], micros[1][RUNS / 2]);
  free(x->data);
  ggml_free(context);
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "time") == 0) {
    times(GGML_TYPE_F32);
    times(GGML_TYPE_F16);
    times(GGML_TYPE_BF16);
    return 0;
  }
  graphs();
  codes();
  printf("ggml %s: passed\n", ggml_version());
  return 0;
}
