#include "backends/cpu/kernel_step.h"

#include <cstring>
#include <numeric>

#include "backends/compile/kernel_plans.h"
#include "backends/cpu/kernel_target.h"
#include "backends/cpu/routine_step.h"
#include "backends/kernel/stream.h"
#include "backends/llvm/emit_kernel.h"
#include "ir/support/parallel.h"

namespace hlo::cpu {
namespace {

/// Bytes and operations that are worth waking a thread for.
constexpr int64_t kPieceCost = int64_t{64} << 10;

class KernelRunner final : public StepRunner {
 public:
  KernelRunner(const Step& step, Program& program)
      : inst_(*step.instruction),
        entry_(program.kernels.At(step.call.kernel)),
        buffers_(program.AddPointers(step.call.buffers)),
        call_(step.call) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    for (const auto& [from, to] : call_.copies)
      if (uint8_t *source = frame.At(from), *target = frame.At(to); source != target)
        std::memmove(target, source, static_cast<size_t>(to.size));
    void* const* buffers = frame.Pointers(buffers_);
    if (call_.extent <= call_.grain) {
      entry_.Run(buffers, 0, call_.extent);
    } else {
      ParallelFor(0, call_.extent, call_.grain,
                  [&](int64_t begin, int64_t end) { entry_.Run(buffers, begin, end); });
    }
    return {};
  }
  [[nodiscard]] int32_t code() const override { return entry_.compiled; }
  [[nodiscard]] std::string Explain() const override {
    if (entry_.program != nullptr) return "interpreted kernel: " + entry_.why;
    return "kernel k" + std::to_string(entry_.compiled) + (entry_.why.empty() ? "" : ": " + entry_.why);
  }
  bool AddTo(RoutineBuilder& routine) const override {
    return entry_.program == nullptr && routine.Call(call_, entry_.compiled);
  }

 private:
  const Instruction& inst_;
  const KernelEntry& entry_;
  size_t buffers_;  // in Program::pointers
  const KernelCall& call_;
};

/// What an iteration of the outermost loops costs on average: bytes moved and instructions.
class CostCounter {
 public:
  int64_t PerIteration(const kernel::Kernel& kernel) {
    Count(kernel.body, 1, false);
    return std::max<int64_t>(eighths_ / 8 / kernel::ParallelExtent(kernel), 1);
  }

 private:
  /// `folds`: of a reduction in lanes, whose instructions are few and whose loads may find in the first cache
  /// what they found before.
  void Count(const kernel::Region& region, int64_t times, bool folds) {
    for (const kernel::Stmt& stmt : region.stmts) {
      const auto* load = std::get_if<kernel::LoadStmt>(&stmt);
      if (load != nullptr) eighths_ += (folds && IsRepeated(*load) ? 1 : 32) * times;
      if (std::holds_alternative<kernel::StoreStmt>(stmt)) eighths_ += 32 * times;
      if (const auto* op = std::get_if<kernel::OpStmt>(&stmt))
        eighths_ += (folds ? 1 : 8) * times * KernelTarget().CostOf(op->kind).instructions;
      if (const auto* loop = std::get_if<kernel::LoopStmt>(&stmt)) {
        around_.push_back(loop->loop);
        Count(*loop->body, times * loop->loop.extent, folds);
        around_.pop_back();
      }
      if (const auto* reduce = std::get_if<kernel::ReduceStmt>(&stmt)) {
        int64_t inner = times;
        for (const auto& loop : reduce->loops) inner *= loop.extent;
        const auto is_wide = [](const kernel::Dimension& d) { return d.width > 1; };
        const bool lanes = llvm::any_of(reduce->loops, is_wide) || llvm::any_of(around_, is_wide);
        Count(*reduce->body, inner, lanes);
        Count(*reduce->combiner, inner, lanes);
      }
    }
  }

  /// Each iteration of the loops around the reduction loads the same.
  [[nodiscard]] bool IsRepeated(const kernel::LoadStmt& load) const {
    return load.address.values.empty() && llvm::none_of(around_, [&](const kernel::Dimension& d) {
             return load.address.FactorOf(d.id) != 0;
           });
  }

  llvm::SmallVector<kernel::Dimension, 4> around_;
  int64_t eighths_ = 0;
};

int64_t IterationCost(const kernel::Kernel& kernel) { return CostCounter().PerIteration(kernel); }

}  // namespace

std::unique_ptr<StepRunner> LoadKernel(const Step& step, Program& program) {
  return std::make_unique<KernelRunner>(step, program);
}

namespace {

/// The slices of what the kernel touches of arrays.
void TrimSlices(llvm::ArrayRef<kernel::Buffer> buffers, llvm::ArrayRef<int64_t> moved,
                llvm::MutableArrayRef<Slice> slices) {
  for (size_t i = 0; i < slices.size(); ++i) {
    const int64_t bytes = Info(buffers[i].type).host_bytes(), size = buffers[i].count * bytes;
    if (slices[i].size == size || slices[i].buffer < 0) continue;
    slices[i].offset += moved[i] * bytes;
    slices[i].size = size;
  }
}

kernel::Kernel CopyOf(const compile::KernelPlan& plan, const Instruction& fusion) {
  kernel::Kernel kernel = Clone(plan.lowered.kernel);
  kernel.name = fusion.name().str();
  return kernel;
}

}  // namespace

