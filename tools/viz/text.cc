#include "tools/viz/text.h"

#include "ir/print.h"
#include "llvm/Support/Format.h"
#include "passes/analysis/cost.h"
#include "tools/modules/module_json.h"
#include "tools/modules/transform.h"
#include "tools/viz/drawing/label.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kMostUsers = 100, kLongestLine = 4096;

std::vector<Instruction*> InOrder(const Computation& c) {
  return c.has_schedule() ? c.schedule() : c.PostOrder();
}

/// `main::dot.3`.
std::string Place(const Instruction& inst) { return (inst.parent()->name() + "::" + inst.name()).str(); }

std::string CallersText(const Computation& c) {
  std::vector<std::string> callers;
  for (const Instruction* caller : c.callers()) callers.push_back("%" + Place(*caller));
  llvm::sort(callers);
  constexpr size_t kMost = 3;
  const size_t more = callers.size() > kMost ? callers.size() - kMost : 0;
  callers.resize(callers.size() - more);
  return llvm::join(callers, ", ") + (more > 0 ? llvm::formatv(" and {0} more", more).str() : "");
}

void PrintComputations(llvm::raw_ostream& os, const Module& module) {
  size_t width = 0;
  const std::vector<Computation*> order = module.PrintOrder();
  for (const Computation* c : order) width = std::max(width, c->name().size());
  width = std::min<size_t>(width, 60);
  for (const Computation* c : order) {
    os << '%' << llvm::left_justify(c->name(), static_cast<unsigned>(width)) << "  "
       << llvm::left_justify(ComputationKind(*c), 10)
       << llvm::formatv(" {0,7} instructions", c->instruction_count());
    if (!c->callers().empty()) os << "  called by " << CallersText(*c);
    os << '\n';
  }
}

/// One line: place, type, opcode, operands.
std::string Line(const Instruction& inst) {
  PrintOptions print = PrintOptions::ShortParsable();
  print.metadata = false;
  return ("%" + inst.parent()->name() + "::").str() +
         StringRef(ToString(inst, print)).take_front(kLongestLine).str();
}

void PrintFrames(llvm::raw_ostream& os, const Instruction& inst) {
  const std::string tip = NodeTooltip(inst);
  if (tip.empty()) return;
  os << "origin:\n";
  for (const StringRef line : llvm::split(tip, '\n')) os << "  " << line << '\n';
}

std::string Number(double value) { return value < 0 ? "unknown" : FormatScaled(value, ""); }

void PrintRelated(llvm::raw_ostream& os, StringRef title, llvm::ArrayRef<Instruction*> related,
                  bool numbered) {
  if (related.empty()) return;
  os << title << " (" << related.size() << "):\n";
  size_t n = 0;
  for (const Instruction* other : related) {
    if (n == kMostUsers) {
      os << "  and " << related.size() - n << " more\n";
      return;
    }
    os << "  ";
    if (numbered) os << n << ": ";
    ++n;
    os << '%' << other->name() << " = " << ToString(other->shape()) << ' ' << other->info().text << '\n';
  }
}

}  // namespace

Status PrintList(llvm::raw_ostream& os, const Module& module, const VizOptions& options) {
  const auto [what, pattern] = StringRef(options.list).split('=');
  if (options.list == "computations") {
    PrintComputations(os, module);
    return {};
  }
  if (what != "instructions") return UnknownWord({"--list", options.list}, {"computations", "instructions"});
  auto regex = Regex::Compile(pattern);
  if (!regex) return Error("usage-option", {}, "option '--list': {0}", regex.error().message);
  for (const Computation* c : module.PrintOrder())
    for (const Instruction* inst : InOrder(*c))
      if (const std::string line = Line(*inst); regex->Matches(line)) os << line << '\n';
  return {};
}

Status PrintInfo(llvm::raw_ostream& os, const Module& module, StringRef name) {
  HLO_TRY(const Instruction* inst, FindInstruction(module, name));
  PrintOptions print = PrintOptions::ModuleDump();
  print.max_constant_elements = 10;
  const Computation& home = *inst->parent();
  os << (inst->IsRoot() ? "ROOT " : "") << ToString(*inst, print) << '\n'
     << "computation: %" << home.name() << " (" << ComputationKind(home) << ", " << home.instruction_count()
     << " instructions)\n";
  if (!home.callers().empty()) os << "called by: " << CallersText(home) << '\n';
  const CostAnalysis costs(module);
  const Cost& cost = costs.Of(*inst);
  os << "cost: " << Number(cost.flops) << "FLOP, " << Number(cost.bytes) << "bytes moved\n";
  PrintRelated(os, "operands", inst->operands(), /*numbered=*/true);
  PrintRelated(os, "users", inst->users(), /*numbered=*/false);
  PrintRelated(os, "control predecessors", inst->extras().control_predecessors, false);
  PrintRelated(os, "control successors", inst->extras().control_successors, false);
  if (!inst->callees().empty()) {
    os << "calls (" << inst->callees().size() << "):\n";
    for (const Computation* callee : inst->callees())
      os << "  %" << callee->name() << " (" << callee->instruction_count() << " instructions)\n";
  }
  PrintFrames(os, *inst);
  return {};
}

}  // namespace hlo
