// What has to hold of a program that somebody else wrote, so that running it stays within its memory.
#include "backends/compile/program_text.h"
#include "backends/kernel/visit.h"
#include "ir/eval/eval.h"
#include "passes/analysis/live_range.h"

namespace hlo::compile {
namespace {

/// The part of a shape, also a tuple; null: there is none.
const Shape* PartOf(const Shape& shape, llvm::ArrayRef<int64_t> index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    if (!at->IsTuple() || i < 0 || i >= at->tuple_size()) return nullptr;
    at = &at->tuple_shapes()[static_cast<size_t>(i)];
  }
  return at;
}

int64_t BytesOf(const Shape& shape) { return shape.IsArray() ? BufferBytes(shape) : 0; }

/// Sums of offsets and sizes up to it are numbers.
constexpr int64_t kMostBytes = int64_t{1} << 60;

/// What the iterations of loops within each other come to is a number.
bool AreCounted(const kernel::Region& region, int64_t times) {
  const auto inside = [&](llvm::ArrayRef<kernel::Dimension> loops) -> int64_t {
    int64_t inner = times;
    for (const kernel::Dimension& loop : loops) {
      if (loop.extent < 0 || (loop.extent > 0 && inner > kMostBytes / loop.extent)) return -1;
      inner *= std::max<int64_t>(loop.extent, 1);
    }
    return inner;
  };
  return llvm::all_of(region.stmts, [&](const kernel::Stmt& stmt) {
    if (const auto* loop = std::get_if<kernel::LoopStmt>(&stmt)) {
      const int64_t inner = inside(loop->loop);
      return inner > 0 && AreCounted(*loop->body, inner);
    }
    if (const auto* reduce = std::get_if<kernel::ReduceStmt>(&stmt)) {
      const int64_t inner = inside(reduce->loops);
      return inner > 0 && AreCounted(*reduce->body, inner) && AreCounted(*reduce->combiner, inner);
    }
    return true;
  });
}

/// So are the bytes of its arrays.
bool HasCounts(const kernel::Kernel& kernel) {
  return AreCounted(kernel.body, 1) && llvm::all_of(kernel.buffers, [](const kernel::Buffer& array) {
           return array.count >= 0 && array.count <= kMostBytes / hlo::Info(array.type).host_bytes();
         });
}

class Checker {
 public:
  Checker(Program& program, const ProgramKernels& kernels) : program_(program), kernels_(kernels) {}

  Status Run() {
    CountBytes();
    for (size_t i = 0; i < kernels_.size(); ++i)
      if (!HasCounts(kernels_[i].kernel))
        return Error("program-invalid", kernels_[i].loc, "kernel {0} has loops or arrays that are too large",
                     i);
    if (program_.sizes_count > most_sizes_) return Fail("more sizes than the module has arrays");
    if (program_.arena_bytes > most_bytes_) return Fail("an arena larger than all values of the module");
    for (size_t i = 0; i < program_.buffers.size(); ++i)
      if (const std::string wrong = Wrong(program_.buffers[i]); !wrong.empty())
        return Error("program-invalid", loc_, "buffer {0}: {1}", i, wrong);
    for (const Value& value : program_.parameters) HLO_CHECK_OK(Check(value, "an argument"));
    HLO_CHECK_OK(Check(program_.result, "the result"));
    return Check(program_.entry);
  }

 private:
  template <class... Args>
  [[nodiscard]] tl::unexpected<Diagnostic> Fail(const char* format, Args&&... args) const {
    return Error("program-invalid", loc_, format, std::forward<Args>(args)...);
  }

  /// What the values of the module take if none shares memory with another.
  void CountBytes() {
    for (const auto& computation : program_.module->computations())
      for (const Instruction* inst : computation->instructions())
        ForEachLeaf(inst->shape(), [&](const ShapeIndex&, const Shape& shape) {
          const int64_t bytes = BytesOf(shape) + kAlignment;
          ++most_sizes_;
          most_bytes_ = bytes > kMostBytes - most_bytes_ ? kMostBytes : most_bytes_ + bytes;
        });
  }

