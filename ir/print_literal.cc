// Text of literals (hlo-text §6.1).
#include <charconv>
#include <cmath>
#include <cstring>

#include "ir/numeric/narrow_float.h"
#include "ir/print_internal.h"

namespace hlo {
namespace {

using llvm::raw_ostream;
using llvm::StringRef;

/// Significant digits that a type is printed with; f32 and f64 have their own rule.
int SignificantDigits(ElementType type) {
  const int mantissa = Info(type).mantissa_bits;
  if (mantissa >= 10) return 5;
  if (mantissa >= 7) return 4;
  return mantissa >= 3 ? 3 : 2;
}

/// Digits and decimal exponent of the shortest text that reads back as the value.
struct Decimal {
  char digits[20];
  int count = 0;
  int exponent = 0;
};

template <class T>
Decimal Shortest(T magnitude) {
  char text[40];
  const char* end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific).ptr;
  Decimal d;
  const char* p = text;
  for (; p != end && *p != 'e'; ++p)
    if (*p != '.') d.digits[d.count++] = *p;
  bool negative = false;
  for (++p; p < end; ++p) {
    if (*p == '-')
      negative = true;
    else if (*p != '+')
      d.exponent = d.exponent * 10 + (*p - '0');
  }
  if (negative) d.exponent = -d.exponent;
  return d;
}

/// Prints digits as `%g` with the given precision would; the digits have no trailing zeros.
void PrintDecimal(raw_ostream& os, const Decimal& d, int precision) {
  char out[64];
  char* o = out;
  const auto put = [&](const char* from, int n) {
    std::memcpy(o, from, static_cast<size_t>(n));
    o += n;
  };
  if (d.exponent < -4 || d.exponent >= precision) {
    *o++ = d.digits[0];
    if (d.count > 1) {
      *o++ = '.';
      put(d.digits + 1, d.count - 1);
    }
    *o++ = 'e';
    *o++ = d.exponent < 0 ? '-' : '+';
    const int e = std::abs(d.exponent);
    if (e < 10) *o++ = '0';
    o = std::to_chars(o, out + sizeof out, e).ptr;
  } else if (d.exponent < 0) {
    put("0.0000", 1 - d.exponent);
    put(d.digits, d.count);
  } else {
    const int whole = d.exponent + 1;
    put(d.digits, std::min(d.count, whole));
    for (int i = d.count; i < whole; ++i) *o++ = '0';
    if (d.count > whole) {
      *o++ = '.';
      put(d.digits + whole, d.count - whole);
    }
  }
  os.write(out, static_cast<size_t>(o - out));
}

template <class T>
void PrintPrecise(raw_ostream& os, T value, int digits) {
  char text[64];
  const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr;
  os.write(text, static_cast<size_t>(end - text));
}

void PrintNan(raw_ostream& os, ElementType type, uint64_t code) {
  os << (SignBit(type, code) ? "-nan" : "nan");
  if (!HasNanPayload(type)) return;
  const uint64_t payload = MantissaField(type, code);
  if (payload == MantissaField(type, NanCode(type))) return;
  os << "(0x";
  os.write_hex(payload);
  os << ')';
}

/// f32 and f64: the few digits if they read back, else as many as always do. A value whose shortest
/// text has at most `few` digits is printed by these, except for subnormals, which are less precise.
template <class T>
void PrintRoundTrip(raw_ostream& os, ElementType type, T value, uint64_t code, int few, int many) {
  if (value == T{0}) {
    os << (std::signbit(value) ? "-0" : "0");
    return;
  }
  if (!std::isfinite(value)) {
    if (std::isnan(value))
      PrintNan(os, type, code);
    else
      os << (value < 0 ? "-inf" : "inf");
    return;
  }
  const T magnitude = std::abs(value);
  const Decimal d = Shortest(magnitude);
  const bool short_text = d.count <= few;
  if ((!short_text && d.count != many) || magnitude < std::numeric_limits<T>::min()) {
    PrintPrecise(os, value, short_text ? few : many);
    return;
  }
  if (value < 0) os << '-';
  PrintDecimal(os, d, short_text ? few : many);
}

void PrintF32(raw_ostream& os, uint32_t code) {
  PrintRoundTrip(os, ElementType::F32, std::bit_cast<float>(code), code, 6, 9);
}
void PrintF64(raw_ostream& os, uint64_t code) {
  PrintRoundTrip(os, ElementType::F64, std::bit_cast<double>(code), code, 15, 17);
}

void PrintNarrowFloat(raw_ostream& os, ElementType type, uint64_t code) {
  if (IsNanCode(type, code)) {
    PrintNan(os, type, code);
    return;
  }
  const double value = ToDouble(type, code);
  if (std::isinf(value))
    os << (value < 0 ? "-inf" : "inf");
  else
    PrintPrecise(os, value, SignificantDigits(type));
}

template <class T>
T Load(const Literal& literal, int64_t i) {
  T value;
  std::memcpy(&value, literal.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

void PrintComplex(raw_ostream& os, const Literal& literal, int64_t i) {
  os << '(';
  if (literal.shape().element_type() == ElementType::C64) {
    PrintF32(os, Load<uint32_t>(literal, 2 * i));
    os << ", ";
    PrintF32(os, Load<uint32_t>(literal, 2 * i + 1));
  } else {
    PrintF64(os, Load<uint64_t>(literal, 2 * i));
    os << ", ";
    PrintF64(os, Load<uint64_t>(literal, 2 * i + 1));
  }
  os << ')';
}

int64_t SignExtend(uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<int64_t>(bits << unused) >> unused;
}

/// Prints the elements of one dense array in row-major order, with the braces of its dimensions.
class ArrayPrinter {
 public:
  ArrayPrinter(raw_ostream& os, const Literal& literal)
      : os_(os), literal_(literal), type_(literal.shape().element_type()), dims_(literal.shape().dims()) {}

  void Print() {
    if (dims_.empty())
      PrintNext();
    else if (dims_.size() == 1)
      PrintRow("{", "}");
    else
      PrintLevel(0, 0);
  }

  void Element(int64_t i) {
    switch (Info(type_).type_class) {
      case TypeClass::Pred:
        if (dims_.empty())
          os_ << (literal_.Bits(i) != 0 ? "true" : "false");
        else
          os_ << (literal_.Bits(i) != 0 ? '1' : '0');
        return;
      case TypeClass::Signed:
        os_ << (type_ == ElementType::S32 ? int64_t{Load<int32_t>(literal_, i)}
                                          : SignExtend(literal_.Bits(i), Info(type_).bits));
        return;
      case TypeClass::Unsigned: os_ << literal_.Bits(i); return;
      case TypeClass::Float:
        if (type_ == ElementType::F32)
          PrintF32(os_, Load<uint32_t>(literal_, i));
        else if (type_ == ElementType::F64)
          PrintF64(os_, Load<uint64_t>(literal_, i));
        else
          PrintNarrowFloat(os_, type_, literal_.Bits(i));
        return;
      case TypeClass::Complex: PrintComplex(os_, literal_, i); return;
      case TypeClass::None: os_ << ToString(type_); return;
    }
  }

 private:
  void PrintNext() { Element(next_++); }

  void PrintRow(StringRef open, StringRef close) {
    os_ << open;
    for (int64_t i = 0, n = dims_.back(); i < n; ++i) {
      if (i > 0) os_ << ", ";
      PrintNext();
    }
    os_ << close;
  }

  void PrintLevel(size_t level, int64_t index) {
    if (level + 1 == dims_.size()) {
      const bool wide = dims_.back() > 1;
      PrintRow(wide ? "{ " : "{", wide ? " }" : "}");
      return;
    }
    os_ << '{';
    const bool labelled = level > 0 && dims_.size() >= 4;
    if (labelled) os_ << " /*i" << level - 1 << '=' << index << "*/";
    if (!labelled || dims_[level] > 0) os_ << ' ';
    for (int64_t i = 0; i < dims_[level]; ++i) {
      if (i > 0) os_ << ", ";
      PrintLevel(level + 1, i);
    }
    os_ << " }";
  }

  raw_ostream& os_;
  const Literal& literal_;
  ElementType type_;
  llvm::ArrayRef<int64_t> dims_;
  int64_t next_ = 0;
};

/// An array without elements may have any number of rows, of which braces would be all there is.
bool IsAllBraces(const Shape& shape) {
  constexpr int64_t kMostRows = 1 << 16;
  int64_t rows = 1;
  for (const int64_t size : shape.dims()) {
    if (size == 0) return false;
    rows = size > kMostRows ? size : rows * size;
    if (rows > kMostRows) return shape.ElementCount() == 0;
  }
  return false;
}

void PrintArray(raw_ostream& os, const Literal& literal) {
  if (literal.HasElided() || IsAllBraces(literal.shape())) {
    os << "{...}";
  } else if (literal.HasDynamicSizes()) {
    const Literal valid = literal.ToStatic();
    ArrayPrinter(os, valid).Print();
  } else {
    ArrayPrinter(os, literal).Print();
  }
}

template <class PrintLeaf>
void PrintTree(raw_ostream& os, const Literal& literal, PrintLeaf leaf) {
  if (!literal.shape().IsTuple()) {
    leaf(literal);
    return;
  }
  os << "( ";
  bool first = true;
  for (const Literal& e : literal.elements()) {
    if (!std::exchange(first, false)) os << ", ";
    PrintTree(os, e, leaf);
  }
  os << " )";
}

}  // namespace

void print_internal::PrintGeneral(raw_ostream& os, double value, int digits) {
  if (std::isnan(value))
    os << (std::signbit(value) ? "-nan" : "nan");
  else if (std::isinf(value))
    os << (value < 0 ? "-inf" : "inf");
  else
    PrintPrecise(os, value, digits);
}

void PrintElement(raw_ostream& os, const Literal& literal, int64_t linear) {
  ArrayPrinter(os, literal).Element(linear);
}

void PrintLiteral(raw_ostream& os, const Literal& literal) {
  PrintTree(os, literal, [&](const Literal& leaf) {
    if (leaf.shape().IsArray())
      PrintArray(os, leaf);
    else
      os << ToString(leaf.shape().element_type());
  });
}

void PrintLiteralWithShape(raw_ostream& os, const Literal& literal) {
  PrintTree(os, literal, [&](const Literal& leaf) {
    Print(os, leaf.shape());
    if (!leaf.shape().IsArray()) return;
    if (leaf.HasDynamicSizes()) {
      os << '(';
      for (int64_t d = 0; d < leaf.shape().rank(); ++d) os << (d > 0 ? "," : "") << leaf.DynamicSize(d);
      os << ')';
    }
    os << ' ';
    PrintArray(os, leaf);
  });
}

}  // namespace hlo
