// Arrays of two, three and four dimensions, as the documents fill constants from.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace hlo_toolkit {

/// Elements row by row.
template <class T, int kRank>
class ArrayND {
 public:
  // A bit of a vector of bool, else plain references.
  using Reference = typename std::vector<T>::reference;
  using ConstReference = typename std::vector<T>::const_reference;

  /// All elements are `value`. Of sizes that are negative, or have more elements than a vector can, no
  /// elements: the sizes are 0 then.
  explicit ArrayND(const std::array<int64_t, kRank>& sizes, T value = T()) : sizes_(sizes) {
    const std::optional<size_t> count = Count(sizes);
    if (!count) sizes_.fill(0);
    values_.assign(count.value_or(0), value);
  }
  [[nodiscard]] const std::array<int64_t, kRank>& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<T>& values() const { return values_; }
  [[nodiscard]] int64_t num_elements() const { return static_cast<int64_t>(values_.size()); }
  void Fill(const T& value) { values_.assign(values_.size(), value); }
  void SetValues(const std::vector<T>& values) {
    for (size_t i = 0; i < values.size() && i < values_.size(); ++i) values_[i] = values[i];
  }

 protected:
  [[nodiscard]] size_t At(const std::array<int64_t, kRank>& index) const {
    int64_t at = 0;
    for (size_t d = 0; d < kRank; ++d) at = at * sizes_[d] + index[d];
    return static_cast<size_t>(at);
  }
  /// Elements of these sizes; none if there is no room for them.
  static std::optional<size_t> Count(const std::array<int64_t, kRank>& sizes) {
    size_t count = 1;
    bool empty = false;
    for (const int64_t size : sizes) {
      if (size < 0) return std::nullopt;
      empty |= size == 0;
    }
    if (empty) return 0;
    for (const int64_t size : sizes) {
      if (static_cast<size_t>(size) > std::vector<T>().max_size() / count) return std::nullopt;
      count *= static_cast<size_t>(size);
    }
    return count;
  }
  std::array<int64_t, kRank> sizes_;
  std::vector<T> values_;
};

template <class T>
class Array2D : public ArrayND<T, 2> {
 public:
  Array2D(int64_t n1, int64_t n2, T value = T()) : ArrayND<T, 2>({n1, n2}, value) {}
  /// Rows of one length; what a shorter one lacks is 0.
  Array2D(std::initializer_list<std::initializer_list<T>> rows)
      : Array2D(static_cast<int64_t>(rows.size()),
                rows.size() == 0 ? 0 : static_cast<int64_t>(rows.begin()->size())) {
    int64_t i = 0;
    for (const auto& row : rows) {
      int64_t j = 0;
      for (const T& value : row)
        if (j < n2()) (*this)(i, j++) = value;
      ++i;
    }
  }
  typename ArrayND<T, 2>::Reference operator()(int64_t i, int64_t j) {
    return this->values_[this->At({i, j})];
  }
  typename ArrayND<T, 2>::ConstReference operator()(int64_t i, int64_t j) const {
    return this->values_[this->At({i, j})];
  }
  [[nodiscard]] int64_t n1() const { return this->sizes_[0]; }
  [[nodiscard]] int64_t n2() const { return this->sizes_[1]; }
  [[nodiscard]] int64_t height() const { return n1(); }
  [[nodiscard]] int64_t width() const { return n2(); }
};

template <class T>
class Array3D : public ArrayND<T, 3> {
 public:
  Array3D(int64_t n1, int64_t n2, int64_t n3, T value = T()) : ArrayND<T, 3>({n1, n2, n3}, value) {}
  typename ArrayND<T, 3>::Reference operator()(int64_t i, int64_t j, int64_t k) {
    return this->values_[this->At({i, j, k})];
  }
  typename ArrayND<T, 3>::ConstReference operator()(int64_t i, int64_t j, int64_t k) const {
    return this->values_[this->At({i, j, k})];
  }
  [[nodiscard]] int64_t n1() const { return this->sizes_[0]; }
  [[nodiscard]] int64_t n2() const { return this->sizes_[1]; }
  [[nodiscard]] int64_t n3() const { return this->sizes_[2]; }
};

template <class T>
class Array4D : public ArrayND<T, 4> {
 public:
  Array4D(int64_t n1, int64_t n2, int64_t n3, int64_t n4, T value = T())
      : ArrayND<T, 4>({n1, n2, n3, n4}, value) {}
  typename ArrayND<T, 4>::Reference operator()(int64_t i, int64_t j, int64_t k, int64_t l) {
    return this->values_[this->At({i, j, k, l})];
  }
  typename ArrayND<T, 4>::ConstReference operator()(int64_t i, int64_t j, int64_t k, int64_t l) const {
    return this->values_[this->At({i, j, k, l})];
  }
  [[nodiscard]] int64_t n1() const { return this->sizes_[0]; }
  [[nodiscard]] int64_t n2() const { return this->sizes_[1]; }
  [[nodiscard]] int64_t n3() const { return this->sizes_[2]; }
  [[nodiscard]] int64_t n4() const { return this->sizes_[3]; }
};

}  // namespace hlo_toolkit
