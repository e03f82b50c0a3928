/*
 * nonfinite: is it NaN, is it infinite, is it finite? Exact answers for whole tensors of
 * floating-point numbers.
 *
 * Made by cbindgen from the Rust sources; see the crate nonfinite-capi.
 *
 * Needs C99, C++11, or a later standard.
 *
 * Rules of all functions:
 * - Elements are passed by pointer and compared as integers. No compiler option and
 *   no mode of the CPU changes an answer, and no floating-point exception is raised.
 * - Input may start at any address. It is read in the byte order of the machine, and never written.
 * - All arguments are checked before anything is written. If the status is not NF_OK, nothing was
 *   written.
 * - Two things cannot be checked, and are up to you: each pointer must lead to the number of bytes
 *   that the other arguments imply, and no other thread may write to these bytes during the call.
 * - Every function may be called from any thread. No function allocates memory, takes a lock,
 *   throws or calls exit. None is known to abort: if a check inside the library finds a mistake of
 *   the library, it writes a message to stderr and calls abort.
 * - Strings that are returned are static: never free them.
 * - Structs never grow: their size and members stay the same in all libraries with the same soname.
 *   That is one minor version below 1.0, and one major version from then on. More members come in a
 *   new struct with a new function.
 */

#ifndef NONFINITE_H
#define NONFINITE_H



#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The index if there is no such element.
#define NF_NONE UINT64_MAX

// Major version of this header. The library must have the same major version.
#define NF_VERSION_MAJOR 0

// Minor version of this header. As long as the major version is 0, the library must have the same
// minor version.
#define NF_VERSION_MINOR 1

// Patch version of this header.
#define NF_VERSION_PATCH 0

// A predicate for an element: one of the `NF_IS_...`, or what `nf_exceeds` returns. The type is an
// integer, so any value may be passed: 0 and unknown values are refused with `NF_ERR_PREDICATE`.
typedef uint64_t nf_predicate;

// The result of a call: `NF_OK`, or the reason of a refusal. `nf_status_message` returns it in
// words.
typedef int32_t nf_status;

// A floating-point format, one of the `NF_FORMAT_...`. The type is an integer, so any value may be
// passed: 0 and unknown values are refused with `NF_ERR_FORMAT`.
typedef uint32_t nf_format;

// Elements of one class.
typedef struct nf_occurrences {
  // The number of elements.
  uint64_t count;
  // The index of the first, or `NF_NONE`. In a view, the row-major index.
  uint64_t first;
} nf_occurrences;

// The NaN and infinities, by class.
typedef struct nf_census {
  // Not a number.
  struct nf_occurrences nan;
  // +Inf.
  struct nf_occurrences pos_inf;
  // -Inf.
  struct nf_occurrences neg_inf;
} nf_census;

// A backend: a version of the kernels for an instruction set.
typedef struct nf_backend_info {
  // "avx512", "avx2", "sse2", "neon", "portable" or "scalar".
  const char *name;
  // Whether this CPU can run it.
  bool available;
  // Whether the functions of this library use it.
  bool active;
} nf_backend_info;

// The minimum, the maximum, or the maximum magnitude.
typedef struct nf_extreme {
  // The number, exactly; 0 if there is none.
  double value;
  // Its bits in the format of the elements; 0 if there is none.
  uint64_t bits;
  // The index of the first element with this value, or `NF_NONE` if there is none. In a view:
  // the row-major index of its coordinate. Here -0 equals +0.
  uint64_t index;
} nf_extreme;

// What the elements are. Each is one of the census, or zero, subnormal or normal.
typedef struct nf_stats {
  // NaN, +Inf and -Inf.
  struct nf_census census;
  // The minimum of the finite elements.
  struct nf_extreme min;
  // The maximum of the finite elements.
  struct nf_extreme max;
  // The maximum magnitude (absolute value) of the finite elements.
  struct nf_extreme max_abs;
  // How many elements are zero, of either sign.
  uint64_t zeros;
  // How many elements are subnormal numbers.
  uint64_t subnormals;
  // How many elements are normal numbers.
  uint64_t normals;
} nf_stats;

