// kernel-fusion: makes fusions of all instructions that have kernels, in computations that run on whole
// values.
//
// Requires row-major. Preserves flat-calls, row-major. An instruction goes where its users are if computing
// it there, perhaps several times, costs less than writing it to memory and reading it again; rows with
// reductions become one kernel with what is made of the results; so does a large product where the machine
// has kernels of these. Values that several kernels compute come out the same in all of them.
#include <deque>

#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_groups.h"
#include "backends/compile/kernel_ops.h"
#include "backends/kernel/lower.h"
#include "llvm/ADT/MapVector.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fuse.h"

namespace hlo::compile {
namespace {

struct KernelFusionOptions {
  int64_t max_instructions = 400;
  int64_t max_reductions = 8;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&KernelFusionOptions::max_instructions>(
            "max_instructions", "of one kernel, as often as they are computed in it"),
        PassOption<&KernelFusionOptions::max_reductions>("max_reductions", "of one kernel"),
    };
    return kRows;
  }
};

/// Ways in which one kernel computes an instruction, as each is code of its own: at all, and in loops that
/// lanes go through.
constexpr int64_t kMaxPositions = 16, kMaxInLanes = 4;
/// Operands of a concatenate that is no root: each element asks which one it is of.
constexpr int64_t kMaxConcatenated = 4;
/// A concatenate that is the root may have so many times the instructions of other kernels.
constexpr int64_t kMoreOfConcatenated = 4;
/// So that compiling takes no longer than the module is large, a search for cycles gives up beyond this many
/// instructions.
constexpr size_t kMaxSearch = 2000;

/// What is read for an operand, which its reader computes if it is made of next to nothing.
int64_t BytesBehind(const Instruction& operand) {
  const Instruction* at = &operand;
  while (at->kind() == OpKind::Broadcast) at = at->operand(0);
  return at->kind() == OpKind::Constant || at->kind() == OpKind::Iota ? 0 : ByteSize(at->shape());
}

using Users = llvm::SmallVector<const Instruction*, 2>;
using Places = llvm::SmallVector<int64_t, 2>;  // of operands

class Grouper {
 public:
  Grouper(Computation& computation, const KernelFusionOptions& options, const Machine& machine)
      : computation_(computation), options_(options), machine_(machine) {}

  /// True if there are groups.
  bool Run(PassContext& context) {
    const std::vector<Instruction*> order = computation_.PostOrder();
    for (size_t i = 0; i < order.size(); ++i) places_[order[i]] = i;
    loops_before_ = LoopsBefore(order);
    for (Instruction* inst : llvm::reverse(order)) Place(inst);
    bool changed = false;
    for (Group& group : groups_) {
      if (!context.TakeRewrite()) break;
      Build(group);
      changed = true;
    }
    return changed;
  }

 private:
  void Place(Instruction* inst) {
    const bool product = IsLargeProduct(*inst, machine_);
    if ((!product && !HasKernel(*inst, machine_)) || IterationShape(*inst).ElementCount() == 0) return;
    llvm::SmallMapVector<Group*, Users, 4> into;
    bool stored = inst->IsRoot() || inst->shape().IsTuple();
    for (const Instruction* user : inst->users()) {
      const auto found = of_.find(user);
      if (found == of_.end())
        stored = true;
      else
        for (Group* group : found->second) into[group].push_back(user);
    }
    llvm::SmallVector<std::pair<Group*, Maps>, 4> fitting;
    for (const auto& [group, users] : into) {
      std::optional<Maps> maps = Fits(*inst, *group, users);
      if (maps)
        fitting.emplace_back(group, std::move(*maps));
      else
        stored = true;
    }
    const int64_t folded = fitting.size() > 1 ? ElementsInOrder(*inst, machine_) : 1;
    const bool worth = product ? fitting.size() == 1
                               : folded <= machine_.folds.in_order && IsWorthIt(*inst, fitting, stored);
    if (!fitting.empty() && worth && (!stored || IsFree(*inst))) {
      if (folded > 1) in_order_.insert(inst);
      for (auto& [group, maps] : fitting) {
        if (fitting.size() > 1 && IsCheap(*inst)) group->repeated += WorkOf(*inst, *group, maps);
        Join(inst, *group, std::move(maps), false);
      }
      if (!stored) return;
    } else {
      for (auto& [group, maps] : fitting)
        if (MayBeOutput(*inst, *group, maps)) return Join(inst, *group, std::move(maps), true);
    }
    if (inst->kind() == OpKind::Reshape) return;  // as a value of its own it costs nothing
    Group& group = groups_.emplace_back(inst, machine_);
    of_[inst].push_back(&group);
    group.maps[inst] = {group.loops.nest()};
    Count(group, *inst, 1);
  }

