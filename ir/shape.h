// Shapes: element type, dimensions, layout; tuples, tokens, opaque values, buffers.
#pragma once
#include <cstdint>
#include <string>

#include "ir/layout.h"
#include "ir/support/ref_count.h"
#include "ir/types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// Size of an unbounded dynamic dimension (`?`).
inline constexpr int64_t kUnboundedSize = INT64_MIN;

/// Path into a tuple; empty = the whole value.
using ShapeIndex = llvm::SmallVector<int64_t, 2>;

/// A regular value with shared immutable contents: copying costs a reference count, comparing equal
/// objects a pointer comparison. A default-constructed Shape is null (`!valid()`): "not known yet".
class Shape {
 public:
  Shape() = default;

  /// An array without layout. `dynamic`: empty, or one flag per dimension; a size of
  /// kUnboundedSize is always dynamic. Sizes are not checked.
  static Shape Array(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<bool> dynamic = {});
  /// An array with the descending default layout.
  static Shape ArrayWithDefaultLayout(ElementType type, llvm::ArrayRef<int64_t> dims,
                                      llvm::ArrayRef<bool> dynamic = {});
  static Shape MakeTuple(llvm::ArrayRef<Shape> elements);
  static Shape MakeToken();
  static Shape MakeOpaque();
  /// `b(array)`.
  static Shape MakeBuffer(const Shape& array);

  [[nodiscard]] bool valid() const { return rep_ != nullptr; }
  /// Tuple, Token, Opaque, Buffer, or the element type of an array.
  [[nodiscard]] ElementType element_type() const { return rep_->type; }
  [[nodiscard]] bool IsArray() const { return valid() && IsArrayType(rep_->type); }
  [[nodiscard]] bool IsTuple() const { return valid() && rep_->type == ElementType::Tuple; }
  [[nodiscard]] bool IsToken() const { return valid() && rep_->type == ElementType::Token; }
  [[nodiscard]] bool IsOpaque() const { return valid() && rep_->type == ElementType::Opaque; }
  [[nodiscard]] bool IsBuffer() const { return valid() && rep_->type == ElementType::Buffer; }
  [[nodiscard]] bool IsScalar() const { return IsArray() && rank() == 0; }
  /// Array of the given type with no dimensions.
  [[nodiscard]] bool IsScalarOf(ElementType t) const { return IsScalar() && element_type() == t; }

  // Arrays.
  [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(rep_->dims.size()); }
  [[nodiscard]] llvm::ArrayRef<int64_t> dims() const { return rep_->dims; }
  [[nodiscard]] int64_t dim(int64_t i) const { return rep_->dims[static_cast<size_t>(i)]; }
  /// Bounded (`<=n`) or unbounded (`?`).
  [[nodiscard]] bool is_dynamic(int64_t i) const {
    return !rep_->dynamic.empty() && rep_->dynamic[static_cast<size_t>(i)];
  }
  [[nodiscard]] bool is_unbounded(int64_t i) const { return dim(i) == kUnboundedSize; }
  /// One flag per dimension, or empty if no dimension is dynamic.
  [[nodiscard]] llvm::ArrayRef<bool> dynamic_flags() const { return rep_->dynamic; }
  /// Any dynamic dimension (in any leaf, for tuples).
  [[nodiscard]] bool HasDynamicDimension() const;
  [[nodiscard]] bool HasUnboundedDimension() const;
  /// Product of the dimensions (bounds for dynamic ones); arrays only. Saturates at INT64_MAX;
  /// unbounded or negative dimensions count as 0.
  [[nodiscard]] int64_t ElementCount() const { return rep_->element_count; }
  [[nodiscard]] bool has_layout() const { return valid() && rep_->has_layout; }
  /// Requires has_layout().
  [[nodiscard]] const Layout& layout() const { return rep_->layout; }

