// Bytes of protocol buffers as text.
#include <bit>

#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/proto/message.h"
#include "tools/proto/schema.h"
#include "tools/proto/text_form.h"
#include "tools/proto/wire.h"

namespace hlo {
namespace {

using llvm::StringRef;

class TextWriter {
 public:
  explicit TextWriter(llvm::raw_ostream& os) : os_(os) {}

  void Write(StringRef bytes, StringRef message, unsigned indent) {
    while (!bytes.empty()) {
      uint64_t tag = 0, value = 0;
      if (!TakeVarint(bytes, tag)) return;
      const auto type = static_cast<int>(tag & 7);
      StringRef data;
      if (type == kProtoVarint || type == kProtoBytes) {
        if (!TakeVarint(bytes, value)) return;
        if (type == kProtoBytes) data = bytes.take_front(value);
      } else {
        data = bytes.take_front(type == kProtoFixed32 ? 4 : 8);
      }
      bytes = bytes.drop_front(data.size());
      if (const SchemaField* field = FindField(message, static_cast<int>(tag >> 3)))
        WriteField(*field, value, data, indent);
    }
  }

 private:
  void WriteField(const SchemaField& field, uint64_t value, StringRef data, unsigned indent) {
    os_.indent(indent) << field.name;
    switch (field.kind) {
      case ProtoKind::Message:
        os_ << " {\n";
        Write(data, field.of, indent + 2);
        os_.indent(indent) << "}";
        break;
      case ProtoKind::Text: WriteText(data); break;
      case ProtoKind::Float:
      case ProtoKind::Double:
        os_ << ": ";
        WriteFloat(data);
        break;
      case ProtoKind::Floats: WriteFloats(data, 4); break;
      case ProtoKind::Doubles: WriteFloats(data, 8); break;
      case ProtoKind::Int:
      case ProtoKind::Bool:
      case ProtoKind::Enum:
        os_ << ": ";
        WriteNumber(field, value);
        break;
      case ProtoKind::Ints:
      case ProtoKind::Bools:
      case ProtoKind::Enums: {
        const char* separator = ": [";
        for (; !data.empty() && TakeVarint(data, value); separator = ", ") {
          os_ << separator;
          WriteNumber(field, value);
        }
        os_ << (separator[0] == ':' ? ": []" : "]");
        break;
      }
    }
    os_ << '\n';
  }

  void WriteNumber(const SchemaField& field, uint64_t value) {
    const auto word = field.of.empty() ? std::nullopt : WordOf(field, static_cast<int64_t>(value));
    if (word)
      os_ << *word;
    else if (field.kind == ProtoKind::Bool || field.kind == ProtoKind::Bools)
      os_ << (value != 0 ? "true" : "false");
    else if (field.name == "u64s")
      os_ << value;
    else
      os_ << static_cast<int64_t>(value);
  }

  /// So that it reads back as the same number; NaNs lose what they carry.
  void WriteFloat(StringRef data) {
    const bool narrow = data.size() == 4;
    char bytes[8] = {};
    llvm::copy(data.take_front(8), bytes);
    const double value = narrow ? std::bit_cast<float>(llvm::support::endian::read32le(bytes))
                                : std::bit_cast<double>(llvm::support::endian::read64le(bytes));
    if (value != value)
      os_ << "nan";
    else if (value - value != 0)
      os_ << (value < 0 ? "-inf" : "inf");
    else
      os_ << llvm::format(narrow ? "%.9g" : "%.17g", value);
  }

  void WriteFloats(StringRef data, size_t width) {
    os_ << ": [";
    for (bool first = true; data.size() >= width; data = data.drop_front(width)) {
      os_ << (std::exchange(first, false) ? "" : ", ");
      WriteFloat(data.take_front(width));
    }
    os_ << ']';
  }

  void WriteText(StringRef data) {
    os_ << ": \"";
    for (const char c : data) {
      if (c == '"' || c == '\\')
        os_ << '\\' << c;
      else if (llvm::isPrint(c))
        os_ << c;
      else
        os_ << '\\' << static_cast<char>('0' + (static_cast<unsigned char>(c) >> 6))
            << static_cast<char>('0' + (static_cast<unsigned char>(c) >> 3 & 7))
            << static_cast<char>('0' + (static_cast<unsigned char>(c) & 7));
    }
    os_ << '"';
  }

  llvm::raw_ostream& os_;
};

}  // namespace

std::string ProtoBytesToText(StringRef bytes, StringRef message) {
  std::string text;
  llvm::raw_string_ostream os(text);
  TextWriter(os).Write(bytes, message, 0);
  return text;
}

}  // namespace hlo