// A strided tensor: the element at coordinate `c` is `data[offset + c[0] * strides[0] + ... +
// c[rank - 1] * strides[rank - 1]]`. Offset and strides are in elements, as in DLPack and
// DirectML. (numpy has strides in bytes.)
//
// Strides may be negative or 0 (a broadcast dimension), dimensions may overlap, and one of size 1
// may have any stride. A rank of 0 is one element. If a size is 0 there are no elements, and
// `data` may be null and `offset` and strides anything.
//
// All bytes from the first to the last element must be readable, including the bytes between
// elements, and nothing may write to them during a call. The same goes for the bytes of `validity`
// with bits of elements.
//
// With `validity`, some elements are null. No predicate holds for a null: masks and bits are 0
// there, and nulls change no other answer. What the memory of a null holds makes no difference,
// and indices count nulls too.
typedef struct nf_view {
  // The address that offset and strides count from. Needs no alignment.
  const void *data;
  // The format of the elements.
  nf_format format;
  // The number of dimensions, at most 64.
  size_t rank;
  // One size for each dimension, outermost first. May be null if `rank` is 0.
  const size_t *sizes;
  // One stride for each dimension, outermost first. Null means row-major without padding.
  const ptrdiff_t *strides;
  // The index of the element at coordinate 0.
  ptrdiff_t offset;
  // Which elements are valid, in the order of Apache Arrow: bit `(validity_offset + i) % 8` of
  // `validity[(validity_offset + i) / 8]` is 1 if the element of row-major index `i` is valid,
  // and 0 if it is null. Null means that all elements are valid.
  const uint8_t *validity;
  // The bit of the first element. Without `validity` of no meaning.
  size_t validity_offset;
} nf_view;

// IEEE 754 binary16.
#define NF_FORMAT_F16 1

// bfloat16: the upper half of a binary32.
#define NF_FORMAT_BF16 2

// IEEE 754 binary32, `float`.
#define NF_FORMAT_F32 3

// IEEE 754 binary64, `double`.
#define NF_FORMAT_F64 4

// OCP OFP8 E4M3: no infinity; NaN is 0x7F and 0xFF.
#define NF_FORMAT_F8E4M3FN 5

// E4M3 without infinity and negative zero, bias 8; NaN is 0x80.
#define NF_FORMAT_F8E4M3FNUZ 6

// OCP OFP8 E5M2: as IEEE formats.
#define NF_FORMAT_F8E5M2 7

// E5M2 without infinity and negative zero, bias 16; NaN is 0x80.
#define NF_FORMAT_F8E5M2FNUZ 8

// E4M3 as IEEE formats: infinity is 0x78 and 0xF8.
#define NF_FORMAT_F8E4M3 9

// E3M4 as IEEE formats: infinity is 0x70 and 0xF0.
#define NF_FORMAT_F8E3M4 10

// E4M3 without infinity and negative zero, bias 11; NaN is 0x80.
#define NF_FORMAT_F8E4M3B11FNUZ 11

// OCP MX scale: 8 exponent bits, no sign; NaN is 0xFF.
#define NF_FORMAT_F8E8M0FNU 12

// OCP MX FP4, one element in the low 4 bits of a byte: all codes are finite.
#define NF_FORMAT_F4E2M1FN 13

// OCP MX FP6, one element in the low 6 bits of a byte: all codes are finite.
#define NF_FORMAT_F6E2M3FN 14

// OCP MX FP6, one element in the low 6 bits of a byte: all codes are finite.
#define NF_FORMAT_F6E3M2FN 15

// Not a number, quiet or signalling, of any sign.
#define NF_IS_NAN 1

// Infinite, of either sign.
#define NF_IS_INF 2

// +Inf.
#define NF_IS_POSITIVE_INF 3

