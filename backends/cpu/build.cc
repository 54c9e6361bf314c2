#include "backends/cpu/build.h"

#include "backends/compile/kernel_ops.h"
#include "backends/cpu/chain_step.h"
#include "backends/cpu/control_steps.h"
#include "backends/cpu/copy_step.h"
#include "backends/cpu/eval_step.h"
#include "backends/cpu/kernel_step.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/routine_step.h"
#include "backends/cpu/structured_step.h"
#include "backends/cpu/tiers.h"
#include "ir/findings.h"
#include "passes/analysis/buffer_assignment.h"

namespace hlo::cpu {
namespace {

class Builder {
 public:
  /// Fusions of which no kernel can be made, though one was planned.
  using Broken = llvm::DenseMap<const Instruction*, std::string>;

  Builder(Program& program, BuildRecord& record) : program_(program), record_(record) {}

  /// Makes the record too. If code cannot be made of a kernel its fusion is one more in `broken`, and all has
  /// to be built anew. Errors: kernel-broken.
  Status Build(const BufferAssignment& assignment, const CpuOptions& options, bool routines, Broken& broken) {
    assignment_ = &assignment;
    options_ = &options;
    broken_ = &broken;
    self_contained_ = options.self_contained;
    MakeBuffers();
    BuildSteps();
    HLO_CHECK_OK(CheckForced());
    HLO_CHECK_OK(ChooseTiers(program_, options));
    RecordInterpreted();
    HLO_CHECK_OK(failure_);
    int32_t kernel = 0;
    const auto check = [&](int32_t number) { return Try(*fusions_.lookup(number), false); };
    if (const Status made = program_.kernels.Compile(*program_.jit, check, kernel); !made) {
      Break(*fusions_.lookup(kernel), made.error());
      return failure_;
    }
    for (size_t i = 0; i < record_.kernels.size(); ++i)
      record_.kernels[i].compiled = program_.kernels.At(static_cast<int32_t>(i)).compiled;
    record_.arena_bytes = program_.arena_bytes;
    record_.sizes_count = program_.sizes_count;
    if (routines) MakeRoutines(program_, program_.entry);
    return {};
  }

  /// By a record; false if it does not fit the module.
  bool Rebuild() {
    for (const BuildRecord::RecordedKernel& kernel : record_.kernels)
      if (!program_.kernels.Restore(kernel.compiled, kernel.text, kernel.why)) return false;
    if (!RestoreBuffers()) return false;
    program_.arena_bytes = record_.arena_bytes;
    program_.sizes_count = record_.sizes_count;
    BuildSteps();
    if (misfit_ || leaf_ != record_.leaves.size() || call_ != record_.calls.size()) return false;
    MakeRoutines(program_, program_.entry);
    return true;
  }

 private:
  /// What tests let fail.
  Status Try(const Instruction& fusion, bool planned) {
    return options_->break_kernel ? options_->break_kernel(fusion, planned) : Status();
  }

  void Break(const Instruction& fusion, const Diagnostic& why) {
    broken_->try_emplace(&fusion, why.message);
    Diagnostic told =
        MakeError("kernel-broken", fusion.loc(),
                  "no kernel can be made of %{0}, which is a mistake of this program; please report "
                  "it with this module: {1}",
                  fusion.name(), why.message);
    // Nobody would hear of a warning without a report.
    if (options_->broken_kernels_fail || !options_->report) {
      if (failure_) failure_ = Error(std::move(told));
      return;
    }
    told.severity = Severity::Warning;
    told.Note("the evaluator computes it instead");
    options_->report(std::move(told));
  }

  void BuildSteps() {
    const Computation& entry = *program_.module->entry();
    for (const Instruction* parameter : entry.parameters())
      program_.parameters.push_back(ValueOf(*parameter));
    program_.result = ValueOf(*entry.root());
    program_.entry = BuildSequence(entry);
  }

  void RecordInterpreted() {
    for (size_t i = 0; i < program_.kernels.size(); ++i) {
      const KernelEntry& entry = program_.kernels.At(static_cast<int32_t>(i));
      record_.kernels.push_back({-1, entry.program ? ToString(entry.kernel) : "", entry.why});
    }
  }

  /// Constants of computations that are run, in order.
  [[nodiscard]] std::vector<const Instruction*> Constants() const {
    std::vector<const Instruction*> constants;
    for (const auto& computation : program_.module->computations())
      for (const Instruction* inst : computation->InstructionsOf(OpKind::Constant)) constants.push_back(inst);
    return constants;
  }

  static Literal PartOf(const Instruction& constant, llvm::ArrayRef<int64_t> index) {
    const Literal* literal = constant.attr<ConstantAttrs>().literal.get();
    for (const int64_t i : index) literal = &literal->element(i);
    return literal->Unpack();
  }

