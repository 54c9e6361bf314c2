// while-loop-all-reduce-code-motion: sums over iterations are exchanged once, behind the loop (passes.md
// §2.6).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: where a loop adds the sum of an all-reduce to an element that it reads for nothing else, it adds
// up what the devices have, from zero on; behind the loop that is exchanged and added to the initial value.
// Left alone: all-reduces that others read or that add nothing, constrained layouts, control edges, loops
// whose state others share; under --strict-fp sums of floats, whose order changes.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"

namespace hlo {
namespace {

/// An element, the sum that is its next value, and the all-reduce that it takes in.
struct Accumulation {
  int64_t element;
  Instruction *sum, *exchange;
};

/// Who reads the elements of a loop's state.
struct Reads {
  explicit Reads(const TupleLoop& loop)
      : in_body(ReadsByElement(*loop.body_parameter)), decide(ReadsByElement(*loop.condition_parameter)) {
    for (const Instruction* next : loop.body_root->operands()) ++results[next];
  }
  std::vector<llvm::SmallVector<Instruction*, 2>> in_body, decide;
  llvm::DenseMap<const Instruction*, int64_t> results;  // how many elements have it as their next value
};

std::optional<Accumulation> AccumulationOf(const TupleLoop& loop, int64_t i, const Reads& all,
                                           bool strict_fp) {
  Instruction* sum = loop.body_root->operand(i);
  const auto& reads = all.in_body[static_cast<size_t>(i)];
  if (sum->kind() != OpKind::Add || sum->users().size() != 1 || reads.size() != 1 ||
      all.results.lookup(sum) != 1 || !loop.InitElement(i) || !all.decide[static_cast<size_t>(i)].empty() ||
      sum->operand(0) == sum->operand(1))
    return std::nullopt;
  if (strict_fp && RoundsByOrder(OpKind::Add, sum->shape().element_type())) return std::nullopt;
  const Instruction* read = reads.front();
  if (read->users().size() != 1 || !llvm::is_contained(sum->operands(), read)) return std::nullopt;
  Instruction* exchange = sum->operand(sum->operand(0) == read ? 1 : 0);
  const bool fits = exchange->kind() == OpKind::AllReduce && exchange->users().size() == 1 &&
                    IsPlainCollective(*exchange) && CollectiveOp(*exchange) == OpKind::Add &&
                    exchange->operand(0)->shape() == sum->shape() && !IsPred(sum->shape().element_type());
  return fits ? std::optional(Accumulation{i, sum, exchange}) : std::nullopt;
}

/// The loop starts from zero; what read the elements' last values reads the totals.
void ExchangeBehind(const TupleLoop& loop, llvm::ArrayRef<Accumulation> accumulations) {
  Instruction* at = loop.loop;
  Maker before(at), behind(*at->parent(), at);
  Instruction* old_init = loop.init();
  llvm::SmallVector<Instruction*, 6> elements(old_init->operands());
  for (const Accumulation& a : accumulations) {
    Instruction*& init = elements[static_cast<size_t>(a.element)];
    init = before.Full(init->shape(), 0);
  }
  at->SetOperand(0, before.Tuple(elements));
  const llvm::SmallVector<Instruction*, 4> users(at->users());
  const bool was_root = at->IsRoot();

  llvm::SmallVector<Instruction*, 6> totals(elements.size(), nullptr);
  for (const Accumulation& a : accumulations) {
    Instruction* part = behind.Gte(at, a.element);
    Instruction* all = CollectiveLike(behind, *a.exchange, part->shape(), {part});
    totals[static_cast<size_t>(a.element)] =
        behind.AddWithShape(OpKind::Add, part->shape(), {old_init->operand(a.element), all});
  }
  Instruction* whole = nullptr;  // for who reads all elements at once
  const auto state = [&]() {
    if (whole) return whole;
    llvm::SmallVector<Instruction*, 6> parts(totals);
    for (int64_t i = 0; i < loop.size(); ++i)
      if (Instruction*& part = parts[static_cast<size_t>(i)]; !part) part = behind.Gte(at, i);
    return whole = behind.AddWithShape(OpKind::Tuple, at->shape(), parts);
  };
  for (Instruction* user : users) {
    const auto* read = user->attrs().GetIf<GetTupleElementAttrs>();
    if (!read)
      user->ReplaceOperand(at, state());
    else if (Instruction* total = totals[static_cast<size_t>(read->index)])
      ReplaceAndRemove(user, total);
  }
  if (was_root) at->parent()->set_root(state());
  for (const Accumulation& a : accumulations) {
    a.sum->ReplaceOperand(a.exchange, a.exchange->operand(0));
    RemoveIfDead(a.exchange);
  }
  RemoveIfDead(old_init);
}

Result<bool> RunWhileLoopAllReduceCodeMotion(Module& module, const NoPassOptions&, PassContext& context) {
  const bool strict_fp = context.policy().strict_fp;
  return ForEachLoop(module, context, [&](Instruction* inst) {
    const auto loop = AsTupleLoop(*inst);
    if (!loop || !MayReshapeLoop(*loop)) return false;
    const Reads reads(*loop);
    std::vector<Accumulation> accumulations;
    for (int64_t i = 0; i < loop->size(); ++i) {
      const auto found = AccumulationOf(*loop, i, reads, strict_fp);
      if (!found) continue;
      if (!context.TakeRewrite()) break;
      accumulations.push_back(*found);
    }
    if (accumulations.empty()) return false;
    ExchangeBehind(*loop, accumulations);
    return true;
  });
}

}  // namespace

HLO_DEFINE_PASS(WhileLoopAllReduceCodeMotion, NoPassOptions);

}  // namespace hlo