  std::string Wrong(Buffer& buffer) {
    if (buffer.size > most_bytes_ || buffer.offset > most_bytes_)
      return "larger than all values of the module";
    if (buffer.kind == BufferKind::Temporary) {
      if (buffer.offset % kAlignment != 0) return "not aligned";
      if (buffer.offset + buffer.size > program_.arena_bytes) return "ends behind the arena";
    }
    if (buffer.kind == BufferKind::Parameter) {
      const auto& parameters = program_.module->entry()->parameters();
      if (static_cast<size_t>(buffer.parameter) >= parameters.size())
        return "the module has no such parameter";
      const Shape* part = PartOf(parameters[static_cast<size_t>(buffer.parameter)]->shape(), buffer.index);
      if (part == nullptr) return "the parameter has no such part";
      if (part->IsArray() && buffer.size > BytesOf(*part)) return "larger than the argument";
    }
    if (buffer.kind == BufferKind::Constant) {
      if (buffer.source->kind() != OpKind::Constant) return "no constant";
      if (buffer.source->attr<ConstantAttrs>().literal == nullptr) return "nobody knows the constant's value";
      const Shape* part = PartOf(buffer.source->shape(), buffer.index);
      if (part == nullptr || !part->IsArray()) return "the constant has no such array";
      if (buffer.size > BytesOf(*part)) return "larger than the constant";
      buffer.constant = compile::PartOf(*buffer.source, buffer.index);
    }
    return "";
  }

  [[nodiscard]] bool IsArray(const Buffer& parameter) const {
    const Instruction& inst =
        *program_.module->entry()->parameters()[static_cast<size_t>(parameter.parameter)];
    return PartOf(inst.shape(), parameter.index)->IsArray();
  }
  [[nodiscard]] std::string Wrong(const Slice& slice) const {
    if (slice.sizes >= program_.sizes_count) return "has no such sizes";
    if (slice.buffer < 0) return "";
    if (static_cast<size_t>(slice.buffer) >= program_.buffers.size()) return "has no such buffer";
    const Buffer& buffer = program_.buffers[static_cast<size_t>(slice.buffer)];
    // Of tuples as such there is nothing in memory.
    if (buffer.kind == BufferKind::Parameter && slice.size > 0 && !IsArray(buffer)) return "lies in a tuple";
    const int64_t size = buffer.size;
    return slice.offset > size || slice.size > size - slice.offset ? "ends behind its buffer" : "";
  }
  Status Check(const Slice& slice, const char* what, int64_t bytes) const {
    if (const std::string wrong = Wrong(slice); !wrong.empty()) return Fail("{0} {1}", what, wrong);
    if (slice.size < bytes || (slice.buffer < 0 && bytes > 0))
      return Fail("{0} has {1} bytes, expected {2}", what, slice.buffer < 0 ? 0 : slice.size, bytes);
    return {};
  }
  [[nodiscard]] const Buffer* BufferOf(const Slice& slice) const {
    return slice.buffer < 0 ? nullptr : &program_.buffers[static_cast<size_t>(slice.buffer)];
  }
  [[nodiscard]] bool IsAligned(const Slice& slice) const {
    const Buffer* buffer = BufferOf(slice);
    return buffer != nullptr &&
           (buffer->kind == BufferKind::Output || buffer->kind == BufferKind::Temporary) &&
           slice.offset % kAlignment == 0;
  }
  [[nodiscard]] bool MayWrite(const Slice& slice) const {
    const Buffer* buffer = BufferOf(slice);
    return buffer == nullptr || buffer->kind == BufferKind::Output || buffer->kind == BufferKind::Temporary ||
           (buffer->kind == BufferKind::Parameter && buffer->written);
  }

  Status Check(const Value& value, const char* what) const {
    for (const Leaf& leaf : value.leaves) {
      HLO_CHECK_OK(Check(leaf.slice, what, BytesOf(leaf.shape)));
      if (leaf.shape.IsArray() && leaf.shape.HasDynamicDimension() != (leaf.slice.sizes >= 0))
        return Fail("{0} has {1}", what, leaf.slice.sizes >= 0 ? "run-time sizes" : "no run-time sizes");
      const int64_t element = leaf.shape.IsArray() ? hlo::Info(leaf.shape.element_type()).host_bytes() : 1;
      if (leaf.slice.offset % element != 0) return Fail("{0} begins between elements", what);
      if (leaf.aligned && !IsAligned(leaf.slice)) return Fail("{0} is not aligned", what);
    }
    return {};
  }

