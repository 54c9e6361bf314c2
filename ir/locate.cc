#include "ir/locate.h"

namespace hlo {
namespace {

using llvm::StringRef;

bool IsWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; }

/// A scanner over the right-hand side of one instruction. It knows brackets, strings and comments, no more.
class Scanner {
 public:
  explicit Scanner(const Loc& name) : loc_(name), text_(name.source->text()), at_(name.end) {}

  /// Moves behind the `=`; false if there is none.
  bool EnterRhs() {
    SkipBlanks();
    if (Peek() != '=') return false;
    ++at_;
    SkipBlanks();
    return true;
  }
  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (llvm::isSpace(text_[at_]))
        ++at_;
      else if (!SkipComment())
        return;
    }
  }
  [[nodiscard]] char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] size_t at() const { return at_; }
  [[nodiscard]] StringRef Word() const {
    size_t end = at_;
    if (end < text_.size() && text_[end] == '%') ++end;
    while (end < text_.size() && IsWord(text_[end])) ++end;
    return text_.slice(at_, end);
  }
  void Skip(size_t count) { at_ = std::min(at_ + count, text_.size()); }

  /// Moves behind a bracketed group that opens here.
  void SkipGroup() {
    size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        SkipString();
        continue;
      }
      if (c == '/' && SkipComment()) continue;
      ++at_;
      if (StringRef("({[").contains(c)) ++depth;
      if (StringRef(")}]").contains(c) && --depth == 0) return;
    }
  }
  /// Moves to the comma or closing bracket that ends the item here.
  void SkipItem() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ',' || StringRef(")}]\n").contains(c)) return;
      if (StringRef("({[").contains(c))
        SkipGroup();
      else if (c == '"' || c == '\'')
        SkipString();
      else if (c != '/' || !SkipComment())
        ++at_;
    }
  }
  /// If a shape is written here: moves behind it and tells where it ends without its layout.
  bool SkipShape(size_t& bare_end) {
    const StringRef word = Word();
    if (Peek() == '(' || (word == "b" && text_.substr(at_ + 1).starts_with("("))) {
      Skip(word.size());
      SkipGroup();
      bare_end = at_;
      return true;
    }
    if (word.empty() || !text_.substr(at_ + word.size()).starts_with("[")) return false;
    Skip(word.size());
    SkipGroup();
    bare_end = at_;
    if (Peek() == '{') SkipGroup();
    return true;
  }
  [[nodiscard]] Loc Range(size_t begin, size_t end) const {
    while (end > begin && llvm::isSpace(text_[end - 1])) --end;
    return {loc_.source, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

 private:
  bool SkipComment() {
    if (!text_.substr(at_).starts_with("/*") && !text_.substr(at_).starts_with("//")) return false;
    const StringRef close = text_[at_ + 1] == '*' ? "*/" : "\n";
    const size_t end = text_.find(close, at_ + 2);
    at_ = end == StringRef::npos ? text_.size() : end + close.size();
    return true;
  }
  void SkipString() {
    const char quote = text_[at_++];
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return;
      }
    }
    at_ = text_.size();
  }

  Loc loc_;
  StringRef text_;
  size_t at_;
};

/// Moves to the opcode. False if the text is not `name = [shape] opcode(…)`.
bool FindOpcode(Scanner& s) {
  if (!s.EnterRhs()) return false;
  size_t bare_end = 0;
  if (s.SkipShape(bare_end)) s.SkipBlanks();
  return !s.Word().empty();
}

/// Moves to the `(` of the arguments.
bool FindArguments(Scanner& s) {
  if (!FindOpcode(s)) return false;
  s.Skip(s.Word().size());
  s.SkipBlanks();
  return s.Peek() == '(';
}

}  // namespace

Loc LocateShape(const Instruction& instruction) {
  const Loc loc = instruction.loc();
  if (!loc.valid()) return loc;
  Scanner s(loc);
  size_t end = 0;
  if (!s.EnterRhs()) return loc;
  const size_t begin = s.at();
  return s.SkipShape(end) ? s.Range(begin, end) : loc;
}

Loc LocateOpcode(const Instruction& instruction) {
  const Loc loc = instruction.loc();
  if (!loc.valid()) return loc;
  Scanner s(loc);
  return FindOpcode(s) ? s.Range(s.at(), s.at() + s.Word().size()) : loc;
}

Loc LocateOperand(const Instruction& instruction, int64_t i) {
  const Loc loc = instruction.loc();
  if (!loc.valid()) return loc;
  Scanner s(loc);
  if (!FindArguments(s)) return loc;
  s.Skip(1);
  // Empty slots between commas are no operands.
  for (int64_t number = 0; s.Peek() != '\0' && s.Peek() != ')';) {
    s.SkipBlanks();
    const size_t begin = s.at();
    while (s.Peek() == '\n' || (s.Peek() != ',' && s.Peek() != ')' && s.Peek() != '\0')) {
      s.SkipItem();
      if (s.Peek() == '\n') s.Skip(1);
      if (s.Peek() == '}' || s.Peek() == ']') return loc;
    }
    if (s.at() > begin && number++ == i) return s.Range(begin, s.at());
    if (s.Peek() == ',') s.Skip(1);
  }
  return loc;
}

Loc LocateAttribute(const Instruction& instruction, StringRef name) {
  const Loc loc = instruction.loc();
  if (!loc.valid()) return loc;
  Scanner s(loc);
  if (!FindArguments(s)) return loc;
  s.SkipGroup();
  for (s.SkipBlanks(); s.Peek() == ','; s.SkipBlanks()) {
    s.Skip(1);
    s.SkipBlanks();
    const size_t begin = s.at();
    const StringRef word = s.Word();
    s.SkipItem();
    if (word == name) return s.Range(begin, s.at());
  }
  return loc;
}

}  // namespace hlo
