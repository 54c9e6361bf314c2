#include "ir/literal.h"

#include <cassert>
#include <cstdlib>
#include <cstring>

#include "ir/support/buffer.h"

namespace hlo {
namespace {

int64_t ExtendBits(ElementType type, uint64_t bits) {
  const int unused = 64 - Info(type).bits;
  if (IsSigned(type)) return static_cast<int64_t>(bits << unused) >> unused;
  return static_cast<int64_t>(bits << unused >> unused);
}

/// Where this thread's next array of a shape shall lie.
struct Placement {
  const Shape* shape = nullptr;
  void* memory = nullptr;
};
thread_local Placement placement;

}  // namespace

ResultPlacement::ResultPlacement(const Shape& shape, void* memory) {
  assert(placement.memory == nullptr && "placements do not nest");
  placement = {&shape, memory};
}

ResultPlacement::~ResultPlacement() { placement = {}; }

Literal Literal::Make(const Shape& shape) {
  Literal l;
  l.shape_ = shape;
  if (shape.IsTuple()) {
    l.elements_ = std::make_shared<std::vector<Literal>>();
    l.elements_->reserve(static_cast<size_t>(shape.tuple_size()));
    for (const Shape& s : shape.tuple_shapes()) l.elements_->push_back(Make(s));
  } else if (shape.IsBuffer()) {
    l = Make(shape.buffer_shape());
  } else if (shape.IsArray()) {
    const int64_t bytes = ByteSize(shape);
    assert(bytes >= 0 && "shape too large for a literal");
    l.byte_size_ = static_cast<size_t>(bytes);
    std::shared_ptr<void> owner;
    if (placement.memory != nullptr && Compatible(shape, *placement.shape))
      owner = {std::exchange(placement.memory, nullptr), [](void*) {}};
    else
      owner = AllocateBuffer(l.byte_size_);
    l.data_ = static_cast<uint8_t*>(owner.get());
    l.buffer_ = std::move(owner);
  }
  return l;
}

Literal Literal::Zeros(const Shape& shape) {
  Literal l = Make(shape);
  l.Clear();
  return l;
}

Literal Literal::MakeTuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& e : elements) shapes.push_back(e.shape());
  Literal l;
  l.shape_ = Shape::MakeTuple(shapes);
  l.elements_ = std::make_shared<std::vector<Literal>>(std::move(elements));
  return l;
}

template <class F>
Literal Literal::MapElements(F f) const {
  Literal l;
  l.shape_ = shape_;
  l.elements_ = std::make_shared<std::vector<Literal>>();
  l.elements_->reserve(elements_->size());
  for (const Literal& e : *elements_) l.elements_->push_back(f(e));
  return l;
}

llvm::MutableArrayRef<Literal> Literal::MutableElements() {
  if (!elements_) return {};
  if (elements_.use_count() > 1) elements_ = std::make_shared<std::vector<Literal>>(*elements_);
  return *elements_;
}

Literal Literal::TakeElement(int64_t i) {
  Literal& element = (*elements_)[static_cast<size_t>(i)];
  if (elements_.use_count() > 1) return element;
  return std::move(element);
}

void Literal::Clear() {
  if (elements_)
    for (Literal& e : *elements_) e.Clear();
  else if (byte_size_ > 0)
    std::memset(data_, 0, byte_size_);
}

Literal Literal::MakeToken() { return Make(Shape::MakeToken()); }

Literal Literal::Elided(const Shape& shape) {
  assert(shape.IsArray() && "only arrays are elided");
  if (shape.ElementCount() == 0) return Make(shape);  // of nothing nothing is left out
  Literal l;
  l.shape_ = shape;
  l.elided_ = true;
  return l;
}

bool Literal::HasElided() const {
  return elided_ || llvm::any_of(elements(), [](const Literal& e) { return e.HasElided(); });
}

Literal Literal::Borrow(const Shape& shape, const void* data, std::shared_ptr<const void> owner) {
  Literal l;
  l.shape_ = shape;
  l.buffer_ = std::move(owner);
  l.data_ = const_cast<uint8_t*>(static_cast<const uint8_t*>(data));
  l.byte_size_ = static_cast<size_t>(ByteSize(shape));
  l.borrowed_ = true;
  return l;
}

