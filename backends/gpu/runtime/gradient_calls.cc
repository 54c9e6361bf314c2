#include "backends/gpu/runtime/gradient_calls.h"

#include <cmath>
#include <numeric>

#include "backends/gpu/libraries/attention_text.h"
#include "backends/gpu/runtime/attention_bias.h"
#include "backends/gpu/runtime/attention_calls.h"
#include "backends/gpu/runtime/empty_rows.h"
#include "ir/by_op_kind.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/frontend_attributes.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass_manager.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::gpu {
namespace {

using Made = GradientsOfAttention::Made;

/// Instructions from a product of scores to their powers, at most.
constexpr size_t kMostSteps = 24;

/// Instructions that read others, and so on, without those that are behind one of a kind.
llvm::SmallSetVector<Instruction*, kMostSteps> ReadersUntil(OpKind kind, Instruction& from) {
  llvm::SmallSetVector<Instruction*, kMostSteps> seen;
  seen.insert(from.users().begin(), from.users().end());
  for (size_t i = 0; i < seen.size() && seen.size() < kMostSteps; ++i)
    if (seen[i]->kind() != kind) seen.insert(seen[i]->users().begin(), seen[i]->users().end());
  return seen;
}

/// Powers of what a product makes, or null.
Instruction* PowersOf(Instruction& dot) {
  for (Instruction* inst : ReadersUntil(OpKind::Exp, dot))
    if (inst->kind() == OpKind::Exp) return inst;
  return nullptr;
}

/// Kernels that read powers which are in other products than that of a result tell why nobody took them for
/// an attention with gradients.
void Explain(Instruction* powers, const Diagnostic& why) {
  const auto readers = ReadersUntil(OpKind::Dot, *powers);
  if (llvm::count_if(readers, [](const Instruction* inst) { return inst->kind() == OpKind::Dot; }) < 2)
    return;
  Module& module = *powers->module();
  powers->MutableExtras().frontend_attributes.push_back(
      {module.Save(kWhyNoGradients), module.Save("gradients of attention: " + why.message)});
}

/// Functions that the text has for masks, or for a layer, become what they do, and masks that a loop is given
/// are made in it.
constexpr llvm::StringLiteral kBefore = "@gpu-attention";

/// Numbers that the text converts become those of the other type.
void ConvertNumbers(Computation& computation) {
  constexpr double kMost = 0x1p53;  // those that are exact on the way
  for (Instruction* convert : computation.InstructionsOf(OpKind::Convert)) {
    const Instruction& from = *convert->operand(0);
    const TypeClass kind = Info(from.shape().element_type()).type_class;
    const ElementType type = convert->shape().element_type();
    if (from.kind() != OpKind::Constant || from.shape().rank() > 0 ||
        Info(type).type_class != TypeClass::Float ||
        (kind != TypeClass::Float && kind != TypeClass::Signed && kind != TypeClass::Unsigned))
      continue;
    const double number = LiteralValue(*from.attr<ConstantAttrs>().literal, 0);
    if (kind == TypeClass::Float || std::abs(number) < kMost)
      ReplaceAndRemove(convert, Maker(convert).Scalar(type, number));
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
  /// What is called reads it instead of an array.
  int64_t AddInsteadOf(const Instruction* array, Instruction* value) {
    copies_[array] = Operand(value);
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
  /// A copy of a product as an array of the type has it.
  Instruction* ArrayOf(const Made& made, Instruction* product, ElementType type) {
    Instruction* const copy = make_.Convert(product, type);
    return llvm::is_sorted(made.order) ? copy : make_.Transpose(copy, made.order);
  }
  /// The call, with the operands so far, of one result or a tuple of several.
  Instruction* Call(Instruction* at, llvm::ArrayRef<Instruction*> results, const std::string& text) {
    body_.set_root(results.size() == 1 ? results.front() : make_.Tuple(results));
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

/// The views of an attention with the numbers of operands instead of those of arrays. A bias that is made is
/// for the library alone; null: there is none.
void Number(LibraryAttention& attention, BodyMaker& body, llvm::ArrayRef<const Instruction*> arrays,
            Instruction* bias) {
  for (View* view : {&attention.queries, &attention.keys, &attention.values, &attention.bias})
    if (view->array >= 0) view->array = body.NumberOf(arrays[static_cast<size_t>(view->array)]);
  if (bias != nullptr) attention.bias.array = body.Add(bias);
}

/// A value of each row in f32, without dimensions of one element, in another order.
Instruction* Rows(BodyMaker& body, const Instruction& value, const Dims& order) {
  Dims sizes(value.shape().dims());
  llvm::erase(sizes, 1);
  Maker& make = body.make();
  Instruction* const copy = make.Convert(body.CopyOf(&value), ElementType::F32);
  return make.Transpose(make.Reshape(copy, sizes), order);
}

/// Log(sum) + max of each row.
Instruction* Statistics(const GradientsOfAttention& found, BodyMaker& body) {
  Maker& make = body.make();
  Dims same(found.rows.size());
  std::iota(same.begin(), same.end(), 0);
  Instruction* const maxima = Rows(body, *found.maxima, found.maxima_order);
  Instruction* const logs = make.Unary(OpKind::Log, Rows(body, *found.sums, same));
  return make.Transpose(make.Binary(OpKind::Add, maxima, logs), found.rows);
}

/// The result of which no product is known.
Instruction* Weigh(const GradientsOfAttention& found, BodyMaker& body) {
  const auto& [weights, values, attrs, sums_along] = found.weighing;
  Maker& make = body.make();
  Instruction* made = make.Convert(body.CopyOf(weights), ElementType::F32);
  if (!sums_along.empty()) {
    Dims same(sums_along.size());
    std::iota(same.begin(), same.end(), 0);
    Instruction* const sums = make.Broadcast(Rows(body, *found.sums, same), made->shape(), sums_along);
    made = make.Binary(OpKind::Divide, made, sums);
  }
  const ElementType type = found.attention.queries.type;
  return make.Dot(make.Convert(made, type), body.CopyOf(values), attrs, type);
}

/// An array that a call has made takes the place of a product.
void Replace(const Made& made, Instruction* array, std::vector<Instruction*>& replaced) {
  auto* const product = const_cast<Instruction*>(made.product);
  Maker make(product);
  Dims back(made.order.size());
  for (size_t d = 0; d < back.size(); ++d) back[static_cast<size_t>(made.order[d])] = static_cast<int64_t>(d);
  Instruction* const turned = make.Transpose(array, back);
  Instruction* const value = make.Convert(turned, product->shape().element_type());
  ReplaceWith(product, value);
  replaced.push_back(product);
}

/// The array of a result, or of a gradient; nobody reads one that there is not, which is zeros.
Instruction* ArrayIn(BodyMaker& body, const Made& made, ElementType type) {
  if (made.product != nullptr) return body.ArrayOf(made, body.CopyOf(made.product), type);
  return body.make().Full(Shape::ArrayWithDefaultLayout(type, made.sizes), 0);
}

/// Gradients of an attention whose result and statistics a call makes.
void CallGradient(GradientsOfAttention& found, Instruction* attention, Instruction* bias,
                  std::vector<Instruction*>& replaced) {
  const Made* const all[] = {&found.queries, &found.keys, &found.values};
  const auto* const first = llvm::find_if(all, [](const Made* made) { return made->product != nullptr; });
  auto* const at = const_cast<Instruction*>((*first)->product);
  BodyMaker backward(at, "attention_gradients", found.arrays);
  LibraryAttentionGradient& gradient = *found.gradient;
  const Instruction* const of_result = found.arrays[static_cast<size_t>(gradient.result.array)];
  EmptyRowsApart apart;
  if (found.empty_rows) {
    apart = PutApart(*found.empty_rows, bias, const_cast<Instruction*>(of_result));
    gradient.result.array = backward.AddInsteadOf(of_result, apart.result);
  } else {
    gradient.result.array = backward.NumberOf(of_result);
  }
  Number(gradient.attention, backward, found.arrays, bias);
  llvm::SmallVector<Instruction*, 3> results;
  for (const Made* made : all) results.push_back(ArrayIn(backward, *made, found.attention.queries.type));
  Maker make(at);
  gradient.attention.result.array = backward.Add(make.Gte(attention, 0));
  gradient.attention.statistics.array = backward.Add(make.Gte(attention, 1));
  Instruction* const gradients = backward.Call(at, results, ToText(gradient));
  for (size_t i = 0; i < std::size(all); ++i) {
    if (all[i]->product == nullptr) continue;
    Instruction* array = make.Gte(gradients, static_cast<int64_t>(i));
    if (all[i] == &found.values && apart.values != nullptr)
      array = AddApart(*found.empty_rows, array, apart.values);
    Replace(*all[i], array, replaced);
  }
}

void Call(GradientsOfAttention found, std::vector<Instruction*>& replaced) {
  const ElementType type = found.attention.queries.type;
  const bool is_made = found.result.product != nullptr;
  auto* const at = const_cast<Instruction*>(is_made ? found.result.product : found.weighing.weights);
  BodyMaker forward(at, "attention", found.arrays);
  Instruction* const bias = found.bias ? MakeBias(*found.bias, at) : nullptr;
  Number(found.attention, forward, found.arrays, bias);
  Instruction* const result = is_made ? forward.CopyOf(found.result.product) : Weigh(found, forward);
  llvm::SmallVector<Instruction*, 2> results = {forward.ArrayOf(found.result, result, type)};
  if (found.gradient) results.push_back(Statistics(found, forward));
  Instruction* const attention = forward.Call(at, results, ToText(found.attention));
  if (found.gradient) CallGradient(found, attention, bias, replaced);
  if (is_made) Replace(found.result, found.gradient ? Maker(at).Gte(attention, 0) : attention, replaced);
}

}  // namespace

Status CallGradients(Module& module) {
  if (module.config.is_scheduled) return {};
  RewriteControls controls;
  PassManager manager(controls, {});
  HLO_TRY(const auto pipeline, ParsePipeline(kBefore));
  HLO_TRY([[maybe_unused]] const bool changed, manager.Run(module, pipeline));
  std::vector<Computation*> computations;
  for (const auto& computation : module.computations())
    if (RunsOnWholeValues(*computation) && !computation->InstructionsOf(OpKind::Exp).empty() &&
        !computation->InstructionsOf(OpKind::Dot).empty())
      computations.push_back(computation.get());
  std::vector<Instruction*> replaced;
  for (Computation* computation : computations) {
    ConvertNumbers(*computation);
    for (Instruction* dot : computation->InstructionsOf(OpKind::Dot)) {
      Instruction* const powers = PowersOf(*dot);
      if (powers == nullptr) continue;
      if (auto found = GradientsFrom(*dot))
        Call(std::move(*found), replaced);
      else
        Explain(powers, found.error());
    }
  }
  llvm::DenseSet<const Instruction*> gone;
  for (Instruction* product : replaced)
    if (!gone.contains(product)) RemoveIfDead(product, [&](Instruction* inst) { gone.insert(inst); });
  return {};
}

}  // namespace hlo::gpu