  static bool IsOneValue(const Instruction& inst) {
    return inst.kind() == OpKind::Broadcast && inst.operand(0)->shape().ElementCount() == 1;
  }
  /// Made of next to nothing.
  static bool IsFree(const Instruction& inst) { return IsOneValue(inst) || inst.kind() == OpKind::Iota; }

  /// May be one of many values that several groups compute.
  [[nodiscard]] bool IsCheap(const Instruction& inst) const {
    const int64_t cost = CostOf(inst);
    return cost > 0 && cost <= machine_.kernels.ops.plain.operations;
  }

  /// The ways in which the group, in which these read it, would compute it; nothing if it cannot.
  std::optional<Maps> Fits(const Instruction& inst, Group& group, const Users& users) {
    if (inst.shape().IsTuple() || inst.kind() == OpKind::DynamicUpdateSlice ||
        inst.kind() == OpKind::Scatter || IsScanOfBlocks(inst, machine_))
      return std::nullopt;
    if (loops_before_.WouldKeep(inst, *group.root)) return std::nullopt;
    if (inst.kind() == OpKind::Concatenate &&
        (inst.operand_count() > kMaxConcatenated || (group.transposes && machine_.gpu.block == 0)))
      return std::nullopt;
    if (group.root->shape().IsTuple() && group.root->kind() != OpKind::Reduce) return std::nullopt;
    if (inst.kind() == OpKind::Reduce && group.reductions >= options_.max_reductions) return std::nullopt;
    // Several threads can make it, but not the group.
    const int64_t count = inst.shape().ElementCount();
    if (inst.kind() == OpKind::Reduce && count > IterationShape(*group.root).ElementCount() &&
        CostOf(inst) * count > machine_.threads.worthwhile)
      return std::nullopt;
    if (MovesMinorDimension(inst, machine_) && group.operations > machine_.transposes.operations)
      return std::nullopt;
    if (group.transposes && group.product == nullptr && !IsLargeProduct(inst, machine_) &&
        group.operations + CostOf(inst) > machine_.transposes.operations)
      return std::nullopt;
    const bool product = IsLargeProduct(inst, machine_);
    if (group.product != nullptr && IsFold(inst)) return std::nullopt;
    if (group.of_block && IsFold(inst) && !IsRow(inst, machine_)) return std::nullopt;
    // A row that threads go through together would be read across memory.
    if (machine_.gpu.warp > 0 && group.product == nullptr && !product &&
        ((group.folds && IsReadAcross(inst, machine_)) || (group.transposes && IsFold(inst))))
      return std::nullopt;
    if (product && (group.folds || HasOwnNest(*group.root))) return std::nullopt;
    std::optional<Maps> maps = MapsOf(inst, group, users);
    if (!maps) return std::nullopt;
    const int64_t in_loops =
        llvm::count_if(*maps, [](const IndexMap& map) { return llvm::any_of(map, IsLoop); });
    const auto ways = static_cast<int64_t>(maps->size());
    // What is the same everywhere is one value, however often it is read.
    const bool is_one = IsOneValue(inst);
    const int64_t most_in_loops = machine_.gpu.block == 0 ? kMaxInLanes : kMaxPositions;
    if (!is_one && (in_loops > most_in_loops || ways > kMaxPositions)) return std::nullopt;
    if (group.emitted + (is_one ? 1 : ways) > MostInstructions(group)) return std::nullopt;
    return (product ? IsOfNest(inst, group, *maps) : MayJoin(inst, group, *maps, machine_)) ? maps
                                                                                            : std::nullopt;
  }

