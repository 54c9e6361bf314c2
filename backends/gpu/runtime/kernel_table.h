// The kernels of a program as PTX.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/compile/kernel_calls.h"
#include "backends/compile/kernel_numbers.h"
#include "backends/gpu/codegen/ptx_module.h"
#include "llvm/ADT/SmallBitVector.h"

namespace hlo::gpu {

/// A kernel that is launched.
struct KernelEntry {
  std::string name;  // in its module
  int32_t module = -1;
  std::array<unsigned, 3> grid{}, block{};
  llvm::SmallVector<int32_t, 8> arguments;  // which of the buffers of a call
};

/// Equal kernels are one, but for those whose arrays share bytes: code of these is other code.
class KernelTable final : public compile::KernelSink {
 public:
  explicit KernelTable(const Target& target) : target_(target) {}
  /// There is no code of it before Make().
  Result<int32_t> Add(kernel::Kernel kernel) override;
  [[nodiscard]] Status Check(const kernel::Kernel& kernel) const override;
  [[nodiscard]] int64_t Grain(const kernel::Kernel& kernel) const override;
  /// One that was added, before Finish().
  [[nodiscard]] const kernel::Kernel& kernel(int32_t number) const {
    return kernels_[static_cast<size_t>(number)];
  }
  /// The number among entries() of a kernel that was added, for this call of it; `tells`: its threads read
  /// what others of them wrote into the caller's arrays. Declines what there is no code for.
  Result<int32_t> Make(const compile::KernelCall& call, bool tells);
  /// Makes PTX of all entries, on several threads. Errors: compile-kernels.
  Status Finish();
  [[nodiscard]] llvm::ArrayRef<KernelEntry> entries() const { return entries_; }
  /// By KernelEntry::module; after Finish().
  [[nodiscard]] llvm::ArrayRef<std::string> modules() const { return ptx_; }
  /// What entries() and modules() are, as bytes.
  [[nodiscard]] std::string ToBinary() const;
  /// Instead of all that: takes what another table was. False if the bytes are those of none.
  bool Restore(llvm::StringRef bytes);

 private:
  Result<PtxModule*> Open();
  const Target& target_;
  compile::KernelNumbers numbers_;
  std::deque<kernel::Kernel> kernels_;  // by number
  std::map<std::pair<int32_t, std::vector<bool>>, Result<int32_t>> made_;
  std::vector<KernelEntry> entries_;
  std::vector<PtxModule> open_;
  size_t in_last_ = 0;  // kernels of the last of these
  std::vector<std::string> ptx_;
};

}  // namespace hlo::gpu
