// Tensors of cuDNN's graphs for its stand-in, element by element.
#pragma once
#include "testdata/gpu/cudnn_descriptions.h"
#include "testdata/gpu/stand_in.h"

namespace hlo::gpu {

/// A tensor of the graph: in memory, or on the way as exact numbers.
struct Values {
  explicit Values(const Description& of)
      : tensor(of), sizes(SizesOf(of)), strides(of.All<int64_t>(A::TensorStrides)), kind(KindOf(of)) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    numbers.resize(static_cast<size_t>(count));
  }
  /// Calls with the number of each element in order, and its place in memory.
  template <class F>
  void ForEach(F&& call) const {
    std::vector<int64_t> at(sizes.size());
    for (size_t n = 0; n < numbers.size(); ++n) {
      int64_t place = 0;
      for (size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
      call(n, static_cast<size_t>(place), at);
      for (size_t d = at.size(); d-- > 0;) {
        if (++at[d] < sizes[d]) break;
        at[d] = 0;
      }
    }
  }
  [[nodiscard]] size_t Bytes() const {
    size_t last = 0;
    ForEach([&](size_t, size_t place, const auto&) { last = std::max(last, place); });
    return (last + 1) * numbers::BytesOf(kind);
  }
  bool Fetch(uint64_t from, void* stream) {
    std::vector<char> bytes(Bytes());
    if (!hlo::gpu::Fetch(reinterpret_cast<const void*>(from), bytes.size(), bytes, stream)) return false;
    ForEach([&](size_t n, size_t place, const auto&) {
      numbers[n] = numbers::Load(kind, bytes.data() + place * numbers::BytesOf(kind));
    });
    return true;
  }
  /// What lies between elements is not touched.
  bool StoreAll(uint64_t to, void* stream) const {
    std::vector<char> bytes(Bytes());
    const size_t each = numbers::BytesOf(kind);
    bool stored = true;
    const bool dense = bytes.size() == numbers.size() * each;
    ForEach([&](size_t n, size_t place, const auto&) {
      char* const at = bytes.data() + place * each;
      numbers::Store(kind, at, numbers[n]);
      if (!dense) stored &= static_cast<int>(driver->to_device(to + place * each, at, each, stream)) == 0;
    });
    return stored &&
           (!dense || static_cast<int>(driver->to_device(to, bytes.data(), bytes.size(), stream)) == 0) &&
           static_cast<int>(driver->finish(stream)) == 0;
  }
  [[nodiscard]] size_t NumberOf(const std::vector<int64_t>& at) const {
    size_t number = 0;
    for (size_t d = 0; d < at.size(); ++d)
      number = number * static_cast<size_t>(sizes[d]) + static_cast<size_t>(sizes[d] == 1 ? 0 : at[d]);
    return number;
  }
  const Description& tensor;
  std::vector<int64_t> sizes, strides;
  Kind kind;
  std::vector<double> numbers;
};

double RoundedToTf32(double x) {
  auto narrow = static_cast<float>(x);
  uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof bits);
  constexpr uint32_t kLost = 13;
  if (std::isfinite(narrow)) bits = (bits + (1U << (kLost - 1))) >> kLost << kLost;
  std::memcpy(&narrow, &bits, sizeof bits);
  return double{narrow};
}

}  // namespace hlo::gpu
