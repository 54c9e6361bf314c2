// priority-fusion: producers go into all their consumers, those first that save most time (passes.md §5.3).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots. Establishes fusions.
// Changes: a loop-fusible value or loop fusion is copied into every one of its users, if the time of a model
// of GPUs gets no longer: a microsecond per kernel, bytes at the bandwidth of memory (again read ones at that
// of a cache), operations at a rate; the one that saves most comes first, bitcasts before all others and
// scalar constants last. Fusions with a reduction as their result are input fusions. Left alone: roots,
// values with side effects, control edges or dynamic dimensions, what a lone bitcast reads, reductions of
// reductions of 16 elements and more, fusions of more than 96 operands or 10,000 instructions, values with
// more than 64 users, bodies that several fusions have.
#include <set>
#include <unordered_map>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/sharing.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/fuse.h"

namespace hlo {
namespace {

struct PriorityFusionOptions {
  double launch_us = 1;
  double bytes_per_us = 2e6;
  double operations_per_us = 2e7;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&PriorityFusionOptions::launch_us>("launch_us", "what a kernel takes that does nothing"),
    PassOption<&PriorityFusionOptions::bytes_per_us>("bytes_per_us", "what memory moves"),
    PassOption<&PriorityFusionOptions::operations_per_us>("operations_per_us", "what is computed"),
};

constexpr int64_t kMaxOperands = 96;
constexpr int64_t kMaxInstructions = 10000;
constexpr size_t kMaxUsers = 64;
constexpr int64_t kLongReduction = 16;  // elements of a sum
constexpr double kCacheSpeed = 8;       // times that of memory
constexpr double kExpensive = 16;       // operations of a division, a root and the like
constexpr double kOverlap = 0.95;       // of the shorter of computing and moving
constexpr double kInfinite = 1e30;

/// How often elements of values are computed where `inst` is computed once.
using Evaluations = llvm::DenseMap<const Instruction*, double>;

/// Elements of an operand that are read for one of the result.
double ReadsPerElement(const Instruction& inst, int64_t operand) {
  const double made = static_cast<double>(std::max<int64_t>(1, inst.shape().ElementCount()));
  const Shape& read = inst.operand(operand)->shape();
  const bool all = inst.kind() == OpKind::Reduce || inst.kind() == OpKind::Scatter;
  return all && read.IsArray() ? static_cast<double>(read.ElementCount()) / made : 1;
}

bool IsFusion(const Instruction& inst) { return inst.kind() == OpKind::Fusion; }

bool IsLongReduction(const Instruction& inst) {
  return inst.kind() == OpKind::Reduce && ReadsPerElement(inst, 0) >= static_cast<double>(kLongReduction);
}

/// What computing a fusion or another instruction once comes to.
struct Work {
  Evaluations times;      // of it and its operands; of a fusion, of what is in its body
  double operations = 0;  // in units of a cheap one
  bool long_reduction = false;

  void Compute(const Instruction& inst) {
    const double count = times.lookup(&inst);
    for (int64_t o = 0; o < inst.operand_count(); ++o)
      times[inst.operand(o)] += count * ReadsPerElement(inst, o);
    operations += count * (IsExpensive(inst) ? kExpensive : 1);
    long_reduction |= IsLongReduction(inst);
  }
};

Work WorkOf(const Instruction& inst) {
  Work work;
  const Instruction& result = IsFusion(inst) ? *inst.callee()->root() : inst;
  work.times[&result] = static_cast<double>(result.shape().ElementCount());
  if (!IsFusion(inst)) {
    work.Compute(inst);
    return work;
  }
  const std::vector<Instruction*> order = inst.callee()->PostOrder();
  for (const Instruction* i : llvm::reverse(order))
    if (i->kind() != OpKind::Parameter) work.Compute(*i);
  return work;
}

/// A fusion that may take others in, and be taken in.
bool IsOpenFusion(const Instruction& inst) {
  if (!IsFusion(inst) || !inst.shape().IsArray() || inst.callee()->callers().size() != 1) return false;
  const auto& attrs = inst.attr<FusionAttrs>();
  return (attrs.kind == FusionKind::Loop || attrs.kind == FusionKind::Input) &&
         attrs.output_to_operand_aliasing.empty();
}

bool MayJoin(const Instruction& inst) {
  if (!inst.shape().IsArray() || !HasStaticShapes(inst) || HasSideEffect(inst) || HasControlEdges(inst) ||
      inst.extras().sharding)
    return false;
  return IsOpenFusion(inst) || IsLoopFusible(inst) || inst.kind() == OpKind::Copy;
}

/// The result goes into the place of an operand, of which a producer might still read.
bool UpdatesInPlace(const Instruction& inst) { return !InPlacePairs(inst).empty(); }

bool IsScalarConstant(const Instruction& inst) {
  return inst.kind() == OpKind::Constant && inst.shape().IsArray() && inst.shape().ElementCount() == 1 &&
         inst.attr<ConstantAttrs>().literal;
}

class PriorityFuser {
 public:
  PriorityFuser(Computation& computation, const PriorityFusionOptions& options, PassContext& context)
      : computation_(computation), options_(options), context_(context) {}

