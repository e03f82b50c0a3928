// xsimd 8. It has neither bit masks nor narrowing of masks. Byte masks use its store to `bool`;
// there are no packed bits.
#include <xsimd/xsimd.hpp>

#include "dispatch.hpp"

namespace {
template <class T, Question Q>
struct Loops {
    using Batch = xsimd::batch<T, xsimd::avx2>;
    using Mask = xsimd::batch_bool<T, xsimd::avx2>;
    static constexpr size_t kLanes = Batch::size;

    static Mask holds(const T* x) {
        const Batch v = Batch::load_unaligned(x);
        if constexpr (Q == kNan) return xsimd::isnan(v);
        if constexpr (Q == kInf) return xsimd::isinf(v);
        return xsimd::isfinite(v);
    }
    static Mask hits(const T* x) { return Q == kFinite ? !holds(x) : holds(x); }

    static void mask(const T* x, size_t n, uint8_t* out) {
        size_t i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            holds(x + i).store_unaligned(reinterpret_cast<bool*>(out + i));
        }
        for (; i < n; ++i) out[i] = ask<Q>(x[i]);
    }

    static bool none(const T* x, size_t n) { return first(x, n) == kNone; }

    static size_t first(const T* x, size_t n) {
        size_t i = 0;
        for (; i + 8 * kLanes <= n; i += 8 * kLanes) {
            Mask m = hits(x + i);
            for (size_t k = 1; k < 8; ++k) m = m | hits(x + i + k * kLanes);
            if (xsimd::any(m)) break;
        }
        for (; i < n; ++i) {
            if (hit<Q>(x[i])) return i;
        }
        return kNone;
    }

    static size_t count(const T* x, size_t n) {
        // Lanes hold ones and zeros of the type itself; a sum of 2^20 is exact in each.
        size_t i = 0, count = 0;
        while (i + kLanes <= n) {
            Batch sum(T(0));
            for (size_t k = 0; k < (size_t(1) << 20) && i + kLanes <= n; ++k, i += kLanes) {
                sum += xsimd::select(holds(x + i), Batch(T(1)), Batch(T(0)));
            }
            T lanes[kLanes];
            sum.store_unaligned(lanes);
            for (T lane : lanes) count += static_cast<size_t>(lane);
        }
        for (; i < n; ++i) count += ask<Q>(x[i]);
        return count;
    }
};
}  // namespace

extern "C" Loop peer_xsimd(Op op, Type type, Question question) {
    switch (type) {
    case kF32: return pick<Loops, float>(op, question);
    case kF64: return pick<Loops, double>(op, question);
    default: return nullptr;
    }
}
