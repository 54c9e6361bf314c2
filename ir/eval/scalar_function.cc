// Compiling called computations to register programs, and running those.
#include "ir/eval/scalar_function.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ir/eval/strided_copy.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {
namespace {

/// Nested calls may multiply; beyond this the interpreter does the work.
constexpr size_t kMaxSteps = 4096;
constexpr int kMaxDepth = 64;

bool IsSingleElement(const Shape& shape) {
  return shape.IsArray() && shape.dynamic_flags().empty() && shape.ElementCount() == 1;
}

bool AllLeavesSingle(const Shape& shape) {
  if (!shape.IsTuple()) return IsSingleElement(shape);
  return llvm::all_of(shape.tuple_shapes(), AllLeavesSingle);
}

/// Ops that pass the elements of operand 0 on, if there is but one element.
bool IsCopy(const Instruction& inst) {
  const OpKind kind = inst.kind();
  if (kind == OpKind::Copy || kind == OpKind::OptimizationBarrier || kind == OpKind::Domain) return true;
  // Bitcasts and conversions to the same type.
  return (inst.info().Is(kRearranges) || kind == OpKind::Convert) && inst.shape().IsArray() &&
         inst.operand(0)->shape().IsArray() &&
         inst.shape().element_type() == inst.operand(0)->shape().element_type();
}

bool IsCall(OpKind kind) { return kind == OpKind::Call || kind == OpKind::Fusion || kind == OpKind::Map; }

void AppendTypes(const Shape& shape, std::vector<ElementType>& types) {
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { types.push_back(leaf.element_type()); });
}

}  // namespace

class ScalarCompiler {
 public:
  explicit ScalarCompiler(ScalarFunction& function) : f_(function) {}

  bool Compile(const Computation& computation) {
    Slots arguments;
    for (const Instruction* parameter : computation.parameters()) {
      if (parameter == nullptr || !AllLeavesSingle(parameter->shape())) return false;
      AppendTypes(parameter->shape(), f_.parameter_types_);
    }
    f_.slot_types_ = f_.parameter_types_;
    for (size_t i = 0; i < f_.parameter_types_.size(); ++i) arguments.push_back(static_cast<int>(i));
    const std::optional<Slots> result = Inline(computation, arguments, 0);
    if (!result) return false;
    f_.results_.assign(result->begin(), result->end());
    AppendTypes(computation.root()->shape(), f_.result_types_);
    if (f_.results_.size() != f_.result_types_.size()) return false;
    PlaceSlots();
    return true;
  }

 private:
  using Slots = llvm::SmallVector<int, 4>;

  /// Slots of the leaves of the result of `computation` on the given leaves.
  std::optional<Slots> Inline(const Computation& computation, llvm::ArrayRef<int> arguments, int depth) {
    if (depth > kMaxDepth || computation.root() == nullptr) return std::nullopt;
    const std::vector<Instruction*> order = computation.PostOrder();
    llvm::DenseSet<const Instruction*> live = {computation.root()};
    for (const Instruction* inst : llvm::reverse(order))
      if (live.contains(inst)) live.insert(inst->operands().begin(), inst->operands().end());
    llvm::DenseMap<const Instruction*, Slots> values;
    size_t next = 0;
    for (const Instruction* parameter : computation.parameters()) {
      const auto count = static_cast<size_t>(parameter->shape().LeafCount());
      if (next + count > arguments.size()) return std::nullopt;
      values[parameter].assign(arguments.begin() + next, arguments.begin() + next + count);
      next += count;
    }
    for (const Instruction* inst : order) {
      if (inst->kind() == OpKind::Parameter || !live.contains(inst)) continue;
      std::optional<Slots> slots = Add(*inst, values, depth);
      if (!slots || f_.steps_.size() > kMaxSteps) return std::nullopt;
      values[inst] = std::move(*slots);
    }
    return values[computation.root()];
  }

  std::optional<Slots> Add(const Instruction& inst, llvm::DenseMap<const Instruction*, Slots>& values,
                           int depth) {
    if (!AllLeavesSingle(inst.shape())) return std::nullopt;
    if (inst.kind() == OpKind::AddDependency || IsCopy(inst)) return values[inst.operand(0)];
    if (inst.kind() == OpKind::Constant) return AddConstant(inst);
    if (inst.kind() == OpKind::GetTupleElement) return Element(inst, values[inst.operand(0)]);
    Slots arguments;
    for (const Instruction* operand : inst.operands()) arguments.append(values[operand]);
    if (inst.kind() == OpKind::Tuple) return arguments;
    if (IsCall(inst.kind())) return Inline(*inst.callee(), arguments, depth + 1);
    return AddStep(inst, arguments);
  }

  static Slots Element(const Instruction& inst, llvm::ArrayRef<int> tuple) {
    const Shape& shape = inst.operand(0)->shape();
    const int64_t index = inst.attr<GetTupleElementAttrs>().index;
    int64_t begin = 0;
    for (int64_t i = 0; i < index; ++i) begin += shape.tuple_shape(i).LeafCount();
    const auto slice = tuple.slice(static_cast<size_t>(begin), static_cast<size_t>(inst.shape().LeafCount()));
    return Slots(slice.begin(), slice.end());
  }

