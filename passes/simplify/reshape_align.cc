#include "passes/simplify/reshape_align.h"
#include "passes/analysis/side_effects.h"

#include <map>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

constexpr int kMaxReshapes = 16;  // looked through, one upon the other

bool IsPlain(const Instruction& inst) {
  const Shape& shape = inst.shape();
  if (!shape.IsArray() || shape.HasDynamicDimension()) return false;
  if (!IsRowMajor(shape)) return false;
  return !HasControlEdges(inst) && !inst.extras().sharding;
}

bool EqualButForOnes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  auto skip_ones = [](llvm::ArrayRef<int64_t> dims) {
    return dims.drop_while([](int64_t dim) { return dim == 1; });
  };
  while (true) {
    a = skip_ones(a);
    b = skip_ones(b);
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (a.front() != b.front()) return false;
    a = a.drop_front();
    b = b.drop_front();
  }
}

/// Can work in any shape of as many elements.
bool IsWorker(const Instruction& inst) {
  return inst.info().Is(kElementwise) && inst.kind() != OpKind::Map && inst.kind() != OpKind::Copy &&
         IsPlain(inst) && HasStaticShapes(inst);
}

/// Reshapes of it cost nothing: they merge with it.
bool IsFree(const Instruction& inst) {
  return inst.kind() == OpKind::Constant || inst.kind() == OpKind::Iota || inst.kind() == OpKind::Reshape ||
         (inst.kind() == OpKind::Broadcast && inst.operand(0)->shape().rank() == 0);
}

Instruction* Base(Instruction* value) {
  for (int i = 0; i < kMaxReshapes && ChangesOnlyOnes(*value); ++i) value = value->operand(0);
  return value;
}

/// The operand has the shape of the worker; or it is a scalar beside one element that a worker makes.
bool IsLinked(const Instruction& worker, int64_t i) {
  Instruction* operand = worker.operand(i);
  if (SameDims(operand->shape(), worker.shape())) return true;
  return operand->shape().rank() == 0 && worker.shape().ElementCount() == 1 && IsWorker(*Base(operand));
}

/// Every use of the value by the worker is linked.
bool UsesLinked(const Instruction& worker, const Instruction& value) {
  for (int64_t i = 0; i < worker.operand_count(); ++i)
    if (worker.operand(i) == &value && !IsLinked(worker, i)) return false;
  return true;
}

/// The value, which is no worker, in another shape before `at`.
Instruction* InShape(Instruction* at, Instruction* value, const Dims& dims) {
  Maker make(at);
  const Shape shape = Shape::ArrayWithDefaultLayout(value->shape().element_type(), dims);
  if (value->kind() == OpKind::Broadcast && value->operand(0)->shape().rank() == 0)
    return make.Splat(shape, value->operand(0));
  if (value->kind() == OpKind::Iota) {
    const auto from = value->shape().dims();
    const auto d = static_cast<size_t>(value->attr<IotaAttrs>().iota_dimension);
    // Dimensions of size 1 aside, the shapes are equal.
    auto rank = llvm::count_if(from.take_front(d), [](int64_t size) { return size != 1; });
    for (size_t to = 0; from[d] != 1 && to < dims.size(); ++to)
      if (dims[to] != 1 && rank-- == 0) return make.Iota(shape, static_cast<int64_t>(to));
  }
  return make.Reshape(value, dims);
}

using DimsList = llvm::SmallVector<Dims, 2>;  // without repetitions

void Insert(DimsList& list, const Dims& dims) {
  if (!llvm::is_contained(list, dims)) list.push_back(dims);
}

Dims DimsOf(const Instruction& inst) { return Dims(inst.shape().dims()); }

/// Workers that are connected or use the same values from outside ("inputs"; free ones do not count), and so
/// all users of these values that have a say.
class Group {
 public:
  Group(Instruction* first, llvm::DenseSet<const Instruction*>& seen);
  /// The shape to change to, if there is a better one than now.
  [[nodiscard]] std::optional<Dims> Choose() const;
  void ChangeTo(const Dims& dims);

