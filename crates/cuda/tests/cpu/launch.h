// The launches, and the memory that they share with the kernels, as a host sees it. The structures
// are written down again here: a change of the kernel's must be seen.
#ifndef NONFINITE_LAUNCH_H
#define NONFINITE_LAUNCH_H

#include <cstdint>

struct Tensor {
    uint64_t address, elements, chunk;
    uint32_t format, refused;
};

struct Scratch {
    uint64_t words[4];
};

struct Record {
    uint64_t steps, kinds, bad, step, place;
};

struct Tally {
    uint64_t count[3];
    uint64_t first[3];
};

// The arguments of the three kernels.
struct Look {
    const Tensor *table;
    uint32_t tensors;
    uint64_t chunks;
    Scratch *scratch;
    Record *record;
    Tally *tallies;
};
struct One {
    Tensor tensor;
    uint64_t chunks;
    Tally *tally;
};
struct Rows {
    uint64_t address, rows, columns, stride;
    uint32_t format, refused;
    uint8_t *flags;
};

extern "C" void launch_look(unsigned blocks, unsigned threads, const Look &look);
extern "C" void launch_one(unsigned blocks, unsigned threads, const One &one);
extern "C" void launch_rows(unsigned blocks, unsigned threads, const Rows &rows);

// Whether 16 bytes are looked at element by element.
bool vector_is_hit(uint32_t format, uint32_t refused, const uint32_t *words);

#endif
