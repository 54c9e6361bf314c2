// Literals: values with their shape.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/array.h"
#include "hlo/shape.h"

namespace hlo_toolkit {

namespace internal {
struct LiteralAccess;
/// Nested lists in braces, as the documents write constants.
template <class T>
using List1 = std::initializer_list<T>;
template <class T>
using List2 = std::initializer_list<List1<T>>;
template <class T>
using List3 = std::initializer_list<List2<T>>;
template <class T>
using List4 = std::initializer_list<List3<T>>;
}  // namespace internal

/// An array, whose elements lie row by row whatever the layout of its shape says; a tuple; a token. Copies
/// share their elements until one is written to. Elements narrower than a byte take one each.
class Literal {
 public:
  /// No value: its shape is none.
  Literal() = default;
  /// Zeros. Of a shape that is wrong (ShapeUtil::Validate) no value.
  explicit Literal(const Shape& shape);
  /// An array whose elements lie row by row at `data`, which nobody changes as long as `owner` is kept: that
  /// memory is used where it is aligned for the type, else copied. The layout of the shape counts for the
  /// copy: elements lie as it says. No value of a wrong shape, of what is no array, or lies in tiles.
  static Literal Borrow(const Shape& shape, const void* data, std::shared_ptr<const void> owner);
  /// No value if one of the elements has none, or of more than 65536 arrays and tuples.
  static Literal Tuple(Span<const Literal> elements);

  [[nodiscard]] bool valid() const { return rep_ != nullptr; }
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] int64_t element_count() const { return ShapeUtil::ElementsIn(shape()); }
  [[nodiscard]] int64_t size_bytes() const;
  [[nodiscard]] const void* untyped_data() const;
  /// To write to, all size_bytes(). Null of what is no array.
  void* mutable_untyped_data();

  /// The elements in row-major order; empty where T is not what the element type is held in.
  template <class T>
  [[nodiscard]] Span<const T> data() const {
    if (!Holds<T>()) return {};
    return {static_cast<const T*>(untyped_data()), static_cast<size_t>(element_count())};
  }
  template <class T>
  Span<T> mutable_data() {
    if (!Holds<T>()) return {};
    return {static_cast<T*>(mutable_untyped_data()), static_cast<size_t>(element_count())};
  }
  /// One element. A wrong type or index ends the program; TryGet says so.
  template <class T>
  [[nodiscard]] T Get(Span<const int64_t> index) const {
    return TryGet<T>(index).ConsumeValueOrDie();
  }
  template <class T>
  [[nodiscard]] StatusOr<T> TryGet(Span<const int64_t> index) const {
    const StatusOr<int64_t> at = Position(index, NativeToPrimitiveType<T>());
    if (!at.ok()) return at.status();
    return static_cast<const T*>(untyped_data())[*at];
  }
  template <class T>
  Status Set(Span<const int64_t> index, T value) {
    const StatusOr<int64_t> at = Position(index, NativeToPrimitiveType<T>());
    if (at.ok()) static_cast<T*>(mutable_untyped_data())[*at] = value;
    return at.status();
  }

  /// Elements of a tuple.
  [[nodiscard]] std::vector<Literal> DecomposeTuple() const;
  /// The same values under another shape with the same type and element count.
  [[nodiscard]] StatusOr<Literal> Reshape(Span<const int64_t> dimensions) const;
  /// The same value; its shape has the layout. Data stay where they are.
  [[nodiscard]] StatusOr<Literal> WithLayout(const Layout& layout) const;

  /// `f32[2] {1, 2}`
  [[nodiscard]] std::string ToString() const;
  /// Same shape but for layouts, and same bits.
  friend bool operator==(const Literal& a, const Literal& b);

  // r1.3's names; those of LiteralUtil in memory of their own.
  template <class T>
  static std::unique_ptr<Literal> CreateR0(T value);
  template <class T>
  static std::unique_ptr<Literal> CreateR1(Span<const T> values);
  template <class T>
  static std::unique_ptr<Literal> CreateR2(internal::List2<T> values);

 private:
  friend struct internal::LiteralAccess;
  struct Rep;
  template <class T>
  [[nodiscard]] bool Holds() const {
    return valid() && shape().IsArray() && shape().element_type() == NativeToPrimitiveType<T>();
  }
  /// Row-major place of an element of the type.
  [[nodiscard]] StatusOr<int64_t> Position(Span<const int64_t> index, PrimitiveType type) const;
  std::shared_ptr<Rep> rep_;
};