 private:
  struct Needs {
    DimsList outside;           // shapes in which others use the value
    DimsList all;               // with those in which the group uses it
    bool reshaped_for = false;  // the group uses it reshaped
  };
  /// Reshapes in all, then those of operands.
  using Cost = std::pair<int64_t, int64_t>;
  /// What each shape costs less than one that nobody has or needs.
  using Savings = std::map<Dims, Cost>;

  [[nodiscard]] bool IsInside(Instruction* user, const Instruction& value) const {
    return workers_.contains(user) && UsesLinked(*user, value);
  }
  [[nodiscard]] bool NeedsShape(Instruction* user, const Instruction& value) const {
    return !(user->kind() == OpKind::Reshape && IsPlain(*user)) && !IsInside(user, value);
  }
  void AddUsers(const Instruction& value);
  [[nodiscard]] Needs NeedsOf(const Instruction& value) const;
  void CountWorker(const Instruction& worker, Cost& now, Cost& any, Savings& savings) const;
  void CountInput(const Instruction& input, Cost& now, Cost& any, Savings& savings) const;

  llvm::SetVector<Instruction*> workers_, inputs_;
};

Group::Group(Instruction* first, llvm::DenseSet<const Instruction*>& seen) {
  workers_.insert(first);
  for (size_t at = 0; at < workers_.size(); ++at) {
    Instruction* worker = workers_[at];
    seen.insert(worker);
    for (int64_t i = 0; i < worker->operand_count(); ++i) {
      if (!IsLinked(*worker, i)) continue;
      Instruction* base = Base(worker->operand(i));
      if (IsWorker(*base))
        workers_.insert(base);
      else if (!IsFree(*base) && inputs_.insert(base))
        AddUsers(*base);
    }
    AddUsers(*worker);
  }
}

void Group::AddUsers(const Instruction& value) {
  llvm::SmallVector<const Instruction*, 4> stack = {&value};
  while (!stack.empty()) {
    const Instruction* at = stack.pop_back_val();
    for (Instruction* user : at->users()) {
      if (ChangesOnlyOnes(*user))
        stack.push_back(user);
      else if (IsWorker(*user) && UsesLinked(*user, *at))
        workers_.insert(user);
    }
  }
}

Group::Needs Group::NeedsOf(const Instruction& value) const {
  Needs needs;
  llvm::SmallVector<const Instruction*, 4> stack = {&value};
  while (!stack.empty()) {
    const Instruction* at = stack.pop_back_val();
    const Dims dims = DimsOf(*at);
    if (at->IsRoot()) Insert(needs.outside, dims);
    for (Instruction* user : at->users()) {
      if (ChangesOnlyOnes(*user)) {
        stack.push_back(user);
      } else if (IsInside(user, *at)) {
        Insert(needs.all, dims);
        needs.reshaped_for |= at != &value;
      } else if (NeedsShape(user, *at)) {
        Insert(needs.outside, dims);
      }
    }
  }
  for (const Dims& dims : needs.outside) Insert(needs.all, dims);
  return needs;
}

/// Reshapes that give a value of shape `own` the other shapes.
int64_t Reshapes(const DimsList& needed, const Dims& own) {
  return static_cast<int64_t>(needed.size()) - (llvm::is_contained(needed, own) ? 1 : 0);
}

void Group::CountWorker(const Instruction& worker, Cost& now, Cost& any, Savings& savings) const {
  const Needs needs = NeedsOf(worker);
  now.first += Reshapes(needs.all, DimsOf(worker));
  any.first += static_cast<int64_t>(needs.outside.size());
  for (const Dims& dims : needs.outside) ++savings[dims].first;
}

void Group::CountInput(const Instruction& input, Cost& now, Cost& any, Savings& savings) const {
  const Needs needs = NeedsOf(input);
  const Dims own = DimsOf(input);
  now.first += Reshapes(needs.all, own);
  now.second += needs.reshaped_for ? 1 : 0;
  any.first += Reshapes(needs.outside, own) + 1;
  ++any.second;
  Cost& saved = savings[own];
  ++saved.first;
  ++saved.second;
  for (const Dims& dims : needs.outside)
    if (dims != own) ++savings[dims].first;
}

