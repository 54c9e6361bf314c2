#include "tools/run/values.h"

#include "ir/numeric/narrow_float.h"
#include "llvm/Support/Format.h"
#include "parser/parser.h"
#include "tools/common/options.h"
#include "tools/modules/inputs.h"
#include "tools/proto/read_module.h"

namespace hlo {
namespace {

using llvm::StringRef;

struct GeneratorRow {
  llvm::StringLiteral name;
  ValueKind kind;
  int min_arguments, max_arguments;
  llvm::StringLiteral usage;
};
constexpr GeneratorRow kGenerators[] = {
    {"zeros", ValueKind::Zeros, 0, 0, "zeros"},
    {"ones", ValueKind::Ones, 0, 0, "ones"},
    {"const", ValueKind::Constant, 1, 1, "const(V)"},
    {"iota", ValueKind::Iota, 0, 1, "iota or iota(DIM)"},
    {"uniform", ValueKind::Uniform, 2, 2, "uniform(LO,HI)"},
    {"normal", ValueKind::Normal, 2, 2, "normal(MEAN,STD)"},
    {"device-id", ValueKind::DeviceId, 0, 0, "device-id"},
    {"uninit", ValueKind::Uninit, 0, 0, "uninit"},
};

struct IreeTypeRow {
  llvm::StringLiteral text;
  llvm::StringLiteral types;  // the HLO types it fits
};
constexpr IreeTypeRow kIreeTypes[] = {
    {"i1", "pred s1 u1"},     {"i2", "s2 u2"},    {"i4", "s4 u4"},    {"i8", "s8 u8"},
    {"i16", "s16 u16"},       {"i32", "s32 u32"}, {"i64", "s64 u64"}, {"si8", "s8"},
    {"si16", "s16"},          {"si32", "s32"},    {"si64", "s64"},    {"ui8", "u8"},
    {"ui16", "u16"},          {"ui32", "u32"},    {"ui64", "u64"},    {"complex<f32>", "c64"},
    {"complex<f64>", "c128"},
};

bool TypeFits(StringRef iree, ElementType type) {
  if (iree == ToString(type)) return true;
  for (const IreeTypeRow& row : kIreeTypes)
    if (row.text == iree) return llvm::is_contained(llvm::split(row.types, ' '), ToString(type));
  return false;
}

/// `2x2xf32=…`; nothing if the text does not begin that way.
std::optional<IreeValue> ParseIree(StringRef text) {
  const auto [head, body] = text.split('=');
  if (body.data() == nullptr || head.size() == text.size()) return std::nullopt;
  IreeValue value;
  StringRef rest = head.trim();
  for (;;) {
    const StringRef digits = rest.take_while(llvm::isDigit);
    int64_t size = 0;
    if (digits.empty() || !rest.drop_front(digits.size()).starts_with("x") || digits.getAsInteger(10, size))
      break;
    value.dims.push_back(size);
    rest = rest.drop_front(digits.size() + 1);
  }
  const bool known = ParseElementType(rest) ||
                     llvm::any_of(kIreeTypes, [&](const IreeTypeRow& row) { return row.text == rest; });
  if (!known) return std::nullopt;
  value.type = rest;
  // Brackets and separators only group; the sizes say where elements belong.
  StringRef elements = body;
  while (!(elements = elements.ltrim(" \t\r\n,[]")).empty()) {
    size_t end = elements.find_first_of(" \t\r\n,[]");
    if (elements.starts_with("("))
      end = elements.find(')') == StringRef::npos ? elements.size() : elements.find(')') + 1;
    value.elements.push_back(elements.take_front(end));
    elements = elements.drop_front(value.elements.back().size());
  }
  return value;
}

/// `f32[2]…` or `(f32[2]…`: a literal that says its shape.
bool SaysShape(StringRef text) {
  text = text.ltrim(" (");
  const StringRef word = text.take_while([](char c) { return llvm::isAlnum(c); });
  return ParseElementType(word) && text.drop_front(word.size()).ltrim().starts_with("[");
}

/// The end of the brace group that begins at `open`; npos if it is not closed.
size_t GroupEnd(StringRef text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return StringRef::npos;
}

/// The parser takes a brace group after a shape for its layout; where there is only one group it is the
/// value, so the default layout is put before it: `f32[2] {1,2}` becomes `f32[2]{0} {1,2}`.
std::string WithLayouts(StringRef text) {
  std::string result;
  while (!text.empty()) {
    const StringRef word = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    const size_t close = text.find(']');
    if (word.empty() || !ParseElementType(word) || !text.drop_front(word.size()).starts_with("[") ||
        close == StringRef::npos) {
      const size_t size = std::max<size_t>(word.size(), 1);
      result += text.take_front(size);
      text = text.drop_front(size);
      continue;
    }
    const StringRef dims = text.slice(word.size() + 1, close).trim();
    const int64_t rank = dims.empty() ? 0 : static_cast<int64_t>(dims.count(',')) + 1;
    result += text.take_front(close + 1);
    text = text.drop_front(close + 1);
    const size_t open = text.find_first_not_of(" \t\r\n");
    if (open == StringRef::npos || text[open] != '{') continue;
    const size_t end = GroupEnd(text, open);
    const StringRef after = end == StringRef::npos ? "" : text.drop_front(end).ltrim();
    if (after.empty() || after.front() == ',' || after.front() == ')') {
      result += '{';
      for (int64_t d = rank; d-- > 0;) result += std::to_string(d) + (d > 0 ? "," : "");
      result += "} ";
    }
    // The group itself holds no shapes.
    result += text.take_front(end);
    text = end == StringRef::npos ? "" : text.drop_front(end);
  }
  return result;
}

std::string IreeText(const IreeValue& value) {
  std::string text;
  for (const int64_t d : value.dims) text += std::to_string(d) + "x";
  return text + value.type.str();
}

tl::unexpected<Diagnostic> ShapeError(const std::string& what, const Shape& shape, const std::string& found) {
  return Error("input-shape", {}, "{0} is {1}, value is {2}", what, ToString(shape, /*with_layout=*/false),
               found);
}

tl::unexpected<Diagnostic> LiteralError(const std::string& what, const Shape& shape,
                                        const Diagnostic& cause) {
  return Error("input-literal", {}, "{0} is {1}: {2}", what, ToString(shape, /*with_layout=*/false),
               cause.message);
}

/// The elements as HLO literal text of the shape.
Result<Literal> FromIree(const IreeValue& value, const Shape& shape, const std::string& what) {
  if (!shape.IsArray() || !TypeFits(value.type, shape.element_type()) ||
      llvm::ArrayRef<int64_t>(value.dims) != shape.dims())
    return ShapeError(what, shape, IreeText(value));
  const auto count = static_cast<size_t>(shape.ElementCount());
  if (value.elements.size() != count && value.elements.size() != 1)
    return Error("input-shape", {}, "{0} is {1}, value has {2} elements, expected {3} or 1", what,
                 ToString(shape, /*with_layout=*/false), value.elements.size(), count);
  // Parsed as a vector, so that messages are about elements.
  auto element = [&](StringRef text) {
    if (IsPred(shape.element_type()))
      return text == "1" ? StringRef("true") : text == "0" ? StringRef("false") : text;
    return text;
  };
  const bool splat = value.elements.size() != count;
  std::string text = "{";
  for (size_t i = 0; i < (splat ? 1 : count); ++i)
    text += (i > 0 ? "," : "") + element(value.elements[i]).str();
  const Shape vector =
      Shape::ArrayWithDefaultLayout(shape.element_type(), {static_cast<int64_t>(splat ? 1 : count)});
  auto parsed = ParseLiteral(text + "}", vector);
  if (!parsed) return LiteralError(what, shape, parsed.error());
  Literal flat = parsed->Unpack();
  if (!splat) return flat.WithShape(shape);
  Literal full = Literal::Make(shape);
  const size_t width = flat.byte_size();
  uint8_t* data = full.MutableData();
  for (size_t at = 0; at < full.byte_size(); at += width) std::memcpy(data + at, flat.data(), width);
  return full;
}

Result<Literal> FromRaw(const ArrayFile& file, const Shape& shape, const std::string& what) {
  if (!shape.IsArray()) return ShapeError(what, shape, "raw bytes");
  const int64_t expected = ByteSize(shape);
  if (static_cast<int64_t>(file.bytes.size()) != expected)
    return Error("input-shape", {}, "{0} is {1} of {2} bytes, the file has {3}", what, ToString(shape, false),
                 expected, file.bytes.size());
  NpyArray array;
  array.item_size = Info(shape.element_type()).host_bytes();
  array.kind = 'V';
  array.shape.assign(shape.dims().begin(), shape.dims().end());
  array.data = file.bytes;
  array.owner = file.owner;
  return ToLiteral(array, shape);
}

Result<Literal> FromText(StringRef text, const Shape& shape, const std::string& what) {
  // HLO takes a lone number for the first element of an array and fills the rest with zeros.
  if (shape.IsArray() && shape.rank() > 0 && !text.trim().starts_with("{"))
    return ShapeError(what, shape, ("scalar '" + text.trim() + "'").str());
  auto parsed = ParseLiteral(text, shape);
  if (!parsed) return LiteralError(what, shape, parsed.error());
  return parsed->Unpack();
}

/// A literal of its own shape, under the parameter's (whose layout, dynamic bounds count).
Result<Literal> FromLiteral(const Literal& literal, const Shape& shape, const std::string& what) {
  if (!Compatible(literal.shape(), shape)) {
    // A bounded dynamic parameter takes a smaller static array.
    if (shape.IsArray() && literal.shape().IsArray() && shape.HasDynamicDimension()) {
      NpyArray array;
      array.item_size = Info(literal.shape().element_type()).host_bytes();
      array.kind = 'V';
      array.shape.assign(literal.shape().dims().begin(), literal.shape().dims().end());
      array.data = {reinterpret_cast<const char*>(literal.data()), literal.byte_size()};
      array.owner = std::make_shared<Literal>(literal);
      if (literal.shape().element_type() == shape.element_type() &&
          static_cast<int64_t>(array.shape.size()) == shape.rank()) {
        bool fits = true;
        for (int64_t d = 0; d < shape.rank(); ++d)
          fits &= shape.is_dynamic(d) ? array.shape[static_cast<size_t>(d)] <= shape.dim(d)
                                      : array.shape[static_cast<size_t>(d)] == shape.dim(d);
        if (fits) return ToLiteral(array, shape);
      }
    }
    return ShapeError(what, shape, ToString(literal.shape(), /*with_layout=*/false));
  }
  return literal.WithShape(shape);
}

/// The end of the first line at which all braces and parentheses are closed.
size_t LiteralEnd(StringRef text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (StringRef("{(").contains(text[i])) ++depth;
    if (StringRef("})").contains(text[i])) --depth;
    if (text[i] == '\n' && depth <= 0) return i;
  }
  return text.size();
}

/// A literal after its shape. Shapes of tuples stand before the whole or before each element.
Result<Literal> ShapedLiteral(StringRef text) {
  if (text.starts_with("(")) {
    int depth = 0;
    size_t end = 0;
    do {
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    } while (++end < text.size() && depth > 0);
    const StringRef value = text.drop_front(end).trim();
    if (auto shape = ParseShape(text.take_front(end)); shape && !value.empty())
      return ParseLiteral(value, *shape);
  }
  return ParseLiteralWithShape(WithLayouts(text));
}

Result<std::vector<std::unique_ptr<Value>>> ReadFileValue(StringRef text, StringRef option) {
  std::vector<std::unique_ptr<Value>> values;
  auto [path, key] = text.drop_front().rsplit('#');
  if (!path.ends_with(".npz")) path = text.drop_front(), key = "";
  if (path.empty())
    return Error("usage-option", {}, "option '{0}': found '{1}', expected a file name after '@'", option,
                 text);
  auto add = [&](auto what) {
    auto value = std::make_unique<Value>();
    value->text = text.str();
    value->file = text.drop_front().str();
    value->what = std::move(what);
    values.push_back(std::move(value));
  };
  if (path.ends_with(".pb")) {
    HLO_TRY(const std::string bytes, ReadInputText(path, {}));
    auto literal = ReadLiteralProto(bytes);
    if (!literal) {
      Diagnostic error = MakeError("input-literal", {}, "{0}", literal.error().message);
      error.file = path.str();
      return Error(std::move(error));
    }
    add(literal->Unpack());
    return values;
  }
  HLO_TRY(ArrayFile file, OpenArrayFile(path));
  if (!key.empty() && file.kind != ArrayFile::Kind::Npz)
    return Error("usage-option", {}, "option '{0}': '{1}' is no npz archive", option, path);
  if (file.kind == ArrayFile::Kind::Npy) {
    for (auto& [name, array] : file.arrays) add(std::move(array));
  } else if (file.kind == ArrayFile::Kind::Npz && !key.empty()) {
    std::vector<StringRef> names;
    for (auto& [name, array] : file.arrays) {
      if (name == key) add(std::move(array));
      names.emplace_back(name);
    }
    if (values.empty()) {
      const std::string hint = DidYouMeanText(key, names);
      Diagnostic error =
          MakeError("input-array", {}, "no member '{0}'{1}{2}", key, hint.empty() ? "" : "; ", hint);
      error.file = path.str();
      error.Note("members are " + MembersOf(file));
      return Error(std::move(error));
    }
  } else if (file.kind == ArrayFile::Kind::Text) {
    // Literals with shape, one after another, or text for the shape of the parameter.
    StringRef rest = file.bytes.trim();
    if (!SaysShape(rest)) {
      add(std::monostate{});
      values.back()->text = rest.str();
      values.back()->literal_text = values.back()->text;
    }
    while (SaysShape(rest)) {
      const size_t end = LiteralEnd(rest);
      auto literal = ShapedLiteral(rest.take_front(end));
      if (!literal) {
        Diagnostic error = MakeError("input-literal", {}, "{0}", literal.error().message);
        error.file = path.str();
        return Error(std::move(error));
      }
      add(literal->Unpack());
      rest = rest.drop_front(end).trim();
    }
  } else {
    add(std::move(file));
  }
  return values;
}

/// Words that are no literal: misspelt generators, generators with wrong arguments, files without `@`.
Status CheckLiteralText(StringRef text, StringRef option) {
  constexpr llvm::StringLiteral kWords[] = {"nan", "inf", "true", "false"};
  const StringRef word = text.take_while([](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; });
  if (text.empty() || (llvm::isAlpha(text.front()) && !llvm::is_contained(kWords, word))) {
    for (const GeneratorRow& row : kGenerators)
      if (row.name == word)
        return Error("usage-option", {}, "option '{0}': found '{1}', expected {2}", option, text, row.usage);
    const std::string hint = DidYouMeanText(word, GeneratorNames());
    return Error("usage-option", {},
                 "option '{0}': found '{1}', expected a literal, a file '@NAME' or a generator{2}{3}", option,
                 text, hint.empty() ? "" : "; ", hint);
  }
  return {};
}

/// A wide array as --npy-widen writes it, brought back to the narrow type it stands for; nothing if it is
/// none.
Result<std::optional<Literal>> Narrowed(const NpyArray& array, const Shape& shape, const std::string& what) {
  const Shape wide_shape = shape.IsArray() ? shape.WithElementType(ElementType::F32) : Shape();
  const ElementType type = shape.IsArray() ? shape.element_type() : ElementType::F32;
  if (!shape.IsArray() || !IsFloat(type) || Info(type).bits >= 32 || !Fits(array, wide_shape))
    return std::optional<Literal>();
  const Literal wide = ToLiteral(array, wide_shape);
  Literal narrow = Literal::Make(shape);
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    const double value = wide.Data<float>()[i];
    const uint64_t code = FromDouble(type, value);
    if (ToDouble(type, code) != value && !std::isnan(value))
      return Error("input-array", {}, "{0} is {1}, which has no element {2}", what, ToString(shape, false),
                   llvm::format("%.9g", value));
    narrow.SetBits(i, code);
  }
  return std::optional<Literal>(std::move(narrow));
}