  Result<bool> Run() {
    for (Instruction* inst : computation_.PostOrder()) Update(inst);
    while (!queue_.empty()) {
      HLO_CHECK_OK(context_.CheckInterrupt());
      Instruction* producer = queue_.rbegin()->inst;
      const double saved = -queue_.rbegin()->negated;
      if (saved < 0) break;
      Forget(producer);
      if (!context_.TakeRewrite()) return changed_;
      Fuse(producer);
      changed_ = true;
    }
    for (Instruction* fusion : computation_.InstructionsOf(OpKind::Fusion))
      if (IsOpenFusion(*fusion)) TakeConstants(fusion);
    return changed_;
  }

 private:
  /// By what fusing the instruction saves, then by when it came to be known: the last one goes first.
  struct Entry {
    double negated;
    int64_t number;
    Instruction* inst;
    bool operator<(const Entry& o) const { return std::tie(o.negated, number) < std::tie(negated, o.number); }
  };

  void Forget(Instruction* inst) {
    const auto at = entries_.find(inst);
    if (at == entries_.end()) return;
    queue_.erase(at->second);
    entries_.erase(at);
  }
  void Update(Instruction* inst) {
    Forget(inst);
    const double saved = Saved(*inst);
    if (saved < 0) return;
    const Entry entry{-saved, next_++, inst};
    queue_.insert(entry);
    entries_[inst] = entry;
  }

  /// WorkOf, kept while the instruction is there.
  const Work& Known(const Instruction& inst) {
    const auto at = work_.find(&inst);
    return at != work_.end() ? at->second : work_.emplace(&inst, WorkOf(inst)).first->second;
  }

  [[nodiscard]] double MoveTime(double elements, const Shape& shape) const {
    const double size = static_cast<double>(std::max<int64_t>(0, ByteSize(shape)));
    const double count = static_cast<double>(std::max<int64_t>(1, shape.ElementCount()));
    const double total = elements * size / count, first = std::min(total, size);
    return (first + (total - first) / kCacheSpeed) / options_.bytes_per_us;
  }
  /// Reading its operands and computing, `scale` times.
  double TimeOf(const Instruction& inst, double scale) {
    const Work& work = Known(inst);
    double moving = 0;
    const auto move = [&](const Instruction* read) {
      if (read->shape().IsArray()) moving += MoveTime(work.times.lookup(read) * scale, read->shape());
    };
    if (IsFusion(inst)) {
      llvm::for_each(inst.callee()->parameters(), move);
    } else {
      llvm::SmallDenseSet<const Instruction*, 4> seen;
      for (const Instruction* operand : inst.operands())
        if (seen.insert(operand).second) move(operand);
    }
    const double computing = work.operations * scale / options_.operations_per_us;
    return moving + computing - kOverlap * std::min(moving, computing);
  }
  /// How many elements of the producer the consumer reads.
  double ReadsOf(const Instruction& producer, const Instruction& consumer) {
    const Evaluations& times = Known(consumer).times;
    if (!IsFusion(consumer)) return times.lookup(&producer);
    double reads = 0;
    for (int64_t i = 0; i < consumer.operand_count(); ++i)
      if (consumer.operand(i) == &producer) reads += times.lookup(consumer.callee()->parameter(i));
    return reads;
  }

  bool MayConsume(const Instruction& inst, const Instruction& producer) {
    // Many may ask: how many operands it has comes first.
    if (inst.operand_count() + producer.operand_count() > kMaxOperands) return false;
    if (!MayJoin(inst) || inst.kind() == OpKind::Bitcast) return false;
    const int64_t size = (IsFusion(inst) ? inst.callee()->instruction_count() : 1) +
                         (IsFusion(producer) ? producer.callee()->instruction_count() : 1);
    if (size > kMaxInstructions) return false;
    if (UpdatesInPlace(inst) && !producer.info().Is(kElementwise)) return false;
    return !Known(inst).long_reduction || !Known(producer).long_reduction;
  }

