/* Every function on heap blocks of exactly the size that it may touch, for valgrind and similar
 * tools: all lengths up to 300 of every format, with uninitialised outputs. Answers are compared
 * with a loop that reads the codes bit by bit. */
#include <nonfinite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long failures;

static void expect(int right, const char *what, nf_format format, size_t count) {
  if (!right) {
    fprintf(stderr, "%s: wrong for %lu elements of %s\n", what, (unsigned long)count,
            nf_format_name(format));
    failures++;
  }
}

static void *block(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL && size != 0) {
    abort();
  }
  return memory;
}

/* Special codes of the formats with infinities, and of the formats with a single code for NaN (with
 * or without a sign). */
struct format {
  nf_format format;
  uint64_t exponent, mantissa, nan, nan_mask;
};

static const struct format formats[] = {
    {NF_FORMAT_F16, 0x7C00, 0x03FF, 0, 0},
    {NF_FORMAT_BF16, 0x7F80, 0x007F, 0, 0},
    {NF_FORMAT_F32, 0x7F800000, 0x007FFFFF, 0, 0},
    {NF_FORMAT_F64, 0x7FF0000000000000, 0x000FFFFFFFFFFFFF, 0, 0},
    {NF_FORMAT_F8E5M2, 0x7C, 0x03, 0, 0},
    {NF_FORMAT_F8E4M3, 0x78, 0x07, 0, 0},
    {NF_FORMAT_F8E3M4, 0x70, 0x0F, 0, 0},
    {NF_FORMAT_F8E4M3FN, 0, 0, 0x7F, 0x7F},
    {NF_FORMAT_F8E4M3FNUZ, 0, 0, 0x80, 0xFF},
    {NF_FORMAT_F8E5M2FNUZ, 0, 0, 0x80, 0xFF},
    {NF_FORMAT_F8E4M3B11FNUZ, 0, 0, 0x80, 0xFF},
    {NF_FORMAT_F8E8M0FNU, 0, 0, 0xFF, 0xFF},
    {NF_FORMAT_F4E2M1FN, 0, 0, 1, 0},
    {NF_FORMAT_F6E2M3FN, 0, 0, 1, 0},
    {NF_FORMAT_F6E3M2FN, 0, 0, 1, 0},
};

static int is_nan(const struct format *f, uint64_t bits) {
  if (f->exponent != 0) {
    return (bits & f->exponent) == f->exponent && (bits & f->mantissa) != 0;
  }
  return (bits & f->nan_mask) == f->nan;
}

static uint64_t element(const struct format *f, size_t i) {
  switch (i % 11) {
  case 3:
    return f->exponent != 0 ? f->exponent : f->nan;
  case 5:
    return f->exponent != 0 ? f->exponent | 1 : 0x7F;
  case 8:
    return f->exponent + f->mantissa;
  default:
    return i & 0x7F & ~f->exponent;
  }
}

/* Writes elements and returns how many are NaN. */
static uint64_t fill(const struct format *f, unsigned char *data, size_t count) {
  size_t i, size = nf_format_size(f->format);
  uint64_t nans = 0;
  for (i = 0; i < count; i++) {
    uint64_t bits = element(f, i);
    uint8_t one = (uint8_t)bits;
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    const void *value = size == 1   ? (void *)&one
                        : size == 2 ? (void *)&two
                        : size == 4 ? (void *)&four
                                    : (void *)&bits;
    memcpy(data + i * size, value, size);
    nans += (uint64_t)is_nan(f, bits);
  }
  return nans;
}

static void check(const struct format *f, size_t count) {
  const nf_format format = f->format;
  size_t i, size = nf_format_size(format), bytes = (count + 3 + 7) / 8, flags = 0, bits = 0;
  unsigned char *data = block(count * size), *mask = block(count);
  unsigned char *bitmap = block(bytes), *columns = block(2 * count);
  uint64_t nans = fill(f, data, count), number = 77, first = 77;
  ptrdiff_t forward = 1, backward = -1, two = 2;
  nf_view view = {NULL, 0, 1, NULL, NULL, 0, NULL, 0};
  bool any = false, all = false;
  nf_census census;

  expect(nf_mask(data, format, count, NF_IS_NAN, mask) == NF_OK, "nf_mask", format, count);
  memset(bitmap, 0, bytes);
  expect(nf_bits(data, format, count, NF_IS_NAN, bitmap, bytes, 3) == NF_OK, "nf_bits", format,
         count);
  for (i = 0; i < count; i++) {
    int nan = is_nan(f, element(f, i));
    flags += mask[i] == nan;
    bits += (bitmap[(i + 3) / 8] >> (i + 3) % 8 & 1) == nan;
  }
  expect(flags == count && bits == count, "masks", format, count);
  expect(nf_count(data, format, count, NF_IS_NAN, &number) == NF_OK && number == nans, "nf_count",
         format, count);
  expect(nf_any(data, format, count, NF_IS_NAN, &any) == NF_OK && any == (nans != 0), "nf_any",
         format, count);
  expect(nf_all(data, format, count, NF_IS_NAN, &all) == NF_OK && all == (nans == count), "nf_all",
         format, count);
  expect(nf_first(data, format, count, NF_IS_NAN, &first) == NF_OK &&
             (first == NF_NONE) == (nans == 0),
         "nf_first", format, count);
  expect(nf_take_census(data, format, count, &census) == NF_OK && census.nan.count == nans &&
             census.nan.first == first,
         "nf_take_census", format, count);

  /* The same, backwards, into every second byte. */
  view.data = data;
  view.format = format;
  view.sizes = &count;
  view.strides = &backward;
  view.offset = (ptrdiff_t)count - 1;
  expect(nf_view_mask(&view, NF_IS_NAN, columns, 0, &two) == NF_OK, "nf_view_mask", format, count);
  for (i = 0, flags = 0; i < count; i++) {
    flags += columns[2 * i] == mask[count - 1 - i];
  }
  expect(flags == count, "columns", format, count);
  expect(nf_view_count(&view, NF_IS_NAN, &number) == NF_OK && number == nans, "nf_view_count",
         format, count);
  /* Every second element, from the last on. */
  view.strides = &two;
  i = (count + 1) / 2;
  view.sizes = &i;
  view.offset = 0;
  expect(nf_view_census(&view, &census) == NF_OK, "nf_view_census", format, count);
  view.strides = &forward;
  view.sizes = &count;
  expect(nf_view_census(&view, &census) == NF_OK && census.nan.count == nans &&
             census.nan.first == first,
         "nf_view_census", format, count);
  free(data);
  free(mask);
  free(bitmap);
  free(columns);
}

/* Names one element behind the end. A tool that watches memory must find this read; otherwise its
 * silence on all other reads proves nothing. */
static int overrun(void) {
  unsigned char *data = block(300 * sizeof(float));
  uint64_t number;
  nf_status status;
  memset(data, 0, 300 * sizeof(float));
  status = nf_count(data, NF_FORMAT_F32, 301, NF_IS_NAN, &number);
  free(data);
  return status == NF_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  size_t i, count;
  if (argc == 2 && strcmp(argv[1], "overrun") == 0) {
    return overrun();
  }
  printf("backend: %s\n", nf_backend_name());
  for (i = 0; i < sizeof formats / sizeof *formats; i++) {
    for (count = 0; count <= 300; count++) {
      check(&formats[i], count);
    }
  }
  printf("%lu formats, %lu failures\n", (unsigned long)i, failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
