#include "passes/pass_option.h"

#include <charconv>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo {
namespace {

bool ParseBool(llvm::StringRef text, bool& value) {
  if (text == "true" || text == "1" || text == "on") return value = true;
  value = false;
  return text == "false" || text == "0" || text == "off";
}

bool ParseValue(PassOptionKind kind, llvm::StringRef text, void* to) {
  switch (kind) {
    case PassOptionKind::Bool: return ParseBool(text, *static_cast<bool*>(to));
    case PassOptionKind::Int: return !text.getAsInteger(10, *static_cast<int64_t*>(to));
    case PassOptionKind::Float: return !text.getAsDouble(*static_cast<double*>(to));
    case PassOptionKind::String: *static_cast<std::string*>(to) = text.str(); return true;
    case PassOptionKind::List: {
      auto& list = *static_cast<std::vector<std::string>*>(to);
      list.clear();
      if (!text.empty())
        for (const llvm::StringRef item : llvm::split(text, '|')) list.push_back(item.str());
      return true;
    }
  }
  return false;
}

/// The shortest text that reads back as the same number.
std::string Shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

constexpr llvm::StringRef kKindWords[] = {"true or false", "an integer", "a number", "a word",
                                          "words joined by '|'"};

}  // namespace

bool SameName(llvm::StringRef a, llvm::StringRef b) {
  return llvm::equal(a, b, [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); });
}

Status SetPassOption(llvm::StringRef pass, llvm::ArrayRef<PassOptionRow> rows, void* options,
                     llvm::StringRef name, llvm::StringRef value) {
  const auto* row = llvm::find_if(rows, [&](const PassOptionRow& r) { return SameName(r.name, name); });
  if (row == rows.end()) {
    std::vector<llvm::StringRef> names;
    for (const PassOptionRow& r : rows) names.push_back(r.name);
    const std::string hint = DidYouMeanText(name, names);
    return Error("usage-pass-option", {}, "pass '{0}' has no option '{1}'{2}", pass, name,
                 hint.empty() ? "" : "; " + hint);
  }
  if (!ParseValue(row->kind, value, row->access(options)))
    return Error("usage-pass-option", {}, "option '{0}' of pass '{1}': found '{2}', expected {3}", row->name,
                 pass, value, kKindWords[static_cast<size_t>(row->kind)]);
  return {};
}

std::string PassOptionText(const PassOptionRow& row, const void* options) {
  const void* value = row.access(const_cast<void*>(options));
  switch (row.kind) {
    case PassOptionKind::Bool: return *static_cast<const bool*>(value) ? "true" : "false";
    case PassOptionKind::Int: return std::to_string(*static_cast<const int64_t*>(value));
    case PassOptionKind::Float: return Shortest(*static_cast<const double*>(value));
    case PassOptionKind::String: return *static_cast<const std::string*>(value);
    case PassOptionKind::List: return llvm::join(*static_cast<const std::vector<std::string>*>(value), "|");
  }
  return {};
}

}  // namespace hlo
