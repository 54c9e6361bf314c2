#include "backends/gpu/runtime/gradient_calls.h"

#include "backends/gpu/libraries/attention_text.h"
#include "backends/gpu/runtime/attention_calls.h"
#include "ir/by_op_kind.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/frontend_attributes.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::gpu {
namespace {

using Made = GradientsOfAttention::Made;

/// Instructions from a product of scores to their powers, and those of a computation that is called for one
/// of them, at most.
constexpr size_t kMostSteps = 24, kMostInlined = 16;

/// Whether powers are made of what a product makes.
bool MakesPowers(const Instruction& dot) {
  llvm::SmallSetVector<const Instruction*, kMostSteps> seen;
  seen.insert(&dot);
  for (size_t i = 0; i < seen.size() && seen.size() < kMostSteps; ++i) {
    if (seen[i]->kind() == OpKind::Exp) return true;
    seen.insert(seen[i]->users().begin(), seen[i]->users().end());
  }
  return llvm::any_of(seen, [](const Instruction* inst) { return inst->kind() == OpKind::Exp; });
}

/// Of what the text has functions for: masks, and what they leave.
bool MayBeInlined(const Computation& callee) {
  static constexpr ByOpKind<bool> kSmall({{OpKind::Parameter, true},
                                          {OpKind::Constant, true},
                                          {OpKind::Iota, true},
                                          {OpKind::Broadcast, true},
                                          {OpKind::Reshape, true},
                                          {OpKind::Transpose, true},
                                          {OpKind::Tuple, true}});
  const std::vector<Instruction*> all = callee.PostOrder();
  return all.size() <= kMostInlined && llvm::all_of(all, [](const Instruction* inst) {
           return kSmall[inst->kind()] || inst->info().Is(kElementwise);
         });
}

/// Calls of small functions become what these do.
void InlineSmallCalls(Computation& computation) {
  for (Instruction* call : computation.InstructionsOf(OpKind::Call)) {
    if (FrontendValue(*call, "inlineable") == "false" || !MayBeInlined(*call->callee())) continue;
    Instruction* const made = InlineCall(call);
    if (made->kind() != OpKind::Tuple) continue;
    const llvm::SmallVector<Instruction*, 4> users(made->users().begin(), made->users().end());
    for (Instruction* user : users)
      if (user->kind() == OpKind::GetTupleElement)
        ReplaceAndRemove(user, made->operand(user->attr<GetTupleElementAttrs>().index));
  }
}

/// What is called: copies of what makes some values, down to arrays that are its operands.
class BodyMaker {
 public:
  BodyMaker(Instruction* at, llvm::StringRef name, llvm::ArrayRef<const Instruction*> arrays)
      : body_(*NewComputation(*at->module(), name)), make_(body_), arrays_(arrays.begin(), arrays.end()) {
    body_.set_execution_thread(at->parent()->execution_thread());
  }
  Maker& make() { return make_; }
  /// Elements row by row.
  Instruction* Operand(Instruction* value) {
    operands_.push_back(value);
    return make_.Parameter(static_cast<int64_t>(operands_.size()) - 1, value->shape().WithDefaultLayouts());
  }
  /// Its number.
  int64_t Add(Instruction* value) {
    Operand(value);
    return static_cast<int64_t>(operands_.size()) - 1;
  }
  /// The number of an array among the operands.
  int64_t NumberOf(const Instruction* array) {
    CopyOf(array);
    return llvm::find(operands_, array) - operands_.begin();
  }
  Instruction* CopyOf(const Instruction* value) {
    std::vector<const Instruction*> work = {value};
    while (!work.empty()) {
      const Instruction* const at = work.back();
      const size_t open = work.size();
      if (!copies_.contains(at) && !IsOperand(*at))
        for (const Instruction* operand : at->operands())
          if (!copies_.contains(operand)) work.push_back(operand);
      if (work.size() > open) continue;
      work.pop_back();
      if (copies_.contains(at)) continue;
      copies_[at] = IsOperand(*at) ? Operand(const_cast<Instruction*>(at)) : Copy(*at);
    }
    return copies_.lookup(value);
  }
  /// As an array of the type has it.
  Instruction* ArrayOf(const Made& made, ElementType type) {
    Instruction* const copy = make_.Convert(CopyOf(made.product), type);
    return llvm::is_sorted(made.order) ? copy : make_.Transpose(copy, made.order);
  }
  /// The call, with the operands so far.
  Instruction* Call(Instruction* at, llvm::ArrayRef<Instruction*> results, const std::string& text) {
    body_.set_root(make_.Tuple(results));
    Maker make(at);
    llvm::SmallVector<Instruction*, 8> operands;
    for (Instruction* operand : operands_) {
      const Shape shape = operand->shape().WithDefaultLayouts();
      const bool lies = operand->shape() == shape;
      operands.push_back(lies ? operand : make.AddWithShape(OpKind::Copy, shape, {operand}));
    }
    Instruction* const call =
        make.AddWithShape(OpKind::Call, body_.root()->shape(), operands, CallAttrs(), {&body_}, body_.name());
    MarkAttention(call, text);
    return call;
  }

