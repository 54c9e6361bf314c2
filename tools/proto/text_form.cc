#include "tools/proto/text_form.h"

#include <bit>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "tools/proto/schema.h"
#include "tools/proto/wire.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// Whether a list's values are put together in one field.
bool IsList(ProtoKind kind) {
  constexpr ProtoKind kLists[] = {ProtoKind::Ints, ProtoKind::Bools, ProtoKind::Enums, ProtoKind::Floats,
                                  ProtoKind::Doubles};
  return llvm::is_contained(kLists, kind);
}

int WireType(ProtoKind kind) {
  if (IsList(kind) || kind == ProtoKind::Text || kind == ProtoKind::Message) return kProtoBytes;
  return kind == ProtoKind::Float ? kProtoFixed32 : kind == ProtoKind::Double ? kProtoFixed64 : kProtoVarint;
}

/// Reads text with one character of lookahead. Stops at the first error.
class TextReader {
 public:
  explicit TextReader(const SourceBuffer& source) : source_(source), rest_(source.text()) {}

  Result<std::string> Read() {
    Skip();
    const StringRef word = PeekWord();
    const StringRef message = word == "hlo"          ? "HloSnapshot"
                              : word == "hlo_module" ? "HloProto"
                                                     : "HloModuleProto";
    std::string bytes;
    HLO_CHECK_OK(ReadMessage(message, '\0', 0, bytes));
    return bytes;
  }

 private:
  /// One field of the message under construction.
  struct Entry {
    const SchemaField* field;
    std::string value;  // as it stands behind the tag, without the length of bytes
  };
  static constexpr int kMaxDepth = 256;

