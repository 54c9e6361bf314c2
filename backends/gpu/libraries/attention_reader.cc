#include "backends/gpu/libraries/attention_reader.h"

#include <cmath>

#include "backends/gpu/libraries/epilogue.h"
#include "ir/by_op_kind.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/analysis/reducers.h"
#include "passes/analysis/value_facts.h"

namespace hlo::gpu {
namespace {

using A = AttentionArrays;

/// Steps that scores go through at most.
constexpr size_t kMostSteps = 16;

const Instruction* OnlyDot(const Instruction& kernel) {
  if (kernel.kind() != OpKind::Fusion) return nullptr;
  const std::vector<Instruction*> dots = kernel.callee()->InstructionsOf(OpKind::Dot);
  return dots.size() == 1 ? dots.front() : nullptr;
}

/// The dimensions of one side of a dot that are neither of the batch nor summed over.
Dims FreeDims(int64_t rank, const Dims& batch, const Dims& contracting) {
  Dims free;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d)) free.push_back(d);
  return free;
}

/// The only one of these dimensions that has several elements.
std::optional<ViewDim> OnlyDim(const View& view, const Dims& dims) {
  ViewDim only{1, 1};
  for (const int64_t d : dims) {
    const ViewDim& dim = view.dims[static_cast<size_t>(d)];
    if (dim.size == 1) continue;
    if (only.size > 1) return std::nullopt;
    only = dim;
  }
  return only;
}

int64_t SizeOf(llvm::ArrayRef<ViewDim> dims) {
  int64_t size = 1;
  for (const ViewDim& dim : dims) size *= dim.size;
  return size;
}

}  // namespace

AttentionReader::Rule AttentionReader::RuleOf(const Instruction& inst) {
  static constexpr ByOpKind<Rule> kRules({{OpKind::Transpose, &AttentionReader::See},
                                          {OpKind::Reshape, &AttentionReader::See},
                                          {OpKind::Bitcast, &AttentionReader::See},
                                          {OpKind::Broadcast, &AttentionReader::See},
                                          {OpKind::Convert, &AttentionReader::Convert},
                                          {OpKind::Multiply, &AttentionReader::Scale},
                                          {OpKind::Divide, &AttentionReader::Divide},
                                          {OpKind::Tanh, &AttentionReader::Cap},
                                          {OpKind::Maximum, &AttentionReader::Raise},
                                          {OpKind::Add, &AttentionReader::Add},
                                          {OpKind::Select, &AttentionReader::Select},
                                          {OpKind::Subtract, &AttentionReader::Subtract},
                                          {OpKind::Exp, &AttentionReader::Exponential},
                                          {OpKind::Reduce, &AttentionReader::Reduce}});
  return kRules[inst.kind()];
}

Result<AttentionArrays> AttentionReader::Read(const Instruction& kernel) {
  const Instruction* const dot = OnlyDot(kernel);
  if (dot == nullptr) return Decline(kernel.loc(), "there is no product in it");
  kernel_ = &kernel;
  HLO_CHECK_OK(Start(*dot));
  HLO_TRY(behind_, StepsBehind(kernel));
  for (const Instruction* step : behind_) HLO_CHECK_OK(Follow(*step));
  if (last_ == nullptr) return Decline(kernel.loc(), "its weights are in no product");
  return std::move(found_);
}

std::vector<const Instruction*> AttentionReader::Steps() const {
  std::vector<const Instruction*> steps(before_.rbegin(), before_.rend());
  steps.insert(steps.end(), behind_.begin(), behind_.end());
  return steps;
}