  /// Microseconds that it saves to have the producer in all its users; negative: it cannot be, or does not.
  double Saved(const Instruction& producer) {
    if (!MayJoin(producer) || producer.IsRoot() || producer.users().empty() ||
        producer.users().size() > kMaxUsers || UpdatesInPlace(producer))
      return -1;
    for (const Instruction* user : producer.users())
      if (!MayConsume(*user, producer)) return -1;
    if (producer.kind() == OpKind::Bitcast) return kInfinite;
    const double count = static_cast<double>(std::max<int64_t>(1, producer.shape().ElementCount()));
    double apart = options_.launch_us + TimeOf(producer, 1) + MoveTime(count, producer.shape());
    double together = 0;
    for (const Instruction* user : producer.users()) {
      const double reads = ReadsOf(producer, *user);
      apart += MoveTime(reads, producer.shape());
      together += TimeOf(producer, reads / count);
    }
    return apart - together;
  }

  /// Copies the producer into the fusion, whose work gets that of the copy.
  void TakeIn(Instruction* fusion, Instruction* producer, Work& work) {
    const auto place = llvm::find(fusion->operands(), producer) - fusion->operands().begin();
    const Instruction* parameter = fusion->callee()->parameter(place);
    const double reads = work.times.lookup(parameter);
    work.times.erase(parameter);
    Instruction* copy = FuseProducer(fusion, producer);
    work.times[copy] = reads;
    if (!IsFusion(*copy)) return work.Compute(*copy);
    const Work& made = Known(*producer);
    const double scale = reads / static_cast<double>(std::max<int64_t>(1, producer->shape().ElementCount()));
    for (int64_t o = 0; o < copy->operand_count(); ++o)
      work.times[copy->operand(o)] += scale * made.times.lookup(producer->callee()->parameter(o));
    work.operations += scale * made.operations;
    work.long_reduction |= made.long_reduction;
    work.times.erase(copy);
    InlineCall(copy, [&](const Instruction* from, Instruction* to) {
      work.times[to] = scale * made.times.lookup(from);
    });
  }

  void Fuse(Instruction* producer) {
    const llvm::SmallVector<Instruction*, 4> users(producer->users());
    llvm::SmallVector<Instruction*, 4> around(producer->operands());
    for (Instruction* user : users) {
      Forget(user);
      auto known = work_.extract(user);
      Instruction* fusion = user;
      if (!IsFusion(*user)) {
        const bool reduces = user->kind() == OpKind::Reduce;
        fusion = WrapInFusion(user, reduces ? FusionKind::Input : FusionKind::Loop);
      }
      Work work = fusion == user && known ? std::move(known.mapped()) : WorkOf(*fusion);
      TakeIn(fusion, producer, work);
      work_[fusion] = std::move(work);
      around.push_back(fusion);
      around.append(fusion->operands().begin(), fusion->operands().end());
    }
    RemoveIfDead(producer, [&](Instruction* dead) {
      Forget(dead);
      work_.erase(dead);
      llvm::erase(around, dead);
    });
    llvm::SmallDenseSet<Instruction*, 16> seen;
    for (Instruction* inst : around)
      if (seen.insert(inst).second) Update(inst);
  }

  void TakeConstants(Instruction* fusion) {
    const llvm::SmallVector<Instruction*, 8> operands(fusion->operands());
    for (Instruction* operand : operands) {
      if (!IsScalarConstant(*operand) || !context_.TakeRewrite()) continue;
      FuseProducer(fusion, operand);
      RemoveIfDead(operand);
      changed_ = true;
    }
  }

  Computation& computation_;
  const PriorityFusionOptions& options_;
  PassContext& context_;
  std::set<Entry> queue_;
  llvm::DenseMap<const Instruction*, Entry> entries_;
  std::unordered_map<const Instruction*, Work> work_;
  int64_t next_ = 0;
  bool changed_ = false;
};

llvm::ArrayRef<PassOptionRow> PriorityFusionOptions::Rows() { return kRows; }

Result<bool> RunPriorityFusion(Module& module, const PriorityFusionOptions& options, PassContext& context) {
  for (const double rate : {options.bytes_per_us, options.operations_per_us})
    if (!(rate > 0))
      return Error("usage-pass-option", {}, "pass 'priority-fusion' needs rates above 0, found {0}", rate);
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (!RunsOnWholeValues(*c)) continue;
    HLO_TRY(const bool c_changed, PriorityFuser(*c, options, context).Run());
    changed |= c_changed;
  }
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(PriorityFusion, PriorityFusionOptions);

}  // namespace hlo
