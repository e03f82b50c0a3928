// The kernels on the CPU against an oracle: `test ORACLE [PART]`. oracle.py writes ORACLE. Ends
// with 1 at the first wrong answer. With PART `few`, the tests that show races.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "launch.h"

namespace {

constexpr uint64_t CHUNK = 65536;

std::mt19937_64 rng(41);
uint64_t below(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(rng); }

#define REQUIRE(condition, ...)                                     \
    do {                                                            \
        if (!(condition)) {                                         \
            std::printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            std::printf(__VA_ARGS__);                               \
            std::printf("\n");                                      \
            std::exit(1);                                           \
        }                                                           \
    } while (0)

// --- the oracle ---

struct Code {
    uint64_t bits;
    uint8_t kind;
};

struct Format {
    uint32_t number, size;
    std::vector<Code> all, finite, special;
    Code any_finite() const { return finite[below(finite.size())]; }
};

std::vector<Format> read_oracle(const char *path) {
    std::FILE *file = std::fopen(path, "rb");
    REQUIRE(file, "no file %s", path);
    std::vector<Format> formats;
    uint32_t head[2];
    while (std::fread(head, sizeof head, 1, file) == 1) {
        Format format{uint32_t(formats.size()), head[0], {}, {}, {}};
        std::vector<uint64_t> bits(head[1]);
        std::vector<uint8_t> kinds(head[1]);
        REQUIRE(std::fread(bits.data(), 8, bits.size(), file) == bits.size(), "short");
        REQUIRE(std::fread(kinds.data(), 1, kinds.size(), file) == kinds.size(), "short");
        for (size_t i = 0; i < bits.size(); i++) {
            const Code code{bits[i], kinds[i]};
            format.all.push_back(code);
            (code.kind ? format.special : format.finite).push_back(code);
        }
        formats.push_back(std::move(format));
    }
    std::fclose(file);
    REQUIRE(formats.size() == 15, "%zu formats", formats.size());
    return formats;
}

// --- tensors in memory of their own ---

// Codes in an allocation that ends with the tensor, or goes on with NaN. NaN lies before a tensor
// that does not begin at a multiple of 16. So a read outside is an error of AddressSanitizer, or
// gives a wrong answer.
struct Held {
    std::unique_ptr<uint8_t[]> memory;
    uint8_t *data;
    uint32_t size;
    std::vector<uint8_t> kinds;
    Tensor tensor;

