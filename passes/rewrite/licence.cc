#include "passes/rewrite/licence.h"

#include "llvm/ADT/STLExtras.h"

namespace hlo {

std::string ToString(FloatChanges changes) {
  static constexpr llvm::StringLiteral kWords[] = {"rounding", "signed zero", "NaN", "range", "order"};
  std::string text;
  for (const auto& [i, word] : llvm::enumerate(kWords))
    if (changes >> i & 1) text += (text.empty() ? "" : ", ") + word.str();
  return text;
}

std::string ToString(const Licence& licence) {
  if (licence.exact()) return "exact";
  std::string text = licence.needs_fast_math ? "needs fast math on floats: " : "may change floats: ";
  text += ToString(static_cast<FloatChanges>(licence.changes));
  if (!licence.exact_if_strict()) text += ("; with --strict-fp, too: " + licence.unprescribed).str();
  return text;
}

}  // namespace hlo