Literal Literal::Adopt(const Shape& shape, void* data, std::shared_ptr<const void> owner) {
  Literal l = Borrow(shape, data, std::move(owner));
  l.borrowed_ = false;
  return l;
}

Literal Literal::Copy() const {
  if (elements_) return MapElements([](const Literal& e) { return e.Copy(); });
  Literal l = *this;
  if (l.data_ != nullptr) {
    l.borrowed_ = true;  // MutableData() copies
    l.MutableData();
  }
  return l;
}

Literal Literal::WithShape(const Shape& shape) const {
  assert(shape.IsTuple() || shape.element_type() == shape_.element_type());
  assert(!shape.IsArray() || shape.ElementCount() == shape_.ElementCount());
  Literal l = *this;
  if (shape.IsArray() && shape.rank() != shape_.rank()) l.dynamic_sizes_.clear();
  l.shape_ = shape;
  if (shape.IsTuple()) {
    l.elements_ = std::make_shared<std::vector<Literal>>();
    l.elements_->reserve(elements_->size());
    for (size_t i = 0; i < elements_->size(); ++i)
      l.elements_->push_back((*elements_)[i].WithShape(shape.tuple_shapes()[i]));
  }
  return l;
}

uint8_t* Literal::MutableData() {
  if (!IsUnique()) {
    auto owner = AllocateBuffer(byte_size_);
    if (byte_size_ > 0) std::memcpy(owner.get(), data_, byte_size_);
    data_ = static_cast<uint8_t*>(owner.get());
    buffer_ = std::move(owner);
    borrowed_ = false;
  }
  return data_;
}

Literal Literal::Pack() const {
  if (shape_.IsTuple()) return MapElements([](const Literal& e) { return e.Pack(); });
  if (packed_ || elided_ || !shape_.IsArray() || !Info(shape_.element_type()).is_packed()) return *this;
  const int width = Info(shape_.element_type()).bits;
  const size_t per_byte = 8 / static_cast<size_t>(width);
  const size_t count = byte_size_;
  Literal l = *this;
  l.byte_size_ = (count + per_byte - 1) / per_byte;
  auto owner = AllocateBuffer(l.byte_size_);
  l.data_ = static_cast<uint8_t*>(owner.get());
  std::memset(l.data_, 0, l.byte_size_);
  const unsigned mask = (1u << width) - 1;
  for (size_t i = 0; i < count; ++i)
    l.data_[i / per_byte] = static_cast<uint8_t>(
        l.data_[i / per_byte] | (data_[i] & mask) << (i % per_byte * static_cast<size_t>(width)));
  l.buffer_ = std::move(owner);
  l.packed_ = true;
  l.borrowed_ = false;
  return l;
}

Literal Literal::Unpack() const {
  if (shape_.IsTuple()) return MapElements([](const Literal& e) { return e.Unpack(); });
  if (!packed_) return *this;
  // Not by Make(): what is unpacked may be kept longer than the place that waits for a result.
  Literal l = *this;
  l.byte_size_ = static_cast<size_t>(ByteSize(shape_));
  auto owner = AllocateBuffer(l.byte_size_);
  l.data_ = static_cast<uint8_t*>(owner.get());
  l.buffer_ = std::move(owner);
  l.packed_ = l.borrowed_ = false;
  for (size_t i = 0; i < l.byte_size_; ++i)
    l.data_[i] = static_cast<uint8_t>(ExtendBits(shape_.element_type(), Bits(static_cast<int64_t>(i))));
  return l;
}

uint64_t Literal::Bits(int64_t linear) const {
  const TypeInfo& info = Info(shape_.element_type());
  if (packed_) {
    const auto i = static_cast<size_t>(linear), per_byte = static_cast<size_t>(8 / info.bits);
    return static_cast<uint64_t>(data_[i / per_byte] >> (i % per_byte * info.bits)) & ((1u << info.bits) - 1);
  }
  uint64_t bits = 0;
  const auto size = static_cast<size_t>(std::min(info.host_bytes(), 8));
  std::memcpy(&bits, data_ + static_cast<size_t>(linear) * static_cast<size_t>(info.host_bytes()), size);
  return info.bits < 8 ? bits & ((1u << info.bits) - 1) : bits;
}

