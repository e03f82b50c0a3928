// Eigen: array expressions over maps.
#include <Eigen/Core>

#include "dispatch.hpp"

namespace {
template <class T, Question Q>
struct Loops {
    using Input = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
    using Output = Eigen::Map<Eigen::Array<bool, Eigen::Dynamic, 1>>;

    static Input map(const T* x, size_t n) { return Input(x, static_cast<Eigen::Index>(n)); }
    static auto holds(const Input& x) {
        if constexpr (Q == kNan) {
            return x.isNaN();
        } else if constexpr (Q == kInf) {
            return x.isInf();
        } else {
            return x.isFinite();
        }
    }

    static void mask(const T* x, size_t n, uint8_t* out) {
        const Input in = map(x, n);
        Output(reinterpret_cast<bool*>(out), static_cast<Eigen::Index>(n)) = holds(in);
    }
    static bool none(const T* x, size_t n) {
        return Q == kFinite ? map(x, n).allFinite() : !map(x, n).hasNaN();
    }
    static size_t count(const T* x, size_t n) {
        const Input in = map(x, n);
        return static_cast<size_t>(holds(in).count());
    }
};
}  // namespace

extern "C" Loop peer_eigen(Op op, Type type, Question question) {
    switch (type) {
    case kF32: return pick<Loops, float>(op, question);
    case kF64: return pick<Loops, double>(op, question);
    case kF16: return pick<Loops, Eigen::half>(op, question);
    case kBf16: return pick<Loops, Eigen::bfloat16>(op, question);
    default: return nullptr;
    }
}
