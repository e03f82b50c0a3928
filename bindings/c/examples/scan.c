/* Finds NaN and infinity in a file of raw elements, such as a dump of weights. C99, takes a few KiB
 * of memory.
 *
 *     scan FORMAT FILE        e.g. scan bf16 weights.bin
 *
 * Exit code 0: all finite; 1: not all finite; 2: the file cannot be read or does not hold a whole
 * number of elements. */
#include <inttypes.h>
#include <nonfinite.h>
#include <stdio.h>
#include <string.h>

enum { BUFFER = 1 << 16, FINITE = 0, FOUND = 1, TROUBLE = 2 };

/* Adds what was found from element `start` on. */
static void add(nf_occurrences *sum, const nf_occurrences *part, uint64_t start) {
  if (sum->count == 0 && part->count != 0) {
    sum->first = start + part->first;
  }
  sum->count += part->count;
}

static void print(const char *name, const nf_occurrences *found) {
  if (found->count != 0) {
    printf("%s: %" PRIu64 ", the first at %" PRIu64 "\n", name, found->count, found->first);
  }
}

static int fail(const char *what, nf_status status) {
  fprintf(stderr, "%s: %s\n", what, nf_status_message(status));
  return TROUBLE;
}

static int scan(FILE *file, const char *name, nf_format format) {
  static unsigned char buffer[BUFFER];
  const nf_occurrences none = {0, NF_NONE};
  nf_census sum = {none, none, none}, part;
  size_t size = nf_format_size(format), kept = 0, got, count;
  uint64_t elements = 0;

  while ((got = fread(buffer + kept, 1, BUFFER - kept, file)) != 0) {
    nf_status status;
    count = (kept + got) / size;
    status = nf_take_census(buffer, format, count, &part);
    if (status != NF_OK) {
      return fail(name, status);
    }
    add(&sum.nan, &part.nan, elements);
    add(&sum.pos_inf, &part.pos_inf, elements);
    add(&sum.neg_inf, &part.neg_inf, elements);
    elements += count;
    /* The beginning of an element whose end was not there yet. */
    kept = (kept + got) % size;
    memmove(buffer, buffer + count * size, kept);
  }
  if (ferror(file)) {
    perror(name);
    return TROUBLE;
  }
  if (kept != 0) {
    fprintf(stderr, "%s: %zu bytes behind the last whole element\n", name, kept);
    return TROUBLE;
  }
  printf("%s: %" PRIu64 " elements of %s\n", name, elements, nf_format_name(format));
  print("NaN", &sum.nan);
  print("+Inf", &sum.pos_inf);
  print("-Inf", &sum.neg_inf);
  return sum.nan.count + sum.pos_inf.count + sum.neg_inf.count == 0 ? FINITE : FOUND;
}

int main(int argc, char **argv) {
  nf_format format;
  nf_status status;
  FILE *file;
  int code;

  if (argc != 3) {
    fprintf(stderr, "usage: %s FORMAT FILE\n", argv[0]);
    return TROUBLE;
  }
  status = nf_format_from_name(argv[1], &format);
  if (status != NF_OK) {
    return fail(argv[1], status);
  }
  file = fopen(argv[2], "rb");
  if (file == NULL) {
    perror(argv[2]);
    return TROUBLE;
  }
  code = scan(file, argv[2], format);
  fclose(file);
  return code;
}
