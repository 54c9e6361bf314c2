#include "hlo/shape.h"

#include <limits>

#include "parser/parser.h"
#include "tools/library/convert.h"

namespace hlo_toolkit {

using internal::FromElementType;
using internal::ToElementType;
using internal::Wrong;

Shape::Shape(PrimitiveType element_type, Span<const int64_t> dimensions,
             const std::vector<bool>& dynamic_dimensions)
    : element_type_(element_type), dimensions_(dimensions.ToVector()), dynamic_(dynamic_dimensions) {
  dynamic_.resize(dynamic_.empty() ? 0 : dimensions_.size());
  if (is_static()) dynamic_.clear();
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape made;
  for (const Shape& element : elements) made.depth_ = std::max(made.depth_, element.depth_ + 1);
  if (made.depth_ > kMaxTupleDepth) return {};
  made.element_type_ = TUPLE;
  made.elements_ = std::move(elements);
  return made;
}

bool Shape::is_static() const {
  for (const bool dynamic : dynamic_)
    if (dynamic) return false;
  for (const Shape& element : elements_)
    if (!element.is_static()) return false;
  return true;
}

void Shape::set_dynamic_dimension(int64_t i, bool dynamic) {
  dynamic_.resize(dimensions_.size());
  if (i >= 0 && i < rank()) dynamic_[static_cast<size_t>(i)] = dynamic;
  if (is_static()) dynamic_.clear();
}

std::string Shape::ToString(bool print_layout) const {
  if (element_type_ == PRIMITIVE_TYPE_INVALID) return "invalid";
  hlo::Result<hlo::Shape> shape = internal::ToShape(*this);
  if (shape) return hlo::ToString(*shape, print_layout);
  // Wrong sizes are shown as they are.
  std::string text(PrimitiveTypeName(element_type_));
  text += '[';
  for (const int64_t size : dimensions_) text += (text.back() == '[' ? "" : ",") + std::to_string(size);
  return text + ']';
}

std::string ProgramShape::ToString() const {
  std::string text = "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i != 0) text += ", ";
    if (i < parameter_names.size()) text += parameter_names[i] + ": ";
    text += parameters[i].ToString();
  }
  return text + ") -> " + result.ToString();
}

Shape ShapeUtil::MakeShapeWithLayout(PrimitiveType type, Span<const int64_t> dimensions,
                                     Span<const int64_t> minor_to_major) {
  Shape made(type, dimensions);
  made.set_layout(LayoutUtil::MakeLayout(minor_to_major));
  return made;
}

int64_t ShapeUtil::TrueRank(const Shape& shape) {
  int64_t rank = 0;
  for (const int64_t size : shape.dimensions()) rank += size > 1 ? 1 : 0;
  return rank;
}

int64_t ShapeUtil::ElementsIn(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  int64_t count = 1;
  bool too_many = false;
  for (const int64_t size : shape.dimensions()) {
    if (size <= 0) return 0;
    too_many |= __builtin_mul_overflow(count, size, &count);
  }
  return too_many ? std::numeric_limits<int64_t>::max() : count;
}

int64_t ShapeUtil::ByteSizeOf(const Shape& shape) {
  int64_t bytes = 0;
  std::vector<const Shape*> rest = {&shape};
  while (!rest.empty()) {
    const Shape& next = *rest.back();
    rest.pop_back();
    int64_t own = 0;
    if (__builtin_mul_overflow(ElementsIn(next), ByteWidth(next.element_type()), &own) ||
        __builtin_add_overflow(bytes, own, &bytes))
      return std::numeric_limits<int64_t>::max();
    for (const Shape& element : next.tuple_shapes()) rest.push_back(&element);
  }
  return bytes;
}

bool ShapeUtil::Compatible(const Shape& a, const Shape& b) {
  const auto x = internal::ToShape(a), y = internal::ToShape(b);
  return x && y && hlo::Compatible(*x, *y);
}

Shape ShapeUtil::ChangeElementType(Shape shape, PrimitiveType type) {
  shape.set_element_type(type);
  return shape;
}

Status ShapeUtil::Validate(const Shape& shape) {
  const auto made = internal::ToShape(shape);
  return made ? Status() : internal::ToStatus(made.error());
}

Layout LayoutUtil::MakeDescendingLayout(int64_t rank) {
  Layout layout;
  while (rank > 0) layout.minor_to_major.push_back(--rank);
  return layout;
}

StatusOr<Shape> ParseShape(std::string_view text) {
  const auto shape = hlo::ParseShape(llvm::StringRef(text.data(), text.size()));
  if (!shape) return internal::ToStatus(shape.error());
  return internal::FromShape(*shape);
}

