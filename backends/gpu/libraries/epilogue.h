// What is done to sums of products before they are stored.
#pragma once
#include "backends/gpu/libraries/view.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// One of these, in the order of the values.
struct EpilogueStep {
  enum class Op : uint8_t {
    Scale,     // by `factor`
    Multiply,  // by the elements of `view`
    Add,       // these
    Relu
  };
  Op op = Op::Relu;
  const Instruction* inst = nullptr;
  double factor = 1;
  View view;  // as the dimensions of the sums
};

/// The values from a sum of products to a result. Roundings between them are left out: a library has them in
/// the type that it sums up in.
class Epilogue {
 public:
  /// `chain`: the dot or convolution, its user, …, up to the result. Declines what no library does.
  static Result<Epilogue> Read(llvm::ArrayRef<const Instruction*> chain);

  [[nodiscard]] llvm::ArrayRef<EpilogueStep> steps() const { return steps_; }
  /// The result, as the dimensions of the sums.
  [[nodiscard]] const View& result() const { return result_; }

 private:
  using Rule = bool (Epilogue::*)(const Instruction& inst, const Instruction& before);
  static const Rule* RuleOf(const Instruction& inst);
  explicit Epilogue(const Instruction& root) : result_(ViewOfArray(-1, root.shape())) {}
  bool Scale(const Instruction& inst, const Instruction& before);
  bool Add(const Instruction& inst, const Instruction& before);
  bool Relu(const Instruction& inst, const Instruction& before);
  bool Narrow(const Instruction& inst, const Instruction& before);
  bool KeepPrecision(const Instruction& inst, const Instruction& before);
  bool Transpose(const Instruction& inst, const Instruction& before);
  bool Recast(const Instruction& inst, const Instruction& before);
  /// Of the result and of what is added.
  bool ChangeViews(llvm::function_ref<std::optional<View>(const View& view)> changed);

  llvm::SmallVector<EpilogueStep, 3> steps_;
  View result_;
};

/// A dot or convolution, its user, …, up to the root or a value with several users.
llvm::SmallVector<const Instruction*, 8> ChainOf(const Instruction& sums);

}  // namespace hlo::gpu
