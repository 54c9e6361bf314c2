#include "backends/compile/build.h"

namespace hlo::compile {
namespace {

BufferKind KindOf(AllocationKind kind) {
  static constexpr std::pair<AllocationKind, BufferKind> kKinds[] = {
      {AllocationKind::Parameter, BufferKind::Parameter},
      {AllocationKind::Constant, BufferKind::Constant},
      {AllocationKind::LiveOut, BufferKind::Output},
  };
  for (const auto& [allocation, buffer] : kKinds)
    if (allocation == kind) return buffer;
  return BufferKind::Temporary;
}

class Builder {
 public:
  Builder(Program& program, const BufferAssignment& assignment, ChooseStep choose, bool keeps_calls)
      : program_(program), assignment_(assignment), choose_(choose), keeps_calls_(keeps_calls) {}

  Status Build() {
    MakeBuffers();
    const Computation& entry = *program_.module->entry();
    for (const Instruction* parameter : entry.parameters())
      program_.parameters.push_back(ValueOf(*parameter));
    program_.result = ValueOf(*entry.root());
    return Append(entry, program_.entry);
  }

 private:
  void MakeBuffers() {
    for (const Allocation& allocation : assignment_.allocations()) {
      Buffer& buffer = program_.buffers.emplace_back();
      // Tables of tuples are nowhere: steps name leaves.
      const bool is_table =
          allocation.kind == AllocationKind::TupleTable ||
          (allocation.part != kNoPlace && assignment_.flow().shape(allocation.part).IsTuple());
      buffer.kind = is_table ? BufferKind::Temporary : KindOf(allocation.kind);
      buffer.size = is_table ? 0 : allocation.size;
      if (buffer.kind == BufferKind::Parameter) {
        buffer.parameter = allocation.parameter;
        buffer.index = assignment_.flow().IndexOf(allocation.part);
        buffer.written = allocation.live_out;
      } else if (buffer.kind == BufferKind::Constant) {
        buffer.source = allocation.values.front().instruction;
        buffer.index = assignment_.IndexOf(allocation.values.front());
        buffer.constant = PartOf(*buffer.source, buffer.index);
      } else if (buffer.kind == BufferKind::Temporary) {
        if (allocation.kind == AllocationKind::ThreadLocal) buffer.size = 0;
        buffer.offset = program_.arena_bytes;
        program_.arena_bytes += (buffer.size + kAlignment - 1) / kAlignment * kAlignment;
      }
    }
  }

  /// Values that lie in the same bytes have their run-time sizes in the same place; and those of one buffer
  /// that has no bytes.
  int32_t SizesOf(const BufferSlice& at, Place place) {
    const std::pair<int64_t, int64_t> key =
        at.allocation >= 0 ? std::pair<int64_t, int64_t>(at.allocation, at.offset)
                           : std::pair<int64_t, int64_t>(-1, assignment_.flow().Buffer(place));
    const auto [it, added] = sizes_.try_emplace(key, program_.sizes_count);
    if (added) ++program_.sizes_count;
    return it->second;
  }

  Value ValueOf(const Instruction& inst) {
    Value value{inst.shape(), {}};
    const Dataflow& flow = assignment_.flow();
    std::vector<Place> places = flow.Parts(flow.Of(inst));
    llvm::erase_if(places, [&](Place place) { return flow.shape(place).IsTuple(); });
    ForEachLeaf(inst.shape(), [&](const ShapeIndex&, const Shape& shape) {
      value.leaves.push_back(LeafOf(inst, places[value.leaves.size()], shape));
    });
    return value;
  }

  Leaf LeafOf(const Instruction& inst, Place place, const Shape& shape) {
    // What is received arrives in the memory of the recv only now.
    Leaf leaf{shape, {}, assignment_.flow().Defines(inst, place) || inst.kind() == OpKind::RecvDone};
    const BufferSlice at = assignment_.Of(place);
    leaf.slice.buffer = static_cast<int32_t>(at.allocation);
    leaf.slice.offset = at.offset;
    leaf.slice.size = at.size;
    if (at.allocation >= 0) {
      const BufferKind kind = program_.buffers[static_cast<size_t>(at.allocation)].kind;
      leaf.aligned =
          (kind == BufferKind::Output || kind == BufferKind::Temporary) && at.offset % kAlignment == 0;
    }
    if (shape.IsArray() && shape.HasDynamicDimension()) leaf.slice.sizes = SizesOf(at, place);
    return leaf;
  }

