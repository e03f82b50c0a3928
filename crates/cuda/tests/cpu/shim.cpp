// Blocks and threads of a launch on the CPU.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

// Last: it defines `__noinline__`, which the headers above use as an attribute.
#include "shim.h"

thread_local Dim threadIdx, blockIdx, blockDim, gridDim;

namespace {

// What the threads of a block share.
struct Block {
    explicit Block(unsigned threads) : barrier(threads) {}
    std::barrier<> barrier;
    std::atomic<int> any{0};
};
thread_local Block *block;

// One thread of a block.
struct Job {
    void (*kernel)(const void *);
    const void *arguments;
    Block *block;
    Dim threadIdx, blockIdx, blockDim, gridDim;
    std::latch *done;
};

// A thread of the CPU, kept for later launches: to start one takes longer than most of them.
class Worker {
public:
    ~Worker() {
        give({});
        thread.join();
    }
    void give(const Job &next) {
        const std::lock_guard hold(mutex);
        job = next;
        given = true;
        wake.notify_one();
    }

private:
    void work() {
        for (;;) {
            Job own;
            {
                std::unique_lock hold(mutex);
                wake.wait(hold, [this] { return given; });
                own = job;
                given = false;
            }
            if (!own.kernel) return;
            threadIdx = own.threadIdx, blockIdx = own.blockIdx;
            blockDim = own.blockDim, gridDim = own.gridDim;
            block = own.block;
            own.kernel(own.arguments);
            own.done->count_down();
        }
    }
    std::mutex mutex;
    std::condition_variable wake;
    bool given = false;
    Job job{};
    // Last, since the thread uses the rest.
    std::thread thread{[this] { work(); }};
};

std::vector<std::unique_ptr<Worker>> workers;

}  // namespace

void __syncthreads() { block->barrier.arrive_and_wait(); }

int __syncthreads_or(int value) {
    if (value) block->any = 1;
    block->barrier.arrive_and_wait();
    const int any = block->any;
    block->barrier.arrive_and_wait();
    block->any = 0;
    // Without this, a thread could set `any` for the next call before another one sets it to 0.
    block->barrier.arrive_and_wait();
    return any;
}

void launch(unsigned blocks, unsigned threads, void (*kernel)(const void *),
            const void *arguments) {
    std::vector<std::unique_ptr<Block>> shared;
    for (unsigned b = 0; b < blocks; b++) shared.push_back(std::make_unique<Block>(threads));
    while (workers.size() < blocks * threads) workers.push_back(std::make_unique<Worker>());
    std::latch done(blocks * threads);
    for (unsigned b = 0; b < blocks; b++) {
        for (unsigned t = 0; t < threads; t++) {
            workers[b * threads + t]->give(
                {kernel, arguments, shared[b].get(), {t}, {b}, {threads}, {blocks}, &done});
        }
    }
    done.wait();
}