  bool RestoreBuffers() {
    const std::vector<const Instruction*> constants = Constants();
    for (const BuildRecord::RecordedBuffer& r : record_.buffers) {
      program_.buffers.push_back({r.kind, r.size, r.offset, r.parameter, r.index, r.written, {}});
      if (r.kind != BufferKind::Constant) continue;
      if (r.constant >= constants.size()) return false;
      program_.buffers.back().constant = PartOf(*constants[r.constant], r.part);
    }
    return true;
  }

  void MakeBuffers() {
    llvm::DenseMap<const Instruction*, uint64_t> constants;
    for (const Instruction* constant : Constants()) constants.try_emplace(constant, constants.size());
    for (const Allocation& allocation : assignment_->allocations()) {
      Buffer buffer;
      BuildRecord::RecordedBuffer recorded;
      buffer.size = allocation.size;
      switch (allocation.kind) {
        case AllocationKind::Parameter:
          buffer.kind = BufferKind::Parameter;
          buffer.parameter = allocation.parameter;
          buffer.index = allocation.index;
          buffer.written = allocation.live_out;
          break;
        case AllocationKind::Constant: {
          buffer.kind = BufferKind::Constant;
          const AssignedValue& value = allocation.values.front();
          buffer.constant = PartOf(*value.instruction, value.index);
          recorded.constant = constants.lookup(value.instruction);
          recorded.part = value.index;
          break;
        }
        case AllocationKind::LiveOut: buffer.kind = BufferKind::Output; break;
        case AllocationKind::ThreadLocal:
        case AllocationKind::TupleTable: buffer.size = 0; break;
        case AllocationKind::Temp: break;
      }
      if (buffer.kind == BufferKind::Temporary) {
        buffer.offset = program_.arena_bytes;
        program_.arena_bytes += (buffer.size + kAlignment - 1) / kAlignment * kAlignment;
      }
      record_.buffers.push_back({buffer.kind, buffer.size, buffer.offset, buffer.parameter, buffer.index,
                                 buffer.written, recorded.constant, recorded.part});
      program_.buffers.push_back(std::move(buffer));
    }
  }

  /// Values that lie in the same bytes have their run-time sizes in the same place; and those of one buffer
  /// that has no bytes.
  int32_t SizesOf(const BufferSlice& at, Place place) {
    if (at.allocation < 0 && place == kNoPlace) return program_.sizes_count++;
    const std::pair<int64_t, int64_t> key =
        at.allocation >= 0 ? std::pair<int64_t, int64_t>(at.allocation, at.offset)
                           : std::pair<int64_t, int64_t>(-1, assignment_->flow().Buffer(place));
    const auto [it, added] = sizes_.try_emplace(key, program_.sizes_count);
    if (added) ++program_.sizes_count;
    return it->second;
  }

  Value ValueOf(const Instruction& inst) {
    Value value{inst.shape(), {}};
    ForEachLeaf(inst.shape(), [&](const ShapeIndex& index, const Shape& shape) {
      value.leaves.push_back(assignment_ != nullptr ? AssignedLeaf(inst, index, shape) : NextLeaf(shape));
    });
    return value;
  }

  Leaf AssignedLeaf(const Instruction& inst, const ShapeIndex& index, const Shape& shape) {
    Leaf leaf{shape, {}, true};
    const Dataflow& flow = assignment_->flow();
    const Place place = flow.Of(inst, index);
    leaf.written = place != kNoPlace && flow.Defines(place);
    const BufferSlice at = assignment_->Of(inst, index);
    leaf.slice.buffer = static_cast<int32_t>(at.allocation);
    leaf.slice.offset = at.offset;
    leaf.slice.size = at.size;
    if (at.allocation >= 0) {
      const BufferKind kind = program_.buffers[static_cast<size_t>(at.allocation)].kind;
      leaf.aligned =
          (kind == BufferKind::Output || kind == BufferKind::Temporary) && at.offset % kAlignment == 0;
    }
    if (shape.IsArray() && shape.HasDynamicDimension()) leaf.slice.sizes = SizesOf(at, place);
    record_.leaves.push_back({leaf.slice, leaf.written, leaf.aligned});
    return leaf;
  }

  Leaf NextLeaf(const Shape& shape) {
    misfit_ |= leaf_ == record_.leaves.size();
    if (misfit_) return {shape, {}, true, false};
    const BuildRecord::RecordedLeaf& leaf = record_.leaves[leaf_++];
    return {shape, leaf.slice, leaf.written, leaf.aligned};
  }

