#include "ir/shape.h"

#include <limits>

#include "llvm/ADT/STLExtras.h"

namespace hlo {
namespace {

int64_t SaturatedCount(llvm::ArrayRef<int64_t> dims) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t d : dims) {
    if (d <= 0) return 0;
    overflow |= __builtin_mul_overflow(count, d, &count);
  }
  return overflow ? std::numeric_limits<int64_t>::max() : count;
}

bool LayoutsAgree(const Layout& a, const Layout& b, const ShapeComparison& how) {
  if (a.minor_to_major != b.minor_to_major) return false;
  if (how.minor_to_major_only) return true;
  Layout x = a, y = b;
  if (how.ignore_memory_space) x.memory_space = y.memory_space = 0;
  if (how.ignore_tiles) {
    x.tiles = y.tiles = {};
    x.tail_padding_alignment = y.tail_padding_alignment = 1;
  }
  return x == y;
}

/// Without regard to dynamic sizes an unbounded dimension agrees with any other.
bool DimsAgreeWhereBounded(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int64_t i = 0; i < a.rank(); ++i)
    if (a.dim(i) != b.dim(i) && !a.is_unbounded(i) && !b.is_unbounded(i)) return false;
  return true;
}

bool TypesAgree(ElementType a, ElementType b, const ShapeComparison& how) {
  if (a == b) return true;
  if (how.ignore_element_type && IsArrayType(a) && IsArrayType(b)) return true;
  return how.ignore_float_precision && IsFloat(a) && IsFloat(b);
}

}  // namespace

Shape::Rep* Shape::NewArray(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<bool> dynamic) {
  Rep* rep = new Rep;
  rep->type = type;
  rep->dims.assign(dims.begin(), dims.end());
  rep->element_count = SaturatedCount(dims);
  bool any = false;
  for (size_t i = 0; i < dims.size(); ++i)
    any |= dims[i] == kUnboundedSize || (!dynamic.empty() && dynamic[i]);
  if (any)
    for (size_t i = 0; i < dims.size(); ++i)
      rep->dynamic.push_back(dims[i] == kUnboundedSize || (!dynamic.empty() && dynamic[i]));
  return rep;
}

Shape Shape::Array(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<bool> dynamic) {
  return Shape(NewArray(type, dims, dynamic));
}

Shape Shape::ArrayWithDefaultLayout(ElementType type, llvm::ArrayRef<int64_t> dims,
                                    llvm::ArrayRef<bool> dynamic) {
  Rep* rep = NewArray(type, dims, dynamic);
  rep->has_layout = true;
  rep->layout = Layout::Default(static_cast<int64_t>(dims.size()));
  return Shape(rep);
}

/// Of what has elements, the number of those with dynamic dimensions: wide tuples are asked for each element
/// whether there are any.
template <class Rep>
static void CountDynamic(Rep& rep) {
  rep.element_count = llvm::count_if(rep.elements, [](const Shape& s) { return s.HasDynamicDimension(); });
}

Shape Shape::MakeTuple(llvm::ArrayRef<Shape> elements) {
  Rep* rep = new Rep;
  rep->type = ElementType::Tuple;
  rep->elements.assign(elements.begin(), elements.end());
  CountDynamic(*rep);
  return Shape(rep);
}

Shape Shape::MakeToken() {
  static const Shape shape(new Rep);
  return shape;
}

Shape Shape::MakeOpaque() {
  static const Shape shape = [] {
    Rep* rep = new Rep;
    rep->type = ElementType::Opaque;
    return Shape(rep);
  }();
  return shape;
}

Shape Shape::MakeBuffer(const Shape& array) {
  Rep* rep = new Rep;
  rep->type = ElementType::Buffer;
  rep->elements.push_back(array);
  CountDynamic(*rep);
  return Shape(rep);
}

bool Shape::HasDynamicDimension() const {
  return !rep_->dynamic.empty() || (!rep_->elements.empty() && rep_->element_count > 0);
}

bool Shape::HasUnboundedDimension() const {
  if (llvm::is_contained(rep_->dims, kUnboundedSize)) return true;
  return llvm::any_of(rep_->elements, [](const Shape& s) { return s.HasUnboundedDimension(); });
}

const Shape* Shape::Subshape(llvm::ArrayRef<int64_t> index) const {
  const Shape* shape = this;
  for (int64_t i : index) {
    if (!shape->IsTuple() || i < 0 || i >= shape->tuple_size()) return nullptr;
    shape = &shape->tuple_shape(i);
  }
  return shape;
}

int64_t Shape::LeafCount() const {
  if (!IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape& s : tuple_shapes()) count += s.LeafCount();
  return count;
}

template <class F>
Shape Shape::MapLeaves(F&& f) const {
  if (IsTuple() || IsBuffer()) {
    // What does not change is shared: tuples within tuples would be copied for each level.
    std::vector<Shape> elements;
    for (const auto& [i, old] : llvm::enumerate(rep_->elements)) {
      Shape made = old.MapLeaves(f);
      if (elements.empty() && made.rep_ == old.rep_) continue;
      if (elements.empty()) elements.assign(rep_->elements.begin(), rep_->elements.end());
      elements[i] = std::move(made);
    }
    if (elements.empty()) return *this;
    Rep* rep = new Rep;
    rep->type = rep_->type;
    rep->elements = std::move(elements);
    CountDynamic(*rep);
    return Shape(rep);
  }
  return f(*this);
}

