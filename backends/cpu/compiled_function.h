// For tests: one elementwise operation as a compiled kernel.
#pragma once
#include "backends/cpu/jit.h"
#include "backends/cpu/kernel_target.h"
#include "backends/kernel/builder.h"
#include "backends/kernel/schedule.h"

namespace hlo::cpu {

/// out[i] = kind(in0[i], in1[i]…) for i < kBatch, in vectors with a rest.
class CompiledFunction {
 public:
  static constexpr int64_t kBatch = 65535;

  CompiledFunction(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result, Attrs attrs = {},
                   Machine machine = HostMachine())
      : jit_(std::move(machine)) {
    const auto number = jit_.Add(MakeKernel(kind, operands, result, std::move(attrs)));
    if (number && jit_.Compile()) run_ = jit_.Function(*number);
  }
  /// Whether there is code for it.
  explicit operator bool() const { return static_cast<bool>(run_); }
  /// Operands, then the result.
  void operator()(std::initializer_list<void*> buffers) const { run_(buffers.begin(), 0, kBatch); }
  /// Of the first `count` elements, at most kBatch.
  void Run(std::initializer_list<void*> buffers, int64_t count) const { run_(buffers.begin(), 0, count); }

 private:
  static kernel::Kernel MakeKernel(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result,
                                   Attrs attrs) {
    kernel::Kernel k;
    k.name = "f";
    for (const ElementType type : operands) k.buffers.push_back({type, kBatch, false});
    k.buffers.push_back({result, kBatch, true});
    kernel::KernelBuilder builder(k);
    kernel::LoopStmt loop;
    loop.loop = {builder.NewLoop(kBatch), kBatch};
    loop.body = std::make_unique<kernel::Region>();
    builder.Open(*loop.body, {loop.loop.id});
    kernel::Address at;
    at.AddLoop(loop.loop.id, 1);
    llvm::SmallVector<kernel::ValueId, 2> values;
    for (size_t i = 0; i < operands.size(); ++i)
      values.push_back(builder.Load(static_cast<kernel::BufferId>(i), at));
    builder.Store(static_cast<kernel::BufferId>(operands.size()), at,
                  builder.Op(kind, result, values, std::move(attrs)));
    builder.Close();
    builder.Append(std::move(loop));
    if (const Status status = kernel::ScheduleLoops(k, KernelTarget()); !status)
      llvm::report_fatal_error(llvm::Twine(status.error().message));
    return k;
  }

  Jit jit_;
  KernelFn run_;
};

}  // namespace hlo::cpu