// -Inf.
#define NF_IS_NEGATIVE_INF 4

// Neither NaN nor infinite.
#define NF_IS_FINITE 5

// NaN or infinite.
#define NF_IS_NON_FINITE 6

// True of no element: infinity with both signs off, which ONNX IsInf and OpenVINO IsInf-10 allow.
#define NF_IS_NEVER 7

// NaN or `+Inf`. Use this for logits in which `-Inf` masks tokens.
#define NF_IS_NAN_OR_POSITIVE_INF 8

// The results are written.
#define NF_OK 0

// A required pointer is null.
#define NF_ERR_NULL 1

// No format has this number.
#define NF_ERR_FORMAT 2

// No predicate has this number.
#define NF_ERR_PREDICATE 3

// The elements, their results or their bits of validity take more bytes than an object can have
// (`PTRDIFF_MAX`) or end behind the last address.
#define NF_ERR_LENGTH 4

// A pointer to a result, or to sizes, strides or a view, is not aligned to its type.
#define NF_ERR_MISALIGNED 5

// The bitmap ends before the last result or before the first bit.
#define NF_ERR_OUTPUT_LENGTH 6

// Input and output have bytes in common.
#define NF_ERR_OVERLAP 7

// No format or backend has this name.
#define NF_ERR_NAME 8

// The backend is known, but this CPU cannot run it.
#define NF_ERR_UNAVAILABLE 9

// The index is behind the end.
#define NF_ERR_INDEX 10

// The output strides send two results to one byte.
#define NF_ERR_OUTPUT_STRIDES 11

// Either NONFINITE_BACKEND names no backend that this build and CPU have, or this is a mistake in
// the library. Please report the latter.
#define NF_ERR_INTERNAL 12

// The threshold is negative, infinite or NaN, or the format has no -0.
#define NF_ERR_THRESHOLD 13

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The predicate for infinity with the given signs, like the attributes `detect_negative` and
// `detect_positive` of ONNX IsInf and OpenVINO IsInf-10. Any value except 0 is on. Returns
// `NF_IS_INF`, `NF_IS_POSITIVE_INF`, `NF_IS_NEGATIVE_INF`, or with both off `NF_IS_NEVER`.
nf_predicate nf_is_inf(int64_t detect_negative, int64_t detect_positive);

// The predicate that holds for elements whose magnitude (absolute value) is above the threshold.
// Infinity exceeds every threshold, and so does NaN: if no element exceeds a threshold, all
// elements are numbers from `-threshold` to `threshold`.
//
// Questions are refused with `NF_ERR_THRESHOLD` if the threshold is negative, infinite or NaN, or
// if the format is `NF_FORMAT_F8E8M0FNU`, which has no sign, or a format `FNUZ`, which has NaN in
// the place of -0.
nf_predicate nf_exceeds(double threshold);

// Sets `out[i]` to 1 if `predicate` holds for element `i`, otherwise to 0.
//
// `data` and `out` may be null if `count` is 0.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_OVERLAP`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `out` to `count`
// bytes that nothing else uses.
nf_status nf_mask(const void *data,
                  nf_format format,
                  size_t count,
                  nf_predicate predicate,
                  uint8_t *out);

// Sets bit `(bit_offset + i) % 8` of `bitmap[(bit_offset + i) / 8]` to 1 if `predicate` holds for
// element `i`, otherwise to 0: the order of Apache Arrow. All other bits keep their values, and
// bytes without results are not touched.
//
// `bitmap_bytes` is the size of the bitmap. `data` may be null if `count` is 0, and `bitmap` if
// `bitmap_bytes` is 0.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_OVERLAP`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the
// last result or before bit `bit_offset`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `bitmap` to
// `bitmap_bytes` bytes. Those with results are initialised, and nothing else uses them.
nf_status nf_bits(const void *data,
                  nf_format format,
                  size_t count,
                  nf_predicate predicate,
                  uint8_t *bitmap,
                  size_t bitmap_bytes,
                  size_t bit_offset);