  /// The ways in which these users, as parts of the group, read it; nothing if one cannot.
  std::optional<Maps> MapsOf(const Instruction& inst, Group& group, const Users& users) {
    Maps maps;
    for (const Instruction* user : users) {
      const auto found = group.maps.find(user);
      if (found == group.maps.end()) continue;
      for (const int64_t k : PlacesIn(*user, inst)) {
        if (user == group.root && group.target() != nullptr && k == 0) return std::nullopt;
        if (user == group.root && user->kind() == OpKind::DynamicUpdateSlice && k == 1 &&
            IsMadeOfNeighbours(inst, *user, machine_))
          return std::nullopt;
        if (user == group.product) return std::nullopt;
        // One of its operands is read as scalars, once for every row or column of the other.
        if (user->kind() == OpKind::Dot && CostOf(inst) > 0 &&
            user->shape().ElementCount() * ContractedElements(*user) != inst.shape().ElementCount())
          return std::nullopt;
        // Lanes would make its sums at all elements of the concatenation.
        if (user->kind() == OpKind::Concatenate && user != group.root &&
            (inst.kind() == OpKind::Dot || inst.kind() == OpKind::Reduce))
          return std::nullopt;
        if (user->kind() == OpKind::Scatter && (2 * k + 1 < user->operand_count() || IsArrayOfBins(*user, k)))
          return std::nullopt;
        for (const IndexMap& map : found->second) {
          const IndexMap& mine = group.loops.OperandMap(*user, k, map);
          if (!llvm::is_contained(maps, mine)) maps.push_back(mine);
        }
      }
    }
    return maps;
  }

  /// Each element of a concatenation is made of one of its operands.
  [[nodiscard]] int64_t MostInstructions(const Group& group) const {
    const bool one_of_many = machine_.gpu.block > 0 && group.root->kind() == OpKind::Concatenate;
    return options_.max_instructions * (one_of_many ? kMoreOfConcatenated : 1);
  }

  /// The numbers of the user's operands that are this one; of many operands they are remembered.
  [[nodiscard]] Places PlacesIn(const Instruction& user, const Instruction& operand) {
    constexpr int64_t kMany = 32;
    Places places;
    if (user.operand_count() < kMany) {
      for (int64_t k = 0; k < user.operand_count(); ++k)
        if (user.operand(k) == &operand) places.push_back(k);
      return places;
    }
    auto& of_all = operand_places_[&user];
    if (of_all.empty())
      for (int64_t k = 0; k < user.operand_count(); ++k) of_all[user.operand(k)].push_back(k);
    return of_all.lookup(&operand);
  }

  /// Whether loops of its own compute the scatter if its operand is an array.
  [[nodiscard]] bool IsArrayOfBins(const Instruction& scatter, int64_t operand) const {
    return machine_.has_own_scatter != nullptr && machine_.has_own_scatter(scatter, operand);
  }

  /// Work of computing it in these ways.
  [[nodiscard]] double WorkOf(const Instruction& inst, const Group& group, const Maps& maps) const {
    double work = 0;
    std::vector<std::vector<int64_t>> rows;
    for (const IndexMap& map : maps) {
      std::vector<int64_t> row = group.loops.RowOf(map);
      const bool again = machine_.kernels.IsExpensive(inst.kind()) && llvm::is_contained(rows, row);
      work += static_cast<double>(again ? machine_.costs.keep : CostOf(inst)) *
              static_cast<double>(group.loops.TimesOf(map));
      rows.push_back(std::move(row));
    }
    return work;
  }