  Status Check(const Sequence& sequence) {
    for (const auto& step : sequence) {
      loc_ = step->loc;
      HLO_CHECK_OK(Check(*step));
      for (const Sequence& part : step->parts) HLO_CHECK_OK(Check(part));
    }
    return {};
  }

  Status Check(const Step& step) const {
    HLO_CHECK_OK(CheckKind(step));
    for (const Value& operand : step.operands) HLO_CHECK_OK(Check(operand, "an operand"));
    HLO_CHECK_OK(Check(step.result, "the result"));
    for (const Leaf& leaf : step.result.leaves)
      if (leaf.written && !HasParts(step.kind) && !MayWrite(leaf.slice))
        return Fail("the result is written over an argument or a constant");
    for (const auto& [from, to] : step.constants) {
      HLO_CHECK_OK(Check(from, "a constant", to.size));
      HLO_CHECK_OK(Check(to, "a place of a constant", from.size));
      if (!MayWrite(to)) return Fail("a constant is written over an argument or a constant");
    }
    if (HasPredicate(step.kind)) {
      const Shape& chooses = step.kind == StepKind::While ? step.instruction->callee(1)->root()->shape()
                                                          : step.instruction->operand(0)->shape();
      HLO_CHECK_OK(Check(step.predicate, "what chooses", BytesOf(chooses)));
    }
    return step.call.kernel >= 0 ? CheckCall(step) : Status();
  }

  /// The kind fits the instruction, and what is there the kind.
  Status CheckKind(const Step& step) const {
    const OpKind op = step.instruction->kind();
    const bool loop = step.kind == StepKind::While, branch = step.kind == StepKind::Conditional;
    const bool call = step.kind == StepKind::Call;
    const bool kernel = step.kind == StepKind::Kernel || step.kind == StepKind::Chain;
    const bool fits = loop == (op == OpKind::While) && branch == (op == OpKind::Conditional);
    if (!fits || call != (op == OpKind::Call))
      return Fail("%{0} is a {1}", step.instruction->name(), step.instruction->info().text);
    if (step.parts.size() != (loop ? 2 : branch || call ? step.instruction->callees().size() : 0))
      return Fail("{0} parts", step.parts.size());
    if (kernel != (step.call.kernel >= 0)) return Fail(kernel ? "calls no kernel" : "calls a kernel");
    if (kernel && op != OpKind::Fusion) return Fail("%{0} is no fusion", step.instruction->name());
    if (step.kind == StepKind::Product && op != OpKind::Dot && op != OpKind::Convolution)
      return Fail("%{0} is no product", step.instruction->name());
    if (step.routine && !loop) return Fail("a routine that is no loop");
    if (step.kind == StepKind::Evaluate && EvalRule(op) == nullptr)
      return Fail("the evaluator computes no {0}", step.instruction->info().text);
    if (step.kind == StepKind::Copy &&
        (step.operands.size() != 1 || !step.result.shape.IsArray() || !step.operands[0].shape.IsArray() ||
         step.operands[0].leaves[0].slice.size < step.result.leaves[0].slice.size))
      return Fail("no copy of one array");
    return {};
  }

