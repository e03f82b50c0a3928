// Is it NaN, is it infinite? Three kernels that read tensors in device memory and write nothing to
// them. This file is CUDA C, HIP and, with ../tests/cpu/shim.h, C++. All tests are of integers.
//
// `nonfinite_look` looks at all tensors of a table in one launch, and writes the answer into a
// record at a fixed address. `nonfinite_one` looks at one tensor, and counts. `nonfinite_rows`
// writes one flag for each row of a matrix. None of them allocates, prints or waits for the host,
// so all may be captured in a graph.

#if defined(__HIPCC__) && !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#endif

typedef unsigned char nf_u8;
typedef unsigned short nf_u16;
typedef unsigned int nf_u32;
typedef unsigned long long nf_u64;

// Kinds of elements, as bits of a set. `NF_KINDS` kinds have a tally each.
enum { NF_NAN = 1, NF_POS_INF = 2, NF_NEG_INF = 4, NF_KINDS = 3 };

// One tensor. The host writes the table: ../src/table.rs and python/nonfinite/cuda.py.
struct nf_tensor {
    nf_u64 address;   // a multiple of the size of an element
    nf_u64 elements;  // at most 2^40
    nf_u64 chunk;     // how many chunks the tensors before this one have
    nf_u32 format;    // an index of NF_FORMATS
    nf_u32 refused;   // the kinds that are bad in this tensor
};

// What blocks tell each other, in device memory. The host sets all bytes to 0 once.
struct nf_scratch {
    nf_u64 first;  // the complement of the least place of this launch; 0: nothing bad
    nf_u64 steps;  // launches that ended
    nf_u64 bad;    // launches that found something
    nf_u32 kinds;  // bad kinds of this launch
    nf_u32 done;   // blocks of this launch that ended
};

// What the host reads, in pinned memory, in this order; the device writes in the opposite one. The
// host sets all bytes to 0 once. `kinds`, `step` and `place` are those of the first launch that
// found something, and then stay as they are.
struct nf_record {
    nf_u64 steps;  // launches that ended
    nf_u64 kinds;  // the bad kinds; 0 until a launch found something
    nf_u64 bad;    // launches that found something
    nf_u64 step;   // the number of the launch, from 0
    nf_u64 place;  // the number of the tensor << 40 | the index in the tensor
};

// Counts on request, one for each tensor. They add up until the host sets all bytes to 0.
struct nf_tally {
    nf_u64 count[NF_KINDS];
    nf_u64 first[NF_KINDS];  // the complement of the least index; 0: none
};

// Which codes of a format are NaN or infinite.
enum {
    NF_NEVER,      // none
    NF_IEEE,       // magnitudes above `code` are NaN, and `code` is infinity
    NF_MAGNITUDE,  // the magnitude `code` is NaN
    NF_CODE        // `code` is NaN
};
struct nf_format {
    nf_u32 size;  // bytes of an element
    nf_u32 special;
    nf_u64 code;
};

// In the order of `nonfinite::Format`.
__constant__ const nf_format NF_FORMATS[15] = {
    {2, NF_IEEE, 0x7C00},                // f16
    {2, NF_IEEE, 0x7F80},                // bf16
    {4, NF_IEEE, 0x7F800000},            // f32
    {8, NF_IEEE, 0x7FF0000000000000},    // f64
    {1, NF_MAGNITUDE, 0x7F},             // f8e4m3fn
    {1, NF_CODE, 0x80},                  // f8e4m3fnuz
    {1, NF_IEEE, 0x7C},                  // f8e5m2
    {1, NF_CODE, 0x80},                  // f8e5m2fnuz
    {1, NF_IEEE, 0x78},                  // f8e4m3
    {1, NF_IEEE, 0x70},                  // f8e3m4
    {1, NF_CODE, 0x80},                  // f8e4m3b11fnuz
    {1, NF_CODE, 0xFF},                  // f8e8m0fnu
    {1, NF_NEVER, 0},                    // f4e2m1fn, a byte for each element
    {1, NF_NEVER, 0},                    // f6e2m3fn
    {1, NF_NEVER, 0},                    // f6e3m2fn
};

// Bytes of a chunk, the share of a tensor that a block takes at once. The hosts know this number.
#define NF_CHUNK 65536u
#define NF_PLACE_BITS 40

// --- one element, exactly ---

static __device__ nf_u64 nf_element(nf_u64 address, nf_u32 size) {
    switch (size) {
        case 1: return *(const nf_u8 *)address;
        case 2: return *(const nf_u16 *)address;
        case 4: return *(const nf_u32 *)address;
        default: return *(const nf_u64 *)address;
    }
}