  /// Computing it in all these groups costs less than to write and read it.
  [[nodiscard]] bool IsWorthIt(const Instruction& inst, llvm::ArrayRef<std::pair<Group*, Maps>> fitting,
                               bool stored) const {
    const int64_t count = inst.shape().ElementCount(), bytes = ByteSize(inst.shape());
    const int64_t cost = CostOf(inst);
    double work = stored ? 0 : -static_cast<double>(cost) * static_cast<double>(count);
    double repeated = 0;
    for (const auto& [group, maps] : fitting) {
      work += WorkOf(inst, *group, maps);
      if (IsCheap(inst)) repeated = std::max(repeated, group->repeated);
    }
    const int64_t reads = static_cast<int64_t>(fitting.size());
    // As one more output of a kernel of rows, which has it then, it costs no launch.
    const bool joins = machine_.gpu.block > 0 && reads > 1 && llvm::any_of(fitting, [&](const auto& entry) {
                         return entry.first->reductions > 0 && MayBeOutput(inst, *entry.first, entry.second);
                       });
    double saved = static_cast<double>(bytes) * static_cast<double>(machine_.OperationsPerByte(bytes)) *
                   static_cast<double>(reads + (stored ? 0 : 1) - (joins ? 1 : 0));
    if (!joins) saved += static_cast<double>(machine_.costs.launch);
    // Storing one value spares all that it is made of: once as much was computed again, it is time.
    saved -= repeated;
    // Every group but one reads again what it is made of.
    if (const int64_t again = reads - (stored ? 0 : 1); again > 0) {
      // Masks would be kept from the way there to the way back, beside what they are made of.
      if (machine_.gpu.block > 0 && IsPred(inst.shape().element_type()) && !joins &&
          IsMadeOfWhatIsRead(inst, fitting))
        return work <= saved;
      int64_t read = 0;
      for (const Instruction* operand : inst.operands()) read += std::min(BytesBehind(*operand), bytes);
      saved -= static_cast<double>(again) * static_cast<double>(read) *
               static_cast<double>(machine_.OperationsPerByte(read));
    }
    return work <= saved;
  }

  /// Whether the group reads the value, or a cheap function of it in `steps` that it will take in.
  [[nodiscard]] bool WillRead(const Group& group, const Instruction& value, int steps) const {
    for (const Instruction* user : value.users()) {
      const auto found = of_.find(user);
      if (found != of_.end() ? llvm::is_contained(found->second, &group)
                             : steps > 1 && user->info().Is(kElementwise) && IsCheap(*user) &&
                                   WillRead(group, *user, steps - 1))
        return true;
    }
    return false;
  }

  /// Whether it takes few cheap steps to make it of what all these groups read in any case.
  [[nodiscard]] bool IsMadeOfWhatIsRead(const Instruction& inst,
                                        llvm::ArrayRef<std::pair<Group*, Maps>> fitting) const {
    constexpr size_t kMostSteps = 12;  // in all
    constexpr int kSteps = 4;          // before one is a part of a group
    constexpr int64_t kFarFewer = 32;  // bytes are nothing beside so many times as many
    llvm::SmallVector<const Instruction*, 16> todo = {&inst};
    llvm::DenseSet<const Instruction*> seen = {&inst};
    while (!todo.empty()) {
      const Instruction* at = todo.pop_back_val();
      for (const Instruction* operand : at->operands()) {
        const bool is_small = BytesBehind(*operand) * kFarFewer <= ByteSize(inst.shape());
        if (is_small || !seen.insert(operand).second) continue;
        if (llvm::all_of(fitting,
                         [&](const auto& entry) { return WillRead(*entry.first, *operand, kSteps); }))
          continue;
        if (!operand->info().Is(kElementwise) || !IsCheap(*operand) || seen.size() > kMostSteps) return false;
        todo.push_back(operand);
      }
    }
    return true;
  }

  /// Whether to compute it again beats reading it once more in a kernel of its own.
  [[nodiscard]] bool IsWorthRepeating(const Instruction& inst, const Group& group, const Maps& maps) const {
    const int64_t count = inst.shape().ElementCount(), bytes = ByteSize(inst.shape());
    return WorkOf(inst, group, maps) - static_cast<double>(CostOf(inst) * count) <=
           static_cast<double>(bytes * machine_.OperationsPerByte(bytes) + machine_.costs.launch);
  }

  bool MayBeOutput(const Instruction& inst, const Group& group, const Maps& maps) const {
    return inst.kind() != OpKind::Reshape && !HasOwnNest(*group.root) && !HasOwnNest(inst) &&
           inst.shape().IsArray() && llvm::is_contained(maps, group.loops.nest()) &&
           SameDims(inst.shape(), group.root->shape()) && IsWorthRepeating(inst, group, maps) &&
           !IsReadOnTheWay(inst, group);
  }

