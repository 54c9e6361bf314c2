// LLVM's streams and what is written to them, as far as the archive uses them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/NativeFormatting.h"
#include "llvm/Support/raw_ostream.h"

namespace llvm {

// --- Streams ---

raw_ostream::~raw_ostream() {
  if (BufferMode == BufferKind::InternalBuffer) delete[] OutBufStart;
}
void raw_ostream::anchor() {}
size_t raw_ostream::preferred_buffer_size() const { return BUFSIZ; }
raw_ostream& raw_ostream::changeColor(Colors, bool, bool) { return *this; }
raw_ostream& raw_ostream::resetColor() { return *this; }
raw_ostream& raw_ostream::reverseColor() { return *this; }

void raw_ostream::SetBuffered() {
  const size_t size = preferred_buffer_size();
  size > 0 ? SetBufferSize(size) : SetUnbuffered();
}

void raw_ostream::SetBufferAndMode(char* start, size_t size, BufferKind mode) {
  if (BufferMode == BufferKind::InternalBuffer) delete[] OutBufStart;
  OutBufStart = OutBufCur = start;
  OutBufEnd = start + size;
  BufferMode = mode;
}

void raw_ostream::flush_nonempty() {
  const auto length = static_cast<size_t>(OutBufCur - OutBufStart);
  OutBufCur = OutBufStart;
  write_impl(OutBufStart, length);
}

raw_ostream& raw_ostream::write(unsigned char c) {
  const char byte = static_cast<char>(c);
  return write(&byte, 1);
}

raw_ostream& raw_ostream::write(const char* text, size_t size) {
  if (OutBufStart == nullptr && BufferMode != BufferKind::Unbuffered) SetBuffered();
  if (size > static_cast<size_t>(OutBufEnd - OutBufCur)) flush();
  if (size > static_cast<size_t>(OutBufEnd - OutBufCur)) {
    write_impl(text, size);
  } else if (size > 0) {
    std::memcpy(OutBufCur, text, size);
    OutBufCur += size;
  }
  return *this;
}

raw_ostream& raw_ostream::operator<<(unsigned long n) {
  write_integer(*this, n, 0, IntegerStyle::Integer);
  return *this;
}
raw_ostream& raw_ostream::operator<<(long n) {
  write_integer(*this, n, 0, IntegerStyle::Integer);
  return *this;
}
raw_ostream& raw_ostream::operator<<(const formatv_object_base& object) {
  object.format(*this);
  return *this;
}

void raw_pwrite_stream::anchor() {}

void raw_string_ostream::write_impl(const char* text, size_t size) { OS.append(text, size); }

void raw_svector_ostream::write_impl(const char* text, size_t size) { OS.append(text, text + size); }
void raw_svector_ostream::pwrite_impl(const char* text, size_t size, uint64_t at) {
  std::memcpy(OS.data() + at, text, size);
}
uint64_t raw_svector_ostream::current_pos() const { return OS.size(); }

// --- Numbers ---

namespace {

void WriteDigits(raw_ostream& os, uint64_t size, bool negative, size_t digits, IntegerStyle style) {
  std::string text = std::to_string(size);
  if (style == IntegerStyle::Number)
    for (size_t i = text.size(); i > 3;) text.insert(i -= 3, ",");
  else if (text.size() < digits)
    text.insert(0, digits - text.size(), '0');
  if (negative) os << '-';
  os << text;
}

}  // namespace

void write_integer(raw_ostream& os, unsigned long n, size_t digits, IntegerStyle style) {
  WriteDigits(os, n, false, digits, style);
}
void write_integer(raw_ostream& os, long n, size_t digits, IntegerStyle style) {
  WriteDigits(os, n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n), n < 0, digits, style);
}
void write_integer(raw_ostream& os, int n, size_t digits, IntegerStyle style) {
  write_integer(os, static_cast<long>(n), digits, style);
}

bool isPrefixedHexStyle(HexPrintStyle style) {
  return style == HexPrintStyle::PrefixLower || style == HexPrintStyle::PrefixUpper;
}

void write_hex(raw_ostream& os, uint64_t n, HexPrintStyle style, std::optional<size_t> width) {
  const bool lower = style == HexPrintStyle::Lower || style == HexPrintStyle::PrefixLower;
  std::string digits = utohexstr(n, lower);
  const StringRef prefix = isPrefixedHexStyle(style) ? "0x" : "";
  const size_t least = std::min<size_t>(width.value_or(0), 128);
  if (prefix.size() + digits.size() < least) digits.insert(0, least - prefix.size() - digits.size(), '0');
  os << prefix << digits;
}

size_t getDefaultPrecision(FloatStyle style) {
  return style == FloatStyle::Exponent || style == FloatStyle::ExponentUpper ? 6 : 2;
}