std::optional<View> AttentionReader::ArrayOf(const Instruction& value) {
  if (kernel_ != nullptr) {
    std::optional<View> view = ViewOf(value);
    if (view) Resolve(*view, *kernel_);
    return view;
  }
  llvm::SmallVector<const Instruction*, 4> chain = {&value};
  const auto is_array = [](const Shape& shape) { return shape.IsArray() && !shape.HasDynamicDimension(); };
  if (!is_array(value.shape())) return std::nullopt;
  while (chain.back()->operand_count() == 1 && is_array(chain.back()->operand(0)->shape()) &&
         ViewBehind(*chain.back(), ViewOfArray(-1, chain.back()->operand(0)->shape())))
    chain.push_back(chain.back()->operand(0));
  // Of as much as is seen evenly.
  for (; !chain.empty(); chain.pop_back()) {
    std::optional<View> view = ViewOfArray(-1, chain.back()->shape());
    for (const Instruction* step : llvm::drop_begin(llvm::reverse(chain)))
      if (view) view = ViewBehind(*step, *view);
    if (!view) continue;
    arrays_.insert(chain.back());
    view->array = llvm::find(arrays_, chain.back()) - arrays_.begin();
    return view;
  }
  return std::nullopt;
}

Status AttentionReader::Start(const Instruction& dot) {
  if (dot.shape().ElementCount() == 0) return Decline(dot.loc(), "there is nothing to do");
  const auto& attrs = dot.attr<DotAttrs>();
  const View scores = ViewOfArray(-1, dot.shape());
  known_[&dot] = {Role::Scores, scores};
  const std::pair<const Dims*, const Dims*> sides[] = {{&attrs.lhs_batch_dims, &attrs.lhs_contracting_dims},
                                                       {&attrs.rhs_batch_dims, &attrs.rhs_contracting_dims}};
  size_t place = attrs.lhs_batch_dims.size();  // of free dimensions among the scores'
  int64_t free_size[2] = {1, 1};
  for (size_t side = 0; side < 2; ++side) {
    std::optional<View> view = ArrayOf(*dot.operand(static_cast<int64_t>(side)));
    if (!view) return Decline(dot.loc(), "%{0} is made within the kernel", dot.operand(side)->name());
    const auto& [batch, contracting] = sides[side];
    const auto features = OnlyDim(*view, *contracting);
    if (!features) return Decline(dot.loc(), "its scores are sums over several dimensions");
    // Which of them are the queries shows later.
    found_.features[side] = {features->size, features->stride};
    const auto along = [&](int64_t d, const ViewDim& scores_dim) {
      found_.along[side].push_back(
          {scores_dim.size, scores_dim.stride, view->dims[static_cast<size_t>(d)].stride});
    };
    for (size_t b = 0; b < batch->size(); ++b) along((*batch)[b], scores.dims[b]);
    for (const int64_t d : FreeDims(static_cast<int64_t>(view->dims.size()), *batch, *contracting)) {
      free_size[side] *= scores.dims[place].size;
      along(d, scores.dims[place++]);
    }
    found_.views[side] = std::move(*view);
  }
  found_.sections = {1, free_size[1], free_size[1] * free_size[0], dot.shape().ElementCount()};
  return {};
}

Result<std::vector<const Instruction*>> AttentionReader::StepsBehind(const Instruction& kernel) const {
  llvm::SmallSetVector<const Instruction*, kMostSteps> all;
  all.insert(&kernel);
  const auto source = [](const Instruction* value) {
    while (value->kind() == OpKind::Bitcast) value = value->operand(0);
    return value;
  };
  const auto weighs = [&](const Instruction* step) {
    return step != &kernel && OnlyDot(*step) != nullptr &&
           llvm::any_of(step->operands(), [&](const Instruction* o) { return all.contains(source(o)); });
  };
  for (size_t i = 0; i < all.size(); ++i) {
    // What a product makes is the result, or what the next kernel makes of it.
    const bool is_last = divides_later_
                             ? llvm::any_of(all[i]->operands(),
                                            [&](const Instruction* o) {
                                              return all[i]->kind() == OpKind::Fusion && weighs(source(o));
                                            })
                             : i > 0 && OnlyDot(*all[i]) != nullptr;
    if (is_last) continue;
    if (all[i]->IsRoot())
      return Decline(all[i]->loc(), "%{0} ({1}) is a result of its computation", all[i]->name(),
                     all[i]->info().text);
    for (const Instruction* user : all[i]->users())
      if (all.insert(user) && all.size() > kMostSteps)
        return Decline(kernel.loc(), "its scores are in many steps");
  }
  std::vector<const Instruction*> order;
  llvm::SmallPtrSet<const Instruction*, kMostSteps> done;
  while (order.size() < all.size()) {
    const auto* const next = llvm::find_if(all, [&](const Instruction* inst) {
      return !done.contains(inst) && llvm::all_of(inst->operands(), [&](const Instruction* operand) {
        return !all.contains(operand) || done.contains(operand);
      });
    });
    done.insert(*next);
    order.push_back(*next);
  }
  return order;
}

