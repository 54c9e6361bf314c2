// call-parameter-cleanup: calls hand over only what is needed (passes.md §2.2).
//
// Requires nothing. Preserves everything but the schedule and copies.
// Changes: where a result of a called computation is one of its parameters, or an element of the resulting
// tuple is, users of the call take the argument; results that only hand parameters on go if users take the
// call's tuple apart; parameters that nobody reads go (what made their
// arguments stays for dce). Left alone: computations that
// something other than a plain call uses, composites, shardings, control edges.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

bool HasAnnotations(const Instruction& inst) {
  const InstructionExtras& extras = inst.extras();
  return extras.sharding || extras.origin || HasControlEdges(inst);
}

/// A computation that plain calls alone use, with all its callers at hand.
bool IsOnlyCalled(const Computation& computation, const PassContext& context) {
  if (computation.IsEntry() || computation.callers().empty() || HasAnnotations(*computation.root()))
    return false;
  return llvm::none_of(computation.parameters(), [](const Instruction* p) { return HasAnnotations(*p); }) &&
         llvm::all_of(computation.callers(), [&](const Instruction* call) {
           return call->kind() == OpKind::Call && !call->attr<CallAttrs>().is_composite &&
                  !HasAnnotations(*call) && context.Allows(*call->parent()) &&
                  !call->parent()->IsFusion();  // all of whose parameters are used
         });
}

int64_t ParameterNumber(const Instruction& parameter) { return parameter.attr<ParameterAttrs>().number; }

/// Element i of a tuple that a computation results in is one of its parameters.
bool HandsOn(const Instruction& root, int64_t i) { return root.operand(i)->kind() == OpKind::Parameter; }

/// All callers take the tuple apart at once.
bool IsTakenApart(const Computation& computation) {
  return llvm::all_of(computation.callers(), [](const Instruction* call) {
    return !call->IsRoot() && llvm::all_of(call->users(), [](const Instruction* user) {
      return user->kind() == OpKind::GetTupleElement && !HasAnnotations(*user);
    });
  });
}

class Cleanup {
 public:
  Cleanup(Computation& computation, PassContext& context) : computation_(computation), context_(context) {}

  void Run() {
    const Instruction& root = *computation_.root();
    if (root.kind() == OpKind::Parameter) {
      BypassCalls(ParameterNumber(root));
    } else if (root.kind() == OpKind::Tuple && IsTakenApart(computation_)) {
      DropElements();
    }
    DropParameters();
  }

 private:
  void BypassCalls(int64_t parameter) {
    for (Instruction* call : computation_.callers()) {
      if (call->users().empty() || call->shape() != call->operand(parameter)->shape() ||
          !context_.TakeRewrite())
        continue;
      call->ReplaceAllUsesWith(call->operand(parameter));
    }
  }

  /// Users of elements that are parameters take the arguments; the result keeps the other elements.
  void DropElements() {
    Instruction* root = computation_.root();
    Dims places;  // of elements among those that stay, or -1
    llvm::SmallVector<Instruction*, 4> kept;
    for (int64_t i = 0; i < root->operand_count(); ++i) {
      places.push_back(HandsOn(*root, i) ? -1 : static_cast<int64_t>(kept.size()));
      if (!HandsOn(*root, i)) kept.push_back(root->operand(i));
    }
    if (static_cast<int64_t>(kept.size()) == root->operand_count() || !ArgumentsFit(*root) ||
        !context_.TakeRewrite())
      return;
    for (Instruction* call : computation_.callers()) RedirectElements(*call, *root, places);
    llvm::SmallVector<Shape, 4> shapes;
    for (const Instruction* k : kept) shapes.push_back(k->shape());
    root->SetOperands(kept);
    SetStructure(*root, Shape::MakeTuple(shapes));
    for (Instruction* call : computation_.callers()) SetStructure(*call, root->shape());
  }

  /// The arguments have exactly the shapes of the elements that they are to replace.
  [[nodiscard]] bool ArgumentsFit(const Instruction& root) const {
    return llvm::all_of(computation_.callers(), [&](const Instruction* call) {
      for (int64_t i = 0; i < root.operand_count(); ++i) {
        if (call->shape().tuple_shape(i) != root.operand(i)->shape()) return false;
        if (HandsOn(root, i) &&
            call->operand(ParameterNumber(*root.operand(i)))->shape() != root.operand(i)->shape())
          return false;
      }
      return true;
    });
  }

  static void RedirectElements(Instruction& call, const Instruction& root, llvm::ArrayRef<int64_t> places) {
    const llvm::SmallVector<Instruction*, 8> users(call.users());
    for (Instruction* gte : users) {
      int64_t& index = gte->mutable_attrs().Mutable<GetTupleElementAttrs>().index;
      const int64_t place = places[static_cast<size_t>(index)];
      if (place >= 0) {
        index = place;
        continue;
      }
      ReplaceWith(gte, call.operand(ParameterNumber(*root.operand(index))));
      gte->parent()->Remove(gte);
    }
  }

  /// Those that nothing uses, the last first.
  void DropParameters() {
    std::vector<bool> dropped(computation_.parameters().size());
    for (size_t i = dropped.size(); i-- > 0;) {
      const Instruction& parameter = *computation_.parameters()[i];
      dropped[i] = parameter.users().empty() && !parameter.IsRoot() && context_.TakeRewrite();
    }
    if (!llvm::is_contained(dropped, true)) return;
    computation_.RemoveParameters(
        [&](const Instruction& p) { return dropped[static_cast<size_t>(ParameterNumber(p))]; });
    for (Instruction* call : computation_.callers()) {
      llvm::SmallVector<Instruction*, 8> arguments;
      for (size_t i = 0; i < dropped.size(); ++i)
        if (!dropped[i]) arguments.push_back(call->operand(static_cast<int64_t>(i)));
      call->SetOperands(arguments);
    }
  }

  Computation& computation_;
  PassContext& context_;
};

Result<bool> RunCallParameterCleanup(Module& module, const NoPassOptions&, PassContext& context) {
  const int64_t before = context.rewrites();
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    if (IsOnlyCalled(*c, context)) Cleanup(*c, context).Run();
  }
  return context.rewrites() != before;
}

}  // namespace

HLO_DEFINE_PASS(CallParameterCleanup, NoPassOptions);

}  // namespace hlo