  int NewSlot(ElementType type) {
    f_.slot_types_.push_back(type);
    return static_cast<int>(f_.slot_types_.size()) - 1;
  }

  std::optional<Slots> AddConstant(const Instruction& inst) {
    const LiteralPtr& literal = inst.attr<ConstantAttrs>().literal;
    if (literal == nullptr || !inst.shape().IsArray()) return std::nullopt;
    const Literal value = literal->Unpack();
    ScalarFunction::Constant constant{
        NewSlot(inst.shape().element_type()), static_cast<int>(value.byte_size()), {}};
    std::memcpy(constant.value.data(), value.data(), value.byte_size());
    f_.constants_.push_back(constant);
    return Slots{constant.slot};
  }

  std::optional<Slots> AddStep(const Instruction& inst, llvm::ArrayRef<int> arguments) {
    if (!inst.info().Is(kElementwise) && inst.kind() != OpKind::BitcastConvert) return std::nullopt;
    const std::optional<Kernel> kernel = FindKernel(inst);
    if (!kernel) return std::nullopt;
    ScalarFunction::Step step;
    step.kernel = *kernel;
    step.kind = inst.kind();
    llvm::copy(arguments, step.in.begin());
    step.out = NewSlot(inst.shape().element_type());
    f_.steps_.push_back(step);
    return Slots{step.out};
  }

  /// Places constants and temporaries in the scratch memory; a temporary's place is free again after
  /// its last use.
  void PlaceSlots() {
    const size_t count = f_.slot_types_.size();
    constexpr size_t kNever = SIZE_MAX;
    std::vector<size_t> last_use(count, 0);
    for (size_t s = 0; s < f_.steps_.size(); ++s)
      for (int k = 0; k < f_.steps_[s].kernel.operand_count(); ++k)
        last_use[static_cast<size_t>(f_.steps_[s].in[static_cast<size_t>(k)])] = s;
    for (int slot : f_.results_) last_use[static_cast<size_t>(slot)] = kNever;
    f_.slot_offset_.assign(count, -1);
    for (const ScalarFunction::Constant& c : f_.constants_) {
      f_.slot_offset_[static_cast<size_t>(c.slot)] = Allocate(c.width);
      last_use[static_cast<size_t>(c.slot)] = kNever;
    }
    std::map<int, llvm::SmallVector<int64_t>> free;
    for (size_t s = 0; s < f_.steps_.size(); ++s) {
      const ScalarFunction::Step& step = f_.steps_[s];
      const auto out = static_cast<size_t>(step.out);
      const int width = Info(f_.slot_types_[out]).host_bytes();
      auto& pool = free[width];
      f_.slot_offset_[out] = pool.empty() ? Allocate(width) : pool.pop_back_val();
      for (int k = 0; k < step.kernel.operand_count(); ++k) {
        const auto in = static_cast<size_t>(step.in[static_cast<size_t>(k)]);
        if (last_use[in] != s || in < f_.parameter_types_.size()) continue;
        last_use[in] = kNever;  // once, if it is two operands
        free[Info(f_.slot_types_[in]).host_bytes()].push_back(f_.slot_offset_[in]);
      }
    }
  }

  int64_t Allocate(int width) {
    const int64_t offset = f_.scratch_bytes_;
    f_.scratch_bytes_ += Kernel::kBlock * width;
    return offset;
  }

  ScalarFunction& f_;
};

std::shared_ptr<const ScalarFunction> ScalarFunction::Compile(const Computation& computation) {
  auto function = std::make_shared<ScalarFunction>();
  if (!ScalarCompiler(*function).Compile(computation)) return nullptr;
  return function;
}

std::optional<int> ScalarFunction::ResultParameter(int r) const {
  const int slot = results_[static_cast<size_t>(r)];
  if (slot < static_cast<int>(parameter_types_.size())) return slot;
  return std::nullopt;
}

std::optional<int> ScalarFunction::WidenedParameter(int slot) const {
  if (slot < static_cast<int>(parameter_types_.size())) return slot;
  for (const Step& step : steps_)
    if (step.out == slot && step.kind == OpKind::Convert &&
        step.in[0] < static_cast<int>(parameter_types_.size()))
      return step.in[0];
  return std::nullopt;
}

std::optional<ScalarFunction::BinaryOp> ScalarFunction::AsBinaryOp() const {
  if (parameter_types_.size() != 2 || results_.size() != 1 || steps_.empty()) return std::nullopt;
  const ElementType type = result_types_[0];
  if (parameter_types_[0] != type || parameter_types_[1] != type) return std::nullopt;
  const Step* op = &steps_.back();
  if (op->out != results_[0]) return std::nullopt;
  if (steps_.size() > 1) {
    // A narrow float computed in F32 between conversions is the op on the narrow type itself.
    if (steps_.size() != 4 || op->kind != OpKind::Convert || !IsFloat(type) || Info(type).bits > 16 ||
        type == ElementType::F8E8M0FNU)
      return std::nullopt;
    op = &steps_[2];
    if (steps_[3].in[0] != op->out || slot_types_[static_cast<size_t>(op->out)] != ElementType::F32)
      return std::nullopt;
  }
  if (op->kernel.operand_count() != 2 || op->kind == OpKind::StochasticConvert || op->kind == OpKind::Compare)
    return std::nullopt;
  const std::optional<int> lhs = WidenedParameter(op->in[0]), rhs = WidenedParameter(op->in[1]);
  if (!lhs || !rhs || *lhs == *rhs) return std::nullopt;
  return BinaryOp{op->kind, *lhs == 1 && !Info(op->kind).Is(kCommutative)};
}

