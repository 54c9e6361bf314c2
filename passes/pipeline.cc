#include "passes/pipeline.h"

#include "llvm/ADT/StringExtras.h"

namespace hlo {
namespace {

constexpr int kMaxDepth = 64;

/// Recursive descent over the text of a specification.
class SpecParser {
 public:
  explicit SpecParser(llvm::StringRef text) : all_(text), rest_(text) {}

  Result<std::vector<PipelineItem>> Parse() {
    HLO_TRY(auto items, Items());
    if (!rest_.empty()) return Unexpected("',' or the end");
    return items;
  }

 private:
  tl::unexpected<Diagnostic> Unexpected(const char* expected) {
    const size_t column = all_.size() - rest_.size() + 1;
    const std::string found = rest_.empty() ? "the end" : ("'" + rest_.take_front(1) + "'").str();
    return Error("usage-pipeline", {}, "pass list '{0}', column {1}: found {2}, expected {3}", all_, column,
                 found, expected);
  }

  bool Take(llvm::StringRef text) {
    rest_ = rest_.ltrim();
    return rest_.consume_front(text);
  }

  llvm::StringRef Word() {
    rest_ = rest_.ltrim();
    const llvm::StringRef word =
        rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; });
    rest_ = rest_.drop_front(word.size());
    return word;
  }

  Result<std::vector<PipelineItem>> Items() {
    std::vector<PipelineItem> items;
    if (rest_.trim().empty()) return items;
    do {
      HLO_TRY(PipelineItem item, Item());
      items.push_back(std::move(item));
    } while (Take(","));
    rest_ = rest_.ltrim();
    return items;
  }

  Result<PipelineItem> Item() {
    if (Take("@")) return Named(Word());
    const llvm::StringRef word = Word();
    if (word.empty()) return Unexpected("a pass, '@' and a pipeline, or 'fix('");
    if (word == "fix" && (rest_.starts_with("(") || rest_.starts_with("["))) return Fix();
    PipelineItem item;
    item.pass = FindPass(word);
    if (!item.pass) return Error(UnknownPass(word));
    std::shared_ptr<void> options = item.pass->hooks->make_options();
    if (Take("{")) HLO_CHECK_OK(Options(*item.pass, options.get()));
    item.options = std::move(options);
    return item;
  }

  Status Options(const PassInfo& pass, void* options) {
    while (!Take("}")) {
      const llvm::StringRef name = Word();
      if (name.empty()) return Unexpected("an option or '}'");
      if (!rest_.consume_front("=")) return Unexpected("'='");
      const llvm::StringRef value = rest_.take_until([](char c) { return c == ' ' || c == '}' || c == ','; });
      rest_ = rest_.drop_front(value.size());
      HLO_CHECK_OK(SetPassOption(pass.name, pass.hooks->rows(), options, name, value));
      Take(",");
    }
    return {};
  }

  Result<PipelineItem> Named(llvm::StringRef name) {
    const PipelineInfo* info = FindPipeline(name);
    if (!info) {
      std::vector<llvm::StringRef> names;
      for (const PipelineInfo& p : AllPipelines()) names.push_back(p.name);
      const std::string hint = DidYouMeanText(name, names);
      return Error("usage-pass", {}, "unknown pipeline '@{0}'{1}{2}", name, hint.empty() ? "" : "; ", hint);
    }
    PipelineItem item;
    item.name = info->name.str();
    HLO_TRY(item.items, ParsePipeline(info->spec));
    return item;
  }

  Result<PipelineItem> Fix() {
    PipelineItem item;
    item.name = "fix";
    item.max_rounds = kDefaultRounds;
    if (Take("[")) {
      const llvm::StringRef digits = Word();
      if (digits.getAsInteger(10, item.max_rounds) || item.max_rounds < 1 || item.max_rounds > 1'000'000) {
        rest_ = all_.drop_front(static_cast<size_t>(digits.begin() - all_.begin()));
        return Unexpected("a number of rounds from 1 to 1000000");
      }
      if (!Take("]")) return Unexpected("']'");
    }
    if (!Take("(")) return Unexpected("'('");
    if (++depth_ > kMaxDepth) return Unexpected("fewer nested fixed points");
    HLO_TRY(item.items, Items());
    --depth_;
    if (!Take(")")) return Unexpected("',' or ')'");
    return item;
  }

  llvm::StringRef all_, rest_;
  int depth_ = 0;
};

void PrintItems(llvm::ArrayRef<PipelineItem> items, bool expand, std::string& out) {
  bool first = true;
  for (const PipelineItem& item : items) {
    if (!std::exchange(first, false)) out += ',';
    if (item.pass) {
      out += item.pass->name;
      const std::shared_ptr<void> defaults = item.pass->hooks->make_options();
      std::string text;
      for (const PassOptionRow& row : item.pass->hooks->rows()) {
        const std::string value = PassOptionText(row, item.options.get());
        if (value != PassOptionText(row, defaults.get()))
          text += (text.empty() ? "" : " ") + row.name.str() + "=" + value;
      }
      if (!text.empty()) out += "{" + text + "}";
    } else if (item.name == "fix") {
      out += "fix";
      if (item.max_rounds != kDefaultRounds) out += "[" + std::to_string(item.max_rounds) + "]";
      out += '(';
      PrintItems(item.items, expand, out);
      out += ')';
    } else if (expand) {
      PrintItems(item.items, expand, out);
      first = out.empty() || out.back() == '(';
    } else {
      out += "@" + item.name;
    }
  }
}

}  // namespace

Result<std::vector<PipelineItem>> ParsePipeline(llvm::StringRef spec) { return SpecParser(spec).Parse(); }

std::string PipelineText(llvm::ArrayRef<PipelineItem> items, bool expand) {
  std::string out;
  PrintItems(items, expand, out);
  return out;
}

void ForEachPass(llvm::ArrayRef<PipelineItem> items, llvm::function_ref<void(const PassInfo&)> f) {
  for (const PipelineItem& item : items)
    if (item.pass)
      f(*item.pass);
    else
      ForEachPass(item.items, f);
}

const PipelineInfo* FindPipeline(llvm::StringRef name) {
  const auto all = AllPipelines();
  const auto* at = llvm::find_if(all, [&](const PipelineInfo& p) { return SameName(p.name, name); });
  return at == all.end() ? nullptr : at;
}

}  // namespace hlo