// Sets `*result` to whether `predicate` holds for any element. Stops soon after the first hit.
//
// `data` may be null if `count` is 0; `result` never.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a bool.
nf_status nf_any(const void *data,
                 nf_format format,
                 size_t count,
                 nf_predicate predicate,
                 bool *result);

// Sets `*result` to whether `predicate` holds for all elements: true if there are none. Stops soon
// after the first element for which the predicate does not hold.
//
// `data` may be null if `count` is 0; `result` never.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a bool.
nf_status nf_all(const void *data,
                 nf_format format,
                 size_t count,
                 nf_predicate predicate,
                 bool *result);

// Sets `*result` to the number of elements for which `predicate` holds.
//
// `data` may be null if `count` is 0; `result` never.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a
// uint64_t.
nf_status nf_count(const void *data,
                   nf_format format,
                   size_t count,
                   nf_predicate predicate,
                   uint64_t *result);

// Sets `*result` to the index of the first element for which `predicate` holds, or to `NF_NONE`.
//
// `data` may be null if `count` is 0; `result` never.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a
// uint64_t.
nf_status nf_first(const void *data,
                   nf_format format,
                   size_t count,
                   nf_predicate predicate,
                   uint64_t *result);

// Counts NaN, +Inf and -Inf and finds the first of each, in one pass.
//
// `data` may be null if `count` is 0; `result` never.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to an
// nf_census.
nf_status nf_take_census(const void *data,
                         nf_format format,
                         size_t count,
                         struct nf_census *result);

// The version of the library that was loaded, such as "0.1.0".
const char *nf_version(void);

// Bytes of an element: 8, 4, 2 or 1. 0 if no format has this number.
size_t nf_format_size(nf_format format);

// The name, such as "f32", "bf16" or "f8e4m3fn". Null if no format has this number.
const char *nf_format_name(nf_format format);

// The format of this name, in any case. Accepts the names of this library and the spellings of
// Rust, numpy, ml_dtypes, ONNX and safetensors. "FLOAT" is `NF_FORMAT_F32`, and "F8_E4M3" is
// `NF_FORMAT_F8E4M3FN`, as in safetensors.
//
// Refused with `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, `NF_ERR_NAME`.
//
// # Safety
// Unless null, `name` leads to text that ends with a NUL or has 64 bytes, and `result` to an
// nf_format.
nf_status nf_format_from_name(const char *name, nf_format *result);

// The name of the backend that the functions of this library use. This is the backend given to
// `nf_backend_activate`. Without one it is the backend that the environment variable
// NONFINITE_BACKEND names, or else the best backend. Null if NONFINITE_BACKEND is set and names no
// backend that this build and CPU have; then all functions that need a backend fail with
// `NF_ERR_INTERNAL`.
//
// The first function that needs a backend reads the variable with getenv. No other thread may
// change the environment during that call.
const char *nf_backend_name(void);

// The backend at this index of the table of all backends that this build knows, best first.
//
// Refused with `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, at the end of the table with `NF_ERR_INDEX`,
// and with `NF_ERR_INTERNAL` if `nf_backend_name` returns null.
//
// # Safety
// Unless refused, `result` leads to an nf_backend_info.
nf_status nf_backend_at(size_t index, struct nf_backend_info *result);

// Makes the functions of this library use this backend from now on, in all threads.
//
// Refused with `NF_ERR_NULL`, `NF_ERR_NAME`, `NF_ERR_UNAVAILABLE`.
//
// # Safety
// Unless null, `name` leads to text that ends with a NUL or has 64 bytes.
nf_status nf_backend_activate(const char *name);

// Finds minimum, maximum and maximum magnitude of the finite elements, counts zeros, subnormal and
// normal numbers, and takes the census. Reads the elements once.
//
// `data` may be null if `count` is 0; `result` never.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to an
// nf_stats.
nf_status nf_take_stats(const void *data,
                        nf_format format,
                        size_t count,
                        struct nf_stats *result);