ScalarRunner::ScalarRunner(const ScalarFunction& function)
    : function_(function),
      scratch_(new(std::align_val_t(64)) uint8_t[static_cast<size_t>(function.scratch_bytes_)]),
      slots_(function.slot_types_.size(), nullptr),
      uniform_(function.parameter_types_.size()) {
  for (size_t s = 0; s < slots_.size(); ++s)
    if (function.slot_offset_[s] >= 0) slots_[s] = scratch_.get() + function.slot_offset_[s];
}

void ScalarRunner::Run(llvm::ArrayRef<Argument> arguments, llvm::ArrayRef<void*> results, int64_t n) {
  const int64_t first = std::min(n, Kernel::kBlock);
  if (constants_filled_ < first) {
    for (const ScalarFunction::Constant& c : function_.constants_)
      FillElements(slots_[static_cast<size_t>(c.slot)], c.value.data(), c.width, first);
    constants_filled_ = first;
  }
  arguments_.assign(arguments.begin(), arguments.end());
  for (size_t k = 0; k < arguments_.size(); ++k) {
    if (!arguments_[k].uniform) continue;
    const int width = Info(function_.parameter_types_[k]).host_bytes();
    uniform_[k].resize_for_overwrite(static_cast<size_t>(width * Kernel::kBlock));
    FillElements(uniform_[k].data(), arguments_[k].data, width, first);
    arguments_[k].data = uniform_[k].data();
  }
  for (int64_t begin = 0; begin < n; begin += Kernel::kBlock)
    RunBlock(results, begin, std::min(Kernel::kBlock, n - begin));
}

void ScalarRunner::Run(llvm::ArrayRef<const void*> arguments, llvm::ArrayRef<void*> results, int64_t n) {
  llvm::SmallVector<Argument, 8> all;
  for (const void* data : arguments) all.push_back({data, false});
  Run(all, results, n);
}

void ScalarRunner::RunBlock(llvm::ArrayRef<void*> results, int64_t begin, int64_t n) {
  const ScalarFunction& f = function_;
  const auto slot = [&](int s) -> const void* {
    const auto i = static_cast<size_t>(s);
    if (i >= arguments_.size()) return slots_[i];
    const auto* data = static_cast<const uint8_t*>(arguments_[i].data);
    return arguments_[i].uniform ? data : data + begin * Info(f.slot_types_[i]).host_bytes();
  };
  const auto result = [&](size_t r) {
    return static_cast<uint8_t*>(results[r]) + begin * Info(f.result_types_[r]).host_bytes();
  };
  // The last step of a function with one result writes it in place.
  const bool direct = f.results_.size() == 1 && !f.steps_.empty() && f.steps_.back().out == f.results_[0];
  for (const ScalarFunction::Step& step : f.steps_) {
    const void* in[Kernel::kMaxOperands] = {};
    for (int k = 0; k < step.kernel.operand_count(); ++k) in[k] = slot(step.in[static_cast<size_t>(k)]);
    const bool last = &step == &f.steps_.back();
    step.kernel.Run(last && direct ? result(0) : slots_[static_cast<size_t>(step.out)], in, n);
  }
  if (direct) return;
  StoreResults(slot, result, n);
}

void ScalarRunner::StoreResults(llvm::function_ref<const void*(int)> slot,
                                llvm::function_ref<uint8_t*(size_t)> result, int64_t n) {
  const ScalarFunction& f = function_;
  // Results that are arguments come first, by way of a copy: their buffers may be exchanged.
  llvm::SmallVector<llvm::SmallVector<uint8_t, 64>, 2> moved(f.results_.size());
  const auto bytes = [&](size_t r) { return static_cast<size_t>(n * Info(f.result_types_[r]).host_bytes()); };
  for (size_t r = 0; r < f.results_.size(); ++r) {
    if (f.results_[r] >= static_cast<int>(arguments_.size())) continue;
    const auto* from = static_cast<const uint8_t*>(slot(f.results_[r]));
    if (from != result(r)) moved[r].assign(from, from + bytes(r));
  }
  for (size_t r = 0; r < f.results_.size(); ++r) {
    const bool is_argument = f.results_[r] < static_cast<int>(arguments_.size());
    const void* from = is_argument ? moved[r].data() : slot(f.results_[r]);
    if (is_argument ? !moved[r].empty() : bytes(r) != 0) std::memcpy(result(r), from, bytes(r));
  }
}

}  // namespace hlo
