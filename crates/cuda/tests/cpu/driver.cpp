// The functions of the CUDA driver that python/nonfinite/_driver.py calls, with the kernels on the
// CPU: memory of the CPU stands for that of a device. A launch runs at once, in few threads, since
// any number of blocks and threads will do. A wrong argument is refused as the driver does.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "launch.h"

namespace {

enum Code { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_PTX = 218,
            INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500 };

bool initialized = false;
char context, module;
std::string image;
enum Kernel { NONE, LOOK, ONE, ROWS };
const char *const NAMES[] = {"", "nonfinite_look", "nonfinite_one", "nonfinite_rows"};
char kernels[4];
thread_local int pushed = 0;
std::vector<uintptr_t> streams;

template <typename T>
T argument(void **arguments, int number) {
    T value;
    std::memcpy(&value, arguments[number], sizeof value);
    return value;
}

unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

}  // namespace

extern "C" {

// For tests: how many launches there were since the last call, and the stream of each.
size_t launches_since(uintptr_t *out, size_t most) {
    const size_t count = streams.size();
    for (size_t i = 0; i < count && i < most; i++) out[i] = streams[i];
    streams.clear();
    return count;
}

int cuInit(unsigned flags) {
    if (flags != 0) return INVALID_VALUE;
    initialized = true;
    return SUCCESS;
}

int cuGetErrorName(int code, const char **text) {
    *text = code == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX"
            : code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
            : code == INVALID_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR_UNKNOWN";
    return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal) {
    if (!initialized) return NOT_INITIALIZED;
    if (ordinal < 0 || ordinal > 1) return INVALID_VALUE;
    *device = ordinal;
    return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
    if (attribute != 16) return INVALID_VALUE;
    *value = 4;
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **out, int) {
    *out = &context;
    return SUCCESS;
}

int cuCtxPushCurrent_v2(void *own) {
    if (own != &context) return INVALID_CONTEXT;
    pushed++;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **out) {
    if (pushed == 0) return INVALID_CONTEXT;
    pushed--;
    *out = &context;
    return SUCCESS;
}

int cuModuleLoadData(void **out, const char *text) {
    if (pushed == 0) return INVALID_CONTEXT;
    if (!std::strstr(text, ".version 7.8\n.target sm_70\n.address_size 64\n")) return INVALID_PTX;
    image = text;
    *out = &module;
    return SUCCESS;
}

int cuModuleGetFunction(void **out, void *own, const char *name) {
    if (pushed == 0) return INVALID_CONTEXT;
    if (own != &module) return INVALID_HANDLE;
    if (image.find(".visible .entry " + std::string(name) + "(") == image.npos) return NOT_FOUND;
    for (int i = LOOK; i <= ROWS; i++) {
        if (!std::strcmp(name, NAMES[i])) *out = &kernels[i];
    }
    return SUCCESS;
}

int cuMemsetD8Async(uint64_t address, unsigned char byte, size_t bytes, void *) {
    if (pushed == 0) return INVALID_CONTEXT;
    std::memset(reinterpret_cast<void *>(address), byte, bytes);
    return SUCCESS;
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned threads_y, unsigned threads_z, unsigned shared, void *stream,
                   void **arguments, void **extra) {
    if (pushed == 0) return INVALID_CONTEXT;
    const auto kernel = static_cast<char *>(function) - kernels;
    // `__launch_bounds__` of the kernels.
    const unsigned most = kernel == ROWS ? 1024 : 256;
    if (x == 0 || x > 0x7FFFFFFF || y != 1 || z != 1 || threads == 0 || threads > most ||
        threads_y != 1 || threads_z != 1 || shared != 0 || extra) {
        return INVALID_VALUE;
    }
    streams.push_back(reinterpret_cast<uintptr_t>(stream));
    const unsigned blocks = least(x, 3);
    threads = least(threads, 3);
    switch (kernel) {
        case LOOK:
            launch_look(blocks, threads,
                        {argument<const Tensor *>(arguments, 0), argument<uint32_t>(arguments, 1),
                         argument<uint64_t>(arguments, 2), argument<Scratch *>(arguments, 3),
                         argument<Record *>(arguments, 4), argument<Tally *>(arguments, 5)});
            return SUCCESS;
        case ONE:
            launch_one(blocks, threads,
                       {argument<Tensor>(arguments, 0), argument<uint64_t>(arguments, 1),
                        argument<Tally *>(arguments, 2)});
            return SUCCESS;
        case ROWS:
            launch_rows(blocks, threads,
                        {argument<uint64_t>(arguments, 0), argument<uint64_t>(arguments, 1),
                         argument<uint64_t>(arguments, 2), argument<uint64_t>(arguments, 3),
                         argument<uint32_t>(arguments, 4), argument<uint32_t>(arguments, 5),
                         argument<uint8_t *>(arguments, 6)});
            return SUCCESS;
        default: return INVALID_HANDLE;
    }
}

}  // extern "C"
