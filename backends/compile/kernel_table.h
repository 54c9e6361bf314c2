// The kernels of a program, by number, and how each is run.
#pragma once
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "backends/compile/kernel_calls.h"
#include "backends/compile/program_text.h"

namespace hlo::compile {

/// A kernel of a program. Entries of a backend's table derive from it, with what runs it.
struct TableKernel {
  kernel::Kernel kernel;     // until code is made of it
  bool interpreted = false;  // no code is made of it
  int32_t compiled = -1;     // its number with who compiles it
  std::string why;           // it is interpreted or not, for --explain-codegen
  std::string text;          // of `kernel`, if the table keeps texts
};

/// Takes what Check() does not decline; what a backend runs kernels with is in its `Entry`.
template <typename Entry>
class KernelTable : public KernelSink {
 public:
  Result<int32_t> Add(kernel::Kernel kernel) override {
    HLO_CHECK_OK(Check(kernel));
    entries_.emplace_back().kernel = std::move(kernel);
    return static_cast<int32_t>(entries_.size()) - 1;
  }
  /// The texts of kernels stay when code is made of them, for PrintProgram().
  void KeepTexts() { keeps_texts_ = true; }
  [[nodiscard]] std::vector<KernelText> Texts() const {
    std::vector<KernelText> texts;
    for (const Entry& entry : entries_) texts.push_back({entry.text, entry.interpreted, entry.why});
    return texts;
  }
  [[nodiscard]] Entry& At(int32_t number) { return entries_[static_cast<size_t>(number)]; }
  [[nodiscard]] const Entry& At(int32_t number) const { return entries_[static_cast<size_t>(number)]; }
  [[nodiscard]] size_t size() const { return entries_.size(); }
  /// Gives all kernels that are not interpreted to `compiler`, which has `Result<int32_t> Add(Kernel)` and
  /// makes equal ones one, unless `check` has an error for one. The number of the first of which no code can
  /// be made is in `broken` with an error.
  template <typename Compiler>
  Status Compile(Compiler& compiler, llvm::function_ref<Status(int32_t)> check, int32_t& broken) {
    broken = 0;
    for (Entry& entry : entries_) {
      if (keeps_texts_) entry.text = ToString(entry.kernel);
      if (!entry.interpreted) {
        HLO_CHECK_OK(check(broken));
        HLO_TRY(entry.compiled, compiler.Add(std::move(entry.kernel)));
      }
      ++broken;
    }
    return {};
  }

 protected:
  std::deque<Entry> entries_;  // which stay where they are

 private:
  bool keeps_texts_ = false;
};

}  // namespace hlo::compile
