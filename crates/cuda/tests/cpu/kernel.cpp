// The kernels, compiled for the CPU, as functions that launch them.
#include "shim.h"

// -DKERNEL='"..."' compiles a broken copy: see `mutants` of ci/cuda.
#ifndef KERNEL
#define KERNEL "../../kernel/nonfinite.cu"
#endif
#include KERNEL

#include "launch.h"

static_assert(sizeof(nf_tensor) == sizeof(Tensor) && sizeof(nf_scratch) == sizeof(Scratch));
static_assert(sizeof(nf_record) == sizeof(Record) && sizeof(nf_tally) == sizeof(Tally));

void launch_look(unsigned blocks, unsigned threads, const Look &look) {
    const auto kernel = [](const void *arguments) {
        const Look &look = *static_cast<const Look *>(arguments);
        nonfinite_look((const nf_tensor *)look.table, look.tensors, look.chunks,
                       (nf_scratch *)look.scratch, (nf_record *)look.record,
                       (nf_tally *)look.tallies);
    };
    launch(blocks, threads, kernel, &look);
}

void launch_one(unsigned blocks, unsigned threads, const One &one) {
    const auto kernel = [](const void *arguments) {
        const One &one = *static_cast<const One *>(arguments);
        nf_tensor own;
        __builtin_memcpy(&own, &one.tensor, sizeof own);
        nonfinite_one(own, one.chunks, (nf_tally *)one.tally);
    };
    launch(blocks, threads, kernel, &one);
}

void launch_rows(unsigned blocks, unsigned threads, const Rows &rows) {
    const auto kernel = [](const void *arguments) {
        const Rows &rows = *static_cast<const Rows *>(arguments);
        nonfinite_rows(rows.address, rows.rows, rows.columns, rows.stride, rows.format,
                       rows.refused, rows.flags);
    };
    launch(blocks, threads, kernel, &rows);
}

bool vector_is_hit(uint32_t format, uint32_t refused, const uint32_t *words) {
    const nf_rule rule = nf_rule_of(NF_FORMATS[format], refused);
    return nf_hits(rule, {words[0], words[1], words[2], words[3]}) != 0;
}