 private:
  /// Others are made where they are.
  [[nodiscard]] bool IsOperand(const Instruction& inst) const {
    static constexpr ByOpKind<bool> kCopied({{OpKind::Constant, true},
                                             {OpKind::Iota, true},
                                             {OpKind::Broadcast, true},
                                             {OpKind::Reshape, true},
                                             {OpKind::Transpose, true},
                                             {OpKind::Bitcast, true},
                                             {OpKind::Slice, true},
                                             {OpKind::Reduce, true},
                                             {OpKind::Dot, true}});
    return arrays_.contains(&inst) || (!kCopied[inst.kind()] && !inst.info().Is(kElementwise));
  }
  Instruction* Copy(const Instruction& inst) {
    llvm::SmallVector<Instruction*, 3> operands;
    for (const Instruction* operand : inst.operands()) operands.push_back(copies_.lookup(operand));
    Instruction* const copy = CloneWith(inst, body_, operands);
    copy->set_shape(copy->shape().WithDefaultLayouts());
    return copy;
  }

  Computation& body_;
  Maker make_;
  llvm::DenseSet<const Instruction*> arrays_;
  llvm::SmallVector<Instruction*, 8> operands_;
  llvm::DenseMap<const Instruction*, Instruction*> copies_;
};

/// The views of an attention with the numbers of operands instead of those of arrays.
void Number(LibraryAttention& attention, BodyMaker& body, llvm::ArrayRef<const Instruction*> arrays) {
  for (View* view : {&attention.queries, &attention.keys, &attention.values, &attention.bias})
    if (view->array >= 0) view->array = body.NumberOf(arrays[static_cast<size_t>(view->array)]);
}

/// Log(sum) + max of each row.
Instruction* Statistics(const GradientsOfAttention& found, BodyMaker& body) {
  Maker& make = body.make();
  Instruction* const sums = make.Convert(body.CopyOf(found.sums), ElementType::F32);
  Instruction* const maxima =
      make.Reshape(make.Convert(body.CopyOf(found.maxima), ElementType::F32), sums->shape().dims());
  return make.Transpose(make.Binary(OpKind::Add, maxima, make.Unary(OpKind::Log, sums)), found.rows);
}

/// An array that a call has made takes the place of a product.
void Replace(const Made& made, Instruction* call, int64_t number, std::vector<Instruction*>& replaced) {
  auto* const product = const_cast<Instruction*>(made.product);
  Maker make(product);
  Dims back(made.order.size());
  for (size_t d = 0; d < back.size(); ++d) back[static_cast<size_t>(made.order[d])] = static_cast<int64_t>(d);
  Instruction* const turned = make.Transpose(make.Gte(call, number), back);
  Instruction* const value = make.Convert(turned, product->shape().element_type());
  ReplaceWith(product, value);
  replaced.push_back(product);
}

void Call(GradientsOfAttention found, std::vector<Instruction*>& replaced) {
  const ElementType type = found.attention.queries.type;
  auto* const result = const_cast<Instruction*>(found.result.product);
  BodyMaker forward(result, "attention", found.arrays);
  Number(found.attention, forward, found.arrays);
  Instruction* const array = forward.ArrayOf(found.result, type);
  Instruction* const attention =
      forward.Call(result, {array, Statistics(found, forward)}, ToText(found.attention));

  auto* const queries = const_cast<Instruction*>(found.queries.product);
  BodyMaker backward(queries, "attention_gradients", found.arrays);
  LibraryAttentionGradient& gradient = found.gradient;
  Number(gradient.attention, backward, found.arrays);
  gradient.result.array = backward.NumberOf(found.arrays[static_cast<size_t>(gradient.result.array)]);
  llvm::SmallVector<Instruction*, 3> results;
  for (const Made* made : {&found.queries, &found.keys, &found.values})
    results.push_back(backward.ArrayOf(*made, type));
  Maker make(queries);
  gradient.attention.result.array = backward.Add(make.Gte(attention, 0));
  gradient.attention.statistics.array = backward.Add(make.Gte(attention, 1));
  Instruction* const gradients = backward.Call(queries, results, ToText(gradient));

  Replace(found.result, attention, 0, replaced);
  Replace(found.queries, gradients, 0, replaced);
  Replace(found.keys, gradients, 1, replaced);
  Replace(found.values, gradients, 2, replaced);
}

}  // namespace

void CallGradients(Module& module) {
  std::vector<Computation*> computations;
  for (const auto& computation : module.computations())
    if (RunsOnWholeValues(*computation) && !computation->has_schedule() &&
        !computation->InstructionsOf(OpKind::Exp).empty() &&
        !computation->InstructionsOf(OpKind::Dot).empty())
      computations.push_back(computation.get());
  std::vector<Instruction*> replaced;
  for (Computation* computation : computations) {
    InlineSmallCalls(*computation);
    for (const Instruction* dot : computation->InstructionsOf(OpKind::Dot))
      if (MakesPowers(*dot))
        if (auto found = GradientsFrom(*dot)) Call(std::move(*found), replaced);
  }
  llvm::DenseSet<const Instruction*> gone;
  for (Instruction* product : replaced)
    if (!gone.contains(product)) RemoveIfDead(product, [&](Instruction* inst) { gone.insert(inst); });
}

}  // namespace hlo::gpu
