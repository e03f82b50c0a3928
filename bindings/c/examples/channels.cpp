// Finds the channels of a batch of images with NaN or infinity, and the first place in each. C++17.
// The batch is a tensor in NHWC order with padded rows, and is read channel by channel without a
// copy. A C++ program needs only the small classes below around the C interface.
//
//     channels            checks a batch with known answers; exit code 0 if they are right
#include <array>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <nonfinite.h>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

template <class T> inline constexpr nf_format format_of = 0;
template <> inline constexpr nf_format format_of<float> = NF_FORMAT_F32;
template <> inline constexpr nf_format format_of<double> = NF_FORMAT_F64;

void check(nf_status status) {
  if (status != NF_OK) {
    throw std::runtime_error(nf_status_message(status));
  }
}

// A strided tensor. Owns only its shape.
template <class T, std::size_t Rank> class Tensor {
public:
  Tensor(const T *data, std::array<std::size_t, Rank> sizes,
         std::array<std::ptrdiff_t, Rank> strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  // Without one of its dimensions, at one place of it.
  Tensor<T, Rank - 1> at(std::size_t dimension, std::size_t place) const {
    std::array<std::size_t, Rank - 1> sizes{};
    std::array<std::ptrdiff_t, Rank - 1> strides{};
    for (std::size_t i = 0, j = 0; i < Rank; i++) {
      if (i != dimension) {
        sizes[j] = sizes_[i];
        strides[j++] = strides_[i];
      }
    }
    return {data_ + static_cast<std::ptrdiff_t>(place) * strides_[dimension], sizes, strides};
  }

  nf_census census() const {
    nf_census result;
    const nf_view view = this->view();
    check(nf_view_census(&view, &result));
    return result;
  }

  // The coordinate of the first element for which the predicate holds.
  std::optional<std::array<std::size_t, Rank>> first(nf_predicate predicate) const {
    std::uint64_t index;
    std::array<std::size_t, Rank> result{};
    const nf_view view = this->view();
    check(nf_view_first(&view, predicate, &index, result.data()));
    return index == NF_NONE ? std::nullopt : std::optional(result);
  }

  // One byte an element, row-major.
  std::vector<std::uint8_t> mask(nf_predicate predicate) const {
    std::size_t count = 1;
    for (std::size_t size : sizes_) {
      count *= size;
    }
    std::vector<std::uint8_t> result(count);
    const nf_view view = this->view();
    check(nf_view_mask(&view, predicate, result.data(), 0, nullptr));
    return result;
  }

private:
  nf_view view() const {
    return {data_, format_of<T>, Rank, sizes_.data(), strides_.data(), 0, nullptr, 0};
  }

  const T *data_;
  std::array<std::size_t, Rank> sizes_;
  std::array<std::ptrdiff_t, Rank> strides_;
};

constexpr std::size_t images = 4, height = 24, width = 31, channels = 3;
// Rows start at multiples of 32 pixels. The padding between them does not count.
constexpr std::size_t row = 32 * channels;

std::size_t place(std::size_t image, std::size_t y, std::size_t x, std::size_t channel) {
  return (image * height + y) * row + x * channels + channel;
}

int run() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::vector<float> batch(images * height * row, 0.5F);
  for (std::size_t pixel = width; pixel < images * height * 32; pixel += 32) {
    batch[pixel * channels] = nan;
  }
  batch[place(1, 3, 7, 2)] = nan;
  batch[place(3, 0, 0, 2)] = nan;
  batch[place(2, 23, 30, 0)] = -inf;

  const Tensor<float, 4> nhwc(batch.data(), {images, height, width, channels},
                              {height * row, row, channels, 1});
  bool right = true;
  for (std::size_t channel = 0; channel < channels; channel++) {
    const auto plane = nhwc.at(3, channel);
    const nf_census census = plane.census();
    std::cout << "channel " << channel << ": " << census.nan.count << " NaN, "
              << census.pos_inf.count + census.neg_inf.count << " Inf";
    if (const auto first = plane.first(NF_IS_NAN)) {
      const auto [image, y, x] = *first;
      std::cout << "; the first NaN in image " << image << ", row " << y << ", column " << x;
      right = right && channel == 2 && image == 1 && y == 3 && x == 7;
    }
    std::cout << '\n';
    right = right && census.nan.count == (channel == 2 ? 2 : 0);
    right = right && census.neg_inf.count == (channel == 0 ? 1 : 0);

    std::size_t bad = 0;
    for (std::uint8_t byte : plane.mask(NF_IS_NON_FINITE)) {
      bad += byte;
    }
    right = right && bad == census.nan.count + census.pos_inf.count + census.neg_inf.count;
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main() {
  try {
    std::cout << "nonfinite " << nf_version() << ", backend " << nf_backend_name() << '\n';
    return run();
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
