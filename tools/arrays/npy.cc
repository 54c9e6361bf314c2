#include "tools/arrays/npy.h"

#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"
#include "llvm/Support/Endian.h"

namespace hlo {
namespace {

using llvm::StringRef;

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

template <class... Args>
tl::unexpected<Diagnostic> Bad(const char* format, Args&&... args) {
  return Error("input-array", {}, format, std::forward<Args>(args)...);
}

struct NumpyType {
  ElementType type;
  char kind;
};
// Types both sides have; the item size follows from the element type.
constexpr NumpyType kNumpyTypes[] = {
    {ElementType::Pred, 'b'}, {ElementType::S8, 'i'},   {ElementType::S16, 'i'}, {ElementType::S32, 'i'},
    {ElementType::S64, 'i'},  {ElementType::U8, 'u'},   {ElementType::U16, 'u'}, {ElementType::U32, 'u'},
    {ElementType::U64, 'u'},  {ElementType::F16, 'f'},  {ElementType::F32, 'f'}, {ElementType::F64, 'f'},
    {ElementType::C64, 'c'},  {ElementType::C128, 'c'},
};

/// NumPy's kind letter; 0 for types it lacks.
char KindOf(ElementType type) {
  for (const NumpyType& row : kNumpyTypes)
    if (row.type == type) return row.kind;
  return 0;
}

/// The type --npy-widen writes.
ElementType Widened(ElementType type) {
  if (KindOf(type) != 0) return type;
  if (IsFloat(type)) return ElementType::F32;
  return IsSigned(type) ? ElementType::S8 : ElementType::U8;
}

/// The Python literal of an .npy header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  explicit HeaderParser(StringRef text) : rest_(text) {}

  Status Parse(NpyArray& array) {
    if (!Take("{")) return Malformed();
    while (!Take("}")) {
      HLO_TRY(const StringRef key, String());
      if (!Take(":")) return Malformed();
      if (key == "descr") {
        HLO_CHECK_OK(Descr(array));
      } else if (key == "fortran_order") {
        array.fortran_order = Take("True");
        if (!array.fortran_order && !Take("False")) return Malformed();
      } else if (key == "shape") {
        HLO_CHECK_OK(Sizes(array));
      } else {
        return Bad("unknown field '{0}' in an npy header", key);
      }
      Take(",");
    }
    if (array.kind == 0) return Malformed();
    return {};
  }

 private:
  Status Malformed() { return Bad("malformed npy header near '{0}'", rest_.take_front(20)); }

  bool Take(StringRef token) {
    rest_ = rest_.ltrim(" \t\r\n");
    return rest_.consume_front(token);
  }

  Result<StringRef> String() {
    rest_ = rest_.ltrim(" \t\r\n");
    const char quote = rest_.empty() ? 0 : rest_.front();
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : StringRef::npos;
    if (end == StringRef::npos) return Bad("malformed npy header near '{0}'", rest_.take_front(20));
    const StringRef text = rest_.slice(1, end);
    rest_ = rest_.drop_front(end + 1);
    return text;
  }

  Status Descr(NpyArray& array) {
    rest_ = rest_.ltrim(" \t\r\n");
    if (rest_.starts_with("[") || rest_.starts_with("("))
      return Bad("arrays of structures are not supported");
    HLO_TRY(StringRef text, String());
    array.descr = text.str();
    array.big_endian = text.consume_front(">");
    if (!array.big_endian && !text.consume_front("<")) text.consume_front("|") || text.consume_front("=");
    array.kind = text.empty() ? '?' : text.front();
    if (text.empty() || text.drop_front().getAsInteger(10, array.item_size) ||
        !StringRef("biufcV").contains(array.kind) || array.item_size < 1 || array.item_size > 16)
      return Bad("unsupported NumPy type '{0}'", array.descr);
    return {};
  }

  Status Sizes(NpyArray& array) {
    if (!Take("(")) return Malformed();
    while (!Take(")")) {
      rest_ = rest_.ltrim(" \t\r\n");
      const StringRef digits = rest_.take_while(llvm::isDigit);
      int64_t size = 0;
      if (digits.getAsInteger(10, size)) return Malformed();
      rest_ = rest_.drop_front(digits.size());
      rest_.consume_front("L");
      array.shape.push_back(size);
      Take(",");
    }
    return {};
  }

