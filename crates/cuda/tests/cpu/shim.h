// What ../../kernel/nonfinite.cu takes from CUDA, in C++: each thread of a launch is a thread of
// the CPU, and all run at once. No header of the standard library: many broken copies of the
// kernels are compiled with this one.
#ifndef NONFINITE_SHIM_H
#define NONFINITE_SHIM_H

#define __constant__
#define __device__
#define __global__
#define __launch_bounds__(threads)
#define __noinline__ __attribute__((noinline))

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

struct Dim {
    unsigned x;
};
extern thread_local Dim threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads();
int __syncthreads_or(int value);

// Runs `kernel(arguments)` in `blocks` blocks of `threads` threads.
void launch(unsigned blocks, unsigned threads, void (*kernel)(const void *), const void *arguments);

// The atomic operations below order all other accesses, which fences do on a GPU.
inline void __threadfence() {}
inline void __threadfence_system() {}

template <typename T>
T atomicAdd(T *at, T value) {
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
template <typename T>
T atomicOr(T *at, T value) {
    return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);
}
template <typename T>
T atomicExch(T *at, T value) {
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}
template <typename T>
T atomicMax(T *at, T value) {
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (old < value && !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_SEQ_CST,
                                                       __ATOMIC_SEQ_CST)) {
    }
    return old;
}
#define NF_PEEK(at) __atomic_load_n((at), __ATOMIC_SEQ_CST)

template <typename T>
T __ldg(const T *at) {
    return *at;
}

#endif