  // Tuples and buffers.
  [[nodiscard]] llvm::ArrayRef<Shape> tuple_shapes() const { return rep_->elements; }
  [[nodiscard]] int64_t tuple_size() const { return static_cast<int64_t>(rep_->elements.size()); }
  [[nodiscard]] const Shape& tuple_shape(int64_t i) const { return rep_->elements[static_cast<size_t>(i)]; }
  /// The array inside a buffer shape.
  [[nodiscard]] const Shape& buffer_shape() const { return rep_->elements[0]; }
  /// The shape at `index`, or null if there is none.
  [[nodiscard]] const Shape* Subshape(llvm::ArrayRef<int64_t> index) const;
  /// Leaves (non-tuple shapes) in depth-first order; 1 for a non-tuple.
  [[nodiscard]] int64_t LeafCount() const;

  // Copies with one thing changed.
  [[nodiscard]] Shape WithElementType(ElementType type) const;
  [[nodiscard]] Shape WithDims(llvm::ArrayRef<int64_t> dims,
                               llvm::ArrayRef<bool> dynamic = {}) const;  // drops layout
  [[nodiscard]] Shape WithLayout(Layout layout) const;
  [[nodiscard]] Shape WithoutLayout() const;       // recursive
  [[nodiscard]] Shape WithDefaultLayouts() const;  // recursive, only where no layout is set
  [[nodiscard]] Shape WithoutDynamic() const;      // recursive; unbounded sizes stay

  /// Exactly equal: type, dimensions, dynamic flags, layouts with all properties.
  friend bool operator==(const Shape& a, const Shape& b) { return a.rep_ == b.rep_ || EqualSlow(a, b); }
  friend llvm::hash_code hash_value(const Shape& s);

 private:
  struct Rep : RefCounted<Rep> {
    ElementType type = ElementType::Token;
    bool has_layout = false;
    int64_t element_count = 0;
    Dims dims;
    llvm::SmallVector<bool, 8> dynamic;
    Layout layout;
    std::vector<Shape> elements;
  };
  explicit Shape(Rep* rep) : rep_(rep) {}
  static Rep* NewArray(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<bool> dynamic);
  static bool EqualSlow(const Shape& a, const Shape& b);
  template <class F>
  Shape MapLeaves(F&& f) const;

  llvm::IntrusiveRefCntPtr<const Rep> rep_;
};

/// What Same() takes into account besides element types, dimensions and structure.
struct ShapeComparison {
  bool layout = false;                  // minor_to_major and all properties
  bool minor_to_major_only = false;     // with layout: only minor_to_major
  bool ignore_memory_space = false;     // with layout
  bool ignore_tiles = false;            // with layout: tiles and tail padding
  bool dynamic = false;                 // dynamic flags
  bool ignore_float_precision = false;  // any two floating types agree
  bool ignore_element_type = false;
};
bool Same(const Shape& a, const Shape& b, const ShapeComparison& how = {});
/// Same element types and dimensions, ignoring layout and dynamic flags (ops-elementwise §3.1).
inline bool Compatible(const Shape& a, const Shape& b) { return a == b || Same(a, b); }
/// Arrays with equal dimension sizes, whatever their element types.
bool SameDims(const Shape& a, const Shape& b);

/// Whether elements lie row by row with nothing between them, in every leaf: no layout, or the default
/// without properties (hlo-text §2 "Layout properties").
bool IsRowMajor(const Shape& shape);

/// HLO spelling, `f32[2,<=3]{1,0:T(8)}`; without_layout leaves layouts out.
void Print(llvm::raw_ostream& os, const Shape& shape, bool with_layout = true);
void PrintLayout(llvm::raw_ostream& os, const Shape& array);
std::string ToString(const Shape& shape, bool with_layout = true);
/// `{1,0}`.
std::string ToString(const ShapeIndex& index);
/// In messages shapes stand without layout.
llvm::raw_ostream& operator<<(llvm::raw_ostream& os, const Shape& shape);

/// Calls f(index, leaf shape) for each leaf in depth-first order.
void ForEachLeaf(const Shape& shape, llvm::function_ref<void(const ShapeIndex&, const Shape&)> f);

/// Bytes of the array's unpacked dense storage; -1 if that overflows int64.
int64_t ByteSize(const Shape& array);

}  // namespace hlo
