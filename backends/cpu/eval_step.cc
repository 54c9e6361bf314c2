#include "backends/cpu/eval_step.h"

#include <cstring>

#include "ir/eval/custom_call.h"
#include "ir/op.h"

namespace hlo::cpu {
namespace {

/// Nobody frees borrowed bytes; a count of one makes them writable.
std::shared_ptr<const void> Unowned(const void* data) {
  return {data, [](const void*) {}};
}

Literal BorrowLeaf(Frame& frame, const Leaf& leaf, bool writable) {
  if (!leaf.shape.IsArray()) return Literal::Make(leaf.shape);
  uint8_t* data = frame.At(leaf.slice);
  // Arrays without bytes may have sizes all the same.
  Literal literal = data == nullptr ? Literal::Make(leaf.shape)
                    : writable      ? Literal::Adopt(leaf.shape, data, Unowned(data))
                                    : Literal::Borrow(leaf.shape, data, Unowned(data));
  if (leaf.slice.sizes >= 0) {
    const Dims& sizes = frame.Sizes(leaf.slice);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (leaf.shape.is_dynamic(static_cast<int64_t>(d)))
        literal.SetDynamicSize(static_cast<int64_t>(d), sizes[d]);
  }
  return literal;
}

Literal Borrow(Frame& frame, const Shape& shape, const Leaf*& at, bool writable) {
  if (!shape.IsTuple()) return BorrowLeaf(frame, *at++, writable);
  std::vector<Literal> elements;
  elements.reserve(static_cast<size_t>(shape.tuple_size()));
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Borrow(frame, element, at, writable));
  return Literal::MakeTuple(std::move(elements));
}

void StoreLeaf(Frame& frame, const Leaf& leaf, const Literal& literal) {
  if (!leaf.written || !leaf.shape.IsArray()) return;
  if (uint8_t* to = frame.At(leaf.slice); to != nullptr && to != literal.data())
    std::memmove(to, literal.data(), static_cast<size_t>(literal.byte_size()));
  if (leaf.slice.sizes < 0) return;
  Dims& sizes = frame.Sizes(leaf.slice);
  sizes.clear();
  if (literal.HasDynamicSizes())
    for (int64_t d = 0; d < leaf.shape.rank(); ++d) sizes.push_back(literal.DynamicSize(d));
}

void Store(Frame& frame, const Leaf*& at, const Literal& literal) {
  if (!literal.shape().IsTuple()) return StoreLeaf(frame, *at++, literal);
  for (const Literal& element : literal.elements()) Store(frame, at, element);
}

class EvalRunner final : public StepRunner {
 public:
  explicit EvalRunner(const Step& step)
      : inst_(*step.instruction),
        rule_(EvalRule(inst_.kind())),
        operands_(step.operands),
        result_(step.result),
        why_(step.why) {
    // What other devices or the host get to hold must not be bytes of this frame.
    const OpCategory category = inst_.info().category;
    owned_ = category == OpCategory::Communication || category == OpCategory::Async;
    for (const Value& operand : operands_) writable_.push_back(IsResult(operand));
    const bool overlaps = llvm::any_of(operands_, [&](const Value& operand) {
      return llvm::any_of(operand.leaves, [&](const Leaf& leaf) { return TouchesResult(leaf.slice); });
    });
    place_ = !overlaps && !owned_ && result_.leaves.size() == 1 && result_.shape.IsArray() &&
             result_.leaves[0].slice.buffer >= 0;
  }

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    HLO_CHECK_OK(frame.CheckInterrupt());
    llvm::SmallVector<Literal, 4> operands;
    for (size_t i = 0; i < operands_.size(); ++i) {
      operands.push_back(BorrowValue(frame, operands_[i], writable_[i]));
      if (owned_) operands.back() = operands.back().Copy();
    }
    Result<Literal> result = Evaluate(frame, operands);
    if (!result) {
      Diagnostic error = std::move(result).error();
      if (!error.loc.valid()) error.loc = inst_.loc();
      return Error(std::move(error));
    }
    StoreValue(frame, result_, *result);
    return {};
  }
  [[nodiscard]] std::string Explain() const override {
    if (inst_.kind() == OpKind::CustomCall) {
      const auto* target = FindCustomCallTarget(inst_.attr<CustomCallAttrs>().custom_call_target);
      if (target != nullptr && target->explain != nullptr) return target->explain(inst_);
    }
    return "general loops of the evaluator" + (why_.empty() ? "" : ": " + why_);
  }

 private:
  [[nodiscard]] bool TouchesResult(const Slice& slice) const {
    return llvm::any_of(result_.leaves, [&](const Leaf& leaf) { return leaf.slice.Overlaps(slice); });
  }
  /// All its bytes are bytes of the result: the plan lets the op work in place.
  [[nodiscard]] bool IsResult(const Value& operand) const {
    return llvm::all_of(operand.leaves, [&](const Leaf& leaf) {
      return llvm::any_of(result_.leaves, [&](const Leaf& out) {
        return out.written && out.slice.buffer >= 0 && out.slice == leaf.slice;
      });
    });
  }
  Result<Literal> Evaluate(Frame& frame, llvm::MutableArrayRef<Literal> operands) const {
    if (!place_) return rule_(frame.context(), inst_, operands);
    const ResultPlacement placement(result_.shape, frame.At(result_.leaves[0].slice));
    return rule_(frame.context(), inst_, operands);
  }

  const Instruction& inst_;
  EvalFn rule_;
  const std::vector<Value>& operands_;
  const Value& result_;
  llvm::SmallVector<bool, 4> writable_;
  bool owned_ = false;
  const std::string& why_;
  bool place_ = false;  // the evaluator makes the result where it belongs
};

}  // namespace

Literal BorrowValue(Frame& frame, const Value& value, bool writable) {
  const Leaf* at = value.leaves.begin();
  return Borrow(frame, value.shape, at, writable);
}

void StoreValue(Frame& frame, const Value& value, const Literal& literal) {
  const Leaf* at = value.leaves.begin();
  Store(frame, at, literal);
}

std::unique_ptr<StepRunner> LoadEvaluation(const Step& step) { return std::make_unique<EvalRunner>(step); }

}  // namespace hlo::cpu
