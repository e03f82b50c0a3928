// The plain loops that one writes first. Each compiler optimises them as well as it can. This file
// is built by gcc and by clang, each for AVX2 and for AVX-512; NAME is the entry's name.
#include <cmath>
#include <limits>
#include <type_traits>

#include "dispatch.hpp"

namespace {
// By comparisons of numbers.
template <class T>
struct ByNumber {
    static constexpr T inf = std::numeric_limits<T>::infinity();
    template <Question Q>
    static bool ask(T x) {
        if constexpr (Q == kFinite) return std::fabs(x) < inf;
        if constexpr (Q == kNan) return x != x;
        return std::fabs(x) == inf;
    }
    static bool pos_inf(T x) { return x == inf; }
    static bool neg_inf(T x) { return x == -inf; }
};

template <class Format, class T, Question Q>
struct Plain {
    // As wide as an element where it can be: compilers make the better loop of that. No input here
    // has 2^32 elements.
    using Sum = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

    static bool ask(T x) { return Format::template ask<Q>(x); }
    static bool hit(T x) { return ask(x) == (Q != kFinite); }

    static void mask(const T* __restrict x, size_t n, uint8_t* __restrict out) {
        for (size_t i = 0; i < n; ++i) out[i] = ask(x[i]);
    }
    static void bits(const T* __restrict x, size_t n, uint8_t* __restrict out) {
        for (size_t i = 0; i < n / 8; ++i) {
            uint8_t byte = 0;
            for (size_t k = 0; k < 8; ++k) byte |= static_cast<uint8_t>(ask(x[8 * i + k]) << k);
            out[i] = byte;
        }
        uint8_t byte = 0;
        for (size_t i = n / 8 * 8; i < n; ++i) byte |= static_cast<uint8_t>(ask(x[i]) << i % 8);
        if (n % 8 != 0) out[n / 8] = byte;
    }
    static bool none(const T* x, size_t n) {
        for (size_t i = 0; i < n; ++i) {
            if (hit(x[i])) return false;
        }
        return true;
    }
    static size_t first(const T* x, size_t n) {
        for (size_t i = 0; i < n; ++i) {
            if (hit(x[i])) return i;
        }
        return kNone;
    }
    static size_t count(const T* x, size_t n) {
        Sum count = 0;
        for (size_t i = 0; i < n; ++i) count += ask(x[i]);
        return count;
    }
    static void census(const T* __restrict x, size_t n, size_t* __restrict out) {
        Sum nan = 0, pos_inf = 0, neg_inf = 0;
        for (size_t i = 0; i < n; ++i) {
            nan += Format::template ask<kNan>(x[i]);
            pos_inf += Format::pos_inf(x[i]);
            neg_inf += Format::neg_inf(x[i]);
        }
        out[0] = nan;
        out[1] = pos_inf;
        out[2] = neg_inf;
    }
};

template <class Format, class T>
Loop of(Op op, Question question) {
    switch (question) {
    case kFinite: return pick<Plain<Format, T, kFinite>, T>(op);
    case kNan: return pick<Plain<Format, T, kNan>, T>(op);
    case kInf: return pick<Plain<Format, T, kInf>, T>(op);
    }
    return nullptr;
}
}  // namespace

extern "C" Loop NAME(Op op, Type type, Question question) {
    switch (type) {
    case kF32: return of<ByNumber<float>, float>(op, question);
    case kF64: return of<ByNumber<double>, double>(op, question);
    case kF16: return of<ByBits<uint16_t, 0x7C00>, uint16_t>(op, question);
    case kBf16: return of<ByBits<uint16_t, 0x7F80>, uint16_t>(op, question);
    case kE4m3fn: return of<ByBits<uint8_t, 0x7F, false>, uint8_t>(op, question);
    case kE5m2: return of<ByBits<uint8_t, 0x7C>, uint8_t>(op, question);
    case kF32Bits: return of<F32Bits, uint32_t>(op, question);
    case kF64Bits: return of<F64Bits, uint64_t>(op, question);
    }
    return nullptr;
}