static __device__ nf_u32 nf_kind(const nf_format &format, nf_u64 bits) {
    const nf_u64 sign = 1ull << (8 * format.size - 1), magnitude = bits & (sign - 1);
    switch (format.special) {
        case NF_IEEE:
            if (magnitude < format.code) return 0;
            if (magnitude > format.code) return NF_NAN;
            return bits & sign ? NF_NEG_INF : NF_POS_INF;
        case NF_MAGNITUDE: return magnitude == format.code ? NF_NAN : 0;
        case NF_CODE: return bits == format.code ? NF_NAN : 0;
        default: return 0;
    }
}

// --- 16 bytes at once ---

// A test of all elements of a word of 32 bits. In each element, the sign of
//
//     ((x & mask) + add - (x >> shift & tilt)) & (x | keep)    where x = word ^ flip
//
// says whether the element is a hit. This is the rule of the CPU's kernels for several elements in
// one register: `(bits & mask) > least` is the sign of `(bits & mask) + (MAX - least)`, since both
// summands are positive. No sum carries into the next element. `tilt` takes one from elements with
// a sign: -Inf then stays below a bound that +Inf and every NaN exceed. With `keep` 0 an element
// is a hit only if its own sign is set: this finds the single code NaN of some formats of a byte.
struct nf_rule {
    nf_u32 flip, mask, add, shift, tilt, keep;
    nf_u32 signs;  // the signs of the elements of a word
    nf_u32 even;   // 0 for f64: only the upper word of an element is tested
};

// The rule for the refused kinds of a format that has some of them. Its hits are a superset:
// `nf_classify` looks at each hit exactly. They are the refused elements themselves, except for
// f64, and for sets of kinds that nobody uses, such as +Inf without NaN.
static __device__ nf_rule nf_rule_of(const nf_format &format, nf_u32 refused) {
    const nf_u32 width = format.size == 8 ? 4 : format.size;
    const nf_u32 ones = width == 1 ? 0x01010101u : width == 2 ? 0x00010001u : 1u;
    const nf_u32 sign = 1u << (8 * width - 1), max = sign - 1;
    nf_u32 flip = 0, mask = max, add = 1, tilt = 0, keep = ~0u;
    if (format.special == NF_CODE) {
        // x is all ones: its sign is set, and the other bits carry into the sign.
        flip = (nf_u32)format.code ^ 0xFFu;
        keep = 0;
    } else if (format.special == NF_IEEE) {
        const nf_u32 exponent = (nf_u32)(format.size == 8 ? format.code >> 32 : format.code);
        const bool one_infinity = refused == (NF_NAN | NF_POS_INF) ||
                                  refused == (NF_NAN | NF_NEG_INF);
        if (format.size == 8 || !(refused == NF_NAN || one_infinity)) {
            mask = exponent;
            add = sign - exponent;
        } else if (one_infinity) {
            add = sign - exponent;
            tilt = 1;
            flip = refused & NF_NEG_INF ? sign : 0;
        } else {
            add = max - exponent;
        }
    }
    nf_rule rule;
    rule.flip = flip * ones;
    rule.mask = mask * ones;
    rule.add = add * ones;
    rule.shift = 8 * width - 1;
    rule.tilt = tilt * ones;
    rule.keep = keep;
    rule.signs = sign * ones;
    rule.even = format.size == 8 ? 0 : ~0u;
    return rule;
}

static __device__ nf_u32 nf_word(const nf_rule &rule, nf_u32 word) {
    const nf_u32 x = word ^ rule.flip;
    return ((x & rule.mask) + rule.add - (x >> rule.shift & rule.tilt)) & (x | rule.keep);
}

// Not 0 if there is a hit among 16 bytes.
static __device__ nf_u32 nf_hits(const nf_rule &rule, uint4 v) {
    const nf_u32 even = nf_word(rule, v.x) | nf_word(rule, v.z);
    return ((even & rule.even) | nf_word(rule, v.y) | nf_word(rule, v.w)) & rule.signs;
}

// --- a tensor ---

// How a tensor is read: elements up to the first address that is a multiple of 16, vectors of 16
// bytes, the elements after the last vector. No byte outside the tensor is read.
struct nf_view {
    nf_format format;
    nf_rule rule;
    nf_u32 refused;
    nf_u32 head;  // elements before the vectors
    nf_u32 tail;  // elements after the vectors
    nf_u64 address, elements, vectors;
};

static __device__ nf_view nf_open(nf_u64 address, nf_u64 elements, nf_u32 format, nf_u32 refused) {
    nf_view view;
    view.format = NF_FORMATS[format];
    const nf_u32 has = view.format.special == NF_NEVER  ? 0
                       : view.format.special == NF_IEEE ? NF_NAN | NF_POS_INF | NF_NEG_INF
                                                        : NF_NAN;
    view.refused = refused & has;
    view.rule = nf_rule_of(view.format, view.refused);
    view.address = address;
    view.elements = view.refused ? elements : 0;
    const nf_u64 head = ((0 - address) & 15) / view.format.size;
    view.head = (nf_u32)(head < view.elements ? head : view.elements);
    const nf_u64 bytes = (view.elements - view.head) * view.format.size;
    view.vectors = bytes / 16;
    view.tail = (nf_u32)(bytes % 16) / view.format.size;
    return view;
}

