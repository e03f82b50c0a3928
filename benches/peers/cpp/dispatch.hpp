// One entry a library: what to compute, on what, by number. Numbers as in src/peers/cpp.rs.
#pragma once

#include <cstddef>
#include <cstdint>

// What a library does not offer for a type.
constexpr size_t kUnsupported = static_cast<size_t>(-2);
// No element was found.
constexpr size_t kNone = static_cast<size_t>(-1);

enum Op { kMask, kBits, kAll, kAny, kCount, kFirst };
enum Type { kF32, kF64, kF16, kBf16 };

// `Loops<T, Nan>` has `mask`, `bits`, `none` (is the answer false everywhere?), `count`, `first`, each for is-NaN or,
// `Nan` being false, for is-finite; `first` and `none` of is-finite are about the elements that are not finite.
template <class Loops, class T>
size_t run(Op op, const void* input, size_t n, void* out) {
    const T* x = static_cast<const T*>(input);
    switch (op) {
    case kMask: Loops::mask(x, n, static_cast<uint8_t*>(out)); return 0;
    case kBits: Loops::bits(x, n, static_cast<uint8_t*>(out)); return 0;
    case kAll: return Loops::none(x, n);
    case kAny: return !Loops::none(x, n);
    case kCount: return Loops::count(x, n);
    case kFirst: return Loops::first(x, n);
    }
    return kUnsupported;
}

template <template <class, bool> class Loops, class T>
size_t run(Op op, bool nan, const void* x, size_t n, void* out) {
    return nan ? run<Loops<T, true>, T>(op, x, n, out) : run<Loops<T, false>, T>(op, x, n, out);
}

// By the bits, for what a loop leaves over.
template <class T> struct BitsOf;
template <> struct BitsOf<float> {
    using type = uint32_t;
    static constexpr type exponent = 0x7F800000;
};
template <> struct BitsOf<double> {
    using type = uint64_t;
    static constexpr type exponent = 0x7FF0000000000000;
};

template <bool Nan, class T>
inline bool ask(T x) {
    typename BitsOf<T>::type bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    constexpr auto e = BitsOf<T>::exponent;
    return Nan ? (bits << 1) > (e << 1) : (bits & e) != e;
}

// The rest of the bits, from element `i` on; `i` is a multiple of 8.
template <bool Nan, class T>
inline void bits_tail(const T* x, size_t i, size_t n, uint8_t* out) {
    for (; i < n; i += 8) {
        uint8_t byte = 0;
        for (size_t k = 0; k < 8 && i + k < n; ++k) byte |= static_cast<uint8_t>(ask<Nan>(x[i + k]) << k);
        out[i / 8] = byte;
    }
}
