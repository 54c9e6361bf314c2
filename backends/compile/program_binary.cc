#include "backends/compile/program_binary.h"

#include "llvm/ADT/DenseMap.h"

namespace hlo {
template <>
inline constexpr uint64_t kEnumerators<compile::BufferKind> = std::size(compile::kBufferKinds);
}  // namespace hlo

namespace hlo::compile {

namespace {

/// The instructions of a module by number, in the order of the text.
class Numbers {
 public:
  explicit Numbers(const Module& module) {
    for (const auto& computation : module.computations())
      for (const Instruction* inst : computation->instructions()) all_.push_back(inst);
  }
  template <class A>
  void Archive(A& a, const Instruction*& inst) {
    uint64_t number = A::kReads ? 0 : NumberOf(inst);
    hlo::Archive(a, number);
    if constexpr (A::kReads) {
      if (number >= all_.size())
        a.Fail();
      else
        inst = all_[number];
    }
  }

 private:
  uint64_t NumberOf(const Instruction* inst) {
    if (numbers_.empty())
      for (const Instruction* each : all_) numbers_.try_emplace(each, numbers_.size());
    return numbers_.lookup(inst);
  }
  std::vector<const Instruction*> all_;
  llvm::DenseMap<const Instruction*, uint64_t> numbers_;
};

/// Writes or reads the parts of a program that stand for parts of its module.
template <class A>
class Archiver {
 public:
  Archiver(A& archive, const Module& module) : a_(archive), instructions_(module) {}

  void Run(Program& program) {
    const Computation& entry = *program.module->entry();
    List(program.buffers, [&](Buffer& buffer) { Run(buffer); });
    ArchiveAll(a_, program.arena_bytes, program.sizes_count);
    program.parameters.resize(entry.parameters().size());
    for (size_t i = 0; i < program.parameters.size(); ++i)
      Run(program.parameters[i], entry.parameters()[i]->shape());
    Run(program.result, entry.root()->shape());
    Run(program.entry);
  }

 private:
  template <class V, class F>
  void List(V& values, F&& each) {
    uint64_t count = values.size();
    if constexpr (A::kReads) {
      for (count = a_.Count(); count > 0 && !a_.failed(); --count) each(values.emplace_back());
    } else {
      a_.Number(count);
      for (auto& value : values) each(value);
    }
  }

  void Run(Buffer& b) {
    ArchiveAll(a_, b.kind, b.size, b.offset, b.parameter, b.index, b.written);
    if (b.kind != BufferKind::Constant) return;
    instructions_.Archive(a_, b.source);
    if constexpr (A::kReads) {
      const bool fits =
          !a_.failed() && b.source->kind() == OpKind::Constant && HasPart(b.source->shape(), b.index);
      if (fits)
        b.constant = PartOf(*b.source, b.index);
      else
        a_.Fail();
    }
  }
  static bool HasPart(const Shape& shape, llvm::ArrayRef<int64_t> index) {
    const Shape* at = &shape;
    for (const int64_t i : index) {
      if (!at->IsTuple() || i < 0 || i >= at->tuple_size()) return false;
      at = &at->tuple_shapes()[static_cast<size_t>(i)];
    }
    return at->IsArray();
  }

  void Run(Value& value, const Shape& shape) {
    if constexpr (A::kReads) {
      value.shape = shape;
      ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { value.leaves.push_back({leaf, {}}); });
    }
    for (Leaf& leaf : value.leaves) ArchiveAll(a_, leaf.slice, leaf.written, leaf.aligned);
  }

  void Run(Sequence& sequence) {
    List(sequence, [&](std::unique_ptr<Step>& step) {
      if constexpr (A::kReads) step = std::make_unique<Step>();
      Run(*step);
    });
  }

  void Run(Step& step) {
    instructions_.Archive(a_, step.instruction);
    if (a_.failed()) return;
    ArchiveAll(a_, step.kind, step.why, step.call, step.predicate, step.constants, step.routine);
    if (!HasPredicate(step.kind)) {
      step.operands.resize(static_cast<size_t>(step.instruction->operand_count()));
      for (size_t i = 0; i < step.operands.size(); ++i)
        Run(step.operands[i], step.instruction->operand(static_cast<int64_t>(i))->shape());
    }
    if (step.kind != StepKind::Conditional) Run(step.result, step.instruction->shape());
    List(step.parts, [&](Sequence& part) { Run(part); });
  }

  A& a_;
  Numbers instructions_;
};

}  // namespace

void Write(BinaryWriter& writer, const Program& program) {
  Archiver<BinaryWriter>(writer, *program.module).Run(const_cast<Program&>(program));
}

void Read(BinaryReader& reader, Program& program) {
  Archiver<BinaryReader>(reader, *program.module).Run(program);
}

}  // namespace hlo::compile
