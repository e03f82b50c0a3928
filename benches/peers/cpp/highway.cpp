// Google Highway, for the target of the compiler's flags. This file is built once for AVX2 and once
// for AVX-512; NAME is the name of the entry.
#include <hwy/highway.h>

#include "dispatch.hpp"

namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, Question Q>
struct Loops {
    static constexpr hn::ScalableTag<T> d{};
    using Mask = hn::Mask<hn::ScalableTag<T>>;
    using Vec = hn::Vec<hn::ScalableTag<T>>;
    static constexpr size_t kLanes = HWY_LANES(T);

    static HWY_INLINE Mask holds(Vec v) {
        return Q == kNan ? hn::IsNaN(v) : Q == kInf ? hn::IsInf(v) : hn::IsFinite(v);
    }
    static HWY_INLINE Mask holds(const T* x) { return holds(hn::LoadU(d, x)); }
    static HWY_INLINE Mask hits(const T* x) { return Q == kFinite ? hn::Not(holds(x)) : holds(x); }

    // A vector's answers as bytes.
    static HWY_INLINE void store_bytes(Mask mask, uint8_t* out) {
        using TU = hn::TFromD<hn::RebindToUnsigned<hn::ScalableTag<T>>>;
        const hn::RebindToUnsigned<hn::ScalableTag<T>> du;
        const hn::Rebind<uint8_t, hn::ScalableTag<T>> d8;
        const auto ones = hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, TU{1}));
        hn::StoreU(hn::TruncateTo(d8, ones), d8, out);
    }

#if HWY_TARGET > HWY_AVX3
    // Without the narrowing stores of AVX-512 it pays to narrow four vectors together (f32 only).
    static HWY_INLINE void store_bytes4(const float* x, uint8_t* out) {
        const hn::ScalableTag<int32_t> d32;
        const hn::Half<hn::ScalableTag<int16_t>> d16h;
        const hn::ScalableTag<int16_t> d16;
        const hn::Half<hn::ScalableTag<int8_t>> d8h;
        const hn::ScalableTag<int8_t> d8;
        const auto half = [&](const float* p) HWY_ATTR {
            return hn::DemoteTo(d16h, hn::BitCast(d32, hn::VecFromMask(d, holds(p))));
        };
        const auto pair = [&](const float* p) HWY_ATTR {
            return hn::DemoteTo(d8h, hn::Combine(d16, half(p + kLanes), half(p)));
        };
        const auto bytes = hn::Combine(d8, pair(x + 2 * kLanes), pair(x));
        hn::StoreU(hn::And(bytes, hn::Set(d8, 1)), d8, reinterpret_cast<int8_t*>(out));
    }
#endif

    static void mask(const T* x, size_t n, uint8_t* out) {
        size_t i = 0;
#if HWY_TARGET > HWY_AVX3
        if constexpr (sizeof(T) == 4) {
            for (; i + 4 * kLanes <= n; i += 4 * kLanes) store_bytes4(x + i, out + i);
        }
#endif
        for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
            for (size_t k = 0; k < 4; ++k) {
                store_bytes(holds(x + i + k * kLanes), out + i + k * kLanes);
            }
        }
        for (; i < n; ++i) out[i] = ask<Q>(x[i]);
    }

    static void bits(const T* x, size_t n, uint8_t* out) {
        constexpr size_t step = kLanes < 8 ? 8 : kLanes;
        size_t i = 0;
        for (; i + step <= n; i += step) {
            if constexpr (kLanes >= 8) {
                hn::StoreMaskBits(d, holds(x + i), out + i / 8);
            } else {
                // Four lanes fill half a byte. StoreMaskBits writes a byte.
                uint8_t low, high;
                hn::StoreMaskBits(d, holds(x + i), &low);
                hn::StoreMaskBits(d, holds(x + i + kLanes), &high);
                out[i / 8] = static_cast<uint8_t>(low | high << kLanes);
            }
        }
        bits_tail<Q>(x, i, n, out);
    }

    // Whether a hit is among the eight vectors from `x`.
    static HWY_INLINE bool hit8(const T* x) {
        Mask m = hits(x);
        for (size_t k = 1; k < 8; ++k) m = hn::Or(m, hits(x + k * kLanes));
        return !hn::AllFalse(d, m);
    }

    static bool none(const T* x, size_t n) { return first(x, n) == kNone; }

    static size_t first(const T* x, size_t n) {
        size_t i = 0;
        for (; i + 8 * kLanes <= n; i += 8 * kLanes) {
            if (HWY_UNLIKELY(hit8(x + i))) break;
        }
        for (; i + kLanes <= n; i += kLanes) {
            const Mask m = hits(x + i);
            if (!hn::AllFalse(d, m)) return i + static_cast<size_t>(hn::FindFirstTrue(d, m));
        }
        for (; i < n; ++i) {
            if (hit<Q>(x[i])) return i;
        }
        return kNone;
    }

    static size_t count(const T* x, size_t n) {
        size_t i = 0, count = 0;
        for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
            for (size_t k = 0; k < 4; ++k) count += hn::CountTrue(d, holds(x + i + k * kLanes));
        }
        for (; i < n; ++i) count += ask<Q>(x[i]);
        return count;
    }

    static void census(const T* x, size_t n, size_t* out) {
        const Vec inf = hn::Inf(d), neg_inf = hn::Neg(inf);
        size_t i = 0, counts[3] = {};
        for (; i + kLanes <= n; i += kLanes) {
            const Vec v = hn::LoadU(d, x + i);
            counts[0] += hn::CountTrue(d, hn::IsNaN(v));
            counts[1] += hn::CountTrue(d, hn::Eq(v, inf));
            counts[2] += hn::CountTrue(d, hn::Eq(v, neg_inf));
        }
        for (; i < n; ++i) {
            counts[0] += ask<kNan>(x[i]);
            counts[1] += ask<kInf>(x[i]) && x[i] > 0;
            counts[2] += ask<kInf>(x[i]) && x[i] < 0;
        }
        for (size_t k = 0; k < 3; ++k) out[k] = counts[k];
    }
};
}  // namespace

extern "C" Loop NAME(Op op, Type type, Question question) {
    switch (type) {
    case kF32: return pick<Loops, float>(op, question);
    case kF64: return pick<Loops, double>(op, question);
    default: return nullptr;
    }
}