void Literal::SetBits(int64_t linear, uint64_t bits) {
  const TypeInfo& info = Info(shape_.element_type());
  if (info.bits < 8) bits = static_cast<uint64_t>(ExtendBits(shape_.element_type(), bits));
  const auto size = static_cast<size_t>(std::min(info.host_bytes(), 8));
  std::memcpy(MutableData() + static_cast<size_t>(linear) * static_cast<size_t>(info.host_bytes()), &bits,
              size);
}

void Literal::SetDynamicSize(int64_t d, int64_t size) {
  assert(size >= 0 && size <= shape_.dim(d));
  if (dynamic_sizes_.empty()) dynamic_sizes_.assign(shape_.dims().begin(), shape_.dims().end());
  dynamic_sizes_[static_cast<size_t>(d)] = size;
  if (llvm::ArrayRef(dynamic_sizes_) == shape_.dims()) dynamic_sizes_.clear();  // as if they were never set
}

Literal Literal::ToStatic() const {
  if (shape_.IsTuple()) {
    std::vector<Literal> parts;
    for (const Literal& e : elements()) parts.push_back(e.ToStatic());
    return MakeTuple(std::move(parts));
  }
  if (!shape_.IsArray() || shape_.dynamic_flags().empty()) return *this;
  if (dynamic_sizes_.empty()) return WithShape(shape_.WithoutDynamic());
  const Literal source = Unpack();
  Literal l = Make(Shape::ArrayWithDefaultLayout(shape_.element_type(), dynamic_sizes_));
  const auto width = static_cast<size_t>(Info(shape_.element_type()).host_bytes());
  Dims index(static_cast<size_t>(shape_.rank()), 0);
  for (size_t out = 0; out < l.byte_size_; out += width) {
    int64_t linear = 0;
    for (int64_t d = 0; d < shape_.rank(); ++d)
      linear = linear * shape_.dim(d) + index[static_cast<size_t>(d)];
    std::memcpy(l.data_ + out, source.data_ + static_cast<size_t>(linear) * width, width);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < dynamic_sizes_[d]) break;
      index[d] = 0;
    }
  }
  return l;
}

bool operator==(const Literal& a, const Literal& b) {
  if (!a.valid() || !b.valid()) return a.valid() == b.valid();
  return Compatible(a.shape_, b.shape_) && Literal::EqualValues(a, b);
}

/// Of literals with compatible shapes.
bool Literal::EqualValues(const Literal& a, const Literal& b) {
  if (a.shape_.IsTuple()) {
    for (size_t i = 0; i < a.elements().size(); ++i)
      if (!EqualValues(a.elements()[i], b.elements()[i])) return false;
    return true;
  }
  if (!a.shape_.IsArray()) return true;
  if (a.elided_ || b.elided_) return a.elided_ == b.elided_;
  for (int64_t d = 0; d < a.shape_.rank(); ++d)
    if (a.DynamicSize(d) != b.DynamicSize(d)) return false;
  if (a.packed_ != b.packed_) return a.Pack() == b.Pack();
  if (a.HasDynamicSizes()) return a.ToStatic() == b.ToStatic();
  if (Info(a.shape_.element_type()).bits < 8 && !a.packed_) {
    for (int64_t i = 0; i < static_cast<int64_t>(a.byte_size_); ++i)
      if (a.Bits(i) != b.Bits(i)) return false;
    return true;
  }
  return a.data_ == b.data_ || a.byte_size_ == 0 || std::memcmp(a.data_, b.data_, a.byte_size_) == 0;
}

llvm::hash_code hash_value(const Literal& l) {
  if (!l.valid()) return llvm::hash_value(0);
  if (l.shape_.IsTuple()) {
    llvm::hash_code h = llvm::hash_value(1);
    for (const Literal& e : l.elements()) h = llvm::hash_combine(h, hash_value(e));
    return h;
  }
  const Literal p = l.Pack();
  return llvm::hash_combine(hash_value(p.shape_), llvm::hash_combine_range(p.data_, p.data_ + p.byte_size_));
}

}  // namespace hlo