  StringRef rest_;
};

/// Bytes of the array; nothing if they do not fit into int64.
std::optional<int64_t> PayloadSize(const NpyArray& array) {
  int64_t size = array.item_size;
  bool empty = false;
  for (const int64_t dim : array.shape) empty |= dim == 0;
  if (empty) return 0;
  for (const int64_t dim : array.shape)
    if (__builtin_mul_overflow(size, dim, &size)) return std::nullopt;
  return size;
}

Result<NpyArray> ReadOne(StringRef& bytes, const std::shared_ptr<const void>& owner) {
  constexpr StringRef kMagic("\x93NUMPY", 6);
  if (!bytes.starts_with(kMagic)) return Bad("no npy header found");
  if (bytes.size() < 10) return Bad("the npy header is truncated");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) return Bad("npy format version {0}, expected 1 to 3", version);
  const size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) return Bad("the npy header is truncated");
  const size_t length = version == 1 ? llvm::support::endian::read16le(bytes.data() + 8)
                                     : llvm::support::endian::read32le(bytes.data() + 8);
  if (bytes.size() - start < length) return Bad("the npy header is truncated");
  NpyArray array;
  HLO_CHECK_OK(HeaderParser(bytes.substr(start, length)).Parse(array));
  bytes = bytes.drop_front(start + length);
  const auto size = PayloadSize(array);
  if (!size || static_cast<uint64_t>(*size) > bytes.size())
    return Bad("array {0} needs {1} bytes, the file has {2} more: is it truncated?", Describe(array),
               size ? std::to_string(*size) : "too many", bytes.size());
  array.data = bytes.take_front(static_cast<size_t>(*size));
  bytes = bytes.drop_front(static_cast<size_t>(*size));
  array.owner = owner;
  return array;
}

/// Reverses the bytes of numbers of `unit` bytes.
void SwapBytes(uint8_t* data, size_t size, size_t unit) {
  for (size_t i = 0; i + unit <= size; i += unit) std::reverse(data + i, data + i + unit);
}

/// Copies a column-major array of the literal's sizes into row-major order.
void CopyTransposed(const NpyArray& array, uint8_t* out) {
  const size_t item = static_cast<size_t>(array.item_size), rank = array.shape.size();
  Dims index(rank, 0), stride(rank, 1);
  for (size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * array.shape[d - 1];
  int64_t source = 0;
  for (size_t at = 0; at < array.data.size(); at += item) {
    std::memcpy(out + at, array.data.data() + static_cast<size_t>(source) * item, item);
    for (size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++index[d] < array.shape[d]) break;
      source -= stride[d] * array.shape[d];
      index[d] = 0;
    }
  }
}

/// Clears what is no value: bits above the element's width, bytes of pred other than 0 and 1.
bool NeedsCleaning(ElementType type, StringRef data) {
  if (!IsPred(type) && Info(type).bits >= 8) return false;
  const unsigned mask = IsPred(type) ? 1 : (1u << Info(type).bits) - 1;
  // Signed sub-byte values are kept sign-extended.
  return IsSigned(type) ||
         llvm::any_of(data, [mask](char c) { return (static_cast<unsigned char>(c) & ~mask) != 0; });
}

void Clean(Literal& l) {
  const ElementType type = l.shape().element_type();
  uint8_t* data = l.MutableData();
  const int unused = IsPred(type) ? 0 : 8 - Info(type).bits;
  for (size_t i = 0; i < l.byte_size(); ++i) {
    if (IsPred(type))
      data[i] = data[i] != 0;
    else if (IsSigned(type))
      data[i] = static_cast<uint8_t>(static_cast<int8_t>(data[i] << unused) >> unused);
    else
      data[i] = static_cast<uint8_t>(static_cast<uint8_t>(data[i] << unused) >> unused);
  }
}

/// Puts a smaller static array into the low corner of a bounded dynamic shape.
Literal Embed(const Literal& part, const Shape& shape) {
  Literal whole = Literal::Zeros(shape);
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.is_dynamic(d)) whole.SetDynamicSize(d, part.shape().dim(d));
  const auto width = static_cast<size_t>(Info(shape.element_type()).host_bytes());
  uint8_t* out = whole.MutableData();
  Dims index(static_cast<size_t>(shape.rank()), 0);
  for (size_t at = 0; at < part.byte_size(); at += width) {
    int64_t linear = 0;
    for (int64_t d = 0; d < shape.rank(); ++d) linear = linear * shape.dim(d) + index[static_cast<size_t>(d)];
    std::memcpy(out + static_cast<size_t>(linear) * width, part.data() + at, width);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < part.shape().dim(static_cast<int64_t>(d))) break;
      index[d] = 0;
    }
  }
  return whole;
}

}  // namespace

Result<std::vector<NpyArray>> ReadNpy(StringRef bytes, const std::shared_ptr<const void>& owner) {
  std::vector<NpyArray> arrays;
  do {
    HLO_TRY(NpyArray array, ReadOne(bytes, owner));
    arrays.push_back(std::move(array));
  } while (!bytes.empty());
  return arrays;
}

