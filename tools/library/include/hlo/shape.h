// Shapes: what a value is.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/span.h"
#include "hlo/status.h"
#include "hlo/types.h"

namespace hlo_toolkit {

/// How an array lies in memory: dimensions from the fastest varying on, and properties (tiles, memory space,
/// …) as HLO text writes them behind the colon, `T(8,128)S(1)`.
struct Layout {
  std::vector<int64_t> minor_to_major;
  std::string properties;
  bool operator==(const Layout&) const = default;
};

/// An array with its element type, sizes and perhaps a layout; a tuple of shapes; a token; something opaque.
/// A regular value; nothing is checked before it is used.
class Shape {
 public:
  /// No shape at all.
  Shape() = default;
  Shape(PrimitiveType element_type, Span<const int64_t> dimensions,
        const std::vector<bool>& dynamic_dimensions = {});
  /// Deeper than kMaxTupleDepth: no shape.
  static Shape Tuple(std::vector<Shape> elements);
  static constexpr int kMaxTupleDepth = 1000;

  [[nodiscard]] PrimitiveType element_type() const { return element_type_; }
  void set_element_type(PrimitiveType type) { element_type_ = type; }
  [[nodiscard]] bool IsArray() const { return IsArrayType(element_type_); }
  [[nodiscard]] bool IsTuple() const { return element_type_ == TUPLE; }
  [[nodiscard]] bool IsToken() const { return element_type_ == TOKEN; }
  [[nodiscard]] bool IsOpaque() const { return element_type_ == OPAQUE_TYPE; }

  [[nodiscard]] const std::vector<int64_t>& dimensions() const { return dimensions_; }
  /// A size; of a dynamic dimension the largest.
  [[nodiscard]] int64_t dimensions(int64_t i) const { return dimensions_[static_cast<size_t>(i)]; }
  [[nodiscard]] int64_t dimensions_size() const { return static_cast<int64_t>(dimensions_.size()); }
  [[nodiscard]] int64_t rank() const { return dimensions_size(); }
  [[nodiscard]] bool is_dynamic_dimension(int64_t i) const {
    return !dynamic_.empty() && dynamic_[static_cast<size_t>(i)];
  }
  [[nodiscard]] bool is_static() const;
  void set_dynamic_dimension(int64_t i, bool dynamic);

  [[nodiscard]] const std::vector<Shape>& tuple_shapes() const { return elements_; }
  [[nodiscard]] const Shape& tuple_shapes(int64_t i) const { return elements_[static_cast<size_t>(i)]; }
  [[nodiscard]] int64_t tuple_shapes_size() const { return static_cast<int64_t>(elements_.size()); }

  [[nodiscard]] bool has_layout() const { return layout_.has_value(); }
  /// Requires has_layout().
  [[nodiscard]] const Layout& layout() const { return *layout_; }
  void set_layout(Layout layout) { layout_ = std::move(layout); }
  void clear_layout() { layout_.reset(); }

  /// `f32[2,<=3]`, and with layouts as HLO text prints it: `f32[2,3]{1,0}`.
  [[nodiscard]] std::string ToString(bool print_layout = false) const;

  bool operator==(const Shape&) const = default;

 private:
  PrimitiveType element_type_ = PRIMITIVE_TYPE_INVALID;
  std::vector<int64_t> dimensions_;
  std::vector<bool> dynamic_;  // empty, or one flag per dimension
  std::vector<Shape> elements_;
  int depth_ = 0;  // of tuples in tuples
  std::optional<Layout> layout_;
};

/// Types of the parameters and the result of a computation.
struct ProgramShape {
  std::vector<Shape> parameters;
  std::vector<std::string> parameter_names;
  Shape result;
  /// `(x: f32[2]) -> f32[2]`
  [[nodiscard]] std::string ToString() const;
};

/// The documents' functions on shapes.
class ShapeUtil {
 public:
  static Shape MakeShape(PrimitiveType type, Span<const int64_t> dimensions) { return {type, dimensions}; }
  static Shape MakeShape(PrimitiveType type, Span<const int64_t> dimensions,
                         const std::vector<bool>& dynamic) {
    return {type, dimensions, dynamic};
  }
  template <class T>
  static Shape MakeShapeWithType(Span<const int64_t> dimensions) {
    return {NativeToPrimitiveType<T>(), dimensions};
  }
  static Shape MakeScalarShape(PrimitiveType type) { return {type, {}}; }
  static Shape MakeShapeWithLayout(PrimitiveType type, Span<const int64_t> dimensions,
                                   Span<const int64_t> minor_to_major);
  static Shape MakeTupleShape(Span<const Shape> elements) { return Shape::Tuple(elements.ToVector()); }
  static Shape MakeNil() { return Shape::Tuple({}); }
  static Shape MakeTokenShape() { return {TOKEN, {}}; }
  static Shape MakeOpaqueShape() { return {OPAQUE_TYPE, {}}; }

  static int64_t Rank(const Shape& shape) { return shape.rank(); }
  /// Dimensions larger than one.
  static int64_t TrueRank(const Shape& shape);
  static bool IsScalar(const Shape& shape) { return shape.IsArray() && shape.rank() == 0; }
  static bool IsEffectiveScalar(const Shape& shape) { return shape.IsArray() && TrueRank(shape) == 0; }
  static bool IsTuple(const Shape& shape) { return shape.IsTuple(); }
  /// 0 where sizes are negative, the largest number where the product has no room.
  static int64_t ElementsIn(const Shape& shape);
  /// Bytes in a Literal; of a tuple those of its arrays.
  static int64_t ByteSizeOf(const Shape& shape);
  static bool Equal(const Shape& a, const Shape& b) { return a == b; }
  /// Equal but for layouts and which dimensions are dynamic.
  static bool Compatible(const Shape& a, const Shape& b);
  static bool SameDimensions(const Shape& a, const Shape& b) { return a.dimensions() == b.dimensions(); }
  static bool SameElementType(const Shape& a, const Shape& b) { return a.element_type() == b.element_type(); }
  static std::string HumanString(const Shape& shape) { return shape.ToString(); }
  static std::string HumanStringWithLayout(const Shape& shape) { return shape.ToString(true); }
  static Shape ChangeElementType(Shape shape, PrimitiveType type);
  /// What is wrong with a shape, whatever it is used for: sizes, layouts, types.
  static Status Validate(const Shape& shape);
};

/// The documents' functions on layouts.
class LayoutUtil {
 public:
  static Layout MakeLayout(Span<const int64_t> minor_to_major) { return {minor_to_major.ToVector(), ""}; }
  static Layout MakeDescendingLayout(int64_t rank);
};

/// A shape from its text.
StatusOr<Shape> ParseShape(std::string_view text);

}  // namespace hlo_toolkit
