#include "backends/compile/kernel_numbers.h"

#include "llvm/Support/raw_ostream.h"

namespace hlo::compile {

KernelNumbers::Number KernelNumbers::Of(const kernel::Kernel& kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel::Print(os, kernel, /*with_name=*/false);
  return OfText(text, 'k');
}

KernelNumbers::Number KernelNumbers::Of(const kernel::Routine& routine) {
  return OfText("routine\n" + ToString(routine), 'r');
}

KernelNumbers::Number KernelNumbers::OfText(const std::string& text, char prefix) {
  const auto [it, added] = numbers_.try_emplace(text, static_cast<int32_t>(names_.size()));
  if (added) {
    names_.push_back(prefix + std::to_string(names_.size()));
    texts_.push_back(it->first());
  }
  return {it->second, added};
}

std::string KernelNumbers::TextOf(size_t number) const {
  const bool is_routine = texts_[number].starts_with("routine");
  const llvm::StringRef kind = is_routine ? "routine" : "kernel";
  return (kind + " " + names_[number] + texts_[number].split(kind).second).str();
}

}  // namespace hlo::compile