std::string Describe(const NpyArray& array) {
  std::string sizes =
      "[" + llvm::join(llvm::map_range(array.shape, [](int64_t d) { return std::to_string(d); }), ",") + "]";
  for (const NumpyType& row : kNumpyTypes)
    if (row.kind == array.kind && Info(row.type).host_bytes() == array.item_size)
      return ToString(row.type).str() + sizes;
  return "numpy '" + array.descr + "' " + sizes;
}

std::optional<Shape> NativeShape(const NpyArray& array) {
  for (const NumpyType& row : kNumpyTypes)
    if (row.kind == array.kind && Info(row.type).host_bytes() == array.item_size)
      return Shape::ArrayWithDefaultLayout(row.type, array.shape);
  return std::nullopt;
}

/// A scalar in an archive may have shape (1,).
static Dims SizesFor(const NpyArray& array, const Shape& shape) {
  return shape.rank() == 0 && array.shape == Dims{1} ? Dims{} : array.shape;
}

bool Fits(const NpyArray& array, const Shape& shape) {
  if (!shape.IsArray()) return false;
  const Dims sizes = SizesFor(array, shape);
  if (static_cast<int64_t>(sizes.size()) != shape.rank()) return false;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    if (shape.is_dynamic(d) ? size > shape.dim(d) : size != shape.dim(d)) return false;
  }
  const char kind = KindOf(shape.element_type());
  return array.item_size == Info(shape.element_type()).host_bytes() && (kind == 0 || kind == array.kind);
}

Literal ToLiteral(const NpyArray& array, const Shape& shape) {
  const ElementType type = shape.element_type();
  const Shape own = Shape::ArrayWithDefaultLayout(type, SizesFor(array, shape));
  const bool transpose = array.fortran_order && array.shape.size() > 1;
  const bool swap = array.big_endian && array.item_size > 1 && array.kind != 'V';
  const auto alignment = static_cast<uintptr_t>(std::min<int64_t>(array.item_size, 8));
  const bool aligned = reinterpret_cast<uintptr_t>(array.data.data()) % alignment == 0;
  const bool clean = NeedsCleaning(type, array.data);
  Literal l;
  if (!transpose && !swap && !clean && aligned && !array.data.empty()) {
    l = Literal::Borrow(own, array.data.data(), array.owner);
  } else {
    l = Literal::Make(own);
    if (transpose)
      CopyTransposed(array, l.MutableData());
    else if (!array.data.empty())
      std::memcpy(l.MutableData(), array.data.data(), array.data.size());
    if (swap)
      SwapBytes(l.MutableData(), l.byte_size(),
                static_cast<size_t>(array.kind == 'c' ? array.item_size / 2 : array.item_size));
    if (clean) Clean(l);
  }
  const bool smaller = !SameDims(own, shape);
  return smaller ? Embed(l, shape) : l.WithShape(shape);
}

std::string NpyHeader(const Shape& shape, bool widen) {
  const ElementType type = widen ? Widened(shape.element_type()) : shape.element_type();
  const char kind = KindOf(type);
  const int size = Info(type).host_bytes();
  std::string text = "{'descr': '";
  text += size == 1 || kind == 0 ? '|' : '<';
  text += (kind == 0 ? 'V' : kind);
  text += std::to_string(size) + "', 'fortran_order': False, 'shape': (";
  for (int64_t d = 0; d < shape.rank(); ++d) text += (d > 0 ? " " : "") + std::to_string(shape.dim(d)) + ",";
  if (shape.rank() > 1) text.pop_back();
  text += "), }";
  // Data begin at a multiple of 64 bytes, the last byte before them is a line feed.
  const size_t start = text.size() + 11 <= UINT16_MAX ? 10 : 12;
  text += std::string((64 - (start + text.size() + 1) % 64) % 64, ' ') + "\n";
  std::string header("\x93NUMPY", 6);
  header += static_cast<char>(start == 10 ? 1 : 2);
  header += '\0';
  for (size_t i = 0; i < start - 8; ++i) header += static_cast<char>(text.size() >> (8 * i));
  return header + text;
}

Literal NpyPayload(const Literal& array, bool widen) {
  Literal plain = array.ToStatic().Unpack();
  const ElementType type = plain.shape().element_type();
  if (!widen || Widened(type) == type) return plain;
  if (!IsFloat(type))
    return Literal::Borrow(plain.shape().WithElementType(Widened(type)), plain.data(),
                           std::make_shared<Literal>(plain));
  Literal wide = Literal::Make(plain.shape().WithElementType(ElementType::F32));
  WidenToFloat(type, plain.data(), wide.MutableSpan<float>().data(),
               static_cast<size_t>(plain.shape().ElementCount()));
  return wide;
}

}  // namespace hlo