  Status Append(const Computation& computation, Sequence& sequence) {
    for (const Instruction* inst : computation.schedule()) HLO_CHECK_OK(Append(*inst, sequence));
    return {};
  }

  Status AppendNothing(const Instruction&, Sequence&) { return {}; }
  Status AppendCall(const Instruction& call, Sequence& sequence) {
    if (!keeps_calls_) return Append(*call.callee(), sequence);
    std::unique_ptr<Step> step = StepOf(StepKind::Call, call);
    HLO_CHECK_OK(Append(*call.callee(), step->parts.emplace_back()));
    SetValues(*step);
    return Add(std::move(step), sequence);
  }
  Status AppendWhile(const Instruction& loop, Sequence& sequence) {
    std::unique_ptr<Step> step = StepOf(StepKind::While, loop);
    step->parts.resize(2);
    HLO_CHECK_OK(Append(*loop.callee(1), step->parts[0]));
    step->predicate = ValueOf(*loop.callee(1)->root()).leaves[0].slice;
    HLO_CHECK_OK(Append(*loop.callee(0), step->parts[1]));
    step->result = ValueOf(loop);
    FindConstants(*step);
    return Add(std::move(step), sequence);
  }
  void FindConstants(Step& loop) {
    const Instruction& start = *loop.instruction->operand(0);
    if (start.kind() != OpKind::Tuple) return;
    size_t leaf = 0;
    for (const Instruction* element : start.operands()) {
      const size_t at = leaf;
      ForEachLeaf(element->shape(), [&](const ShapeIndex&, const Shape&) { ++leaf; });
      while (element->kind() == OpKind::Copy) element = element->operand(0);
      if (element->kind() == OpKind::Constant && element->shape().IsArray() &&
          IsIntegral(element->shape().element_type()) && ByteSize(element->shape()) <= kMaxConstant)
        loop.constants.emplace_back(ValueOf(*element).leaves[0].slice, loop.result.leaves[at].slice);
    }
  }
  Status AppendConditional(const Instruction& inst, Sequence& sequence) {
    std::unique_ptr<Step> step = StepOf(StepKind::Conditional, inst);
    step->parts.resize(inst.callees().size());
    for (size_t i = 0; i < step->parts.size(); ++i) HLO_CHECK_OK(Append(*inst.callees()[i], step->parts[i]));
    step->predicate = ValueOf(*inst.operand(0)).leaves[0].slice;
    return Add(std::move(step), sequence);
  }

  Status Append(const Instruction& inst, Sequence& sequence) {
    // What is no step, or steps around others.
    static constexpr struct {
      OpKind kind;
      Status (Builder::*append)(const Instruction&, Sequence&);
    } kRows[] = {
        {OpKind::Parameter, &Builder::AppendNothing}, {OpKind::Constant, &Builder::AppendNothing},
        {OpKind::AfterAll, &Builder::AppendNothing},  {OpKind::Call, &Builder::AppendCall},
        {OpKind::While, &Builder::AppendWhile},       {OpKind::Conditional, &Builder::AppendConditional},
    };
    for (const auto& row : kRows)
      if (row.kind == inst.kind()) return (this->*row.append)(inst, sequence);
    const Dataflow& flow = assignment_.flow();
    const bool writes = llvm::any_of(
        flow.Own(inst), [&](Place place) { return !flow.shape(place).IsTuple() && flow.Defines(place); });
    if (!writes && !inst.info().Is(kSideEffect)) return {};
    std::unique_ptr<Step> step = StepOf(StepKind::Evaluate, inst);
    SetValues(*step);
    return Add(std::move(step), sequence);
  }
  void SetValues(Step& step) {
    step.result = ValueOf(*step.instruction);
    for (const Instruction* operand : step.instruction->operands())
      step.operands.push_back(ValueOf(*operand));
  }

  static std::unique_ptr<Step> StepOf(StepKind kind, const Instruction& inst) {
    auto step = std::make_unique<Step>();
    step->kind = kind;
    step->instruction = &inst;
    return step;
  }
  Status Add(std::unique_ptr<Step> step, Sequence& sequence) {
    sequence.push_back(std::move(step));
    return choose_(*sequence.back());
  }

  Program& program_;
  const BufferAssignment& assignment_;
  ChooseStep choose_;
  bool keeps_calls_;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int32_t> sizes_;
};

}  // namespace

Status BuildSteps(Program& program, const BufferAssignment& assignment, ChooseStep choose, bool keeps_calls) {
  return Builder(program, assignment, choose, keeps_calls).Build();
}

}  // namespace hlo::compile
