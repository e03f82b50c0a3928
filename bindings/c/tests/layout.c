/* The layout of all structs on systems of 64 bits, which only a new soname may change. */
#include <nonfinite.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "size of " #type)
#define PLACE(type, member, offset) \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member)

SIZE(nf_status, 4);
SIZE(nf_format, 4);
SIZE(nf_predicate, 8);

SIZE(nf_occurrences, 16);
PLACE(nf_occurrences, count, 0);
PLACE(nf_occurrences, first, 8);

SIZE(nf_census, 48);
PLACE(nf_census, nan, 0);
PLACE(nf_census, pos_inf, 16);
PLACE(nf_census, neg_inf, 32);

SIZE(nf_extreme, 24);
PLACE(nf_extreme, value, 0);
PLACE(nf_extreme, bits, 8);
PLACE(nf_extreme, index, 16);

SIZE(nf_stats, 144);
PLACE(nf_stats, census, 0);
PLACE(nf_stats, min, 48);
PLACE(nf_stats, max, 72);
PLACE(nf_stats, max_abs, 96);
PLACE(nf_stats, zeros, 120);
PLACE(nf_stats, subnormals, 128);
PLACE(nf_stats, normals, 136);

SIZE(nf_backend_info, 16);
PLACE(nf_backend_info, name, 0);
PLACE(nf_backend_info, available, 8);
PLACE(nf_backend_info, active, 9);

SIZE(nf_view, 64);
PLACE(nf_view, data, 0);
PLACE(nf_view, format, 8);
PLACE(nf_view, rank, 16);
PLACE(nf_view, sizes, 24);
PLACE(nf_view, strides, 32);
PLACE(nf_view, offset, 40);
PLACE(nf_view, validity, 48);
PLACE(nf_view, validity_offset, 56);
