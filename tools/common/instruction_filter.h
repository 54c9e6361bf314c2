// Instructions chosen by what they are: EXPR of `hlo-diff --find` and `hlo-viz --select`.
#pragma once
#include <string>
#include <vector>

#include "ir/instruction.h"
#include "tools/common/options.h"

namespace hlo {

/// `dot` (an opcode), `fused_.*` (a regular expression for names), or terms `key=RE,key=RE` that must all
/// hold: opcode (the whole word), name, shape, computation, op_name, source. Everything if empty.
class InstructionFilter {
 public:
  /// `option` names the option in errors (usage-option).
  static Result<InstructionFilter> Parse(llvm::StringRef expression, llvm::StringRef option);
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool Matches(const Instruction& instruction) const;

 private:
  struct Term {
    std::string (*text)(const Instruction& instruction);
    Regex regex;
  };
  std::string text_;
  std::vector<Term> terms_;
};

}  // namespace hlo