Status AttentionReader::Follow(const Instruction& step) {
  if (last_ != nullptr) return Decline(step.loc(), "%{0} reads its weights as well", step.name());
  if (IsOrdered(step)) return Decline(step.loc(), "something waits for %{0}", step.name());
  if (step.kind() == OpKind::Fusion) return FollowKernel(step);
  kernel_ = nullptr;
  return Take(step);
}

Status AttentionReader::FollowKernel(const Instruction& kernel) {
  kernel_ = &kernel;
  const Computation& body = *kernel.callee();
  for (int64_t i = 0; i < kernel.operand_count(); ++i)
    if (const Known* known = Find(kernel.operand(i))) {
      Known copy = *known;
      known_[body.parameter(i)] = std::move(copy);
    }
  for (const Instruction* inst : body.PostOrder()) {
    if (llvm::none_of(inst->operands(), [&](const Instruction* o) { return Find(o) != nullptr; })) continue;
    if (inst->kind() == OpKind::Dot && !divides_later_) return Weigh(*inst, kernel);
    HLO_CHECK_OK(inst->kind() == OpKind::Dot ? Weigh(*inst, kernel) : Take(*inst));
  }
  const Known* const known = Find(body.root());
  if (known == nullptr) return {};
  if (known->role == Role::Divided) return ReadDivided(kernel, *known);
  Known copy = *known;
  known_[&kernel] = std::move(copy);
  return {};
}

Status AttentionReader::Take(const Instruction& inst) {
  const Rule rule = RuleOf(inst);
  std::optional<Known> known = rule == nullptr ? std::nullopt : (this->*rule)(inst);
  if (!known && !why_.empty()) return Decline(inst.loc(), "{0}", why_);
  if (!known)
    return Decline(inst.loc(), "%{0} ({1}) is no part of a softmax that the library has", inst.name(),
                   inst.info().text);
  known_[&inst] = std::move(*known);
  return {};
}