  /// Whether the group needs, from outside, something that is made of the instruction.
  bool IsReadOnTheWay(const Instruction& inst, const Group& group) const {
    // What comes later leads back only through groups with several outputs.
    const size_t last = std::max(places_.lookup(group.root), last_of_several_);
    llvm::DenseSet<const void*> seen;  // instructions outside of groups, and groups
    llvm::SmallVector<const Instruction*, 16> todo;
    bool found = false;
    const auto visit_users = [&](const Instruction& of, bool own) {
      for (const Instruction* user : of.users()) {
        if (places_.lookup(user) > last) continue;
        const auto groups = of_.find(user);
        if (groups == of_.end() && seen.insert(user).second) todo.push_back(user);
        if (groups == of_.end()) continue;
        for (const Group* other : groups->second) {
          found |= other == &group && !own;
          if (other == &group || !seen.insert(other).second) continue;
          todo.push_back(other->root);
          todo.append(other->outputs.begin(), other->outputs.end());
        }
      }
    };
    visit_users(inst, true);
    while (!todo.empty() && !found) {
      if (seen.size() > kMaxSearch) return true;
      visit_users(*todo.pop_back_val(), false);
    }
    return found;
  }

  void Join(Instruction* inst, Group& group, Maps maps, bool output) {
    group.of_block |= inst->kind() == OpKind::Reduce && IsRowOfBlock(*inst, group, machine_) &&
                      llvm::none_of(maps, [&](const IndexMap& map) { return group.loops.IsInNest(map); });
    Count(group, *inst, IsOneValue(*inst) ? 1 : static_cast<int64_t>(maps.size()));
    group.members.push_back(inst);
    if (output) {
      group.outputs.insert(inst);
      last_of_several_ = std::max(last_of_several_, places_.lookup(group.root));
    }
    group.maps[inst] = std::move(maps);
    of_[inst].push_back(&group);
  }

  void Count(Group& group, const Instruction& inst, int64_t times) const {
    group.emitted += times;
    group.reductions += inst.kind() == OpKind::Reduce ? times : 0;
    group.operations += CostOf(inst) * times;
    group.transposes |= MovesMinorDimension(inst, machine_);
    group.folds |= IsFold(inst);
    if (IsLargeProduct(inst, machine_)) group.product = &inst;
  }

  void Build(Group& group) const {
    Instruction* fusion = WrapInKernel(group.root);
    GrowingFusion growing(fusion);
    for (Instruction* member : group.members) {
      if (group.outputs.contains(member)) {
        growing.FuseAsOutput(member);
        continue;
      }
      Instruction* copy = growing.Fuse(member);
      if (in_order_.contains(member)) copy->MutableExtras().backend_config = kernel::kInOrder;
      RemoveIfDead(member);
    }
    growing.Finish();
    SinkConstants(fusion);
  }

  [[nodiscard]] int64_t CostOf(const Instruction& inst) const { return CostPerElement(inst, machine_); }

  Computation& computation_;
  const KernelFusionOptions& options_;
  const Machine& machine_;
  llvm::DenseMap<const Instruction*, size_t> places_;
  llvm::DenseMap<const Instruction*, llvm::DenseMap<const Instruction*, Places>> operand_places_;
  LoopsBefore loops_before_;
  size_t last_of_several_ = 0;                   // the last place of a root of a group with several outputs
  llvm::DenseSet<const Instruction*> in_order_;  // folds that several groups compute
  std::deque<Group> groups_;                     // users before what they read
  llvm::DenseMap<const Instruction*, llvm::SmallVector<Group*, 1>> of_;
};

Result<bool> RunKernelFusion(Module& module, const KernelFusionOptions& options, PassContext& context) {
  const Machine& machine = MachineOf(context);
  bool changed = false;
  for (Computation* computation : context.Computations(module))
    if (RunsOnWholeValues(*computation)) changed |= Grouper(*computation, options, machine).Run(context);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(KernelFusion, KernelFusionOptions);

}  // namespace hlo::compile
