#include "backends/kernel/routine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::kernel {
namespace {

class Printer {
 public:
  explicit Printer(llvm::raw_ostream& os) : os_(os) {}

  void Print(const Routine& routine) {
    for (size_t i = 0; i < routine.slots.size(); ++i) {
      const Slot& slot = routine.slots[i];
      os_ << "  s" << i << ": " << slot.size << (slot.scalar ? " scalar" : "")
          << (slot.written ? " written" : "") << (slot.local ? " local" : "");
      if (slot.constant) os_ << " = " << *slot.constant;
      os_ << '\n';
    }
    Body(routine.body, 1);
  }

 private:
  llvm::raw_ostream& Line(int depth) { return os_.indent(static_cast<unsigned>(depth) * 2); }
  void Body(const RoutineBody& body, int depth) {
    for (const RoutineStep& s : body) std::visit([&](const auto& step) { Print(step, depth); }, s.step);
  }
  void Print(const CallStep& step, int depth) {
    Line(depth) << "call k" << step.kernel << '(';
    llvm::interleaveComma(step.slots, os_, [&](SlotId slot) { os_ << 's' << slot; });
    os_ << ')';
    if (step.extent != 1) os_ << " for " << step.extent;
    os_ << '\n';
  }
  void Print(const HostStep& step, int depth) {
    Line(depth) << "host " << step.number << '(';
    llvm::interleaveComma(step.slots, os_, [&](SlotId slot) { os_ << 's' << slot; });
    os_ << ")\n";
  }
  void Print(const CopyStep& step, int depth) {
    Line(depth) << "copy s" << step.to << " = s" << step.from << " bytes " << step.bytes << '\n';
  }
  void Print(const WhileStep& step, int depth) {
    Line(depth) << "while s" << step.predicate << " {\n";
    Body(step.condition, depth + 1);
    Line(depth) << "} do {\n";
    Body(step.body, depth + 1);
    Line(depth) << "}\n";
  }
  void Print(const BranchStep& step, int depth) {
    Line(depth) << "branch " << (step.by_predicate ? "pred" : "s32") << " s" << step.selector;
    for (const RoutineBody& branch : step.branches) {
      os_ << " {\n";
      Body(branch, depth + 1);
      Line(depth) << '}';
    }
    os_ << '\n';
  }

  llvm::raw_ostream& os_;
};

}  // namespace

std::string ToString(const Routine& routine) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer(os).Print(routine);
  return text;
}

namespace {

void VisitSlots(CallStep& step, llvm::function_ref<void(SlotId&)> visit) {
  llvm::for_each(step.slots, visit);
}
void VisitSlots(HostStep& step, llvm::function_ref<void(SlotId&)> visit) {
  llvm::for_each(step.slots, visit);
}
void VisitSlots(CopyStep& step, llvm::function_ref<void(SlotId&)> visit) {
  visit(step.from);
  visit(step.to);
}
void VisitSlots(WhileStep& step, llvm::function_ref<void(SlotId&)> visit) {
  visit(step.predicate);
  ForEachSlot(step.condition, visit);
  ForEachSlot(step.body, visit);
}
void VisitSlots(BranchStep& step, llvm::function_ref<void(SlotId&)> visit) {
  visit(step.selector);
  for (RoutineBody& branch : step.branches) ForEachSlot(branch, visit);
}

}  // namespace

void ForEachSlot(RoutineBody& body, llvm::function_ref<void(SlotId&)> visit) {
  for (RoutineStep& s : body) std::visit([&](auto& step) { VisitSlots(step, visit); }, s.step);
}

void ForEachCall(const RoutineBody& body, llvm::function_ref<void(const CallStep&)> visit) {
  for (const RoutineStep& s : body) {
    if (const auto* call = std::get_if<CallStep>(&s.step)) visit(*call);
    if (const auto* loop = std::get_if<WhileStep>(&s.step)) {
      ForEachCall(loop->condition, visit);
      ForEachCall(loop->body, visit);
    }
    if (const auto* branch = std::get_if<BranchStep>(&s.step))
      for (const RoutineBody& body_of : branch->branches) ForEachCall(body_of, visit);
  }
}

}  // namespace hlo::kernel
