#include "backends/gpu/libraries/gradient_reader.h"

#include <cmath>

#include "ir/by_op_kind.h"
#include "passes/analysis/reducers.h"
#include "passes/analysis/value_facts.h"

namespace hlo::gpu {
namespace {

constexpr SoftmaxTerm kPower{.powers = 1}, kSum{.sums = 1}, kWeight{.powers = 1, .sums = -1};

/// Two sums of terms as one.
SoftmaxTerms Together(llvm::ArrayRef<SoftmaxTerm> a, llvm::ArrayRef<SoftmaxTerm> b, double sign) {
  SoftmaxTerms all(a);
  for (const SoftmaxTerm& term : b) {
    SoftmaxTerm added = term;
    added.factor *= sign;
    auto* const like = llvm::find_if(all, [&](const SoftmaxTerm& t) { return t.IsLike(term); });
    if (like == all.end())
      all.push_back(added);
    else
      like->factor += added.factor;
  }
  llvm::erase_if(all, [](const SoftmaxTerm& term) { return term.factor == 0; });
  return all;
}
SoftmaxTerm operator*(const SoftmaxTerm& a, const SoftmaxTerm& b) {
  return {a.factor * b.factor, a.powers + b.powers, a.sums + b.sums, a.gradient + b.gradient,
          a.gradient_sums + b.gradient_sums};
}

}  // namespace

Result<GradientsOfAttention> GradientReader::Read(const Instruction& scores) {
  scores_ = &scores;
  HLO_CHECK_OK(Start(scores));
  bool behind = false;
  for (const Instruction* inst : scores.parent()->PostOrder()) {
    if (behind && llvm::any_of(inst->operands(), [&](const Instruction* o) { return IsKnown(*o); }))
      Take(*inst);
    if (reader_ != nullptr && !why_.empty()) return Decline(reader_->loc(), "{0}", why_);
    if (reader_ != nullptr)
      return Decline(reader_->loc(), "%{0} ({1}) is no part of an attention or its gradients",
                     reader_->name(), reader_->info().text);
    behind |= inst == &scores;
  }
  return Finish();
}

void GradientReader::Take(const Instruction& inst) {
  if (IsAtMaxima(inst)) {
    at_maxima_.insert(&inst);
    return;
  }
  if (llvm::any_of(inst.operands(), [&](const Instruction* o) { return featured_.contains(o); })) {
    if (!TakeFeatured(inst)) reader_ = &inst;
    return;
  }
  if (inst.kind() == OpKind::Dot) {
    if (!Product(inst)) reader_ = &inst;
    return;
  }
  const bool all = llvm::all_of(inst.operands(), [&](const Instruction* o) { return !values_.contains(o); });
  if (const Rule rule = RuleOf(inst); all && rule != nullptr)
    if (auto known = (this->*rule)(inst)) {
      if (known->role == Role::Maxima && made_of_.maxima == nullptr) made_of_.maxima = &inst;
      if (known->role == Role::Sums && made_of_.sums == nullptr) made_of_.sums = &inst;
      if (known->role == Role::Powers && powers_ == nullptr) powers_ = &inst;
      if (known->role == Role::Weights && weights_ == nullptr) weights_ = &inst;
      if (inst.kind() == OpKind::Select) AddMask(inst);
      known_[&inst] = std::move(*known);
      return;
    }
  const ValueRule rule = ValueRuleOf(inst);
  if (auto value = rule == nullptr ? std::nullopt : (this->*rule)(inst))
    values_[&inst] = std::move(*value);
  else if (!MakeFeatured(inst))
    reader_ = &inst;
}

GradientReader::ValueRule GradientReader::ValueRuleOf(const Instruction& inst) {
  static constexpr ByOpKind<ValueRule> kRules({{OpKind::Transpose, &GradientReader::See},
                                               {OpKind::Reshape, &GradientReader::See},
                                               {OpKind::Bitcast, &GradientReader::See},
                                               {OpKind::Broadcast, &GradientReader::See},
                                               {OpKind::Convert, &GradientReader::Convert},
                                               {OpKind::Multiply, &GradientReader::Multiply},
                                               {OpKind::Divide, &GradientReader::Divide},
                                               {OpKind::Add, &GradientReader::Add},
                                               {OpKind::Subtract, &GradientReader::Subtract},
                                               {OpKind::Negate, &GradientReader::Negate},
                                               {OpKind::Select, &GradientReader::Select},
                                               {OpKind::Reduce, &GradientReader::Reduce}});
  return kRules[inst.kind()];
}

std::optional<GradientReader::Value> GradientReader::ValueOf(const Instruction& inst) const {
  if (const auto it = values_.find(&inst); it != values_.end()) return it->second;
  const Known* const known = Find(&inst);
  if (known == nullptr || known->version != version_) return std::nullopt;
  static constexpr std::pair<Role, SoftmaxTerm> kTerms[] = {
      {Role::Powers, kPower}, {Role::Sums, kSum}, {Role::Weights, kWeight}};
  for (const auto& [role, term] : kTerms)
    if (known->role == role) return Value{{term}, known->view};
  return std::nullopt;
}

std::optional<GradientReader::Value> GradientReader::See(const Instruction& inst) {
  auto value = ValueOf(*inst.operand(0));
  const auto view = value ? ViewBehind(inst, value->view) : std::nullopt;
  if (!view) return std::nullopt;
  value->view = *view;
  return value;
}

std::optional<GradientReader::Value> GradientReader::Convert(const Instruction& inst) {
  constexpr ElementType kRounded[] = {ElementType::F16, ElementType::BF16, ElementType::F32};
  if (!llvm::is_contained(kRounded, inst.shape().element_type())) return std::nullopt;
  return ValueOf(*inst.operand(0));
}

std::optional<GradientReader::Value> GradientReader::Side(const Instruction& inst, const Value& other) {
  if (const Instruction* const splat = SplatConstant(inst)) {
    const double number = LiteralValue(*splat->attr<ConstantAttrs>().literal, 0);
    if (!std::isfinite(number)) return std::nullopt;
    return Value{{SoftmaxTerm{.factor = number}}, other.view};
  }
  return Gradient(inst, other.view);
}

std::optional<std::pair<GradientReader::Value, GradientReader::Value>> GradientReader::Both(
    const Instruction& inst) {
  auto a = ValueOf(*inst.operand(0)), b = ValueOf(*inst.operand(1));
  if (!a && b) a = Side(*inst.operand(0), *b);
  if (!b && a) b = Side(*inst.operand(1), *a);
  if (!a || !b) return std::nullopt;
  return std::pair(std::move(*a), std::move(*b));
}

/// Where one of both has no stride it is the same for all keys.
std::optional<View> GradientReader::Joined(const View& a, const View& b) const {
  View joined = a;
  for (auto [dim, other] : llvm::zip(joined.dims, b.dims)) {
    if (dim.size == 1 || dim.stride == other.stride) continue;
    const int64_t stride = std::max(dim.stride, other.stride);
    if (std::min(dim.stride, other.stride) != 0 || stride < found_.keys.first || stride >= found_.keys.second)
      return std::nullopt;
    dim.stride = stride;
  }
  return joined;
}

std::optional<GradientReader::Value> GradientReader::Multiply(const Instruction& inst) {
  if (auto zero = Zero(inst)) return zero;
  const auto both = Both(inst);
  const auto view = both ? Joined(both->first.view, both->second.view) : std::nullopt;
  if (!view) return std::nullopt;
  Value made{{}, *view, both->first.masks | both->second.masks};
  for (const SoftmaxTerm& a : both->first.terms)
    for (const SoftmaxTerm& b : both->second.terms) made.terms = Together(made.terms, {a * b}, 1);
  return made;
}

std::optional<GradientReader::Value> GradientReader::Divide(const Instruction& inst) {
  if (auto zero = Zero(inst)) return zero;
  auto both = Both(inst);
  const auto view = both ? Joined(both->first.view, both->second.view) : std::nullopt;
  if (!view || both->second.terms.size() != 1) return std::nullopt;
  const SoftmaxTerm by = both->second.terms.front();
  if (by.powers != 0 || by.gradient != 0 || by.gradient_sums != 0 || by.factor == 0) return std::nullopt;
  for (SoftmaxTerm& term : both->first.terms)
    term = term * SoftmaxTerm{.factor = 1 / by.factor, .sums = -by.sums};
  return Value{both->first.terms, *view, both->first.masks};
}

std::optional<GradientReader::Value> GradientReader::Add(const Instruction& inst) {
  const auto both = Both(inst);
  const auto view = both ? Joined(both->first.view, both->second.view) : std::nullopt;
  if (!view) return std::nullopt;
  const auto& [a, b] = *both;
  return Value{Together(a.terms, b.terms, inst.kind() == OpKind::Subtract ? -1 : 1), *view,
               a.masks & b.masks};
}
std::optional<GradientReader::Value> GradientReader::Subtract(const Instruction& inst) { return Add(inst); }

std::optional<GradientReader::Value> GradientReader::Negate(const Instruction& inst) {
  auto value = ValueOf(*inst.operand(0));
  if (!value) return std::nullopt;
  for (SoftmaxTerm& term : value->terms) term.factor = -term.factor;
  return value;
}

std::optional<GradientReader::Value> GradientReader::Reduce(const Instruction& inst) {
  if (!IsPlainReduction(inst) || PlainReductionOp(inst) != OpKind::Add ||
      !IsIdentityOf(OpKind::Add, *inst.operand(1)))
    return std::nullopt;
  auto value = ValueOf(*inst.operand(0));
  if (!value) return std::nullopt;
  llvm::SmallVector<ViewDim, 4> reduced;
  Value made{value->terms, value->view, value->masks};
  made.view.dims.clear();
  const Dims dims = ReducedDims(inst);
  for (size_t d = 0; d < value->view.dims.size(); ++d)
    (llvm::is_contained(dims, static_cast<int64_t>(d)) ? reduced : made.view.dims)
        .push_back(value->view.dims[d]);
  if (llvm::all_of(reduced, [](const ViewDim& dim) { return dim.size == 1; })) return made;
  if (!AreKeys(reduced)) return std::nullopt;
  for (SoftmaxTerm& term : made.terms) {
    if (term.powers != 1 || term.gradient > 1) return std::nullopt;
    term = term * SoftmaxTerm{.powers = -1,
                              .sums = 1 - term.gradient,
                              .gradient = -term.gradient,
                              .gradient_sums = term.gradient};
  }
  made.terms = Together({}, made.terms, 1);
  return made;
}

}  // namespace hlo::gpu
