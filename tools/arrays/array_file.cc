#include "tools/arrays/array_file.h"

#include "ir/print.h"
#include "ir/support/input_file.h"
#include "ir/support/interrupt.h"
#include "ir/support/json.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "tools/arrays/zip.h"
#include "tools/common/output_file.h"

namespace hlo {
namespace {

using llvm::StringRef;

struct FormatRow {
  llvm::StringLiteral extension;
  ArrayFormat format;
};
constexpr FormatRow kFormats[] = {
    {".npy", ArrayFormat::Npy}, {".npz", ArrayFormat::Npz},   {".bin", ArrayFormat::Bin},
    {".txt", ArrayFormat::Txt}, {".json", ArrayFormat::Json},
};

template <class T>
Result<T> InFile(Result<T> result, StringRef path) {
  if (!result) result.error().file = path.str();
  return result;
}

/// A number or truth value as the type prints it, which is shorter than a double; NaN and infinities as
/// strings.
void WriteJsonNumber(JsonWriter& json, StringRef word) {
  if (word.contains('n'))
    json.Value(word);
  else
    json.Raw(word == "-0" ? "-0.0" : word);  // the integer has no sign
}

/// Complex numbers as pairs.
void WriteJsonElement(JsonWriter& json, const Literal& array, int64_t i, std::string& text) {
  text.clear();
  llvm::raw_string_ostream stream(text);
  PrintElement(stream, array, i);
  StringRef word = text;
  if (!word.consume_front("(")) return WriteJsonNumber(json, word);
  word.consume_back(")");
  const auto parts = word.split(", ");
  json.Array([&] {
    WriteJsonNumber(json, parts.first);
    WriteJsonNumber(json, parts.second);
  });
}

void WriteJsonArray(JsonWriter& json, const Literal& array, int64_t dimension, int64_t& next,
                    std::string& text) {
  if (dimension == array.shape().rank()) return WriteJsonElement(json, array, next++, text);
  json.Array([&] {
    for (int64_t i = 0; i < array.shape().dim(dimension); ++i)
      WriteJsonArray(json, array, dimension + 1, next, text);
  });
}

void WriteJson(llvm::raw_ostream& out, llvm::ArrayRef<NamedArray> arrays) {
  JsonWriter json(out);
  json.Object([&] {
    json.Member("schema", "hlo.arrays/1");
    json.Array("arrays", [&] {
      for (const NamedArray& a : arrays) {
        const Literal plain = a.value.ToStatic();
        json.BreakLine();
        json.Object([&] {
          json.Member("name", a.name);
          json.Member("shape", ToString(plain.shape(), /*with_layout=*/false));
          json.Key("data");
          int64_t next = 0;
          std::string text;
          WriteJsonArray(json, plain, 0, next, text);
        });
      }
    });
  });
  out << '\n';
}

/// Scalars stand in archives with shape (1,), as the conformance suite has them; readers take both.
Shape ArchiveShape(const Shape& shape) {
  return shape.rank() == 0 ? Shape::ArrayWithDefaultLayout(shape.element_type(), {1}) : shape;
}

void WriteNpz(llvm::raw_ostream& out, llvm::ArrayRef<NamedArray> arrays, bool widen) {
  ZipWriter zip(out);
  for (const NamedArray& a : arrays) {
    const Literal payload = NpyPayload(a.value, widen);
    const std::string header = NpyHeader(ArchiveShape(a.value.ToStatic().shape()), widen);
    zip.Add(a.name + ".npy",
            {header, StringRef(reinterpret_cast<const char*>(payload.data()), payload.byte_size())});
  }
  zip.Finish();
}

void WriteBytes(llvm::raw_ostream& out, const Literal& payload) {
  out.write(reinterpret_cast<const char*>(payload.data()), payload.byte_size());
}

/// A literal's text, changed where it would read back as another value: `-0` is the integer 0, and the
/// smallest f8e8m0fnu is printed too large.
void WriteText(llvm::raw_ostream& out, const Literal& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  PrintLiteralWithShape(stream, value);
  StringRef rest = text;
  bool smallest = false;
  ForEachLeaf(value.shape(), [&](const ShapeIndex&, const Shape& leaf) {
    smallest |= leaf.element_type() == ElementType::F8E8M0FNU;
  });
  while (!rest.empty()) {
    const StringRef word = rest.take_while([](char c) { return !StringRef(" ,(){}[]\n").contains(c); });
    out << (word == "-0" ? "-0." : smallest && word == "5.9e-39" ? "5.8e-39" : word);
    rest = rest.drop_front(word.size());
    out << rest.take_front(1);
    rest = rest.drop_front(std::min<size_t>(rest.size(), 1));
  }
  out << '\n';
}

std::string IndexSuffix(const ShapeIndex& index, size_t from) {
  std::string text;
  for (size_t i = from; i < index.size(); ++i) text += "_" + std::to_string(index[i]);
  return text;
}

const Literal& At(const Literal& value, const ShapeIndex& index) {
  const Literal* at = &value;
  for (const int64_t i : index) at = &at->element(i);
  return *at;
}

Result<ArrayFile> Load(StringRef path) {
  auto buffer = ReadInputFile(path);
  if (!buffer && Interrupted()) return Error(InterruptedError());
  if (!buffer) return Error("input-open", {}, "cannot open: {0}", buffer.getError().message());
  ArrayFile file;
  file.path = path.str();
  const std::shared_ptr<llvm::MemoryBuffer> owner = std::move(*buffer);
  file.owner = owner;
  file.bytes = owner->getBuffer();
  const StringRef extension = llvm::sys::path::extension(path);
  if (file.bytes.starts_with("\x93NUMPY") || extension == ".npy") {
    file.kind = ArrayFile::Kind::Npy;
    HLO_TRY(auto arrays, ReadNpy(file.bytes, file.owner));
    for (NpyArray& array : arrays) file.arrays.emplace_back("", std::move(array));
  } else if (extension == ".npz" || file.bytes.starts_with("PK\x03\x04")) {
    file.kind = ArrayFile::Kind::Npz;
    HLO_TRY(auto members, ReadZip(file.bytes, file.owner));
    for (ZipMember& member : members) {
      StringRef name = member.name;
      if (!name.consume_back(".npy")) continue;
      auto arrays = ReadNpy(member.data, member.owner);
      if (!arrays) {
        arrays.error().message = "member '" + name.str() + "': " + arrays.error().message;
        return Error(std::move(arrays).error());
      }
      file.arrays.emplace_back(name.str(), std::move(arrays->front()));
    }
  } else if (extension == ".bin") {
    file.kind = ArrayFile::Kind::Raw;
  } else if (extension == ".txt") {
    file.kind = ArrayFile::Kind::Text;
  } else {
    return Error("input-format", {}, "found extension '{0}', expected npy, npz, bin or txt", extension);
  }
  return file;
}

}  // namespace

Result<ArrayFile> OpenArrayFile(StringRef path) { return InFile(Load(path), path); }

void AppendLeaves(const Literal& value, StringRef prefix, bool split_tuple, StringRef suffix,
                  std::vector<NamedArray>& arrays) {
  const bool split = split_tuple && value.shape().IsTuple();
  ForEachLeaf(value.shape(), [&](const ShapeIndex& index, const Shape& leaf) {
    if (!leaf.IsArray()) return;
    std::string name = prefix.str();
    if (split_tuple) name += std::to_string(split ? index[0] : 0);
    arrays.push_back({name + IndexSuffix(index, split ? 1 : 0) + suffix.str(), At(value, index)});
  });
}

Result<ArrayFormat> ArrayFormatOf(StringRef option, StringRef path) {
  const StringRef extension = llvm::sys::path::extension(path);
  for (const FormatRow& row : kFormats)
    if (extension == row.extension) return row.format;
  // Devices have no extension; what they are given does not matter much.
  if (path == "-" || path.starts_with("/dev/")) return path == "-" ? ArrayFormat::Txt : ArrayFormat::Npz;
  return Error("usage-option", {},
               "option '{0}': found file '{1}', expected extension npy, npz, txt, bin or json", option, path);
}

Status WriteArrays(StringRef path, ArrayFormat format, llvm::ArrayRef<NamedArray> arrays,
                   llvm::ArrayRef<Literal> whole, bool widen, llvm::raw_ostream& standard_output,
                   llvm::ArrayRef<std::string> inputs) {
  HLO_TRY(OutputFile file, OutputFile::Open(path, standard_output, inputs));
  llvm::raw_ostream& out = file.stream();
  switch (format) {
    case ArrayFormat::Npz: WriteNpz(out, arrays, widen); break;
    case ArrayFormat::Json: WriteJson(out, arrays); break;
    case ArrayFormat::Npy:
      for (const NamedArray& a : arrays) {
        out << NpyHeader(a.value.ToStatic().shape(), widen);
        WriteBytes(out, NpyPayload(a.value, widen));
      }
      break;
    case ArrayFormat::Bin:
      for (const NamedArray& a : arrays) WriteBytes(out, NpyPayload(a.value, false));
      break;
    case ArrayFormat::Txt:
      for (const Literal& value : whole) WriteText(out, value.ToStatic());
      break;
  }
  return file.Commit();
}

std::string MembersOf(const ArrayFile& file) {
  constexpr size_t kShown = 12;
  std::string text;
  for (const auto& [name, array] : llvm::ArrayRef(file.arrays).take_front(kShown))
    text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
  if (file.arrays.size() > kShown) text += ", ...";
  return text.empty() ? "none" : text;
}

}  // namespace hlo