Result<KernelCall> PlanKernel(const Instruction& fusion, KernelTable& kernels, llvm::ArrayRef<Value> operands,
                              const Value& result) {
  const size_t parameters = fusion.callee()->parameters().size();
  HLO_TRY(const compile::KernelPlanPtr plan,
          compile::KernelPlans::Of(*fusion.module(), CpuMachine()).Plan(fusion));
  kernel::Kernel kernel = CopyOf(*plan, fusion);
  KernelCall call;
  call.defined = plan->defined;
  for (size_t i = 0; i < result.leaves.size(); ++i)
    if (const size_t buffer = parameters + i; result.leaves[i].aligned && plan->moved[buffer] == 0)
      kernel::StreamStores(kernel, static_cast<kernel::BufferId>(buffer), KernelTarget());
  call.extent = kernel::ParallelExtent(kernel);
  const int64_t group = codegen::ParallelGrain(kernel);
  const int64_t iterations = std::max<int64_t>(kPieceCost / IterationCost(kernel), 1);
  call.grain = (iterations + group - 1) / group * group;
  HLO_TRY(call.kernel, kernels.Add(std::move(kernel)));
  for (size_t i = 0; i < parameters; ++i) call.buffers.push_back(operands[i].leaves[0].slice);
  call.first_result = parameters;
  for (const Leaf& leaf : result.leaves) call.buffers.push_back(leaf.slice);
  TrimSlices(plan->lowered.kernel.buffers, plan->moved, call.buffers);
  for (const auto& [output, parameter] : plan->lowered.in_place)
    call.copies.emplace_back(operands[static_cast<size_t>(parameter)].leaves[0].slice,
                             result.leaves[static_cast<size_t>(output)].slice);
  return call;
}

Result<KernelCall> PlanRowKernel(const Instruction& fusion, const FusedRows& rows, KernelTable* kernels,
                                 llvm::ArrayRef<Slice> operands, bool aligned) {
  const auto refuse = [&](llvm::StringRef why) { return Decline(fusion.loc(), "{0}", why); };
  const auto input = static_cast<kernel::BufferId>(rows.input);
  const auto output = static_cast<kernel::BufferId>(fusion.callee()->parameters().size());
  HLO_TRY(const compile::KernelPlanPtr plan,
          kernels == nullptr
              ? compile::PlanLoops(fusion, CpuMachine(), rows.result_row)
              : compile::KernelPlans::Of(*fusion.module(), CpuMachine()).Plan(fusion, rows.result_row));
  kernel::Kernel kernel = CopyOf(*plan, fusion);
  const auto& moved = plan->moved;
  KernelCall call;
  call.outer = plan->outer;
  int64_t slabs = 1;
  for (kernel::OuterLoop& loop : call.outer) {
    // The rows of the operand go with those of the result.
    if (loop.strides[static_cast<size_t>(input)] * rows.result_row !=
        loop.strides[static_cast<size_t>(output)] * rows.input_row)
      return refuse("its rows are those of its operand in another order");
    loop.strides[static_cast<size_t>(input)] = loop.strides[static_cast<size_t>(output)] = 0;
    slabs *= loop.extent;
  }
  for (kernel::OuterLoop& loop : call.outer)
    for (size_t i = 0; i < loop.strides.size(); ++i)
      loop.strides[i] *= Info(kernel.buffers[i].type).host_bytes();
  call.extent = kernel::ParallelExtent(kernel);
  call.grain = codegen::ParallelGrain(kernel);
  const int64_t in_slab = rows.count / slabs, per_row = call.extent / std::max<int64_t>(in_slab, 1);
  if (rows.count % slabs != 0 || per_row == 0 || call.extent % in_slab != 0 ||
      rows.input_row % per_row != 0 || rows.result_row % per_row != 0 ||
      !KeepsToRows(kernel, input, rows.input_row / per_row) ||
      !KeepsToRows(kernel, output, rows.result_row / per_row) || moved[input] != 0 || moved[output] != 0)
    return refuse("it has no rows of its own");
  if (const int64_t unit = std::gcd(in_slab, rows.unit); unit != in_slab && unit * per_row % call.grain != 0)
    return refuse("its vectors belong to several blocks of rows");
  if (aligned && call.outer.empty()) kernel::StreamStores(kernel, output, KernelTarget());
  if (kernels == nullptr) {
    HLO_CHECK_OK(codegen::CheckKernel(kernel));
    return call;
  }
  HLO_TRY(call.kernel, kernels->Add(std::move(kernel)));
  call.buffers.assign(operands.begin(), operands.end());
  call.buffers[rows.input] = {};
  call.buffers.push_back({});
  call.first_result = operands.size();
  TrimSlices(plan->lowered.kernel.buffers, moved, call.buffers);
  return call;
}

}  // namespace hlo::cpu
