#include "tools/common/shell_words.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo {
namespace {

/// `text` with a backslash before each of `special`.
std::string Escaped(llvm::StringRef text, llvm::StringRef special) {
  std::string escaped;
  for (const char c : text) {
    if (special.contains(c)) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The inside of single quotes that means `text`.
std::string WithinSingleQuotes(llvm::StringRef text) {
  std::string inside;
  for (const char c : text) inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return inside;
}

/// Follows what the shell makes of a command, as far as it decides how a name has to be written.
class CommandReader {
 public:
  CommandReader(llvm::StringRef command, llvm::StringRef file) : rest_(command), file_(file) {}

  std::string Run() {
    while (!rest_.empty()) Step();
    if (!found_) out_ += " " + ShellWord(file_);
    return std::move(out_);
  }

 private:
  enum class Within : uint8_t { Nothing, Single, Double, Parentheses, Backticks };

  [[nodiscard]] Within within() const { return within_.empty() ? Within::Nothing : within_.back(); }
  [[nodiscard]] bool Bare() const { return within() != Within::Single && within() != Within::Double; }

  void Copy(size_t count) {
    out_ += rest_.take_front(count);
    rest_ = rest_.drop_front(std::min(count, rest_.size()));
  }

  void Enter(Within what, size_t count) {
    within_.push_back(what);
    Copy(count);
  }
  void Leave() {
    within_.pop_back();
    Copy(1);
  }

  /// A name between backticks is read twice.
  void Put(std::string word) {
    for (const Within w : llvm::reverse(within_))
      if (w == Within::Backticks) word = Escaped(word, "\\`$");
    out_ += word;
    found_ = true;
  }

  void PutFile() {
    rest_ = rest_.drop_front(2);
    if (within() == Within::Single) return Put(WithinSingleQuotes(file_));
    if (within() == Within::Double) return Put(Escaped(file_, "\\\"$`"));
    Put(ShellWord(file_));
  }

  void Step() {
    const char c = rest_.front();
    if (rest_.starts_with("%s")) return PutFile();
    if (within() == Within::Single) return c == '\'' ? Leave() : Copy(1);
    if (c == '\\') return Backslash();
    if (c == '"') return within() == Within::Double ? Leave() : Enter(Within::Double, 1);
    if (c == '`') return Backtick();
    if (rest_.starts_with("$(")) return Enter(Within::Parentheses, 2);
    if (within() == Within::Double) return Copy(1);
    BareStep(c);
  }

  void BareStep(char c) {
    if (c == '\'') return Enter(Within::Single, 1);
    if (c == '(') return Enter(Within::Parentheses, 1);
    if (c == ')' && within() == Within::Parentheses) return Leave();
    if (c == '#' && (out_.empty() || llvm::StringRef(" \t\n;&|()`").contains(out_.back())))
      return Copy(rest_.find('\n'));
    if (rest_.starts_with("<<") && !rest_.starts_with("<<<")) return HereDocument();
    if (c == '\n') return Bodies();
    Copy(1);
  }

  /// Within double quotes it is itself, except before what means something there.
  void Backslash() {
    const bool takes_next =
        Bare() ? true : rest_.size() > 1 && llvm::StringRef("$`\"\\\n").contains(rest_[1]);
    // Bare, it takes the meaning of `%s`.
    Copy(!takes_next ? 1 : rest_.drop_front().starts_with("%s") ? 3 : 2);
  }

  void Backtick() {
    if (const auto open = llvm::find(within_, Within::Backticks); open != within_.end()) {
      within_.erase(open, within_.end());
      return Copy(1);
    }
    Enter(Within::Backticks, 1);
  }

  struct Document {
    std::string end;
    bool quoted, tabs;
  };

  /// Notes the delimiter; the text begins with the next line.
  void HereDocument() {
    Copy(2);
    Document document = {"", false, rest_.starts_with("-")};
    if (document.tabs) Copy(1);
    while (rest_.starts_with(" ") || rest_.starts_with("\t")) Copy(1);
    char quote = 0;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (quote == 0 && llvm::StringRef(" \t\n;&|()<>").contains(c)) break;
      if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
        document.quoted = true;
      } else if (quote == 0 && c == '\\') {
        document.quoted = true;
      } else {
        document.end += c;
      }
      Copy(1);
    }
    documents_.push_back(std::move(document));
  }

  /// The texts that begin after the end of this line.
  void Bodies() {
    Copy(1);
    for (const Document& document : std::exchange(documents_, {}))
      while (!rest_.empty()) {
        const llvm::StringRef line = rest_.take_until([](char c) { return c == '\n'; });
        const bool last = (document.tabs ? line.ltrim('\t') : line) == document.end;
        for (const size_t end = rest_.size() - std::min(rest_.size(), line.size() + 1); rest_.size() > end;)
          if (!last && rest_.starts_with("%s")) {
            rest_ = rest_.drop_front(2);
            Put(document.quoted ? file_.str() : Escaped(file_, "\\$`"));
          } else {
            Copy(1);
          }
        if (last) break;
      }
  }

  llvm::StringRef rest_, file_;
  std::string out_;
  std::vector<Within> within_;
  std::vector<Document> documents_;
  bool found_ = false;
};

}  // namespace

std::string ShellWord(llvm::StringRef text) { return "'" + WithinSingleQuotes(text) + "'"; }

std::string CommandWithFile(llvm::StringRef command, llvm::StringRef file) {
  return CommandReader(command, file).Run();
}

}  // namespace hlo