void write_double(raw_ostream& os, double d, FloatStyle style, std::optional<size_t> precision) {
  if (std::isnan(d) || std::isinf(d)) {
    os << (std::isnan(d) ? "nan" : d < 0 ? "-INF" : "INF");
    return;
  }
  const char* format = style == FloatStyle::Exponent        ? "%.*e"
                       : style == FloatStyle::ExponentUpper ? "%.*E"
                                                            : "%.*f";
  char text[400];
  const auto digits = static_cast<int>(std::min<size_t>(precision.value_or(getDefaultPrecision(style)), 60));
  std::snprintf(text, sizeof text, format, digits, style == FloatStyle::Percent ? d * 100 : d);
  os << text;
  if (style == FloatStyle::Percent) os << '%';
}

// --- formatv ---

namespace support::detail {
void format_adapter::anchor() {}
}  // namespace support::detail

namespace {

std::optional<AlignStyle> AlignStyleOf(char c) {
  switch (c) {
    case '-': return AlignStyle::Left;
    case '=': return AlignStyle::Center;
    case '+': return AlignStyle::Right;
    default: return std::nullopt;
  }
}

}  // namespace

/// [[fill]align]width
bool formatv_object_base::consumeFieldLayout(StringRef& spec, AlignStyle& where, size_t& align, char& pad) {
  where = AlignStyle::Right;
  align = 0;
  pad = ' ';
  if (spec.empty()) return true;
  if (spec.size() > 1 && AlignStyleOf(spec[1])) {
    pad = spec[0];
    where = *AlignStyleOf(spec[1]);
    spec = spec.drop_front(2);
  } else if (AlignStyleOf(spec[0])) {
    where = *AlignStyleOf(spec[0]);
    spec = spec.drop_front(1);
  }
  return !spec.consumeInteger(0, align);
}

/// index[,layout][:options]
std::optional<ReplacementItem> formatv_object_base::parseReplacementItem(StringRef spec) {
  StringRef text = spec.trim("{}").trim();
  size_t index = 0, align = 0;
  AlignStyle where = AlignStyle::Right;
  char pad = ' ';
  if (text.consumeInteger(0, index)) return std::nullopt;
  text = text.ltrim();
  if (text.consume_front(",") && !consumeFieldLayout(text, where, align, pad)) return std::nullopt;
  text = text.ltrim();
  const StringRef options = text.consume_front(":") ? text.trim() : StringRef();
  return ReplacementItem(spec, index, align, where, pad, options);
}

/// The first part of a format, and the others. Two braces stand for one.
std::pair<ReplacementItem, StringRef> formatv_object_base::splitLiteralAndReplacement(StringRef format) {
  const size_t open = format.find('{');
  if (open != 0) return {ReplacementItem(format.take_front(open)), format.substr(open)};
  const StringRef braces = format.take_while([](char c) { return c == '{'; });
  if (braces.size() > 1)
    return {ReplacementItem(braces.take_front(braces.size() / 2)), format.substr(braces.size() / 2 * 2)};
  const size_t close = format.find('}');
  if (close == StringRef::npos) return {ReplacementItem(format), StringRef()};
  const std::optional<ReplacementItem> item = parseReplacementItem(format.slice(1, close));
  return {item.value_or(ReplacementItem()), format.substr(close + 1)};
}

SmallVector<ReplacementItem, 2> formatv_object_base::parseFormatString(StringRef format) {
  SmallVector<ReplacementItem, 2> items;
  while (!format.empty()) {
    auto [item, rest] = splitLiteralAndReplacement(format);
    if (item.Type != ReplacementType::Empty) items.push_back(item);
    format = rest;
  }
  return items;
}

// --- Twine ---

void Twine::printOneChild(raw_ostream& os, Child child, NodeKind kind) const {
  switch (kind) {
    case NullKind:
    case EmptyKind: break;
    case TwineKind: child.twine->print(os); break;
    case CStringKind: os << child.cString; break;
    case StdStringKind: os << *child.stdString; break;
    case PtrAndLengthKind:
    case StringLiteralKind: os << StringRef(child.ptrAndLength.ptr, child.ptrAndLength.length); break;
    case FormatvObjectKind: os << *child.formatvObject; break;
    case CharKind: os << child.character; break;
    case DecUIKind: os << child.decUI; break;
    case DecIKind: os << child.decI; break;
    case DecULKind: os << *child.decUL; break;
    case DecLKind: os << *child.decL; break;
    case DecULLKind: os << static_cast<unsigned long>(*child.decULL); break;
    case DecLLKind: os << static_cast<long>(*child.decLL); break;
    case UHexKind: os << llvm::utohexstr(*child.uHex, /*LowerCase=*/true); break;
  }
}
void Twine::print(raw_ostream& os) const {
  printOneChild(os, LHS, getLHSKind());
  printOneChild(os, RHS, getRHSKind());
}
std::string Twine::str() const {
  std::string text;
  raw_string_ostream os(text);
  print(os);
  return text;
}

// --- Ends ---

void report_fatal_error(const Twine& reason, bool) {
  std::fprintf(stderr, "error: %s\n", reason.str().c_str());
  std::abort();
}
void report_fatal_error(const char* reason, bool) { report_fatal_error(Twine(reason), false); }
void report_bad_alloc_error(const char* reason, bool) { report_fatal_error(reason, false); }

}  // namespace llvm
