#include "passes/analysis/sharing.h"

#include "ir/computation.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/value_facts.h"

namespace hlo {
namespace {

using Pairs = llvm::SmallVector<OutputOperandAlias, 1>;

bool SameBytes(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && ByteSize(a) == ByteSize(b);
}

/// A pair for each leaf that `operand` and part `output` of the result have in common.
void AddLeaves(const Instruction& inst, int64_t operand, const ShapeIndex& output, Pairs& pairs) {
  ForEachLeaf(inst.operand(operand)->shape(), [&](const ShapeIndex& index, const Shape&) {
    ShapeIndex at = output;
    at.append(index);
    pairs.push_back({at, operand, index});
  });
}

/// The only user of a value within its computation, or null; being the root is a use too.
const Instruction* OnlyUser(const Instruction& inst) {
  return inst.users().size() == 1 && !inst.IsRoot() ? inst.users().front() : nullptr;
}

/// Whether every way from `from` leads through elementwise operations on equal dimensions to `to`, which is
/// one too.
bool ReachesElementwise(const Instruction& from, const Instruction& to) {
  llvm::SmallVector<const Instruction*, 8> todo = {&from};
  llvm::DenseSet<const Instruction*> seen = {&from, &to};
  while (!todo.empty()) {
    const Instruction* at = todo.pop_back_val();
    if (at->IsRoot() || at->users().empty()) return false;
    for (const Instruction* user : at->users()) {
      if (!user->info().Is(kElementwise) || !SameDims(user->shape(), from.shape())) return false;
      if (seen.insert(user).second) todo.push_back(user);
    }
  }
  return true;
}

/// Whether every way from `from` leads through elementwise operations on equal dimensions to elements of the
/// tuple `root`, one of them `to`.
bool ReachesElements(const Instruction& from, const Instruction& to, const Instruction& root) {
  llvm::SmallVector<const Instruction*, 8> todo = {&from};
  llvm::DenseSet<const Instruction*> seen = {&from, &root};
  while (!todo.empty()) {
    const Instruction* at = todo.pop_back_val();
    for (const Instruction* user : at->users()) {
      if (user == &root && at == &from) return false;
      if (!seen.insert(user).second) continue;
      if (!user->info().Is(kElementwise) || !SameDims(user->shape(), from.shape())) return false;
      todo.push_back(user);
    }
  }
  return seen.contains(&to);
}

/// The slice begins at `start` in dimension `i` and leaves nothing out.
bool SameStart(const Instruction& slice, int64_t i, const Instruction& start) {
  const std::optional<int64_t> known = ScalarIntValue(start);
  if (slice.kind() == OpKind::Slice) {
    const auto& ranges = slice.attr<SliceAttrs>().slice;
    if (i >= static_cast<int64_t>(ranges.size())) return false;
    const SliceRange& range = ranges[static_cast<size_t>(i)];
    return known && range.start == *known && range.stride == 1;
  }
  if (i + 1 >= slice.operand_count()) return false;
  const Instruction* own = slice.operand(i + 1);
  return own == &start || (known && own->shape().element_type() == start.shape().element_type() &&
                           ScalarIntValue(*own) == known);
}

/// A slice that reads just the elements which `update` overwrites, and each only for its own place.
bool ReadsOwnPlace(const Instruction& reader, const Instruction& update, const Instruction* buffer) {
  if (update.kind() != OpKind::DynamicUpdateSlice || update.operand(0) != buffer) return false;
  if (reader.kind() != OpKind::DynamicSlice && reader.kind() != OpKind::Slice) return false;
  if (reader.operand(0) != buffer || update.operand_count() != buffer->shape().rank() + 2) return false;
  for (int64_t i = 0; i < buffer->shape().rank(); ++i)
    if (!SameStart(reader, i, *update.operand(i + 2))) return false;
  if (!SameDims(reader.shape(), update.operand(1)->shape())) return false;
  const Instruction* written = update.operand(1);
  return &reader == written ? reader.users().size() == 1
                            : ReachesElementwise(reader, *written) && OnlyUser(*written) == &update;
}

/// Follows an output of a fused computation back to the parameter it overwrites.
struct InPlaceRoot {
  const Instruction* parameter = nullptr;
  ShapeIndex index;
};
InPlaceRoot FindInPlaceRoot(const Instruction* output, const Instruction* tuple) {
  // Each value on the way must serve this output alone.
  const auto alone = [&](const Instruction* value, const Instruction* user) {
    if (user == nullptr) return value->IsRoot() && value->users().empty();
    return OnlyUser(*value) == user && llvm::count(user->operands(), value) == 1;
  };
  const Instruction* user = tuple;
  const Instruction* at = output;
  for (; at->kind() == OpKind::Bitcast; user = at, at = at->operand(0))
    if (!alone(at, user)) return {};
  const bool update =
      at->kind() == OpKind::DynamicUpdateSlice || (at->kind() == OpKind::Scatter && at->operand_count() == 3);
  if (!update || !alone(at, user)) return {};
  const Instruction* writer = at;
  const Instruction* reader = writer;
  for (at = writer->operand(0);; reader = at, at = at->operand(0)) {
    const bool first = reader == writer;
    for (const Instruction* other : at->users())
      if (other != reader && !(first && ReadsOwnPlace(*other, *writer, at))) return {};
    if (at->IsRoot() || llvm::count(reader->operands(), at) != 1) return {};
    if (at->kind() != OpKind::Bitcast) break;
  }
  InPlaceRoot root;
  if (at->kind() == OpKind::GetTupleElement) {
    const Instruction* whole = at->operand(0);
    const int64_t element = at->attr<GetTupleElementAttrs>().index;
    for (const Instruction* other : whole->users())
      if (other != at &&
          (other->kind() != OpKind::GetTupleElement || other->attr<GetTupleElementAttrs>().index == element))
        return {};
    root.index = {element};
    at = whole;
  }
  if (at->kind() == OpKind::Parameter) root.parameter = at;
  return root;
}

void AddFusionRoots(const Instruction& fusion, Pairs& pairs) {
  if (fusion.callees().empty() || !fusion.callee()->root()) return;
  const Instruction* root = fusion.callee()->root();
  const bool tuple = root->kind() == OpKind::Tuple;
  const int64_t count = tuple ? root->operand_count() : 1;
  for (int64_t i = 0; i < count; ++i) {
    const InPlaceRoot found = FindInPlaceRoot(tuple ? root->operand(i) : root, tuple ? root : nullptr);
    if (!found.parameter) continue;
    OutputOperandAlias pair;
    if (tuple) pair.output = {i};
    pair.operand = found.parameter->attr<ParameterAttrs>().number;
    pair.operand_index = found.index;
    const bool taken = llvm::any_of(pairs, [&](const OutputOperandAlias& p) {
      return p.output == pair.output || (p.operand == pair.operand && p.operand_index == pair.operand_index);
    });
    if (!taken) pairs.push_back(std::move(pair));
  }
}

/// Results that lie over operands 0…n-1: alone, or as elements of a tuple.
void AddInOrder(const Instruction& inst, int64_t n, Pairs& pairs) {
  for (int64_t i = 0; i < n; ++i) {
    OutputOperandAlias pair;
    if (inst.shape().IsTuple()) pair.output = {i};
    pair.operand = i;
    pairs.push_back(std::move(pair));
  }
}

void AddDeclared(const Aliasing& aliasing, Pairs& pairs) { pairs.append(aliasing.begin(), aliasing.end()); }

// --- One function per kind of operation ---
using PairRule = void (*)(const Instruction&, Pairs&);
void UpdatePairs(const Instruction& inst, Pairs& pairs) { AddInOrder(inst, 1, pairs); }
void ScatterPairs(const Instruction& inst, Pairs& pairs) {
  AddInOrder(inst, (inst.operand_count() - 1) / 2, pairs);
}
void AllReduceStartPairs(const Instruction& inst, Pairs& pairs) {
  AddInOrder(inst, inst.operand_count(), pairs);
}
// The in-place forms have four operands: input, output, and the offsets in each.
void PermutePairs(const Instruction& inst, Pairs& pairs) {
  if (inst.operand_count() == 4) AddLeaves(inst, 1, {}, pairs);
}
void PermuteStartPairs(const Instruction& inst, Pairs& pairs) {
  if (inst.operand_count() == 4) AddLeaves(inst, 1, {1}, pairs);
}
void FusionPairs(const Instruction& inst, Pairs& pairs) {
  AddDeclared(inst.attr<FusionAttrs>().output_to_operand_aliasing, pairs);
  AddFusionRoots(inst, pairs);
}
void CustomCallPairs(const Instruction& inst, Pairs& pairs) {
  AddDeclared(inst.attr<CustomCallAttrs>().output_to_operand_aliasing, pairs);
}
void AsyncPairs(const Instruction& inst, Pairs& pairs) {
  AddDeclared(inst.attr<AsyncStartAttrs>().output_to_operand_aliasing, pairs);
}

struct PairRow {
  OpKind kind;
  PairRule rule;
};
constexpr PairRow kPairRules[] = {
    {OpKind::DynamicUpdateSlice, UpdatePairs},
    {OpKind::Scatter, ScatterPairs},
    {OpKind::AllReduceStart, AllReduceStartPairs},
    {OpKind::CollectivePermute, PermutePairs},
    {OpKind::CollectivePermuteStart, PermuteStartPairs},
    {OpKind::Fusion, FusionPairs},
    {OpKind::CustomCall, CustomCallPairs},
    {OpKind::AsyncStart, AsyncPairs},
};

bool IsWellFormed(const Instruction& inst, const OutputOperandAlias& pair) {
  if (pair.operand < 0 || pair.operand >= inst.operand_count()) return false;
  const Shape* from = inst.operand(pair.operand)->shape().Subshape(pair.operand_index);
  const Shape* to = inst.shape().Subshape(pair.output);
  return from && to && SameBytes(*from, *to);
}

}  // namespace

llvm::SmallVector<OutputOperandAlias, 1> InPlacePairs(const Instruction& instruction) {
  Pairs pairs;
  for (const PairRow& row : kPairRules)
    if (row.kind == instruction.kind()) row.rule(instruction, pairs);
  llvm::erase_if(pairs, [&](const OutputOperandAlias& pair) { return !IsWellFormed(instruction, pair); });
  return pairs;
}

const llvm::SmallVector<OutputOperandAlias, 1>& SharingRules::InPlace(const Instruction& instruction) {
  const auto [it, fresh] = in_place_.try_emplace(&instruction);
  if (fresh) it->second = InPlacePairs(instruction);
  return it->second;
}

bool SharingRules::MayShare(const Instruction& user, int64_t operand, llvm::ArrayRef<int64_t> index,
                            llvm::ArrayRef<int64_t> output) {
  if (!index.empty() || output.size() > 1) return false;
  const Shape& from = user.operand(operand)->shape();
  const Shape* to = user.shape().Subshape(output);
  if (!from.IsArray() || !to || !to->IsArray() || user.kind() == OpKind::Copy) return false;
  if (user.kind() == OpKind::Fusion) return FusionMayShare(user, operand, output.empty() ? -1 : output[0]);
  if (!(from == *to)) return false;
  return output.empty() && user.info().Is(kElementwise);
}

bool SharingRules::FusionMayShare(const Instruction& fusion, int64_t operand, int64_t output) {
  const auto [it, fresh] = fusions_.try_emplace({&fusion, {operand, output}}, false);
  if (!fresh || fusion.callees().empty()) return it->second;
  if (of_code_)
    if (const std::optional<bool> known = of_code_(fusion, operand, output)) return it->second = *known;
  const Shape& to = output < 0 ? fusion.shape() : fusion.shape().tuple_shapes()[static_cast<size_t>(output)];
  if (!(fusion.operand(operand)->shape() == to)) return false;
  const Computation& body = *fusion.callee();
  const Instruction* root = body.root();
  if (operand >= static_cast<int64_t>(body.parameters().size()) || !root) return false;
  const Instruction& parameter = *body.parameter(operand);
  const FusionKind kind = fusion.attr<FusionAttrs>().kind;
  if (output >= 0) {
    // One loop computes all elements of a place, also those of other results, before it writes them.
    it->second = kind == FusionKind::Loop && root->kind() == OpKind::Tuple &&
                 ReachesElements(parameter, *root->operand(output), *root);
  } else if (kind == FusionKind::Loop || kind == FusionKind::Input) {
    it->second = &parameter != root && root->info().Is(kElementwise) &&
                 SameDims(root->shape(), parameter.shape()) && ReachesElementwise(parameter, *root);
  } else if (kind == FusionKind::Output && root->kind() == OpKind::Add) {
    const Instruction* other = root->operand(root->operand(0) == &parameter ? 1 : 0);
    it->second = OnlyUser(parameter) == root && other != &parameter &&
                 (other->kind() == OpKind::Dot || other->kind() == OpKind::Convolution);
  }
  return it->second;
}

}  // namespace hlo
