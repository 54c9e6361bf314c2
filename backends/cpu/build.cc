#include "backends/cpu/build.h"

#include "backends/cpu/control_steps.h"
#include "backends/cpu/copy_step.h"
#include "backends/cpu/eval_step.h"
#include "backends/cpu/kernel_ops.h"
#include "backends/cpu/kernel_step.h"
#include "backends/cpu/library_convolution.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/routine_step.h"
#include "backends/cpu/structured_step.h"
#include "backends/cpu/tiers.h"
#include "passes/analysis/buffer_assignment.h"

namespace hlo::cpu {
namespace {

class Builder {
 public:
  Builder(Program& program, const BufferAssignment& assignment)
      : program_(program), assignment_(assignment), flow_(assignment.flow()) {}

  Status Build(const CpuOptions& options, bool routines) {
    MakeBuffers();
    const Computation& entry = *program_.module->entry();
    for (const Instruction* parameter : entry.parameters())
      program_.parameters.push_back(ValueOf(*parameter));
    program_.result = ValueOf(*entry.root());
    program_.entry = BuildSequence(entry);
    HLO_CHECK_OK(ChooseTiers(program_, options));
    program_.kernels.Compile(*program_.jit);
    if (routines) MakeRoutines(program_, program_.entry);
    return {};
  }

 private:
  void MakeBuffers() {
    for (const Allocation& allocation : assignment_.allocations()) {
      Buffer buffer;
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
          const Literal* literal = value.instruction->attr<ConstantAttrs>().literal.get();
          for (const int64_t i : value.index) literal = &literal->element(i);
          buffer.constant = literal->Unpack();
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
      program_.buffers.push_back(std::move(buffer));
    }
  }

  /// Values that lie in the same bytes have their run-time sizes in the same place.
  int32_t SizesOf(const BufferSlice& at) {
    if (at.allocation < 0) return program_.sizes_count++;
    const auto [it, added] = sizes_.try_emplace({at.allocation, at.offset}, program_.sizes_count);
    if (added) ++program_.sizes_count;
    return it->second;
  }

  Value ValueOf(const Instruction& inst) {
    Value value{inst.shape(), {}};
    ForEachLeaf(inst.shape(), [&](const ShapeIndex& index, const Shape& shape) {
      Leaf leaf{shape, {}, true};
      const Place place = flow_.Of(inst, index);
      leaf.written = place != kNoPlace && flow_.Defines(place);
      const BufferSlice at = assignment_.Of(inst, index);
      leaf.slice.buffer = static_cast<int32_t>(at.allocation);
      leaf.slice.offset = at.offset;
      leaf.slice.size = at.size;
      if (at.allocation >= 0) {
        const BufferKind kind = program_.buffers[static_cast<size_t>(at.allocation)].kind;
        leaf.aligned =
            (kind == BufferKind::Output || kind == BufferKind::Temporary) && at.offset % kAlignment == 0;
      }
      if (shape.IsArray() && shape.HasDynamicDimension()) leaf.slice.sizes = SizesOf(at);
      value.leaves.push_back(std::move(leaf));
    });
    return value;
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
    sequence.push_back(MakeWhileStep(loop, std::move(test), ValueOf(*condition.root()).leaves[0].slice,
                                     BuildSequence(*loop.callee(0))));
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
        {OpKind::Parameter, &Builder::AppendNothing},
        {OpKind::Constant, &Builder::AppendNothing},
        {OpKind::Call, &Builder::AppendCall},
        {OpKind::While, &Builder::AppendWhile},
        {OpKind::Conditional, &Builder::AppendConditional},
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
    if (inst.kind() == OpKind::Copy && result.shape.IsArray() && operands[0].leaves[0].slice.sizes < 0) {
      sequence.push_back(MakeCopyStep(inst, program_, operands[0].leaves[0].slice, result.leaves[0].slice));
      return;
    }
    if (!target_) target_ = ProductTarget(program_.jit->machine());
    std::string why;  // it has no faster way
    if (auto step = MakeStructuredStep(inst, program_, target_->isa, operands, result, why)) {
      sequence.push_back(std::move(step));
      return;
    }
    if (inst.kind() == OpKind::Fusion) {
      if (auto call = PlanKernel(inst, program_.kernels, operands, result)) {
        sequence.push_back(MakeKernelStep(inst, program_, std::move(*call)));
        return;
      } else {
        why = call.error().message;
      }
    }
    if (inst.kind() == OpKind::Dot || inst.kind() == OpKind::Convolution) {
      if (auto step = MakeProductStep(inst, program_, *target_, operands, result, why)) {
        if (inst.kind() == OpKind::Convolution)
          step = PreferLibrary(inst, program_, *target_, operands, result, std::move(step));
        sequence.push_back(std::move(step));
        return;
      }
    }
    if (why.empty()) why = WhyNoKernel(inst);
    sequence.push_back(MakeEvalStep(inst, std::move(operands), std::move(result), std::move(why)));
  }

  Program& program_;
  const BufferAssignment& assignment_;
  const Dataflow& flow_;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int32_t> sizes_;
  std::optional<gemm::Target> target_;  // of products and structured ops
};

}  // namespace

Result<std::unique_ptr<Program>> BuildProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                              const CpuOptions& options, bool compile, int64_t red_zone) {
  auto program = std::make_unique<Program>();
  program->module = std::move(module);
  BufferOptions buffers;
  buffers.red_zone = red_zone;
  HLO_TRY(const BufferAssignment assignment, BufferAssignment::Compute(*program->module, buffers));
  program->jit = std::move(jit);
  HLO_CHECK_OK(Builder(*program, assignment).Build(options, /*routines=*/red_zone == 0));
  if (compile) {
    HLO_CHECK_OK(program->jit->Compile());
    program->kernels.Link(*program->jit);
  }
  return program;
}

}  // namespace hlo::cpu