// What one thread has seen of a tensor. `count` and `first` have a value where `kinds` has a bit.
struct nf_seen {
    nf_u32 kinds;
    nf_u64 count[NF_KINDS], first[NF_KINDS];
};

// Looks at some elements one by one. Not inlined, as this is rare.
static __device__ __noinline__ void nf_classify(const nf_view &view, nf_u64 index, nf_u32 elements,
                                                nf_seen &seen) {
    for (nf_u64 i = index; i < index + elements; i++) {
        const nf_u32 size = view.format.size;
        const nf_u32 kind = nf_kind(view.format, nf_element(view.address + i * size, size));
        for (nf_u32 k = 0; k < NF_KINDS; k++) {
            const nf_u32 bit = 1u << k;
            if (!(kind & view.refused & bit)) continue;
            if (!(seen.kinds & bit)) {
                seen.kinds |= bit;
                seen.count[k] = 0;
                seen.first[k] = i;
            }
            seen.count[k]++;
            // The elements after the vectors may come before some vectors.
            if (i < seen.first[k]) seen.first[k] = i;
        }
    }
}

static __device__ void nf_classify_vector(const nf_view &view, nf_u64 vector, nf_seen &seen) {
    const nf_u32 elements = 16 / view.format.size;
    nf_classify(view, view.head + vector * elements, elements, seen);
}

// The threads of a block look at the elements before and after the vectors.
static __device__ void nf_look_at_ends(const nf_view &view, nf_seen &seen) {
    for (nf_u32 i = threadIdx.x; i < view.head + view.tail; i += blockDim.x) {
        const nf_u64 tail = view.elements - view.tail + (i - view.head);
        nf_classify(view, i < view.head ? i : tail, 1, seen);
    }
}

// The threads of a block look at the vectors from `from` up to `to`.
static __device__ void nf_look_at_vectors(const nf_view &view, nf_u64 from, nf_u64 to,
                                          nf_seen &seen) {
    const uint4 *data = (const uint4 *)(view.address + view.head * view.format.size);
    const nf_rule rule = view.rule;
    const nf_u64 step = blockDim.x;
    nf_u64 i = from + threadIdx.x;
    // Four loads are under way at once.
    for (; i + 3 * step < to; i += 4 * step) {
        const uint4 a = __ldg(data + i), b = __ldg(data + i + step);
        const uint4 c = __ldg(data + i + 2 * step), d = __ldg(data + i + 3 * step);
        if (nf_hits(rule, a) | nf_hits(rule, b) | nf_hits(rule, c) | nf_hits(rule, d)) {
            for (nf_u32 j = 0; j < 4; j++) nf_classify_vector(view, i + j * step, seen);
        }
    }
    for (; i < to; i += step) {
        if (nf_hits(rule, __ldg(data + i))) nf_classify_vector(view, i, seen);
    }
}

// --- all tensors of a table ---

// A number that other threads may change meanwhile. It may be too low, as such numbers only rise.
#ifndef NF_PEEK
#define NF_PEEK(at) (*(const volatile nf_u64 *)(at))
#endif

static __device__ void nf_raise(nf_u64 *at, nf_u64 value) {
    // Most of the time another thread has written a higher number: no atomic operation then.
    if (NF_PEEK(at) < value) atomicMax(at, value);
}

static __device__ void nf_count(const nf_seen &seen, nf_tally *tally) {
    for (nf_u32 k = 0; k < NF_KINDS; k++) {
        if (!(seen.kinds >> k & 1)) continue;
        atomicAdd(&tally->count[k], seen.count[k]);
        nf_raise(&tally->first[k], ~seen.first[k]);
    }
}

static __device__ __noinline__ void nf_tell(nf_u32 tensor, const nf_seen &seen, nf_scratch *scratch,
                                            nf_tally *tallies) {
    if (tallies) nf_count(seen, tallies + tensor);
    nf_u64 least = ~0ull;
    for (nf_u32 k = 0; k < NF_KINDS; k++) {
        if ((seen.kinds >> k & 1) && seen.first[k] < least) least = seen.first[k];
    }
    atomicOr(&scratch->kinds, seen.kinds);
    nf_raise(&scratch->first, ~((nf_u64)tensor << NF_PLACE_BITS | least));
}