Result<Literal> MakeAnywhere(const Value& value, const Shape& shape, const std::string& what,
                             const ValueSeed& seed) {
  if (const auto* array = std::get_if<NpyArray>(&value.what)) {
    if (value.narrow && !Fits(*array, shape)) {
      HLO_TRY(std::optional<Literal> narrow, Narrowed(*array, shape, what));
      if (narrow) return std::move(*narrow);
    }
    if (!Fits(*array, shape)) return ShapeError(what, shape, Describe(*array));
    return ToLiteral(*array, shape);
  }
  if (const auto* file = std::get_if<ArrayFile>(&value.what)) return FromRaw(*file, shape, what);
  if (const auto* rule = std::get_if<ValueRule>(&value.what)) {
    HLO_CHECK_OK(CheckRule(*rule, shape, what, value.text));
    return MakeValue(shape, *rule, seed);
  }
  if (const auto* iree = std::get_if<IreeValue>(&value.what)) return FromIree(*iree, shape, what);
  if (const auto* literal = std::get_if<Literal>(&value.what)) return FromLiteral(*literal, shape, what);
  return FromText(value.literal_text, shape, what);
}

}  // namespace

std::vector<StringRef> GeneratorNames() {
  std::vector<StringRef> names;
  for (const GeneratorRow& row : kGenerators) names.push_back(row.name);
  return names;
}

