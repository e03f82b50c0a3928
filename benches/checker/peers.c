/* Programs to compare the checker with, on a mapped file:
 *     peers load ADVICE THREADS FILE OFFSET LENGTH   reads all bytes: the limit
 *     peers ggml TYPE THREADS FILE OFFSET LENGTH     llama.cpp's check, by CONTRACTS.md 5a
 * TYPE is f32, f16, bf16 or q4_0. ADVICE is none, willneed, populate (a piece at a time) or read
 * (without a map). Prints the seconds of the work, without the start of the process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };
static const char *mode, *what;
static uint8_t *map;
static size_t offset, length;
static int file;
static atomic_size_t next;
static atomic_uint_fast64_t sink;

static uint64_t load(const uint8_t *p, size_t n) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  size_t i = 0;
  for (; i + 128 <= n; i += 128) {
    a = _mm256_or_si256(a, _mm256_loadu_si256((const void *)(p + i)));
    b = _mm256_or_si256(b, _mm256_loadu_si256((const void *)(p + i + 32)));
    c = _mm256_or_si256(c, _mm256_loadu_si256((const void *)(p + i + 64)));
    d = _mm256_or_si256(d, _mm256_loadu_si256((const void *)(p + i + 96)));
  }
  a = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
  uint64_t x = _mm256_extract_epi64(a, 0) | _mm256_extract_epi64(a, 1) |
               _mm256_extract_epi64(a, 2) | _mm256_extract_epi64(a, 3);
  for (; i < n; i++) x |= p[i];
  return x;
}

static int bad_f16(uint16_t x) { return (x & 0x7C00) == 0x7C00; }

/* 1 if a value is NaN or infinite. f32 and f16 are compared in vectors, with a test of the mask of
 * each vector; bf16 and scales are compared one by one. */
static int ggml(const uint8_t *p, size_t n) {
  size_t i = 0;
  if (!strcmp(what, "f32")) {
    const __m256i k = _mm256_set1_epi32(0x7F800000);
    for (; i + 32 <= n; i += 32) {
      __m256i x = _mm256_and_si256(_mm256_loadu_si256((const void *)(p + i)), k);
      if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(x, k))) return 1;
    }
  } else if (!strcmp(what, "f16")) {
    const __m256i k = _mm256_set1_epi16(0x7C00);
    for (; i + 32 <= n; i += 32) {
      __m256i x = _mm256_and_si256(_mm256_loadu_si256((const void *)(p + i)), k);
      if (_mm256_movemask_epi8(_mm256_cmpeq_epi16(x, k))) return 1;
    }
  } else if (!strcmp(what, "bf16")) {
    size_t nans = 0, infs = 0;
    for (; i + 2 <= n; i += 2) {
      uint16_t x;
      memcpy(&x, p + i, 2);
      nans += (x & 0x7FFF) > 0x7F80;
      infs += (x & 0x7FFF) == 0x7F80;
    }
    return nans || infs;
  } else {
    for (; i + 18 <= n; i += 18) {
      uint16_t d;
      memcpy(&d, p + i, 2);
      if (bad_f16(d)) return 1;
    }
  }
  return 0;
}

static void *work(void *unused) {
  (void)unused;
  uint8_t *buffer = malloc(PIECE);
  /* Pieces of whole blocks of every type, from whole pages on. */
  size_t piece = PIECE / 4608 * 4608;
  for (;;) {
    size_t at = atomic_fetch_add(&next, 1) * piece;
    if (at >= length) break;
    size_t n = length - at < piece ? length - at : piece;
    const uint8_t *p = map + offset + at;
    if (!strcmp(mode, "ggml")) {
      sink |= ggml(p, n);
      continue;
    }
    if (!strcmp(what, "read")) {
      if (pread(file, buffer, n, offset + at) != (ssize_t)n) exit(1);
      p = buffer;
    } else if (strcmp(what, "none")) {
      uintptr_t page = (uintptr_t)p & ~(uintptr_t)4095;
      int advice = strcmp(what, "populate") ? MADV_WILLNEED : MADV_POPULATE_READ;
      madvise((void *)page, (uintptr_t)p + n - page, advice);
    }
    sink |= load(p, n);
  }
  free(buffer);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  mode = argv[1], what = argv[2];
  int threads = atoi(argv[3]);
  file = open(argv[4], O_RDONLY);
  offset = strtoull(argv[5], NULL, 10), length = strtoull(argv[6], NULL, 10);
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  map = mmap(NULL, offset + length, PROT_READ, MAP_PRIVATE, file, 0);
  if (map == MAP_FAILED) return 1;
  pthread_t ids[64];
  for (int i = 1; i < threads && i < 64; i++) pthread_create(&ids[i], NULL, work, NULL);
  work(NULL);
  for (int i = 1; i < threads && i < 64; i++) pthread_join(ids[i], NULL);
  munmap(map, offset + length);
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%.6f\n", (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9);
  return sink == 12345;
}