namespace internal {
namespace {

/// The layout whose properties are text: as the parser reads them.
hlo::Result<hlo::Layout> ToLayout(const Shape& shape, hlo::ElementType type) {
  const Layout& layout = shape.layout();
  std::vector<bool> seen(shape.dimensions().size());
  bool fits = layout.minor_to_major.size() == seen.size();
  for (size_t i = 0; fits && i < seen.size(); ++i) {
    const int64_t d = layout.minor_to_major[i];
    fits = d >= 0 && d < shape.rank() && !seen[static_cast<size_t>(d)];
    if (fits) seen[static_cast<size_t>(d)] = true;
  }
  if (!fits) return Wrong("a layout of rank {0} is no permutation of its dimensions", shape.rank());
  hlo::Layout made;
  made.minor_to_major.assign(layout.minor_to_major.begin(), layout.minor_to_major.end());
  if (layout.properties.empty()) return made;
  // As written behind an array of that rank.
  std::string text = hlo::ToString(hlo::Shape::Array(type, hlo::Dims(seen.size(), 1)).WithLayout(made));
  // A scalar has nothing in front of the colon, and no braces then.
  text = seen.empty() ? text + "{:" + layout.properties + "}"
                      : text.insert(text.size() - 1, ":" + layout.properties);
  HLO_TRY(const hlo::Shape parsed, hlo::ParseShape(text));
  if (!parsed.IsArray() || !parsed.has_layout()) return Wrong("'{0}' is no layout", layout.properties);
  return parsed.layout();
}

hlo::Result<hlo::Shape> ToArray(const Shape& shape, hlo::ElementType type) {
  int64_t bytes = hlo::Info(type).host_bytes();
  bool empty = false;
  for (const int64_t size : shape.dimensions()) {
    if (size < 0) return Wrong("a dimension has the negative size {0}", size);
    empty |= size == 0;
    if (!empty && __builtin_mul_overflow(bytes, size, &bytes))
      return Wrong("an array of {0} has more bytes than 64 bits can count", hlo::ToString(type));
  }
  llvm::SmallVector<bool, 8> dynamic;
  for (int64_t d = 0; d < shape.rank(); ++d) dynamic.push_back(shape.is_dynamic_dimension(d));
  if (!shape.has_layout()) return hlo::Shape::ArrayWithDefaultLayout(type, shape.dimensions(), dynamic);
  HLO_TRY(hlo::Layout layout, ToLayout(shape, type));
  return hlo::Shape::Array(type, shape.dimensions(), dynamic).WithLayout(std::move(layout));
}

/// No deeper than Shape::kMaxTupleDepth.
hlo::Result<hlo::Shape> ToShapeAtAnyDepth(const Shape& shape) {
  HLO_TRY(const hlo::ElementType type, ToElementType(shape.element_type()));
  if (hlo::IsArrayType(type)) return ToArray(shape, type);
  if (type == hlo::ElementType::Token) return hlo::Shape::MakeToken();
  if (type == hlo::ElementType::Opaque) return hlo::Shape::MakeOpaque();
  if (type != hlo::ElementType::Tuple) return Wrong("{0} is no shape here", hlo::ToString(type));
  std::vector<hlo::Shape> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    HLO_TRY(hlo::Shape made, ToShapeAtAnyDepth(element));
    elements.push_back(std::move(made));
  }
  return hlo::Shape::MakeTuple(elements);
}

/// What stands between the colon and the brace of a layout.
std::string Properties(const hlo::Shape& array) {
  if (!array.layout().HasProperties()) return "";
  const std::string text =
      hlo::ToString(array.WithDims(hlo::Dims(array.dims().size(), 1)).WithLayout(array.layout()));
  const size_t colon = text.find(':');
  return colon == std::string::npos ? "" : text.substr(colon + 1, text.size() - colon - 2);
}

}  // namespace

bool IsHugeTuple(llvm::ArrayRef<hlo::Shape> elements) {
  constexpr int64_t kMaxLeaves = int64_t{1} << 16;
  int64_t leaves = 0;
  std::vector<std::pair<const hlo::Shape*, int>> rest;
  for (const hlo::Shape& element : elements) rest.emplace_back(&element, 1);
  while (!rest.empty()) {
    const auto [shape, depth] = rest.back();
    rest.pop_back();
    if (++leaves > kMaxLeaves || depth > Shape::kMaxTupleDepth) return true;
    for (const hlo::Shape& element : shape->tuple_shapes()) rest.emplace_back(&element, depth + 1);
  }
  return false;
}

hlo::Result<hlo::Shape> ToShape(const Shape& shape) { return ToShapeAtAnyDepth(shape); }

Shape FromShape(const hlo::Shape& shape) {
  if (!shape.valid()) return {};
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const hlo::Shape& element : shape.tuple_shapes()) elements.push_back(FromShape(element));
    return Shape::Tuple(std::move(elements));
  }
  const PrimitiveType type = FromElementType(shape.element_type());
  if (!shape.IsArray()) return {type, {}};
  Shape made(type, shape.dims(),
             std::vector<bool>(shape.dynamic_flags().begin(), shape.dynamic_flags().end()));
  if (shape.has_layout())
    made.set_layout(
        {{shape.layout().minor_to_major.begin(), shape.layout().minor_to_major.end()}, Properties(shape)});
  return made;
}

}  // namespace internal
}  // namespace hlo_toolkit
