// Eigen: array expressions over maps.
#include <Eigen/Core>

#include "dispatch.hpp"

namespace {
template <class T, bool Nan>
struct Loops {
    using Input = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
    using Output = Eigen::Map<Eigen::Array<bool, Eigen::Dynamic, 1>>;

    static Input map(const T* x, size_t n) { return Input(x, static_cast<Eigen::Index>(n)); }

    static void mask(const T* x, size_t n, uint8_t* out) {
        Output to(reinterpret_cast<bool*>(out), static_cast<Eigen::Index>(n));
        if constexpr (Nan) {
            to = map(x, n).isNaN();
        } else {
            to = map(x, n).isFinite();
        }
    }
    static bool none(const T* x, size_t n) { return Nan ? !map(x, n).hasNaN() : map(x, n).allFinite(); }
    static size_t count(const T* x, size_t n) {
        return static_cast<size_t>(Nan ? map(x, n).isNaN().count() : map(x, n).isFinite().count());
    }
};

template <class T>
size_t run_eigen(Op op, bool nan, const void* input, size_t n, void* out) {
    const T* x = static_cast<const T*>(input);
    switch (op) {
    case kMask:
        nan ? Loops<T, true>::mask(x, n, static_cast<uint8_t*>(out))
            : Loops<T, false>::mask(x, n, static_cast<uint8_t*>(out));
        return 0;
    case kAll: return nan ? Loops<T, true>::none(x, n) : Loops<T, false>::none(x, n);
    case kAny: return nan ? !Loops<T, true>::none(x, n) : !Loops<T, false>::none(x, n);
    case kCount: return nan ? Loops<T, true>::count(x, n) : Loops<T, false>::count(x, n);
    default: return kUnsupported;
    }
}
}  // namespace

extern "C" size_t peer_eigen(Op op, Type type, bool nan, const void* x, size_t n, void* out) {
    switch (type) {
    case kF32: return run_eigen<float>(op, nan, x, n, out);
    case kF64: return run_eigen<double>(op, nan, x, n, out);
    case kF16: return run_eigen<Eigen::half>(op, nan, x, n, out);
    case kBf16: return run_eigen<Eigen::bfloat16>(op, nan, x, n, out);
    }
    return kUnsupported;
}
