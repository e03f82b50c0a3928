// How a library hands in its loops. Numbers as in src/peers/cpp.rs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// No element was found.
constexpr size_t kNone = static_cast<size_t>(-1);

enum Op : uint32_t { kMask, kBits, kAll, kAny, kCount, kFirst, kCensus };
// The last two are f32 and f64 again, asked by their bits.
enum Type : uint32_t { kF32, kF64, kF16, kBf16, kE4m3fn, kE5m2, kF32Bits, kF64Bits };
enum Question : uint32_t { kFinite, kNan, kInf };

// One loop: the elements, their number, and where answers go, if not into the result.
// Rust calls it directly, so nothing is decided within the time that is measured.
using Loop = size_t (*)(const void* x, size_t n, void* out);

// `Loops` has `mask`, `bits`, `none`, `count`, `first` and `census` for one question and elements
// `T`. `none` and `first` search for hits: NaN and infinities for `kFinite`, and otherwise the
// elements of the question. Null for an unknown number.
template <class Loops, class T>
Loop pick(Op op) {
    switch (op) {
    case kMask:
        return [](const void* x, size_t n, void* out) -> size_t {
            Loops::mask(static_cast<const T*>(x), n, static_cast<uint8_t*>(out));
            return 0;
        };
    case kBits:
        return [](const void* x, size_t n, void* out) -> size_t {
            Loops::bits(static_cast<const T*>(x), n, static_cast<uint8_t*>(out));
            return 0;
        };
    case kAll:
        return [](const void* x, size_t n, void*) -> size_t {
            return Loops::none(static_cast<const T*>(x), n);
        };
    case kAny:
        return [](const void* x, size_t n, void*) -> size_t {
            return !Loops::none(static_cast<const T*>(x), n);
        };
    case kCount:
        return [](const void* x, size_t n, void*) -> size_t {
            return Loops::count(static_cast<const T*>(x), n);
        };
    case kFirst:
        return [](const void* x, size_t n, void*) -> size_t {
            return Loops::first(static_cast<const T*>(x), n);
        };
    case kCensus:
        // NaN, +Inf, -Inf into three `size_t`.
        return [](const void* x, size_t n, void* out) -> size_t {
            Loops::census(static_cast<const T*>(x), n, static_cast<size_t*>(out));
            return 0;
        };
    }
    return nullptr;
}

template <template <class, Question> class Loops, class T>
Loop pick(Op op, Question question) {
    switch (question) {
    case kFinite: return pick<Loops<T, kFinite>, T>(op);
    case kNan: return pick<Loops<T, kNan>, T>(op);
    case kInf: return pick<Loops<T, kInf>, T>(op);
    }
    return nullptr;
}

// A format by its bits: infinity's, or the least NaN's where there is no infinity.
template <class B, B kInfinity, bool kHasInf = true>
struct ByBits {
    static constexpr B sign = static_cast<B>(B{1} << (8 * sizeof(B) - 1));
    static B magnitude(B x) { return static_cast<B>(x & static_cast<B>(~sign)); }
    template <Question Q>
    static bool ask(B x) {
        const B m = magnitude(x);
        if constexpr (Q == kFinite) return m < kInfinity;
        if constexpr (Q == kNan) return kHasInf ? m > kInfinity : m >= kInfinity;
        return kHasInf && m == kInfinity;
    }
    static bool pos_inf(B x) { return kHasInf && x == kInfinity; }
    static bool neg_inf(B x) { return kHasInf && x == static_cast<B>(kInfinity | sign); }
};
using F32Bits = ByBits<uint32_t, 0x7F800000>;
using F64Bits = ByBits<uint64_t, 0x7FF0000000000000>;

// For the rest of a loop, by the bits.
template <Question Q>
inline bool ask(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return F32Bits::ask<Q>(bits);
}
template <Question Q>
inline bool ask(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return F64Bits::ask<Q>(bits);
}

// Whether this element is a hit.
template <Question Q, class T>
inline bool hit(T x) {
    return ask<Q>(x) == (Q != kFinite);
}

// The rest of the bits, from element `i` on; `i` is a multiple of 8.
template <Question Q, class T>
inline void bits_tail(const T* x, size_t i, size_t n, uint8_t* out) {
    for (; i < n; i += 8) {
        uint8_t byte = 0;
        for (size_t k = 0; k < 8 && i + k < n; ++k) {
            byte |= static_cast<uint8_t>(ask<Q>(x[i + k]) << k);
        }
        out[i / 8] = byte;
    }
}