Shape Shape::WithElementType(ElementType type) const {
  if (type == element_type()) return *this;
  Rep* rep = NewArray(type, dims(), dynamic_flags());
  rep->has_layout = has_layout();
  rep->layout = rep_->layout;
  if (!Info(type).is_packed()) rep->layout.element_size_bits = 0;
  return Shape(rep);
}

Shape Shape::WithDims(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<bool> dynamic) const {
  return Array(element_type(), dims, dynamic);
}

Shape Shape::WithLayout(Layout layout) const {
  Rep* rep = NewArray(element_type(), dims(), dynamic_flags());
  rep->has_layout = true;
  rep->layout = std::move(layout);
  return Shape(rep);
}

Shape Shape::WithoutLayout() const {
  return MapLeaves([](const Shape& s) {
    return s.has_layout() ? Array(s.element_type(), s.dims(), s.dynamic_flags()) : s;
  });
}

Shape Shape::WithDefaultLayouts() const {
  return MapLeaves([](const Shape& s) {
    if (!s.IsArray() || s.has_layout()) return s;
    return ArrayWithDefaultLayout(s.element_type(), s.dims(), s.dynamic_flags());
  });
}

Shape Shape::WithoutDynamic() const {
  return MapLeaves([](const Shape& s) {
    if (!s.IsArray() || s.dynamic_flags().empty()) return s;
    Rep* rep = NewArray(s.element_type(), s.dims(), {});
    rep->has_layout = s.has_layout();
    rep->layout = s.rep_->layout;
    return Shape(rep);
  });
}

bool Shape::EqualSlow(const Shape& a, const Shape& b) {
  if (!a.valid() || !b.valid()) return false;
  const Rep& x = *a.rep_;
  const Rep& y = *b.rep_;
  return x.type == y.type && x.dims == y.dims && x.dynamic == y.dynamic && x.has_layout == y.has_layout &&
         (!x.has_layout || x.layout == y.layout) && x.elements == y.elements;
}

llvm::hash_code hash_value(const Shape& s) {
  if (!s.valid()) return llvm::hash_value(0);
  llvm::hash_code h = llvm::hash_combine(static_cast<int>(s.element_type()),
                                         llvm::hash_combine_range(s.dims().begin(), s.dims().end()));
  for (const Shape& e : s.rep_->elements) h = llvm::hash_combine(h, hash_value(e));
  return h;
}

bool IsRowMajor(const Shape& shape) {
  if (shape.IsTuple()) return llvm::all_of(shape.tuple_shapes(), IsRowMajor);
  return !shape.has_layout() || (shape.layout().IsDescending() && !shape.layout().HasProperties());
}

bool SameDims(const Shape& a, const Shape& b) { return a.dims() == b.dims(); }

bool Same(const Shape& a, const Shape& b, const ShapeComparison& how) {
  if (!a.valid() || !b.valid()) return a.valid() == b.valid();
  if (!TypesAgree(a.element_type(), b.element_type(), how)) return false;
  if (!a.IsArray()) {
    if (a.IsToken() || a.IsOpaque()) return true;
    const auto x = a.IsTuple() ? a.tuple_shapes() : llvm::ArrayRef(a.buffer_shape());
    const auto y = b.IsTuple() ? b.tuple_shapes() : llvm::ArrayRef(b.buffer_shape());
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
      if (!Same(x[i], y[i], how)) return false;
    return true;
  }
  if (a.dims() != b.dims() && (how.dynamic || !DimsAgreeWhereBounded(a, b))) return false;
  if (how.dynamic && a.dynamic_flags() != b.dynamic_flags()) return false;
  if (!how.layout) return true;
  if (a.has_layout() != b.has_layout()) return false;
  return !a.has_layout() || LayoutsAgree(a.layout(), b.layout(), how);
}

static void ForEachLeafAt(const Shape& shape, ShapeIndex& index,
                          llvm::function_ref<void(const ShapeIndex&, const Shape&)> f) {
  if (!shape.IsTuple()) return f(index, shape);
  for (int64_t i = 0; i < shape.tuple_size(); ++i) {
    index.push_back(i);
    ForEachLeafAt(shape.tuple_shape(i), index, f);
    index.pop_back();
  }
}

void ForEachLeaf(const Shape& shape, llvm::function_ref<void(const ShapeIndex&, const Shape&)> f) {
  ShapeIndex index;
  ForEachLeafAt(shape, index, f);
}

int64_t ByteSize(const Shape& array) {
  int64_t bytes = 0;
  const int64_t count = array.ElementCount();
  if (__builtin_mul_overflow(count, static_cast<int64_t>(Info(array.element_type()).host_bytes()), &bytes))
    return -1;
  return count == std::numeric_limits<int64_t>::max() ? -1 : bytes;
}

}  // namespace hlo