// `nf_take_stats` of a strided tensor. An element that is broadcast counts as often as coordinates
// name it. Nulls do not count.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to an
// nf_stats.
nf_status nf_view_stats(const struct nf_view *x,
                        struct nf_stats *result);

// The meaning of a status, in English. Also has a text for unknown numbers.
const char *nf_status_message(nf_status status);

// For the element at each coordinate `c`, sets `out[out_offset + c[0] * out_strides[0] + ...]` to
// 1 if `predicate` holds, otherwise to 0, and to 0 for a null. Bytes between results keep their
// values. If `out_strides` is null, the results are row-major without padding.
//
// No two coordinates may share a byte of the output: sort the dimensions larger than 1 by absolute
// stride; each must step over all bytes that the dimensions before it reach.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, `NF_ERR_OUTPUT_STRIDES`, and with `NF_ERR_OVERLAP` if the
// bytes from the first to the last result overlap the bytes from the first to the last element,
// sizes, strides or bits of validity.
//
// # Safety
// Unless refused, `x` leads to an nf_view, and its pointers to what it describes; `out_strides` is
// null or leads to one stride a dimension, and nothing else uses the bytes from the first to the
// last result.
nf_status nf_view_mask(const struct nf_view *x,
                       nf_predicate predicate,
                       uint8_t *out,
                       ptrdiff_t out_offset,
                       const ptrdiff_t *out_strides);

// Sets bit `(bit_offset + i) % 8` of `bitmap[(bit_offset + i) / 8]` to 1 if `predicate` holds for
// the element of row-major index `i`, otherwise to 0, and to 0 for a null. All other bits keep
// their values, and bytes without results are not touched.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the
// last result or before bit `bit_offset`, and with `NF_ERR_OVERLAP` if bytes with results overlap
// the bytes from the first to the last element, sizes, strides or bytes with bits of `validity`.
//
// # Safety
// Unless refused, `x` leads to an nf_view, and its pointers to what it describes; `bitmap` leads
// to `bitmap_bytes` bytes. Those with results are initialised, and nothing else uses them.
nf_status nf_view_bits(const struct nf_view *x,
                       nf_predicate predicate,
                       uint8_t *bitmap,
                       size_t bitmap_bytes,
                       size_t bit_offset);

// Sets `*result` to whether `predicate` holds for any element that is not null. Stops soon after
// the first hit.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to a
// bool.
nf_status nf_view_any(const struct nf_view *x, nf_predicate predicate, bool *result);

// Sets `*result` to whether `predicate` holds for all elements that are not null: true if there
// are none. Stops soon after the first element for which the predicate does not hold.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to a
// bool.
nf_status nf_view_all(const struct nf_view *x, nf_predicate predicate, bool *result);

// Sets `*result` to the number of elements that are not null for which `predicate` holds. A
// broadcast element counts for each of its coordinates.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to a
// uint64_t.
nf_status nf_view_count(const struct nf_view *x, nf_predicate predicate, uint64_t *result);

// Finds the first element, in row-major order, that is not null and for which `predicate` holds.
// Sets `*index` to its row-major index, or to `NF_NONE` if there is none. Writes its coordinate,
// one number for each dimension, outermost first. `coordinate` may be null, and is left alone if
// there is no such element.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `x` leads to an nf_view, its pointers to what it describes, `index` to a
// uint64_t, and `coordinate` is null or leads to one size_t a dimension.
nf_status nf_view_first(const struct nf_view *x,
                        nf_predicate predicate,
                        uint64_t *index,
                        size_t *coordinate);

// Counts NaN, +Inf and -Inf that are not null, and finds the first of each by row-major index.
//
// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
//
// # Safety
// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to an
// nf_census.
nf_status nf_view_census(const struct nf_view *x, struct nf_census *result);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* NONFINITE_H */