Status AttentionReader::Weigh(const Instruction& dot, const Instruction& kernel) {
  const auto& attrs = dot.attr<DotAttrs>();
  const size_t side = Find(dot.operand(0)) != nullptr ? 0 : 1;
  const Known* const known = Find(dot.operand(static_cast<int64_t>(side)));
  const Instruction& other = *dot.operand(static_cast<int64_t>(1 - side));
  if (known->role != (divides_later_ ? Role::Powers : Role::Weights) || known->version != version_ ||
      Find(&other) != nullptr)
    return Decline(dot.loc(), "what %{0} sums up are no weights of a softmax", dot.name());
  const View weights = known->view;
  std::optional<View> values = ArrayOf(other);
  if (!values) return Decline(dot.loc(), "%{0} is made within the kernel", other.name());
  if (dot.operand(static_cast<int64_t>(side))->shape().element_type() != values->type)
    return Decline(dot.loc(), "its weights are no {0}", ToString(values->type));
  const Dims batch[] = {attrs.lhs_batch_dims, attrs.rhs_batch_dims};
  const Dims contracting[] = {attrs.lhs_contracting_dims, attrs.rhs_contracting_dims};
  llvm::SmallVector<ViewDim, 2> summed;
  const auto along = [&](int64_t of_weights, int64_t of_values) {
    const ViewDim& dim = weights.dims[static_cast<size_t>(of_weights)];
    found_.along[A::Values].push_back(
        {dim.size, dim.stride, values->dims[static_cast<size_t>(of_values)].stride});
  };
  ArrayAlong result;  // the dimensions of the result; of values none of the scores
  for (size_t b = 0; b < batch[0].size(); ++b) {
    along(batch[side][b], batch[1 - side][b]);
    const ViewDim& dim = weights.dims[static_cast<size_t>(batch[side][b])];
    result.push_back({dim.size, dim.stride, 0});
  }
  for (size_t c = 0; c < contracting[0].size(); ++c) {
    along(contracting[side][c], contracting[1 - side][c]);
    summed.push_back(weights.dims[static_cast<size_t>(contracting[side][c])]);
  }
  if (!AreKeys(summed)) return Decline(dot.loc(), "%{0} does not sum up over the keys", dot.name());
  const Dims of_values =
      FreeDims(static_cast<int64_t>(values->dims.size()), batch[1 - side], contracting[1 - side]);
  const auto features = OnlyDim(*values, of_values);
  if (!features) return Decline(dot.loc(), "its values have several dimensions of features");
  found_.features[A::Values] = {features->size, features->stride};
  for (size_t s = 0; s < 2; ++s) {
    if (s != side) {
      for (const int64_t d : of_values) result.push_back({values->dims[static_cast<size_t>(d)].size, 0, 0});
      continue;
    }
    for (const int64_t d :
         FreeDims(static_cast<int64_t>(weights.dims.size()), batch[side], contracting[side])) {
      const ViewDim& dim = weights.dims[static_cast<size_t>(d)];
      result.push_back({dim.size, dim.stride, 0});
    }
  }
  found_.views[A::Values] = std::move(*values);
  if (!divides_later_) return ReadResult(dot, kernel, result);
  MarkUndivided(dot, result);
  return {};
}

Status AttentionReader::ReadResult(const Instruction& dot, const Instruction& kernel,
                                   const ArrayAlong& dims) {
  const auto chain = ChainOf(dot);
  if (!chain.back()->IsRoot() || !kernel.shape().IsArray())
    return Decline(dot.loc(), "it has several results");
  HLO_TRY(const Epilogue epilogue, Epilogue::Read(chain));
  if (!epilogue.steps().empty()) return Decline(dot.loc(), "more is done to what %{0} makes", dot.name());
  const View& result = epilogue.result();
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].size == 1) continue;
    if (dims[d].scores == 0)
      found_.features[A::Result] = {dims[d].size, result.dims[d].stride};
    else
      found_.along[A::Result].push_back({dims[d].size, dims[d].scores, result.dims[d].stride});
  }
  found_.views[A::Result] = result;
  return EndWith(kernel);
}

Status AttentionReader::EndWith(const Instruction& kernel) {
  last_ = &kernel;
  // Queries have no keys.
  if (found_.keys.first != 1) {
    std::swap(found_.along[A::Queries], found_.along[A::Keys]);
    std::swap(found_.views[A::Queries], found_.views[A::Keys]);
    std::swap(found_.features[A::Queries], found_.features[A::Keys]);
  }
  if (!made_) return {};
  int64_t spared = 0;
  for (const Instruction* step : behind_)
    if (step != last_ && step->kind() == OpKind::Fusion) spared += ByteSize(step->shape());
  return ReadBias(found_.views[A::Queries].type, spared);
}

std::optional<AttentionReader::Known> AttentionReader::See(const Instruction& inst) {
  Known known = *Find(inst.operand(0));
  const auto view = ViewBehind(inst, known.view);
  if (!view) return std::nullopt;
  known.view = *view;
  const bool repeated =
      llvm::any_of(view->dims, [](const ViewDim& d) { return d.size > 1 && d.stride == 0; });
  if (repeated && known.role != Role::Maxima && known.role != Role::Sums) return std::nullopt;
  return known;
}