  Status CheckCall(const Step& step) const {
    const KernelCall& call = step.call;
    if (static_cast<size_t>(call.kernel) >= kernels_.size())
      return Fail("there is no kernel {0}", call.kernel);
    const kernel::Kernel& kernel = kernels_[static_cast<size_t>(call.kernel)].kernel;
    const auto global = llvm::count_if(
        kernel.buffers, [](const kernel::Buffer& b) { return b.space == kernel::Space::Global; });
    if (llvm::any_of(llvm::ArrayRef(kernel.buffers).take_front(static_cast<size_t>(global)),
                     [](const kernel::Buffer& b) { return b.space != kernel::Space::Global; }))
      return Fail("kernel {0} has arrays of its own before those of its caller", call.kernel);
    if (call.buffers.size() != static_cast<size_t>(global))
      return Fail("kernel {0} has {1} arrays, found {2}", call.kernel, global, call.buffers.size());
    if (call.extent != kernel::ParallelExtent(kernel) || call.grain < 1)
      return Fail("kernel {0} has {1} iterations", call.kernel, kernel::ParallelExtent(kernel));
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      const kernel::Buffer& array = kernel.buffers[i];
      // What a chain hands from one step to the next has no slice.
      const bool outside = step.kind == StepKind::Kernel || call.buffers[i].buffer >= 0;
      HLO_CHECK_OK(Check(call.buffers[i], "an array of the kernel",
                         outside ? array.count * hlo::Info(array.type).host_bytes() : 0));
      if (array.written && (i < call.first_result || !MayWrite(call.buffers[i])))
        return Fail("kernel {0} writes array {1}", call.kernel, i);
    }
    for (const auto& [from, to] : call.copies) {
      HLO_CHECK_OK(Check(from, "what is copied", to.size));
      HLO_CHECK_OK(Check(to, "a copy", 0));
      if (!MayWrite(to)) return Fail("a copy is written over an argument or a constant");
    }
    return CheckStreams(step, kernel);
  }

  /// Stores past the caches go to aligned places.
  Status CheckStreams(const Step& step, const kernel::Kernel& kernel) const {
    Status status;
    kernel::ForEachStmt(kernel.body, [&](const kernel::Stmt& stmt) {
      const auto* store = std::get_if<kernel::StoreStmt>(&stmt);
      if (store == nullptr || !store->streaming || step.kind == StepKind::Chain) return;
      const auto array = static_cast<size_t>(store->buffer);
      if (array >= step.call.buffers.size() || !IsAligned(step.call.buffers[array]))
        status = Fail("kernel {0} streams to an array that is not aligned", step.call.kernel);
    });
    return status;
  }

  Program& program_;
  const ProgramKernels& kernels_;
  int64_t most_bytes_ = 0, most_sizes_ = 0;
  Loc loc_;
};

/// Looks at accesses with the loops around them.
class BoundsChecker {
 public:
  explicit BoundsChecker(const kernel::Kernel& kernel)
      : kernel_(kernel), extents_(static_cast<size_t>(kernel.loop_count), 1) {}

  bool Check(const kernel::Region& region) {
    return llvm::all_of(region.stmts, [&](const kernel::Stmt& stmt) {
      if (const auto* load = std::get_if<kernel::LoadStmt>(&stmt))
        return IsInside(load->buffer, load->address);
      if (const auto* store = std::get_if<kernel::StoreStmt>(&stmt))
        return IsInside(store->buffer, store->address);
      if (const auto* atomic = std::get_if<kernel::AtomicStmt>(&stmt))
        return IsInside(atomic->buffer, atomic->address);
      if (const auto* loop = std::get_if<kernel::LoopStmt>(&stmt)) {
        Enter(loop->loop);
        return Check(*loop->body);
      }
      if (const auto* reduce = std::get_if<kernel::ReduceStmt>(&stmt)) {
        for (const kernel::Dimension& loop : reduce->loops) Enter(loop);
        return Check(*reduce->body) && Check(*reduce->combiner);
      }
      return true;
    });
  }

 private:
  void Enter(const kernel::Dimension& loop) { extents_[static_cast<size_t>(loop.id)] = loop.extent; }

  bool IsInside(kernel::BufferId buffer, const kernel::Address& address) {
    if (!address.values.empty()) return false;
    // Products of numbers of the text may be too large for 64 bits.
    __int128 least = address.offset, most = address.offset;
    for (const auto& [loop, factor] : address.loops) {
      const __int128 last = static_cast<__int128>(factor) * (extents_[static_cast<size_t>(loop)] - 1);
      (factor < 0 ? least : most) += last;
    }
    return least >= 0 && most < kernel_.buffers[static_cast<size_t>(buffer)].count;
  }

  const kernel::Kernel& kernel_;
  std::vector<int64_t> extents_;
};

}  // namespace

Status CheckProgram(Program& program, const ProgramKernels& kernels) {
  return Checker(program, kernels).Run();
}

bool KeepsToArrays(const kernel::Kernel& kernel) { return BoundsChecker(kernel).Check(kernel.body); }

}  // namespace hlo::compile
