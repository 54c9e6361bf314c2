#include "hlo/literal.h"

#include "ir/eval/physical_order.h"
#include "ir/numeric/narrow_float.h"
#include "ir/print.h"
#include "parser/parser.h"
#include "tools/arrays/npy.h"
#include "tools/library/convert.h"

namespace hlo_toolkit {

struct Literal::Rep {
  hlo::Literal value;  // arrays unpacked
  std::shared_ptr<const Shape> shape;
};

namespace internal {

hlo::Status CheckOrder(const hlo::Shape& shape) {
  if (!shape.IsArray()) return Wrong("{0} is no array", shape);
  if (shape.has_layout() && !shape.layout().tiles.empty())
    return NotImplemented("memory in the tiles of {0}", hlo::ToString(shape));
  return {};
}

hlo::Literal FromMemory(const hlo::Shape& shape, const void* data) {
  hlo::Literal bytes = hlo::Literal::Make(shape);
  if (bytes.byte_size() != 0) std::memcpy(bytes.MutableData(), data, bytes.byte_size());
  if (hlo::IsRowMajor(shape)) return Canonical(std::move(bytes));
  // Not out of the caller's memory, which may not be aligned.
  hlo::Literal in_order = hlo::Literal::Make(shape);
  hlo::CopyFromPhysical(bytes.data(), shape, in_order.MutableData());
  return Canonical(std::move(in_order));
}

void ToMemory(const hlo::Literal& value, const hlo::Shape& shape, void* data) {
  if (value.byte_size() == 0) return;
  if (hlo::IsRowMajor(shape)) {
    std::memcpy(data, value.data(), value.byte_size());
    return;
  }
  hlo::Literal bytes = hlo::Literal::Make(shape);
  hlo::CopyToPhysical(value.data(), shape, bytes.MutableData());
  std::memcpy(data, bytes.data(), bytes.byte_size());
}

hlo::Literal Canonical(hlo::Literal value) {
  const hlo::TypeInfo& info = hlo::Info(value.shape().element_type());
  constexpr int kByte = 8;
  const bool is_pred = hlo::IsPred(info.type);
  if (!is_pred && info.bits >= kByte) return value;
  const bool is_signed = info.type_class == hlo::TypeClass::Signed;
  const auto wanted = [&](uint8_t byte) -> uint8_t {
    if (is_pred) return byte != 0;
    const int unused = kByte - info.bits;
    const auto high = static_cast<uint8_t>(byte << unused);
    return is_signed ? static_cast<uint8_t>(static_cast<int8_t>(high) >> unused)
                     : static_cast<uint8_t>(high >> unused);
  };
  const llvm::ArrayRef<uint8_t> bytes(value.data(), value.byte_size());
  if (llvm::all_of(bytes, [&](uint8_t byte) { return wanted(byte) == byte; })) return value;
  uint8_t* mine = value.MutableData();
  for (size_t i = 0; i < value.byte_size(); ++i) mine[i] = wanted(mine[i]);
  return value;
}

Literal LiteralAccess::Make(const hlo::Literal& value) {
  if (!value.valid() || value.HasElided()) return {};
  return Make(value.Unpack(), std::make_shared<Shape>(FromShape(value.shape())));
}
Literal LiteralAccess::Make(hlo::Literal value, std::shared_ptr<const Shape> shape) {
  Literal made;
  made.rep_ = std::make_shared<Literal::Rep>(Literal::Rep{std::move(value), std::move(shape)});
  return made;
}
const hlo::Literal* LiteralAccess::Get(const Literal& literal) {
  return literal.rep_ ? &literal.rep_->value : nullptr;
}

}  // namespace internal

using internal::LiteralAccess;

Literal::Literal(const Shape& shape) {
  const auto made = internal::ToShape(shape);
  if (made && (made->IsArray() || made->IsToken() || made->IsTuple()))
    *this = LiteralAccess::Make(made->IsToken() ? hlo::Literal::MakeToken() : hlo::Literal::Zeros(*made));
}

Literal Literal::Borrow(const Shape& shape, const void* data, std::shared_ptr<const void> owner) {
  const auto made = internal::ToShape(shape);
  if (!made || !internal::CheckOrder(*made)) return {};
  const size_t width = static_cast<size_t>(hlo::Info(made->element_type()).host_bytes());
  const size_t alignment = std::min(width, alignof(std::max_align_t));
  if (data == nullptr && made->ElementCount() != 0) return {};
  if (hlo::IsRowMajor(*made) && reinterpret_cast<uintptr_t>(data) % alignment == 0)
    return LiteralAccess::Make(internal::Canonical(hlo::Literal::Borrow(*made, data, std::move(owner))));
  return LiteralAccess::Make(internal::FromMemory(*made, data));
}

Literal Literal::Tuple(Span<const Literal> elements) {
  std::vector<hlo::Literal> values;
  std::vector<hlo::Shape> shapes;
  for (const Literal& element : elements) {
    if (!element.valid()) return {};
    values.push_back(*LiteralAccess::Get(element));
    shapes.push_back(values.back().shape());
  }
  if (internal::IsHugeTuple(shapes)) return {};
  return LiteralAccess::Make(hlo::Literal::MakeTuple(std::move(values)));
}

const Shape& Literal::shape() const {
  static const Shape none;
  return rep_ ? *rep_->shape : none;
}

int64_t Literal::size_bytes() const {
  return rep_ && shape().IsArray() ? static_cast<int64_t>(rep_->value.byte_size()) : 0;
}

const void* Literal::untyped_data() const { return rep_ && shape().IsArray() ? rep_->value.data() : nullptr; }

void* Literal::mutable_untyped_data() {
  if (!rep_ || !shape().IsArray()) return nullptr;
  if (rep_.use_count() != 1) rep_ = std::make_shared<Rep>(*rep_);
  return rep_->value.MutableData();
}

StatusOr<int64_t> Literal::Position(Span<const int64_t> index, PrimitiveType type) const {
  const Shape& own = shape();
  bool fits = own.IsArray() && own.element_type() == type && static_cast<int64_t>(index.size()) == own.rank();
  int64_t at = 0;
  for (size_t d = 0; fits && d < index.size(); ++d) {
    const int64_t size = own.dimensions(static_cast<int64_t>(d));
    fits = index[d] >= 0 && index[d] < size;
    at = at * size + index[d];
  }
  if (fits) return at;
  std::string text;
  for (const int64_t i : index) text += (text.empty() ? "" : ",") + std::to_string(i);
  return Status(StatusCode::kInvalidArgument, "a literal of " + own.ToString() + " has no element [" + text +
                                                  "] of type " + std::string(PrimitiveTypeName(type)));
}

std::vector<Literal> Literal::DecomposeTuple() const {
  std::vector<Literal> elements;
  if (rep_)
    for (const hlo::Literal& element : rep_->value.elements())
      elements.push_back(LiteralAccess::Make(element));
  return elements;
}

StatusOr<Literal> Literal::Reshape(Span<const int64_t> dimensions) const {
  const Shape wanted(shape().element_type(), dimensions);
  const auto made = internal::ToShape(wanted);
  if (!made) return internal::ToStatus(made.error());
  if (!shape().IsArray() || ShapeUtil::ElementsIn(wanted) != element_count())
    return Status(StatusCode::kInvalidArgument,
                  "a literal of " + shape().ToString() + " is no " + wanted.ToString());
  return LiteralAccess::Make(rep_->value.WithShape(*made));
}

StatusOr<Literal> Literal::WithLayout(const Layout& layout) const {
  Shape wanted = shape();
  wanted.set_layout(layout);
  const auto made = internal::ToShape(wanted);
  if (!made) return internal::ToStatus(made.error());
  if (!shape().IsArray())
    return Status(StatusCode::kInvalidArgument, shape().ToString() + " takes no layout");
  return LiteralAccess::Make(rep_->value.WithShape(*made));
}

std::string Literal::ToString() const {
  if (!rep_) return "invalid";
  std::string text;
  llvm::raw_string_ostream os(text);
  hlo::Print(os, rep_->value.shape(), false);
  os << " ";
  hlo::PrintLiteral(os, rep_->value);
  return text;
}

bool operator==(const Literal& a, const Literal& b) {
  if (!a.rep_ || !b.rep_) return a.rep_ == b.rep_;
  return a.rep_->value == b.rep_->value;
}

Literal LiteralUtil::CreateR1(const std::vector<bool>& values) {
  return FromVector({static_cast<int64_t>(values.size())}, values);
}
Literal LiteralUtil::FromVector(Span<const int64_t> dimensions, const std::vector<bool>& values) {
  Literal made(Shape(PRED, dimensions));
  const Span<bool> elements = made.mutable_data<bool>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = values[i];
  return made;
}
Literal LiteralUtil::CreateToken() { return LiteralAccess::Make(hlo::Literal::MakeToken()); }

namespace {

/// A scalar of the type, which is one of arrays, with those bits; complex ones with these as real part.
hlo::Literal ScalarOfBits(hlo::ElementType type, uint64_t bits) {
  hlo::Literal made = hlo::Literal::Zeros(hlo::Shape::ArrayWithDefaultLayout(type, {}));
  if (hlo::IsComplex(type))
    std::memcpy(made.MutableData(), &bits, made.byte_size() / 2);
  else
    made.SetBits(0, bits);
  return made;
}

/// The least or the largest value of a type of real numbers.
uint64_t ExtremeBits(hlo::ElementType type, bool largest) {
  const hlo::TypeInfo& info = hlo::Info(type);
  if (hlo::IsFloat(type)) {
    if (!largest && !hlo::Format(type).has_sign()) return 0;
    const double magnitude =
        hlo::HasInfinity(type) ? std::numeric_limits<double>::infinity() : hlo::MaxFinite(type);
    return hlo::FromDouble(type, largest ? magnitude : -magnitude);
  }
  const int sign_bits = info.type_class == hlo::TypeClass::Signed ? 1 : 0, value_bits = info.bits - sign_bits;
  const uint64_t most = value_bits == 0 ? 0 : ~uint64_t{0} >> (64 - value_bits);
  if (largest) return most;
  return sign_bits == 0 ? 0 : ~most;
}

Literal Extreme(PrimitiveType type, bool largest) {
  const auto element = internal::ToElementType(type);
  if (!element || !hlo::IsArrayType(*element) || hlo::IsComplex(*element)) return {};
  return LiteralAccess::Make(ScalarOfBits(*element, ExtremeBits(*element, largest)));
}

}  // namespace

hlo::Literal internal::ScalarLiteral(hlo::ElementType type, double value) {
  if (hlo::IsPred(type)) return ScalarOfBits(type, value != 0 ? 1 : 0);
  const hlo::ElementType part = hlo::RealPartType(type);
  return ScalarOfBits(type, hlo::IsFloat(part) ? hlo::FromDouble(part, value)
                                               : static_cast<uint64_t>(static_cast<int64_t>(value)));
}

Literal LiteralUtil::FromInteger(PrimitiveType type, int value) {
  const auto element = internal::ToElementType(type);
  if (!element || !hlo::IsArrayType(*element)) return {};
  // A type without sign and zero has neither.
  if (value <= 0 && hlo::IsFloat(*element) && !hlo::Format(*element).has_sign()) return {};
  return LiteralAccess::Make(internal::ScalarLiteral(*element, value));
}
Literal LiteralUtil::Zero(PrimitiveType type) { return FromInteger(type, 0); }
Literal LiteralUtil::One(PrimitiveType type) { return FromInteger(type, 1); }
Literal LiteralUtil::MinValue(PrimitiveType type) { return Extreme(type, false); }
Literal LiteralUtil::MaxValue(PrimitiveType type) { return Extreme(type, true); }

StatusOr<Literal> LiteralFromNpy(std::string_view bytes, PrimitiveType type) {
  const auto owner = std::make_shared<std::string>(bytes);
  const auto arrays = hlo::ReadNpy(*owner, owner);
  if (!arrays) return internal::ToStatus(arrays.error());
  if (arrays->size() != 1)
    return Status(StatusCode::kInvalidArgument,
                  std::to_string(arrays->size()) + " arrays where one is expected");
  const hlo::NpyArray& array = arrays->front();
  std::optional<hlo::Shape> shape = hlo::NativeShape(array);
  if (type != PRIMITIVE_TYPE_INVALID) {
    const auto element = internal::ToElementType(type);
    if (!element || !hlo::IsArrayType(*element))
      return Status(StatusCode::kInvalidArgument, "no element type of arrays is asked for");
    shape = hlo::Shape::ArrayWithDefaultLayout(*element, array.shape);
  }
  if (!shape || !hlo::Fits(array, *shape))
    return Status(StatusCode::kInvalidArgument,
                  "the array is " + hlo::Describe(array) +
                      (shape ? ", not " + hlo::ToString(*shape, /*with_layout=*/false) : std::string()));
  return LiteralAccess::Make(hlo::ToLiteral(array, *shape));
}

StatusOr<std::string> LiteralToNpy(const Literal& literal) {
  const hlo::Literal* value = LiteralAccess::Get(literal);
  if (!value || !value->shape().IsArray())
    return Status(StatusCode::kInvalidArgument, literal.shape().ToString() + " is no array");
  const hlo::Literal payload = hlo::NpyPayload(*value, /*widen=*/false);
  std::string bytes = hlo::NpyHeader(payload.shape(), /*widen=*/false);
  bytes.append(reinterpret_cast<const char*>(payload.data()), payload.byte_size());
  return bytes;
}

StatusOr<Literal> ParseLiteral(std::string_view text) {
  const auto literal = hlo::ParseLiteralWithShape(llvm::StringRef(text.data(), text.size()));
  if (!literal) return internal::ToStatus(literal.error());
  return LiteralAccess::Make(*literal);
}

StatusOr<Literal> ParseLiteral(std::string_view text, const Shape& shape) {
  const auto made = internal::ToShape(shape);
  if (!made) return internal::ToStatus(made.error());
  const auto literal = hlo::ParseLiteral(llvm::StringRef(text.data(), text.size()), *made);
  if (!literal) return internal::ToStatus(literal.error());
  return LiteralAccess::Make(*literal);
}

}  // namespace hlo_toolkit