/// Roundings on the way are left out, as the library has f32 there: those of types with as many exponents and
/// of f16. Others would lose more than digits.
std::optional<AttentionReader::Known> AttentionReader::Convert(const Instruction& inst) {
  constexpr ElementType kRounded[] = {ElementType::F16, ElementType::BF16, ElementType::F32};
  const auto is_rounded = [&](const Shape& shape) {
    return llvm::is_contained(kRounded, shape.element_type());
  };
  if (!is_rounded(inst.shape()) || !is_rounded(inst.operand(0)->shape())) return std::nullopt;
  return *Find(inst.operand(0));
}

std::optional<AttentionReader::Pair> AttentionReader::OneKnown(const Instruction& inst) const {
  const Known *const first = Find(inst.operand(0)), *const second = Find(inst.operand(1));
  if ((first == nullptr) == (second == nullptr)) return std::nullopt;
  return first != nullptr ? Pair{first, inst.operand(1)} : Pair{second, inst.operand(0)};
}

std::optional<AttentionReader::Known> AttentionReader::Scale(const Instruction& inst) {
  const auto pair = OneKnown(inst);
  const Instruction* const factor = pair ? SplatConstant(*pair->other) : nullptr;
  if (factor == nullptr) return std::nullopt;
  return ScaleBy(*pair->known, LiteralValue(*factor->attr<ConstantAttrs>().literal, 0));
}

std::optional<AttentionReader::Known> AttentionReader::ScaleBy(const Known& scores, double factor) {
  if (scores.role != Role::Scores || scores.version != version_ || !std::isfinite(factor))
    return std::nullopt;
  // What is added afterwards is not scaled.
  if (AreBiased()) return std::nullopt;
  (found_.cap ? *found_.cap : found_.scale) *= factor;
  Known known = scores;
  known.version = ++version_;
  return known;
}

std::optional<AttentionReader::Known> AttentionReader::Cap(const Instruction& inst) {
  const Known& scores = *Find(inst.operand(0));
  if (scores.role != Role::Scores || scores.version != version_ || found_.cap || AreBiased())
    return std::nullopt;
  found_.cap = 1;
  Known known = scores;
  known.version = ++version_;
  return known;
}

/// At least the least of all numbers.
std::optional<AttentionReader::Known> AttentionReader::Raise(const Instruction& inst) {
  const auto pair = OneKnown(inst);
  const Instruction* const least = pair ? SplatConstant(*pair->other) : nullptr;
  if (least == nullptr || pair->known->role != Role::Maxima || !IsIdentityOf(OpKind::Maximum, *least))
    return std::nullopt;
  return *pair->known;
}

std::optional<AttentionReader::Known> AttentionReader::Divide(const Instruction& inst) {
  const Known* const scores = Find(inst.operand(0));
  const Instruction* const divisor = SplatConstant(*inst.operand(1));
  if (scores != nullptr && divisor != nullptr)
    return ScaleBy(*scores, 1 / LiteralValue(*divisor->attr<ConstantAttrs>().literal, 0));
  const Known *const powers = Find(inst.operand(0)), *const sums = Find(inst.operand(1));
  if (powers == nullptr || sums == nullptr || sums->role != Role::Sums || sums->version != powers->version ||
      !GoesAlong(sums->view, powers->view))
    return std::nullopt;
  if (powers->role == Role::Undivided) return Known{Role::Divided, powers->view, powers->version};
  if (powers->role != Role::Powers) return std::nullopt;
  return Known{Role::Weights, powers->view, powers->version};
}

std::optional<AttentionReader::Known> AttentionReader::Subtract(const Instruction& inst) {
  const Known *const scores = Find(inst.operand(0)), *const maxima = Find(inst.operand(1));
  if (maxima == nullptr) return TakeFrom(inst);
  if (scores == nullptr || scores->role != Role::Scores || maxima->role != Role::Maxima ||
      scores->version != maxima->version || !GoesAlong(maxima->view, scores->view))
    return std::nullopt;
  return Known{Role::Differences, scores->view, scores->version};
}