/// Making literals. Lists whose rows differ in length give no value.
class LiteralUtil {
 public:
  template <class T>
  static Literal CreateR0(T value) {
    return FromData<T>({}, &value);
  }
  template <class T>
  static Literal CreateR1(Span<const T> values) {
    return FromData<T>({static_cast<int64_t>(values.size())}, values.data());
  }
  template <class T>
  static Literal CreateR1(internal::List1<T> values) {
    return CreateR1<T>(Span<const T>(values));
  }
  static Literal CreateR1(const std::vector<bool>& values);
  template <class T>
  static Literal CreateR2(internal::List2<T> values) {
    return FromNested<T, 2>(values);
  }
  template <class T>
  static Literal CreateR3(internal::List3<T> values) {
    return FromNested<T, 3>(values);
  }
  template <class T>
  static Literal CreateR4(internal::List4<T> values) {
    return FromNested<T, 4>(values);
  }
  template <class T>
  static Literal CreateR2FromArray2D(const Array2D<T>& values) {
    return FromArray<T, 2>(values);
  }
  template <class T>
  static Literal CreateR3FromArray3D(const Array3D<T>& values) {
    return FromArray<T, 3>(values);
  }
  template <class T>
  static Literal CreateR4FromArray4D(const Array4D<T>& values) {
    return FromArray<T, 4>(values);
  }
  /// Every element is `value`.
  template <class T>
  static Literal CreateFull(Span<const int64_t> dimensions, T value) {
    Literal made(Shape(NativeToPrimitiveType<T>(), dimensions));
    for (T& element : made.mutable_data<T>()) element = value;
    return made;
  }
  /// Elements of `data` row by row, as many as the sizes say.
  template <class T>
  static Literal FromData(Span<const int64_t> dimensions, const T* data) {
    Literal made(Shape(NativeToPrimitiveType<T>(), dimensions));
    if (made.valid() && made.size_bytes() != 0)
      std::memcpy(made.mutable_untyped_data(), data, static_cast<size_t>(made.size_bytes()));
    return made;
  }
  static Literal MakeTuple(Span<const Literal> elements) { return Literal::Tuple(elements); }
  static Literal CreateToken();

  // Scalars of a type; no value where the type has none.
  static Literal Zero(PrimitiveType type);
  static Literal One(PrimitiveType type);
  /// The least value: -inf where the type has it.
  static Literal MinValue(PrimitiveType type);
  static Literal MaxValue(PrimitiveType type);
  /// A small number in any type of array.
  static Literal FromInteger(PrimitiveType type, int value);

 private:
  template <class T, int kRank, class Lists>
  static Literal FromNested(const Lists& lists) {
    std::vector<int64_t> sizes;
    std::vector<T> values;
    bool even = true;
    Flatten(lists, 0, sizes, values, even);
    sizes.resize(kRank);
    return even ? FromVector(sizes, values) : Literal();
  }
  static Literal FromVector(Span<const int64_t> dimensions, const std::vector<bool>& values);
  template <class T>
  static Literal FromVector(Span<const int64_t> dimensions, const std::vector<T>& values) {
    return FromData<T>(dimensions, values.data());
  }
  template <class T, class Lists>
  static void Flatten(const Lists& lists, size_t depth, std::vector<int64_t>& sizes, std::vector<T>& values,
                      bool& even) {
    const auto size = static_cast<int64_t>(lists.size());
    if (sizes.size() == depth)
      sizes.push_back(size);
    else
      even &= sizes[depth] == size;
    for (const auto& element : lists)
      if constexpr (std::is_same_v<std::decay_t<decltype(element)>, T>)
        values.push_back(element);
      else
        Flatten(element, depth + 1, sizes, values, even);
  }
  template <class T, int kRank>
  static Literal FromArray(const ArrayND<T, kRank>& array) {
    return FromVector(Span<const int64_t>(array.sizes()), array.values());
  }
};

template <class T>
std::unique_ptr<Literal> Literal::CreateR0(T value) {
  return std::make_unique<Literal>(LiteralUtil::CreateR0<T>(value));
}
template <class T>
std::unique_ptr<Literal> Literal::CreateR1(Span<const T> values) {
  return std::make_unique<Literal>(LiteralUtil::CreateR1<T>(values));
}
template <class T>
std::unique_ptr<Literal> Literal::CreateR2(internal::List2<T> values) {
  return std::make_unique<Literal>(LiteralUtil::CreateR2<T>(values));
}

/// The array of an .npy file's bytes. Types that NumPy lacks come as raw bytes in it and are read as `type`,
/// if one is given. Errors: INVALID_ARGUMENT.
StatusOr<Literal> LiteralFromNpy(std::string_view bytes, PrimitiveType type = PRIMITIVE_TYPE_INVALID);
/// The same for writing, of an array.
StatusOr<std::string> LiteralToNpy(const Literal& literal);
/// A literal from text with its shape in front, `f32[2] {1, 2}`.
StatusOr<Literal> ParseLiteral(std::string_view text);
/// A literal of a known shape, `{1, 2}`.
StatusOr<Literal> ParseLiteral(std::string_view text, const Shape& shape);

}  // namespace hlo_toolkit
