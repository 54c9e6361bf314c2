#include "backends/compile/kernel_calls.h"

#include <numeric>

#include "backends/compile/kernel_plans.h"
#include "backends/kernel/stream.h"

namespace hlo::compile {
namespace {

/// What an iteration of the outermost loops costs on average: bytes moved and instructions.
class CostCounter {
  /// In eighths of an instruction: what folds in lanes is shared by eight of them.
  static constexpr int64_t kInstruction = 8, kMemory = 4 * kInstruction;

 public:
  explicit CostCounter(const kernel::Target& target) : target_(target) {}
  int64_t PerIteration(const kernel::Kernel& kernel) {
    Count(kernel.body, 1, false);
    return std::max<int64_t>(eighths_ / kInstruction / kernel::ParallelExtent(kernel), 1);
  }

 private:
  /// `folds`: of a reduction in lanes, whose instructions are few and whose loads may find in the first cache
  /// what they found before.
  void Count(const kernel::Region& region, int64_t times, bool folds) {
    for (const kernel::Stmt& stmt : region.stmts) {
      const auto* load = std::get_if<kernel::LoadStmt>(&stmt);
      if (load != nullptr) eighths_ += (folds && IsRepeated(*load) ? 1 : kMemory) * times;
      if (std::holds_alternative<kernel::StoreStmt>(stmt)) eighths_ += kMemory * times;
      if (const auto* op = std::get_if<kernel::OpStmt>(&stmt))
        eighths_ += (folds ? 1 : kInstruction) * times * target_.CostOf(op->kind).instructions;
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

  const kernel::Target& target_;
  llvm::SmallVector<kernel::Dimension, 4> around_;
  int64_t eighths_ = 0;
};

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

kernel::Kernel CopyOf(const KernelPlan& plan, const Instruction& fusion) {
  kernel::Kernel kernel = Clone(plan.lowered.kernel);
  kernel.name = fusion.name().str();
  return kernel;
}

}  // namespace

Result<KernelCall> PlanKernel(const Instruction& fusion, const Machine& machine, KernelSink& kernels,
                              llvm::ArrayRef<Value> operands, const Value& result) {
  const size_t parameters = fusion.callee()->parameters().size();
  HLO_TRY(const KernelPlanPtr plan, KernelPlans::Of(*fusion.module(), machine).Plan(fusion));
  kernel::Kernel kernel = CopyOf(*plan, fusion);
  KernelCall call;
  call.defined = plan->defined;
  for (size_t i = 0; i < result.leaves.size(); ++i)
    if (const size_t buffer = parameters + i; result.leaves[i].aligned && plan->moved[buffer] == 0)
      kernel::StreamStores(kernel, static_cast<kernel::BufferId>(buffer), machine.kernels);
  call.extent = kernel::ParallelExtent(kernel);
  const int64_t group = kernels.Grain(kernel);
  const int64_t iterations =
      std::max<int64_t>(machine.threads.piece / CostCounter(machine.kernels).PerIteration(kernel), 1);
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

namespace {

/// A kernel of rows and how it is called, but for where its arrays lie.
struct RowKernel {
  kernel::Kernel kernel;
  KernelCall call;
};

Result<RowKernel> FitRows(const Instruction& fusion, const FusedRows& rows, const Machine& machine,
                          const KernelSink& kernels, const KernelPlan& plan, bool aligned) {
  const auto refuse = [&](llvm::StringRef why) { return Decline(fusion.loc(), "{0}", why); };
  const auto input = static_cast<kernel::BufferId>(rows.input);
  const auto output = static_cast<kernel::BufferId>(fusion.callee()->parameters().size());
  kernel::Kernel kernel = CopyOf(plan, fusion);
  const auto& moved = plan.moved;
  KernelCall call;
  call.outer = plan.outer;
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
  call.grain = kernels.Grain(kernel);
  const int64_t in_slab = rows.count / slabs, per_row = call.extent / std::max<int64_t>(in_slab, 1);
  if (rows.count % slabs != 0 || per_row == 0 || call.extent % in_slab != 0 ||
      rows.input_row % per_row != 0 || rows.result_row % per_row != 0 ||
      !KeepsToRows(kernel, input, rows.input_row / per_row) ||
      !KeepsToRows(kernel, output, rows.result_row / per_row) || moved[input] != 0 || moved[output] != 0)
    return refuse("it has no rows of its own");
  if (const int64_t unit = std::gcd(in_slab, rows.unit); unit != in_slab && unit * per_row % call.grain != 0)
    return refuse("its vectors belong to several blocks of rows");
  if (aligned && call.outer.empty()) kernel::StreamStores(kernel, output, machine.kernels);
  return RowKernel{std::move(kernel), std::move(call)};
}

}  // namespace

Status TryRowKernel(const Instruction& fusion, const FusedRows& rows, const Machine& machine,
                    const KernelSink& kernels) {
  HLO_TRY(const KernelPlanPtr plan, PlanLoops(fusion, machine, rows.result_row));
  HLO_TRY(const RowKernel made, FitRows(fusion, rows, machine, kernels, *plan, /*aligned=*/false));
  return kernels.Check(made.kernel);
}

Result<KernelCall> PlanRowKernel(const Instruction& fusion, const FusedRows& rows, const Machine& machine,
                                 KernelSink& kernels, llvm::ArrayRef<Slice> operands, bool aligned) {
  HLO_TRY(const KernelPlanPtr plan, KernelPlans::Of(*fusion.module(), machine).Plan(fusion, rows.result_row));
  HLO_TRY(RowKernel made, FitRows(fusion, rows, machine, kernels, *plan, aligned));
  KernelCall& call = made.call;
  HLO_TRY(call.kernel, kernels.Add(std::move(made.kernel)));
  call.buffers.assign(operands.begin(), operands.end());
  call.buffers[static_cast<size_t>(rows.input)] = {};
  call.buffers.push_back({});
  call.first_result = operands.size();
  TrimSlices(plan->lowered.kernel.buffers, plan->moved, call.buffers);
  return std::move(call);
}

}  // namespace hlo::compile