std::optional<AttentionReader::Known> AttentionReader::Exponential(const Instruction& inst) {
  const Known& known = *Find(inst.operand(0));
  if (known.role != Role::Differences) return std::nullopt;
  return Known{Role::Powers, known.view, known.version};
}

std::optional<AttentionReader::Known> AttentionReader::Reduce(const Instruction& inst) {
  static constexpr struct {
    Role of, made;
    OpKind op;
  } kReductions[] = {{Role::Scores, Role::Maxima, OpKind::Maximum}, {Role::Powers, Role::Sums, OpKind::Add}};
  if (!IsPlainReduction(inst)) return std::nullopt;
  const Known* const known = Find(inst.operand(0));
  const auto op = PlainReductionOp(inst);
  if (known == nullptr || !op || !IsIdentityOf(*op, *inst.operand(1))) return std::nullopt;
  const auto* const row =
      llvm::find_if(kReductions, [&](const auto& r) { return r.of == known->role && r.op == *op; });
  if (row == std::end(kReductions)) return std::nullopt;
  Known made{row->made, known->view, known->version};
  made.view.dims.clear();
  llvm::SmallVector<ViewDim, 4> reduced;
  const Dims dims = ReducedDims(inst);
  for (size_t d = 0; d < known->view.dims.size(); ++d)
    (llvm::is_contained(dims, static_cast<int64_t>(d)) ? reduced : made.view.dims)
        .push_back(known->view.dims[d]);
  if (!AreKeys(reduced)) return std::nullopt;
  return made;
}

bool AttentionReader::Covers(llvm::ArrayRef<ViewDim> dims, int64_t begin, int64_t end) {
  return SizeOf(dims) == end / begin && llvm::all_of(dims, [&](const ViewDim& dim) {
           return dim.size == 1 || (dim.stride >= begin && dim.stride * dim.size <= end);
         });
}

bool AttentionReader::AreKeys(llvm::ArrayRef<ViewDim> dims) {
  if (found_.keys.first > 0) return Covers(dims, found_.keys.first, found_.keys.second);
  for (size_t i = 0; i < 2; ++i)
    if (Covers(dims, found_.sections[i], found_.sections[i + 1])) {
      found_.keys = {found_.sections[i], found_.sections[i + 1]};
      return true;
    }
  return false;
}

bool AttentionReader::GoesAlong(const View& rows, const View& all) const {
  return llvm::all_of(llvm::zip(rows.dims, all.dims), [&](const auto& dims) {
    const auto& [row, one] = dims;
    const bool is_key = one.stride >= found_.keys.first && one.stride < found_.keys.second;
    const bool is_feature = one.stride >= found_.sections.back();
    return one.size == 1 || (is_key || is_feature ? row.stride == 0 : row.stride == one.stride);
  });
}

void AttentionReader::Resolve(View& view, const Instruction& kernel) {
  const Instruction* at = kernel.operand(view.array);
  while (at->users().size() == 1 && !IsOrdered(*at)) {
    const Instruction* from = nullptr;
    if (at->kind() == OpKind::Bitcast) {
      if (at->shape().element_type() != at->operand(0)->shape().element_type()) break;
      from = at->operand(0);
    } else if (at->kind() == OpKind::Fusion && view.offset == 0) {
      const auto inner = ViewOf(*at->callee()->root());
      if (!inner || inner->offset != 0 || inner->type != view.type ||
          at->callee()->root()->shape().element_type() != view.type)
        break;
      View changed = view;
      const bool goes = llvm::all_of(changed.dims, [&](ViewDim& dim) {
        const auto stride = StrideThrough(inner->dims, dim);
        if (stride) dim.stride = *stride;
        return stride.has_value();
      });
      if (!goes) break;
      view = std::move(changed);
      from = at->operand(inner->array);
    } else {
      break;
    }
    before_.insert(at);
    at = from;
  }
  arrays_.insert(at);
  view.array = llvm::find(arrays_, at) - arrays_.begin();
}

}  // namespace hlo::gpu