// One thread of each block comes here. The last one writes the record, and leaves the scratch
// ready for the next launch.
static __device__ void nf_end(nf_scratch *scratch, nf_record *record) {
    __threadfence();
    if (atomicAdd(&scratch->done, 1u) != gridDim.x - 1) return;
    __threadfence();
    const nf_u32 kinds = atomicExch(&scratch->kinds, 0u);
    const nf_u64 first = atomicExch(&scratch->first, 0ull);
    atomicExch(&scratch->done, 0u);
    volatile nf_record *out = record;
    if (kinds) {
        if (scratch->bad == 0) {
            out->step = scratch->steps;
            out->place = ~first;
            __threadfence_system();
            out->kinds = kinds;
        }
        scratch->bad++;
        out->bad = scratch->bad;
    }
    scratch->steps++;
    // A host that reads the new number of steps reads the rest as it is after this step.
    __threadfence_system();
    out->steps = scratch->steps;
}

// The first of `chunks` chunks that are those of a block. Each block takes chunks that follow one
// another, so any number of blocks will do.
static __device__ nf_u64 nf_first_chunk(nf_u64 chunks, nf_u64 block) {
    const nf_u64 share = chunks / gridDim.x, rest = chunks % gridDim.x;
    return block * share + (block < rest ? block : rest);
}

// The threads of a block look at the chunks of a tensor from `chunk` up to `end`.
static __device__ nf_seen nf_look_at(const nf_tensor &own, nf_u64 chunk, nf_u64 end) {
    const nf_view view = nf_open(own.address, own.elements, own.format, own.refused);
    const nf_u64 from = (chunk - own.chunk) * (NF_CHUNK / 16);
    const nf_u64 to = (end - own.chunk) * (NF_CHUNK / 16);
    nf_seen seen;
    seen.kinds = 0;
    if (chunk == own.chunk) nf_look_at_ends(view, seen);
    nf_look_at_vectors(view, from, to < view.vectors ? to : view.vectors, seen);
    return seen;
}

// Looks at `tensors` tensors of `chunks` chunks together. `tallies` may be null. One launch at a
// time may use a scratch and a record.
extern "C" __global__ void __launch_bounds__(256)
nonfinite_look(const nf_tensor *table, nf_u32 tensors, nf_u64 chunks, nf_scratch *scratch,
               nf_record *record, nf_tally *tallies) {
    nf_u64 chunk = nf_first_chunk(chunks, blockIdx.x);
    const nf_u64 stop = nf_first_chunk(chunks, blockIdx.x + 1);

    // The last tensor that begins at or before the first chunk of this block.
    nf_u32 tensor = 0;
    for (nf_u32 after = tensors; after - tensor > 1 && chunk < stop;) {
        const nf_u32 middle = tensor + (after - tensor) / 2;
        if (table[middle].chunk <= chunk) tensor = middle;
        else after = middle;
    }

    while (chunk < stop) {
        const nf_tensor own = table[tensor];
        const nf_u64 next = tensor + 1 < tensors ? table[tensor + 1].chunk : chunks;
        const nf_u64 end = next < stop ? next : stop;
        if (chunk < end) {
            const nf_seen seen = nf_look_at(own, chunk, end);
            if (seen.kinds) nf_tell(tensor, seen, scratch, tallies);
            chunk = end;
        }
        tensor++;
    }

    __syncthreads();
    if (threadIdx.x == 0) nf_end(scratch, record);
}

// Looks at one tensor of `chunks` chunks, of which `own.chunk` is 0. Writes nothing if no element
// is bad. Launches may run at the same time.
extern "C" __global__ void __launch_bounds__(256)
nonfinite_one(const nf_tensor own, nf_u64 chunks, nf_tally *tally) {
    const nf_u64 chunk = nf_first_chunk(chunks, blockIdx.x);
    const nf_u64 end = nf_first_chunk(chunks, blockIdx.x + 1);
    if (chunk == end) return;
    const nf_seen seen = nf_look_at(own, chunk, end);
    if (seen.kinds) nf_count(seen, tally);
}

// Looks at `rows` rows of `columns` elements each, of which the first elements lie `stride`
// elements apart. Sets `flags[row]` to 1 if a refused kind is in the row, else to 0.
extern "C" __global__ void __launch_bounds__(1024)
nonfinite_rows(nf_u64 address, nf_u64 rows, nf_u64 columns, nf_u64 stride, nf_u32 format,
               nf_u32 refused, nf_u8 *flags) {
    for (nf_u64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const nf_u64 at = address + row * stride * NF_FORMATS[format].size;
        const nf_view view = nf_open(at, columns, format, refused);
        nf_seen seen;
        seen.kinds = 0;
        nf_look_at_ends(view, seen);
        nf_look_at_vectors(view, 0, view.vectors, seen);
        const int bad = __syncthreads_or((int)seen.kinds);
        if (threadIdx.x == 0) flags[row] = bad ? 1 : 0;
    }
}
