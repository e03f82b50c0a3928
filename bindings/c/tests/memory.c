/* No function allocates. This program brings its own malloc, which ends the program if it is called
 * during a call of the library, and every function runs as the first one of a process:
 *
 *     memory STEP        exit code 0 if the function did what it should, 2 behind the last step
 *
 * With NONFINITE_BACKEND set to a name that no backend has, functions that need a backend must
 * return NF_ERR_INTERNAL, and the names null. */
#include <nonfinite.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int forbidden;

/* A heap that only grows: each block is preceded by its size. */
static union {
  max_align_t align;
  unsigned char bytes[1 << 22];
} heap;
static size_t used;

static void *take(size_t align, size_t size) {
  static const char message[] = "memory: the library allocates\n";
  size_t begin;
  if (forbidden) {
    ssize_t written = write(2, message, sizeof message - 1);
    _exit(written > 0 ? 3 : 4);
  }
  align = align < sizeof(max_align_t) ? sizeof(max_align_t) : align;
  begin = (used + sizeof(size_t) + align - 1) / align * align;
  if (size > sizeof heap - begin) {
    return NULL;
  }
  memcpy(heap.bytes + begin - sizeof size, &size, sizeof size);
  used = begin + size;
  return heap.bytes + begin;
}

void *malloc(size_t size) { return take(1, size); }
/* The heap is zero, and nothing is used twice. */
void *calloc(size_t count, size_t size) { return take(1, count * size); }
void *aligned_alloc(size_t align, size_t size) { return take(align, size); }
void *memalign(size_t align, size_t size) { return take(align, size); }
void free(void *block) { (void)block; }

int posix_memalign(void **result, size_t align, size_t size) {
  *result = take(align, size);
  return *result == NULL;
}

void *realloc(void *block, size_t size) {
  void *moved = take(1, size);
  if (block != NULL && moved != NULL) {
    size_t old;
    memcpy(&old, (unsigned char *)block - sizeof old, sizeof old);
    memcpy(moved, block, old < size ? old : size);
  }
  return moved;
}

/* 64 dimensions: the most that a view may have. */
enum { RANK = 64, COUNT = 5000 };

static float data[COUNT];
static uint8_t out[COUNT], valid_bits[COUNT];

/* Whether the function of this step did what it should; -1 behind the last. `named` is whether
 * NONFINITE_BACKEND is fit for use. */
static int step(int number, bool named) {
  const nf_status asked = named ? NF_OK : NF_ERR_INTERNAL;
  static size_t sizes[RANK], coordinate[RANK];
  static ptrdiff_t strides[RANK], packed[RANK];
  ptrdiff_t elements = 1;
  nf_view x = {data, NF_FORMAT_F32, RANK, sizes, strides, 0, NULL, 0};
  nf_view some = {data, NF_FORMAT_F32, RANK, sizes, strides, 0, valid_bits, 3};
  nf_backend_info info;
  nf_census census;
  nf_format format;
  nf_stats stats;
  uint64_t result;
  bool yes;
  size_t i;

  memset(valid_bits, 0x5A, sizeof valid_bits);
  for (i = 0; i < RANK; i++) {
    sizes[i] = i % 16 == 0 ? 3 : 1;
    strides[i] = (ptrdiff_t)(i * 7);
  }
  /* A mask of more than eight dimensions needs strides. */
  for (i = RANK; i-- > 0; elements *= (ptrdiff_t)sizes[i]) {
    packed[i] = elements;
  }
  switch (number) {
  case 0:
    return nf_mask(data, NF_FORMAT_F32, COUNT, NF_IS_NAN, out) == asked;
  case 1:
    return nf_bits(data, NF_FORMAT_F32, COUNT, NF_IS_NAN, out, COUNT, 3) == asked;
  case 2:
    return nf_any(data, NF_FORMAT_F32, COUNT, NF_IS_NAN, &yes) == asked;
  case 3:
    return nf_all(data, NF_FORMAT_F32, COUNT, NF_IS_FINITE, &yes) == asked;
  case 4:
    return nf_count(data, NF_FORMAT_F32, COUNT, NF_IS_NAN, &result) == asked;
  case 5:
    return nf_first(data, NF_FORMAT_F32, COUNT, NF_IS_NAN, &result) == asked;
  case 6:
    return nf_take_census(data, NF_FORMAT_F32, COUNT, &census) == asked;
  case 7:
    return nf_take_stats(data, NF_FORMAT_F32, COUNT, &stats) == asked;
  case 8:
    return nf_view_mask(&x, NF_IS_NAN, out, 0, packed) == asked;
  case 9:
    return nf_view_bits(&x, NF_IS_NAN, out, COUNT, 3) == asked &&
           nf_view_bits(&some, NF_IS_NAN, out, COUNT, 3) == asked;
  case 10:
    return nf_view_any(&x, NF_IS_NAN, &yes) == asked &&
           nf_view_any(&some, NF_IS_NAN, &yes) == asked;
  case 11:
    return nf_view_all(&x, NF_IS_FINITE, &yes) == asked &&
           nf_view_all(&some, NF_IS_FINITE, &yes) == asked;
  case 12:
    return nf_view_count(&x, NF_IS_NAN, &result) == asked &&
           nf_view_count(&some, NF_IS_NAN, &result) == asked;
  case 13:
    return nf_view_first(&x, NF_IS_FINITE, &result, coordinate) == asked &&
           nf_view_first(&some, NF_IS_FINITE, &result, coordinate) == asked;
  case 14:
    return nf_view_census(&x, &census) == asked && nf_view_census(&some, &census) == asked;
  case 15:
    return nf_view_stats(&x, &stats) == asked && nf_view_stats(&some, &stats) == asked;
  case 16:
    return nf_is_inf(1, 0) == NF_IS_NEGATIVE_INF;
  case 17:
    return nf_version()[0] != '\0';
  case 18:
    return nf_status_message(NF_ERR_NULL)[0] != '\0';
  case 19:
    return nf_format_size(NF_FORMAT_BF16) == 2;
  case 20:
    return strcmp(nf_format_name(NF_FORMAT_BF16), "bf16") == 0 && nf_format_name(99) == NULL;
  case 21:
    return nf_format_from_name("bfloat16", &format) == NF_OK && format == NF_FORMAT_BF16;
  case 22:
    return (nf_backend_name() != NULL) == named;
  case 23:
    return nf_backend_at(0, &info) == asked;
  case 24:
    /* Heals a bad name. */
    return nf_backend_activate("scalar") == NF_OK && strcmp(nf_backend_name(), "scalar") == 0;
  case 25:
    return nf_mask(data, NF_FORMAT_F32, COUNT, nf_exceeds(1.0), out) == asked &&
           nf_any(data, NF_FORMAT_F32, COUNT, nf_exceeds(1.0), &yes) == asked &&
           nf_count(data, NF_FORMAT_F32, COUNT, nf_exceeds(1.0), &result) == asked &&
           nf_first(data, NF_FORMAT_F32, COUNT, nf_exceeds(1.0), &result) == asked;
  default:
    return -1;
  }
}

int main(int argc, char **argv) {
  const char *backend = getenv("NONFINITE_BACKEND");
  int right;
  if (argc != 2) {
    return 1;
  }
  forbidden = 1;
  right = step(atoi(argv[1]), backend == NULL || strcmp(backend, "none") != 0);
  forbidden = 0;
  return right < 0 ? 2 : right == 1 ? 0 : 1;
}