  Result<KernelCall> CallOf(const Instruction& fusion, llvm::function_ref<Result<KernelCall>()> plan) {
    if (assignment_ != nullptr) {
      Result<KernelCall> call = PlanCall(fusion, plan);
      record_.calls.push_back({call ? *call : KernelCall(), call ? "" : call.error().message});
      return call;
    }
    misfit_ |= call_ == record_.calls.size();
    if (misfit_) return Decline(fusion.loc(), "");
    BuildRecord::RecordedCall& call = record_.calls[call_++];
    if (call.call.kernel < 0) return Decline(fusion.loc(), "{0}", call.why);
    misfit_ |= static_cast<size_t>(call.call.kernel) >= program_.kernels.size();
    if (misfit_) return Decline(fusion.loc(), "");
    return std::move(call.call);
  }

  Result<KernelCall> PlanCall(const Instruction& fusion, llvm::function_ref<Result<KernelCall>()> plan) {
    if (const auto it = broken_->find(&fusion); it != broken_->end())
      return Decline(fusion.loc(), "{0}", it->second);
    Result<KernelCall> call = plan();
    if (const Status tried = Try(fusion, true); call && !tried) call = Error(tried.error());
    if (call) fusions_[call->kernel] = &fusion;
    if (!call && !IsDeclined(call.error())) Break(fusion, call.error());
    return call;
  }

  Sequence BuildSequence(const Computation& computation) {
    Sequence sequence;
    for (const Instruction* inst : computation.schedule()) Append(*inst, sequence);
    return sequence;
  }

  void AppendNothing(const Instruction&, Sequence&) {}
  void AppendCall(const Instruction& call, Sequence& sequence) {
    Sequence body = BuildSequence(*call.callee());
    std::move(body.begin(), body.end(), std::back_inserter(sequence));
  }
  void AppendWhile(const Instruction& loop, Sequence& sequence) {
    const Computation& condition = *loop.callee(1);
    Sequence test = BuildSequence(condition);
    const Slice predicate = ValueOf(*condition.root()).leaves[0].slice;
    Sequence body = BuildSequence(*loop.callee(0));
    const Value result = ValueOf(loop);
    sequence.push_back(MakeWhileStep(loop, std::move(test), predicate, std::move(body), result,
                                     ConstantsAtBegin(loop, result)));
  }
  /// Integers of a loop's state that begin as constants: (where the constant lies, where the integer does).
  llvm::SmallVector<std::pair<Slice, Slice>, 1> ConstantsAtBegin(const Instruction& loop,
                                                                 const Value& state) {
    llvm::SmallVector<std::pair<Slice, Slice>, 1> constants;
    if (loop.operand(0)->kind() != OpKind::Tuple) return constants;
    size_t leaf = 0;
    for (const Instruction* element : loop.operand(0)->operands()) {
      const size_t at = leaf;
      ForEachLeaf(element->shape(), [&](const ShapeIndex&, const Shape&) { ++leaf; });
      while (element->kind() == OpKind::Copy) element = element->operand(0);
      if (element->kind() == OpKind::Constant && element->shape().IsArray() &&
          IsIntegral(element->shape().element_type()) && ByteSize(element->shape()) <= kMaxConstant)
        constants.emplace_back(ValueOf(*element).leaves[0].slice, state.leaves[at].slice);
    }
    return constants;
  }
  void AppendConditional(const Instruction& inst, Sequence& sequence) {
    std::vector<Sequence> branches;
    for (const Computation* branch : inst.callees()) branches.push_back(BuildSequence(*branch));
    sequence.push_back(
        MakeConditionalStep(inst, ValueOf(*inst.operand(0)).leaves[0].slice, std::move(branches)));
  }

  void Append(const Instruction& inst, Sequence& sequence) {
    // What is no step, or steps around others.
    static constexpr struct {
      OpKind kind;
      void (Builder::*append)(const Instruction&, Sequence&);
    } kRows[] = {
        {OpKind::Parameter, &Builder::AppendNothing}, {OpKind::Constant, &Builder::AppendNothing},
        {OpKind::AfterAll, &Builder::AppendNothing},  {OpKind::Call, &Builder::AppendCall},
        {OpKind::While, &Builder::AppendWhile},       {OpKind::Conditional, &Builder::AppendConditional},
    };
    for (const auto& row : kRows)
      if (row.kind == inst.kind()) return (this->*row.append)(inst, sequence);
    AppendStep(inst, sequence);
  }

