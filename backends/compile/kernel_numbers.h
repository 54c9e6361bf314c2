// Equal kernels and routines are one: they are numbered by what they are, whatever their names.
#pragma once
#include <string>
#include <vector>

#include "backends/kernel/routine.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::compile {

class KernelNumbers {
 public:
  struct Number {
    int32_t number;
    bool added;  // nobody had an equal one before
  };
  Number Of(const kernel::Kernel& kernel);
  Number Of(const kernel::Routine& routine);
  [[nodiscard]] size_t size() const { return names_.size(); }
  /// Of the function that code of it becomes: `k7`, `r8`.
  [[nodiscard]] const std::string& NameOf(size_t number) const { return names_[number]; }
  /// What it is as text, with its name: `kernel k7(…) {…}`.
  [[nodiscard]] std::string TextOf(size_t number) const;

 private:
  Number OfText(const std::string& text, char prefix);

  llvm::StringMap<int32_t> numbers_;    // by text without name
  std::vector<llvm::StringRef> texts_;  // the keys, by number
  std::vector<std::string> names_;
};

}  // namespace hlo::compile