std::optional<Dims> Group::Choose() const {
  Cost now, any;
  Savings savings;
  for (const Instruction* worker : workers_) CountWorker(*worker, now, any, savings);
  for (const Instruction* input : inputs_) CountInput(*input, now, any, savings);
  std::optional<Dims> best;
  for (const auto& [dims, saved] : savings) {
    const Cost cost = {any.first - saved.first, any.second - saved.second};
    if (cost >= now) continue;
    now = cost;
    best = dims;
  }
  return best;
}

void Group::ChangeTo(const Dims& dims) {
  struct Worker {
    llvm::SmallVector<int64_t, 3> linked;        // operands that take the shape
    llvm::SmallVector<Instruction*, 2> outside;  // users that go on using the shape of before
  };
  // Shapes decide what is linked: nothing changes before all is known.
  llvm::SmallVector<Worker, 0> before;
  for (Instruction* worker : workers_) {
    Worker& at = before.emplace_back();
    for (int64_t i = 0; i < worker->operand_count(); ++i)
      if (IsLinked(*worker, i)) at.linked.push_back(i);
    for (Instruction* user : worker->users())
      if (NeedsShape(user, *worker)) at.outside.push_back(user);
  }
  llvm::DenseMap<Instruction*, Instruction*> reshaped;
  llvm::SetVector<Instruction*> unused;
  for (auto [worker, at] : llvm::zip_equal(workers_, before)) {
    for (const int64_t i : at.linked) {
      Instruction* base = Base(worker->operand(i));
      if (!workers_.contains(base) && base->shape().dims() != llvm::ArrayRef<int64_t>(dims)) {
        Instruction*& made = reshaped[base];
        if (!made) made = InShape(worker, base, dims);
        base = made;
      }
      if (base == worker->operand(i)) continue;
      unused.insert(worker->operand(i));
      worker->SetOperand(i, base);
    }
  }
  for (auto [worker, at] : llvm::zip_equal(workers_, before)) {
    const Shape old = worker->shape();
    if (old.dims() == llvm::ArrayRef<int64_t>(dims)) continue;
    const Shape shape = old.WithDims(dims);
    worker->set_shape(old.has_layout() ? shape.WithDefaultLayouts() : shape);
    if (at.outside.empty() && !worker->IsRoot()) continue;
    Instruction* as_before = Maker(*worker->parent(), worker).AddWithShape(OpKind::Reshape, old, {worker});
    for (Instruction* user : at.outside) user->ReplaceOperand(worker, as_before);
    if (worker->IsRoot()) worker->parent()->set_root(as_before);
  }
  llvm::DenseSet<const Instruction*> gone;
  for (Instruction* value : unused)
    if (!gone.contains(value)) RemoveIfDead(value, [&](const Instruction* dead) { gone.insert(dead); });
}

}  // namespace

bool ChangesOnlyOnes(const Instruction& inst) {
  return inst.kind() == OpKind::Reshape && IsPlain(inst) && !inst.operand(0)->shape().HasDynamicDimension() &&
         EqualButForOnes(inst.shape().dims(), inst.operand(0)->shape().dims());
}

Result<bool> AlignOnes(Computation& computation, PassContext& context) {
  std::vector<Instruction*> starts;
  for (Instruction* reshape : computation.InstructionsOf(OpKind::Reshape)) {
    if (!ChangesOnlyOnes(*reshape)) continue;
    if (IsWorker(*reshape->operand(0))) starts.push_back(reshape->operand(0));
    for (Instruction* user : reshape->users())
      if (IsWorker(*user) && UsesLinked(*user, *reshape)) starts.push_back(user);
  }
  bool changed = false;
  llvm::DenseSet<const Instruction*> seen;
  for (Instruction* start : starts) {
    if (seen.contains(start)) continue;
    HLO_CHECK_OK(context.CheckInterrupt());
    Group group(start, seen);
    const std::optional<Dims> dims = group.Choose();
    if (!dims) continue;
    if (!context.TakeRewrite()) return changed;
    group.ChangeTo(*dims);
    changed = true;
  }
  return changed;
}

}  // namespace hlo