    void put(const Format &format, uint64_t index, Code code) {
        std::memcpy(data + index * format.size, &code.bits, format.size);
        kinds[index] = code.kind;
    }
    // The least index of a refused element, or ~0.
    uint64_t least() const {
        for (size_t i = 0; i < kinds.size(); i++) {
            if (kinds[i] & tensor.refused) return i;
        }
        return ~0ull;
    }
};

Held hold(const Format &format, const std::vector<Code> &codes, uint64_t misaligned, bool exact,
          uint32_t refused) {
    Held held;
    const uint64_t bytes = codes.size() * format.size, behind = exact ? 0 : 32;
    held.memory.reset(new uint8_t[misaligned + bytes + behind]);
    REQUIRE(reinterpret_cast<uintptr_t>(held.memory.get()) % 16 == 0, "an allocation");
    for (uint64_t i = 0; i + format.size <= misaligned + bytes + behind; i += format.size) {
        const uint64_t filler = format.special.empty() ? ~0ull : format.special[0].bits;
        std::memcpy(held.memory.get() + i, &filler, format.size);
    }
    held.data = held.memory.get() + misaligned;
    held.size = format.size;
    held.kinds.resize(codes.size());
    held.tensor = {reinterpret_cast<uint64_t>(held.data), codes.size(), 0, format.number, refused};
    for (uint64_t i = 0; i < codes.size(); i++) held.put(format, i, codes[i]);
    return held;
}

// Finite codes, in tensors of all alignments that elements of the format may have.
Held finite(const Format &format, uint64_t elements, uint32_t refused) {
    std::vector<Code> codes(elements);
    for (Code &code : codes) code = format.any_finite();
    return hold(format, codes, below(16 / format.size) * format.size, below(2) == 0, refused);
}

// Some special codes among finite ones.
void spoil(const Format &format, Held &held, uint64_t most) {
    if (held.kinds.empty() || format.special.empty()) return;
    for (uint64_t n = below(most + 1); n > 0; n--) {
        const uint64_t ends[] = {0, held.kinds.size() - 1, below(held.kinds.size())};
        held.put(format, ends[below(3)], format.special[below(format.special.size())]);
    }
}

// --- one launch ---

struct Shape {
    unsigned blocks, threads;
};
const Shape SHAPES[] = {{1, 1}, {1, 32}, {2, 32}, {3, 7}, {7, 5}, {16, 4}, {61, 1}};
Shape some_shape() { return SHAPES[below(std::size(SHAPES))]; }

uint64_t launches = 0, tensors = 0;

// Looks at some of the tensors, and compares the record and, if wanted, all tallies.
void check(std::vector<Held> &held, size_t from, size_t to, Shape shape, bool counted) {
    std::vector<Tensor> table;
    uint64_t chunks = 0, place = ~0ull, kinds = 0;
    for (size_t i = from; i < to; i++) {
        held[i].tensor.chunk = chunks;
        table.push_back(held[i].tensor);
        const Tensor &own = table.back();
        chunks += (own.elements * held[i].size + CHUNK - 1) / CHUNK;
        for (uint8_t kind : held[i].kinds) kinds |= kind & own.refused;
        const uint64_t least = held[i].least();
        if (place == ~0ull && least != ~0ull) place = (i - from) << 40 | least;
    }
    Scratch scratch{};
    Record record{};
    std::vector<Tally> tallies(counted ? table.size() : 0);
    launch_look(shape.blocks, shape.threads,
                {table.data(), uint32_t(table.size()), chunks, &scratch, &record,
                 counted ? tallies.data() : nullptr});
    launches++, tensors += table.size();

    REQUIRE(record.steps == 1, "%llu", (unsigned long long)record.steps);
    REQUIRE(record.kinds == kinds, "%llu, not %llu; %u x %u", (unsigned long long)record.kinds,
            (unsigned long long)kinds, shape.blocks, shape.threads);
    REQUIRE(record.bad == (kinds != 0), "%llu", (unsigned long long)record.bad);
    if (kinds) REQUIRE(record.place == place, "%llx", (unsigned long long)record.place);
    REQUIRE(record.step == 0, "%llu", (unsigned long long)record.step);
    const uint64_t left[] = {0, 1, kinds != 0, 0};
    REQUIRE(!std::memcmp(scratch.words, left, sizeof left), "the scratch after a launch");
    if (counted && table.size() == 1) {
        Tally tally{};
        launch_one(shape.blocks, shape.threads, {table[0], chunks, &tally});
        launches++, tensors++;
        REQUIRE(!std::memcmp(&tally, &tallies[0], sizeof tally), "nonfinite_one: %llu NaN at %lld",
                (unsigned long long)tally.count[0], (long long)~tally.first[0]);
    }
    for (size_t i = 0; i < tallies.size(); i++) {
        const Held &own = held[from + i];
        Tally wanted{};
        for (size_t j = 0; j < own.kinds.size(); j++) {
            for (unsigned k = 0; k < 3; k++) {
                if (!(own.kinds[j] & own.tensor.refused & 1u << k)) continue;
                if (wanted.count[k]++ == 0) wanted.first[k] = ~uint64_t(j);
            }
        }
        REQUIRE(!std::memcmp(&wanted, &tallies[i], sizeof wanted),
                "format %u, refused %u, %zu elements at %llu mod 16: %llu NaN at %lld",
                own.tensor.format, own.tensor.refused, own.kinds.size(),
                (unsigned long long)own.tensor.address % 16,
                (unsigned long long)tallies[i].count[0], (long long)~tallies[i].first[0]);
    }
}

void check(std::vector<Held> &held, Shape shape) { check(held, 0, held.size(), shape, true); }

// --- tests of nonfinite_look ---

// The test of 16 bytes is exact for the sets of kinds that are in use: else a tensor of many
// allowed infinities would be looked at element by element.
void vectors(const std::vector<Format> &formats) {
    for (const Format &format : formats) {
        if (format.special.empty()) continue;
        for (uint32_t refused : {1, 3, 5, 7}) {
            // Of f64, the upper half of an element is tested for NaN and infinity.
            const uint32_t seen = format.size == 8 ? 7 : refused;
            for (const Code &code : format.all) {
                uint32_t words[4];
                for (uint64_t i = 0; i < 16 / format.size; i++) {
                    const Code other = format.any_finite();
                    std::memcpy((char *)words + i * format.size, &other.bits, format.size);
                }
                const uint64_t at = below(16 / format.size) * format.size;
                std::memcpy((char *)words + at, &code.bits, format.size);
                REQUIRE(vector_is_hit(format.number, refused, words) == ((code.kind & seen) != 0),
                        "format %u, refused %u, %llx", format.number, refused,
                        (unsigned long long)code.bits);
            }
        }
    }
}

// All codes of a format in one tensor, under every set of refused kinds.
void codes_together(const std::vector<Format> &formats) {
    for (const Format &format : formats) {
        std::vector<Held> held;
        for (uint32_t refused = 0; refused < 8; refused++) {
            const uint64_t misaligned = below(16 / format.size) * format.size;
            held.push_back(hold(format, format.all, misaligned, refused % 2, refused));
        }
        for (size_t i = 0; i < held.size(); i++) check(held, i, i + 1, some_shape(), true);
        check(held, {3, 32});
    }
}

// Each code alone among finite ones.
void codes_alone(const std::vector<Format> &formats) {
    for (const Format &format : formats) {
        std::vector<Held> held;
        for (const Code &code : format.all) {
            const uint64_t elements = 1 + below(40);
            held.push_back(finite(format, elements, uint32_t(below(8))));
            held.back().put(format, below(elements), code);
        }
        check(held, {5, 16});
    }
}

// Every length up to 300 at every address, with few hits or none, in long and short tables.
void lengths(const std::vector<Format> &formats) {
    for (const Format &format : formats) {
        std::vector<Held> held;
        for (uint64_t length = 0; length <= 300; length++) {
            for (uint64_t at = 0; at < 16; at += format.size) {
                std::vector<Code> codes(length);
                for (Code &code : codes) code = format.any_finite();
                const uint32_t refused = below(2) ? 7 : uint32_t(below(8));
                held.push_back(hold(format, codes, at, below(2) == 0, refused));
                spoil(format, held.back(), 3);
            }
        }
        check(held, {3, 16});
        for (unsigned i = 0; i < 40; i++) {
            const size_t from = below(held.size()), to = from + below(held.size() - from + 1);
            check(held, from, std::min(to, from + 1 + below(40)), some_shape(), i % 2);
        }
    }
}

// A table of 10,000 tensors of all formats, some without elements, a few of several chunks, and
// one bad element in it.
void long_tables(const std::vector<Format> &formats) {
    std::vector<Held> held;
    std::vector<const Format *> own;
    for (unsigned i = 0; i < 10000; i++) {
        own.push_back(&formats[below(formats.size())]);
        const uint64_t elements = i % 500 == 7 ? CHUNK * 2 + below(1000) : below(200);
        held.push_back(finite(*own.back(), below(10) == 0 ? 0 : elements, 7));
    }
    for (unsigned i = 0; i < 20; i++) {
        check(held, 0, held.size(), some_shape(), false);
        size_t bad;
        do {
            bad = i < 4 ? held.size() - 1 - below(50) : below(held.size());
        } while (held[bad].kinds.empty() || own[bad]->special.empty());
        spoil(*own[bad], held[bad], 1);
    }
    check(held, {7, 16});
}

// Tensors of several chunks, with hits near the borders of chunks.
void borders(const std::vector<Format> &formats) {
    for (const Format &format : formats) {
        if (format.special.empty()) continue;
        const uint64_t a_chunk = CHUNK / format.size;
        std::vector<Held> held;
        held.push_back(finite(format, 3 * a_chunk + below(40), 7));
        Held &own = held[0];
        const uint64_t last = own.tensor.elements - 1;
        for (unsigned i = 0; i < 12; i++) {
            const uint64_t border = (i % 4) * a_chunk + below(40), back = below(40);
            const uint64_t at = std::min(border < back ? 0 : border - back, last);
            const Code before{0, 0};
            own.put(format, at, format.special[below(format.special.size())]);
            for (Shape shape : {Shape{1, 32}, Shape{2, 16}, Shape{5, 8}}) {
                check(held, 0, 1, shape, true);
            }
            if (i % 3 == 0) own.put(format, at, before);
        }
    }
}

// Launches that follow one another: the record keeps the first that found something.
void steps(const std::vector<Format> &formats) {
    const Format &f32 = formats[2];
    std::vector<Held> held;
    for (unsigned i = 0; i < 3; i++) held.push_back(finite(f32, 100, 7));
    const Tensor table[] = {held[0].tensor, {held[1].tensor.address, 100, 1, 2, 7},
                            {held[2].tensor.address, 100, 2, 2, 7}};
    Scratch scratch{};
    Record record{};
    const Code nan{0x7FC00000, 1}, inf{0x7F800000, 2}, one{0x3F800000, 0};
    for (unsigned round = 0; round < 2; round++) {
        uint64_t bad = 0;
        for (uint64_t step = 0; step < 50; step++) {
            if (step == 20) held[2].put(f32, 90, nan);
            if (step == 30) held[1].put(f32, 5, inf);
            if (step == 40) held[1].put(f32, 5, one), held[2].put(f32, 90, one);
            launch_look(3, 4, {table, 3, 3, &scratch, &record, nullptr});
            bad += step >= 20 && step < 40;
            REQUIRE(record.steps == step + 1 && record.bad == bad, "step %d", int(step));
            const Record wanted = bad ? Record{step + 1, 1, bad, 20, 2ull << 40 | 90}
                                      : Record{step + 1, 0, 0, 0, 0};
            REQUIRE(!std::memcmp(&record, &wanted, sizeof wanted), "step %d", int(step));
        }
        scratch = {};
        record = {};
    }
    // A table without elements still counts its steps.
    const Tensor empty{held[0].tensor.address, 0, 0, 2, 7};
    launch_look(2, 4, {&empty, 1, 0, &scratch, &record, nullptr});
    launch_look(2, 4, {nullptr, 0, 0, &scratch, &record, nullptr});
    REQUIRE(record.steps == 2 && record.kinds == 0, "%d", int(record.steps));
}

// --- tests of nonfinite_rows ---

void rows(const std::vector<Format> &formats, unsigned rounds) {
    for (const Format &format : formats) {
        for (unsigned round = 0; round < rounds; round++) {
            const uint64_t columns = round < 40 ? round : below(3000), rows = below(9);
            const uint64_t stride = columns + below(4), elements = rows * stride;
            const uint32_t refused = round % 2 ? 7 : uint32_t(below(8));
            Held held = finite(format, elements, refused);
            spoil(format, held, 4);
            std::vector<uint8_t> flags(rows + 2, 0xAA);
            const Shape shape{unsigned(1 + below(5)), unsigned(1 + below(16))};
            launch_rows(shape.blocks, shape.threads,
                        {held.tensor.address, rows, columns, stride, format.number, refused,
                         flags.data() + 1});
            launches++;
            REQUIRE(flags.front() == 0xAA && flags.back() == 0xAA, "a byte outside");
            for (uint64_t row = 0; row < rows; row++) {
                bool bad = false;
                for (uint64_t i = 0; i < columns; i++) {
                    bad |= (held.kinds[row * stride + i] & refused) != 0;
                }
                REQUIRE(flags[row + 1] == bad, "format %u, row %d of %d, %d columns",
                        format.number, int(row), int(rows), int(columns));
            }
        }
    }
}

// Everything bad, so that all threads write.
void crowded(const std::vector<Format> &formats) {
    const Format &bf16 = formats[1];
    std::vector<Held> held;
    for (unsigned i = 0; i < 40; i++) {
        const std::vector<Code> codes(2000, bf16.special[below(bf16.special.size())]);
        held.push_back(hold(bf16, codes, 2 * below(8), true, 7));
    }
    for (Shape shape : SHAPES) check(held, shape);
}

}  // namespace

int main(int count, char **arguments) {
    REQUIRE(count >= 2, "test ORACLE [few]");
    const std::vector<Format> formats = read_oracle(arguments[1]);
    const bool few = count > 2 && std::string(arguments[2]) == "few";
    // The quick ones first: most broken kernels end there.
    vectors(formats);
    steps(formats);
    crowded(formats);
    if (!few) {
        codes_together(formats);
        lengths(formats);
        codes_alone(formats);
        long_tables(formats);
        borders(formats);
    }
    rows(formats, few ? 4 : 60);
    std::printf("%llu launches, %llu tensors: all answers are right\n",
                (unsigned long long)launches, (unsigned long long)tensors);
}