  void AppendStep(const Instruction& inst, Sequence& sequence) {
    Value result = ValueOf(inst);
    const bool writes = llvm::any_of(result.leaves, [](const Leaf& leaf) { return leaf.written; });
    if (!writes && !inst.info().Is(kSideEffect)) return;
    std::vector<Value> operands;
    for (const Instruction* operand : inst.operands()) operands.push_back(ValueOf(*operand));
    // Reshapes are those of results that custom calls lay out: row by row all the same.
    const bool copies = inst.kind() == OpKind::Copy || inst.kind() == OpKind::Reshape;
    if (copies && result.shape.IsArray() && operands[0].leaves[0].slice.sizes < 0 &&
        result.leaves[0].slice.sizes < 0) {
      sequence.push_back(MakeCopyStep(inst, program_, operands[0].leaves[0].slice, result.leaves[0].slice));
      return;
    }
    if (!products_) MakeProductChoice();
    std::string why;  // it has no faster way
    if (!self_contained_)
      if (auto step = MakeStructuredStep(inst, program_, products_->target.isa, operands, result, why)) {
        sequence.push_back(std::move(step));
        return;
      }
    if (const std::optional<Chain> chain = ChainOf(inst)) {
      auto call = CallOf(inst, [&] {
        return PlanRowKernel(*chain->middle, chain->rows, &program_.kernels, KernelSlices(*chain, operands),
                             chain->last == nullptr && result.leaves[0].aligned);
      });
      if (call) {
        sequence.push_back(
            MakeChainStep(inst, *chain, program_, *products_, operands, result, std::move(*call)));
        return;
      }
    }
    if (inst.kind() == OpKind::Fusion) {
      if (auto call = CallOf(inst, [&] { return PlanKernel(inst, program_.kernels, operands, result); })) {
        sequence.push_back(MakeKernelStep(inst, program_, std::move(*call)));
        return;
      } else {
        why = call.error().message;
      }
    }
    if (!self_contained_ && (inst.kind() == OpKind::Dot || inst.kind() == OpKind::Convolution)) {
      if (auto step = MakeProductStep(inst, program_, *products_, operands, result, why)) {
        sequence.push_back(std::move(step));
        return;
      }
    }
    if (why.empty()) why = compile::WhyNoKernel(inst);
    sequence.push_back(MakeEvalStep(inst, std::move(operands), std::move(result), std::move(why)));
  }

  void MakeProductChoice() {
    products_.emplace();
    products_->target = ProductTarget(program_.jit->machine());
    if (options_ != nullptr) products_->forced = gemm::WayNamed(options_->force_path);
  }

  /// The way that is forced is taken by something.
  Status CheckForced() const {
    if (options_->force_path.empty() || (products_ && products_->applied > 0)) return {};
    if (!products_ || products_->refusal.empty())
      return Error("unsupported-path", {},
                   "path '{0}' is forced, but no product or convolution of the module is computed by itself",
                   options_->force_path);
    return Error("unsupported-path", products_->refused,
                 "path '{0}' is forced, but computes no product or convolution of the module: {1}",
                 options_->force_path, products_->refusal);
  }

  Program& program_;
  BuildRecord& record_;
  const CpuOptions* options_ = nullptr;  // without a record, like the next ones
  Broken* broken_ = nullptr;
  llvm::DenseMap<int32_t, const Instruction*> fusions_;  // by kernel
  Status failure_;
  const BufferAssignment* assignment_ = nullptr;  // null: what the record says counts
  size_t leaf_ = 0, call_ = 0;                    // the next of the record
  bool misfit_ = false;
  bool self_contained_ = false;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int32_t> sizes_;
  std::optional<ProductChoice> products_;  // and the target of structured ops
};

}  // namespace

Result<std::unique_ptr<Program>> BuildProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                              const CpuOptions& options, BuildRecord& record, bool compile,
                                              int64_t red_zone) {
  std::unique_ptr<Program> program;
  BufferOptions buffers;
  buffers.red_zone = red_zone;
  HLO_TRY(const BufferAssignment assignment, BufferAssignment::Compute(*module, buffers));
  Builder::Broken broken;
  for (size_t known = ~size_t{0}; known != broken.size();) {
    known = broken.size();
    record = {};
    if (program != nullptr) {
      module = std::move(program->module);
      jit = program->jit->Fresh();
    }
    program = std::make_unique<Program>();
    program->module = std::move(module);
    program->jit = std::move(jit);
    HLO_CHECK_OK(
        Builder(*program, record)
            .Build(assignment, options, /*routines=*/red_zone == 0 && !options.self_contained, broken));
  }
  SetFindings(*program->module, nullptr);
  if (compile) {
    HLO_CHECK_OK(program->jit->Compile());
    program->kernels.Link(*program->jit);
  }
  return program;
}

std::unique_ptr<Program> RebuildProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                        BuildRecord record, CompiledCode code) {
  auto program = std::make_unique<Program>();
  program->module = std::move(module);
  program->jit = std::move(jit);
  if (!program->jit->Restore(std::move(code)) || !Builder(*program, record).Rebuild()) return nullptr;
  program->kernels.Link(*program->jit);
  return program;
}

}  // namespace hlo::cpu
