// Built with -O2 -ffast-math: the compiler may assume that there is no NaN and no infinity. Then
// std::isnan and std::isinf find none, and the library finds them all. Exit code 0 if both hold.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nonfinite.h>
#include <vector>

int main() {
  const std::uint32_t bits[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001,
                                0xFFFFFFFF, 0x3F800000, 0x00000001, 0};
  std::vector<float> x(10000);
  for (std::size_t i = 0; i < x.size(); i++) {
    std::memcpy(&x[i], &bits[i % 8], sizeof x[i]);
  }
  std::size_t nan = 0, inf = 0, finite = 0;
  for (float value : x) {
    nan += std::isnan(value);
    inf += std::isinf(value);
    finite += std::isfinite(value);
  }
  nf_census ours;
  std::uint64_t our_finite = 0;
  if (nf_take_census(x.data(), NF_FORMAT_F32, x.size(), &ours) != NF_OK ||
      nf_count(x.data(), NF_FORMAT_F32, x.size(), NF_IS_FINITE, &our_finite) != NF_OK) {
    return 2;
  }
  std::printf("of 3750 NaN, 2500 Inf and 3750 finite, std::is... finds %zu, %zu, %zu\n", nan, inf,
              finite);
  std::printf("and nonfinite %zu, %zu, %zu\n", static_cast<std::size_t>(ours.nan.count),
              static_cast<std::size_t>(ours.pos_inf.count + ours.neg_inf.count),
              static_cast<std::size_t>(our_finite));
  const bool they_lie = nan == 0 && inf == 0 && finite == x.size();
  const bool we_do_not = ours.nan.count == 3750 && ours.pos_inf.count == 1250 &&
                         ours.neg_inf.count == 1250 && our_finite == 3750 &&
                         ours.nan.first == 2 && ours.neg_inf.first == 1;
  return they_lie && we_do_not ? 0 : 1;
}
