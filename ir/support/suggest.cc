// Suggestions for misspelt words.
#include <algorithm>
#include <tuple>

#include "ir/support/diagnostic.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo {
namespace {

constexpr size_t kMaxSuggestions = 3;
// Bounds the work on hostile input: huge words among very many names get fewer suggestions.
constexpr size_t kMaxComparedCells = 50'000'000;

}  // namespace

std::vector<std::string> DidYouMean(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates) {
  struct Match {
    unsigned distance, exact_distance;
    llvm::StringRef text;
  };
  const auto bound = static_cast<unsigned>(std::max<size_t>(1, word.size() / 3));
  llvm::SmallVector<Match> matches;
  size_t cells = 0;
  for (const llvm::StringRef candidate : candidates) {
    if (candidate == word || candidate.size() > word.size() + bound || word.size() > candidate.size() + bound)
      continue;
    cells += word.size() * candidate.size() + 1;
    if (cells > kMaxComparedCells) break;
    const unsigned distance = word.edit_distance_insensitive(candidate, true, bound);
    if (distance > bound) continue;
    matches.push_back({distance, word.edit_distance(candidate), candidate});
  }
  std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return std::tie(a.distance, a.exact_distance, a.text) < std::tie(b.distance, b.exact_distance, b.text);
  });
  std::vector<std::string> result;
  for (const Match& match : matches) {
    if (result.size() == kMaxSuggestions) break;
    if (result.empty() || result.back() != match.text) result.push_back(match.text.str());
  }
  return result;
}

std::string DidYouMeanText(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates) {
  const std::vector<std::string> words = DidYouMean(word, candidates);
  if (words.empty()) return "";
  std::string text = "did you mean ";
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += "'" + words[i] + "'";
  }
  return text + "?";
}

}  // namespace hlo