  template <class... Args>
  tl::unexpected<Diagnostic> Fail(const char* format, Args&&... args) const {
    const auto at = static_cast<uint32_t>(source_.text().size() - rest_.size());
    return Error("input-format", Loc{&source_, at, at + (rest_.empty() ? 0 : 1)}, format,
                 std::forward<Args>(args)...);
  }
  void Skip() {
    for (;;) {
      rest_ = rest_.ltrim(" \t\r\n");
      if (!rest_.starts_with("#")) return;
      rest_ = rest_.drop_front(std::min(rest_.find('\n'), rest_.size()));
    }
  }
  bool Take(char c) {
    Skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_ = rest_.drop_front();
    return Skip(), true;
  }
  [[nodiscard]] StringRef PeekWord() const {
    return rest_.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '+' || c == '-'; });
  }
  StringRef TakeWord() {
    Skip();
    const StringRef word = PeekWord();
    rest_ = rest_.drop_front(word.size());
    return word;
  }

  /// fields until `end`, or the end of the text.
  Status ReadMessage(StringRef message, char end, int depth, std::string& out) {
    if (depth > kMaxDepth)
      return Error("limit-nesting", {}, "messages within each other are more than {0} levels deep",
                   kMaxDepth);
    std::vector<Entry> entries;
    for (;;) {
      Skip();
      if (rest_.empty()) {
        if (end != '\0') return Fail("found the end of the text, expected '{0}'", end);
        break;
      }
      if (end != '\0' && Take(end)) break;
      const StringRef name = PeekWord();
      const SchemaField* field = FindField(message, name);
      if (!field) {
        if (name.empty()) return Fail("found '{0}', expected a field of {1}", rest_.take_front(1), message);
        return Fail("found '{0}', which is no field of {1}", name, message);
      }
      rest_ = rest_.drop_front(name.size());
      HLO_CHECK_OK(ReadField(*field, depth, entries));
      if (!Take(',')) Take(';');
    }
    ProtoWriter tag;
    for (const Entry& entry : entries) {
      const int type = WireType(entry.field->kind);
      ProtoWriter::AppendVarint(out, static_cast<uint64_t>(entry.field->number) << 3 | type);
      if (type == kProtoBytes) ProtoWriter::AppendVarint(out, entry.value.size());
      out += entry.value;
    }
    return {};
  }

  /// [':'] value | [':'] '[' [value {',' value}] ']'
  Status ReadField(const SchemaField& field, int depth, std::vector<Entry>& entries) {
    const bool colon = Take(':');
    if (!colon && field.kind != ProtoKind::Message) return Fail("expected ':' after '{0}'", field.name);
    if (!Take('[')) return ReadOne(field, depth, entries);
    if (Take(']')) return {};
    do {
      HLO_CHECK_OK(ReadOne(field, depth, entries));
    } while (Take(','));
    if (!Take(']')) return Fail("expected ',' or ']' in the list of '{0}'", field.name);
    return {};
  }

  Status ReadOne(const SchemaField& field, int depth, std::vector<Entry>& entries) {
    Entry* entry = nullptr;
    if (IsList(field.kind))
      for (Entry& each : entries)
        if (each.field == &field) entry = &each;
    if (!entry) entry = &entries.emplace_back(Entry{&field, ""});
    if (field.kind == ProtoKind::Text) return ReadText(entry->value);
    if (field.kind == ProtoKind::Message) {
      const char end = Take('{') ? '}' : Take('<') ? '>' : '\0';
      if (end == '\0') return Fail("expected '{{' after '{0}'", field.name);
      std::string inner;
      HLO_CHECK_OK(ReadMessage(field.of, end, depth + 1, inner));
      entry->value = std::move(inner);
      return {};
    }
    return ReadScalar(field, entry->value);
  }

  Status ReadScalar(const SchemaField& field, std::string& out) {
    Skip();
    const StringRef before = rest_, word = TakeWord();
    const auto wrong = [&](StringRef expected) {
      rest_ = before;
      return Fail("found '{0}' as {1}, expected {2}", word.empty() ? before.take_front(1) : word, field.name,
                  expected);
    };
    switch (field.kind) {
      case ProtoKind::Float:
      case ProtoKind::Floats:
      case ProtoKind::Double:
      case ProtoKind::Doubles: {
        double value = 0;
        if (!ReadFloat(word, value)) return wrong("a number");
        const bool narrow = field.kind == ProtoKind::Float || field.kind == ProtoKind::Floats;
        char bytes[8];
        if (narrow)
          llvm::support::endian::write32le(bytes, std::bit_cast<uint32_t>(static_cast<float>(value)));
        else
          llvm::support::endian::write64le(bytes, std::bit_cast<uint64_t>(value));
        out.append(bytes, narrow ? 4 : 8);
        return {};
      }
      case ProtoKind::Bool:
      case ProtoKind::Bools:
        if (word != "true" && word != "false" && word != "1" && word != "0") return wrong("true or false");
        ProtoWriter::AppendVarint(out, word == "true" || word == "1" ? 1 : 0);
        return {};
      default: break;
    }
    int64_t value = 0;
    uint64_t large = 0;
    if (const auto number = field.of.empty() ? std::nullopt : NumberOf(field, word))
      value = *number;
    else if (!word.getAsInteger(0, large))
      value = static_cast<int64_t>(large);
    else if (word.getAsInteger(0, value))
      return wrong(field.of.empty() ? "an integer" : "a word of the enumeration");
    ProtoWriter::AppendVarint(out, static_cast<uint64_t>(value));
    return {};
  }

  static bool ReadFloat(StringRef word, double& value) {
    const bool negative = word.consume_front("-");
    if (word == "inf" || word == "infinity")
      value = std::numeric_limits<double>::infinity();
    else if (word == "nan")
      value = std::numeric_limits<double>::quiet_NaN();
    else if (word.starts_with("-") ||
             (word.getAsDouble(value) && (!word.consume_back("f") || word.getAsDouble(value))))
      return false;
    if (negative) value = -value;
    return true;
  }

  /// Texts one after another are one.
  Status ReadText(std::string& out) {
    Skip();
    if (!rest_.starts_with("\"") && !rest_.starts_with("'")) return Fail("expected a text in quotes");
    while (rest_.starts_with("\"") || rest_.starts_with("'")) {
      const char quote = rest_.front();
      rest_ = rest_.drop_front();
      while (!rest_.empty() && rest_.front() != quote && rest_.front() != '\n')
        if (!TakeCharacter(out)) return Fail("found a malformed escape sequence");
      if (rest_.empty() || rest_.front() != quote) return Fail("expected {0} at the end of a text", quote);
      rest_ = rest_.drop_front();
      Skip();
    }
    return {};
  }

  bool TakeCharacter(std::string& out) {
    const char c = rest_.front();
    rest_ = rest_.drop_front();
    if (c != '\\') return out += c, true;
    if (rest_.empty()) return false;
    constexpr llvm::StringLiteral kLetters = "abfnrtv\\'\"?", kMeanings = "\a\b\f\n\r\t\v\\'\"?";
    if (const size_t at = kLetters.find(rest_.front()); at != StringRef::npos) {
      rest_ = rest_.drop_front();
      return out += kMeanings[at], true;
    }
    const bool hex = rest_.consume_front("x") || rest_.consume_front("X");
    const StringRef digits = rest_.take_front(hex ? 2 : 3).take_while([&](char d) {
      return hex ? llvm::isHexDigit(d) : d >= '0' && d <= '7';
    });
    unsigned value = 0;
    if (digits.empty() || digits.getAsInteger(hex ? 16 : 8, value)) return false;
    rest_ = rest_.drop_front(digits.size());
    return out += static_cast<char>(value), true;
  }

  const SourceBuffer& source_;
  StringRef rest_;
};

}  // namespace

Result<std::string> ProtoTextToBytes(const SourcePtr& source) { return TextReader(*source).Read(); }

}  // namespace hlo
