// A view of consecutive values that somebody else owns.
#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace hlo_toolkit {

/// Made from lists in braces, vectors, arrays and other spans; lives no longer than what it was made from (a
/// list in braces: the call that it is written in). T is const for all parameters of this library.
template <class T>
class Span {
 public:
  using value_type = std::remove_cv_t<T>;

  constexpr Span() = default;
  /// Of a pointer, not of a 0 that could be one: `{0, 1}` is a list of numbers.
  template <class Pointer>
    requires(std::is_pointer_v<Pointer> && std::convertible_to<Pointer, T*>)
  constexpr Span(Pointer data, size_t size) : data_(data), size_(size) {}
  // NOLINTBEGIN(google-explicit-constructor): parameters take what the caller has
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // what the comment above says
#endif
  constexpr Span(std::initializer_list<value_type> values)
    requires std::is_const_v<T>
      : data_(values.begin()), size_(values.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  template <size_t kSize>
  constexpr Span(T (&array)[kSize]) : data_(array), size_(kSize) {}
  template <class Container>
    requires requires(Container& c) {
      { c.data() } -> std::convertible_to<T*>;
      { c.size() } -> std::convertible_to<size_t>;
    }
  constexpr Span(Container& container) : data_(container.data()), size_(container.size()) {}
  template <class Container>
    requires(std::is_const_v<T> &&
             requires(const Container& c) {
               { c.data() } -> std::convertible_to<T*>;
               { c.size() } -> std::convertible_to<size_t>;
             })
  constexpr Span(const Container& container) : data_(container.data()), size_(container.size()) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] constexpr T* data() const { return data_; }
  [[nodiscard]] constexpr size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr T* begin() const { return data_; }
  [[nodiscard]] constexpr T* end() const { return data_ + size_; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  /// A copy of the values.
  [[nodiscard]] std::vector<value_type> ToVector() const { return {begin(), end()}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

/// What `{}` is where a list may hold one thing or another: better than either list.
enum class EmptyList {};

}  // namespace hlo_toolkit