std::optional<ValueRule> ParseGenerator(StringRef text) {
  text = text.trim();
  StringRef name = text, arguments;
  if (text.ends_with(")")) {
    std::tie(name, arguments) = text.drop_back().split('(');
    if (arguments.data() == nullptr) return std::nullopt;
  }
  llvm::SmallVector<double, 2> numbers;
  for (const StringRef word : llvm::split(arguments, ',')) {
    double number = 0;
    if (word.trim().empty() && arguments.empty()) break;
    if (word.trim().getAsDouble(number)) return std::nullopt;
    numbers.push_back(number);
  }
  for (const GeneratorRow& row : kGenerators) {
    if (row.name != name) continue;
    const auto count = static_cast<int>(numbers.size());
    if (count < row.min_arguments || count > row.max_arguments) return std::nullopt;
    ValueRule rule;
    rule.kind = row.kind;
    if (count > 0) rule.a = numbers[0];
    if (count > 1) rule.b = numbers[1];
    if (row.kind == ValueKind::Iota && count > 0) {
      rule.dimension = static_cast<int64_t>(numbers[0]);
      if (rule.dimension < 0 || static_cast<double>(rule.dimension) != numbers[0]) return std::nullopt;
    }
    return rule;
  }
  return std::nullopt;
}

Result<std::vector<std::unique_ptr<Value>>> ReadValue(StringRef text, StringRef option) {
  if (text.starts_with("@")) return ReadFileValue(text, option);
  auto value = std::make_unique<Value>();
  value->text = text.str();
  text = StringRef(value->text).trim();
  if (auto rule = ParseGenerator(text)) {
    value->what = *rule;
  } else if (auto iree = ParseIree(text)) {
    value->what = std::move(*iree);
  } else if (SaysShape(text)) {
    auto literal = ShapedLiteral(text);
    if (!literal) return Error("input-literal", {}, "option '{0}': {1}", option, literal.error().message);
    value->what = literal->Unpack();
  } else {
    HLO_CHECK_OK(CheckLiteralText(text, option));
    value->literal_text = text;
  }
  std::vector<std::unique_ptr<Value>> values;
  values.push_back(std::move(value));
  return values;
}

Status CheckRule(const ValueRule& rule, const Shape& shape, const std::string& what, StringRef text) {
  if (rule.kind != ValueKind::Iota) return {};
  Status status;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (status && leaf.IsArray() && rule.dimension >= leaf.rank())
      status = Error("input-shape", {}, "{0} is {1}, '{2}' needs more dimensions", what,
                     ToString(leaf, false), text);
  });
  return status;
}

std::optional<Shape> OwnShape(const Value& value) {
  if (const auto* literal = std::get_if<Literal>(&value.what)) return literal->shape();
  return std::nullopt;
}

Result<Literal> MakeLiteral(const Value& value, const Shape& shape, const std::string& what,
                            const ValueSeed& seed) {
  auto literal = MakeAnywhere(value, shape, what, seed);
  if (!literal && literal.error().file.empty()) literal.error().file = value.file;
  return literal;
}

}  // namespace hlo
