// Rules about the module as a whole (errata-text 57).
#include "ir/support/stack.h"
#include "ir/verify_internal.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::verify {
namespace {

void VerifyEntryLayout(Report& report) {
  const Module& module = report.module();
  const Computation& entry = *module.entry();
  if (!module.config.entry_layout || !entry.root() || llvm::is_contained(entry.parameters(), nullptr)) return;
  const EntryLayout& layout = *module.config.entry_layout;
  if (layout.parameters.size() != entry.parameters().size()) {
    report.ModuleError("verify-entry-layout",
                       "'entry_computation_layout' has {0} parameters, but entry computation {1} has {2}",
                       layout.parameters.size(), Name(entry), entry.parameters().size());
    return;
  }
  const bool layouts = report.options().layout_sensitive;
  ShapeComparison how;
  how.layout = layouts;
  how.dynamic = layouts && report.options().dynamic_flags;
  how.ignore_tiles = how.ignore_memory_space = true;
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    const Instruction& parameter = *entry.parameters()[i];
    if (!Same(layout.parameters[i], parameter.shape(), how))
      report
          .ModuleError(
              "verify-entry-layout", "parameter {0} in 'entry_computation_layout' is {1}, but {2} is {3}", i,
              ToString(layout.parameters[i], layouts), Name(parameter), ToString(parameter.shape(), layouts))
          .Note(parameter.loc(), "the parameter is defined here");
  }
  if (!Same(layout.result, entry.root()->shape(), how))
    report
        .ModuleError(
            "verify-entry-layout", "the result in 'entry_computation_layout' is {0}, but root {1} is {2}",
            ToString(layout.result, layouts), Name(*entry.root()), ToString(entry.root()->shape(), layouts))
        .Note(entry.root()->loc(), "the root is defined here");
}

/// The part of entry parameter `number` at `index`, or null with an error.
const Shape* ParameterPart(Report& report, llvm::StringRef attribute, int64_t number,
                           const ShapeIndex& index) {
  const Computation& entry = *report.module().entry();
  if (number < 0 || number >= static_cast<int64_t>(entry.parameters().size())) {
    report.ModuleError("verify-alias",
                       "'{0}' names parameter {1}, but entry computation {2} has {3} parameters", attribute,
                       number, Name(entry), entry.parameters().size());
    return nullptr;
  }
  const Shape& shape = entry.parameter(number)->shape();
  const Shape* part = shape.Subshape(index);
  if (!part || !part->IsArray()) {
    report.ModuleError("verify-alias", "'{0}' names part {1} of parameter {2}, but {3} has no array there",
                       attribute, ToString(index), number, shape);
    return nullptr;
  }
  return part;
}

using ParameterSlot = std::pair<int64_t, ShapeIndex>;

void VerifyAliases(Report& report) {
  const ModuleConfig& config = report.module().config;
  const Shape& result = report.module().entry()->root()->shape();
  std::vector<ParameterSlot> aliased;
  ShapeComparison exact;
  exact.layout = exact.dynamic = true;
  for (const InputOutputAlias& alias : config.input_output_alias) {
    const Shape* output = result.Subshape(alias.output);
    if (!output || !output->IsArray()) {
      report.ModuleError("verify-alias",
                         "'input_output_alias' names output {0}, but result {1} has no array there",
                         ToString(alias.output), result);
      continue;
    }
    const Shape* parameter =
        ParameterPart(report, "input_output_alias", alias.parameter, alias.parameter_index);
    if (!parameter) continue;
    if (ByteSize(*output) != ByteSize(*parameter) || (alias.must_alias && !Same(*output, *parameter, exact)))
      report.ModuleError(
          "verify-alias",
          "'input_output_alias' lets output {0}, {1}, share the buffer of parameter {2} part {3}, {4}",
          ToString(alias.output), ToString(*output, alias.must_alias), alias.parameter,
          ToString(alias.parameter_index), ToString(*parameter, alias.must_alias));
    aliased.emplace_back(alias.parameter, alias.parameter_index);
  }
  llvm::sort(aliased);
  if (auto twice = std::adjacent_find(aliased.begin(), aliased.end()); twice != aliased.end())
    report.ModuleError("verify-alias",
                       "'input_output_alias' lets two outputs share part {0} of parameter {1}",
                       ToString(twice->second), twice->first);
  for (const BufferDonor& donor : config.buffer_donors) {
    ParameterPart(report, "buffer_donor", donor.parameter, donor.index);
    if (std::binary_search(aliased.begin(), aliased.end(), ParameterSlot(donor.parameter, donor.index)))
      report.ModuleError("verify-alias",
                         "part {0} of parameter {1} stands in both 'buffer_donor' and 'input_output_alias'",
                         ToString(donor.index), donor.parameter);
  }
}

/// Ids of the tables are 1-based, 0 = none; parents stand before their children.
void VerifyStackTables(Report& report) {
  const StackTables& tables = report.module().stack_tables;
  auto in = [](int32_t id, size_t size) { return id >= 0 && static_cast<size_t>(id) <= size; };
  for (size_t i = 0; i < tables.locations.size(); ++i) {
    const auto& l = tables.locations[i];
    if (!in(l.file, tables.files.size()) || !in(l.function, tables.functions.size()))
      report.ModuleError("verify-stack", "file location {0} names file {1} of {2} and function {3} of {4}",
                         i + 1, l.file, tables.files.size(), l.function, tables.functions.size());
  }
  for (size_t i = 0; i < tables.frames.size(); ++i) {
    const auto& f = tables.frames[i];
    if (!in(f.location, tables.locations.size()) || f.parent < 0 || static_cast<size_t>(f.parent) > i)
      report.ModuleError(
          "verify-stack",
          "stack frame {0} names location {1} of {2} and parent {3}, which must stand before it", i + 1,
          f.location, tables.locations.size(), f.parent);
  }
}

/// The schedule holds each instruction once, after what it depends on.
void VerifySchedule(const Computation& computation, Report& report) {
  const auto& order = computation.schedule();
  if (static_cast<int64_t>(order.size()) != computation.instruction_count()) {
    report.Error("verify-schedule", computation,
                 "the schedule of {0} has {1} instructions, but the computation has {2}", Name(computation),
                 order.size(), computation.instruction_count());
    return;
  }
  const_cast<Computation&>(computation).NumberInstructions();  // a cache
  std::vector<bool> done(order.size());
  auto is_done = [&](const Instruction* inst) { return done[static_cast<size_t>(inst->number())]; };
  for (const Instruction* inst : order) {
    if (inst->parent() != &computation || is_done(inst)) {
      report.Error("verify-schedule", *inst, "{0} stands in the schedule of {1} {2}", Name(*inst),
                   Name(computation),
                   inst->parent() != &computation ? "but belongs to another computation" : "twice");
      return;
    }
    auto check = [&](const Instruction* before) {
      if (before->parent() == &computation && !is_done(before))
        report.Error("verify-schedule", *inst, "{0} is scheduled before {1}, which it depends on",
                     Name(*inst), Name(*before));
    };
    for (const Instruction* operand : inst->operands()) check(operand);
    for (const Instruction* before : inst->extras().control_predecessors) check(before);
    done[static_cast<size_t>(inst->number())] = true;
  }
}

}  // namespace

NameCheck::NameCheck(int64_t count) {
  const uint64_t wanted = llvm::NextPowerOf2(std::max<uint64_t>(static_cast<uint64_t>(count) * 3 / 2, 16));
  slots_.resize(wanted);
  shift_ = 64 - static_cast<int>(llvm::Log2_64(wanted));
}

void ReportRepeatedNames(Report& report) {
  llvm::DenseSet<llvm::StringRef> instructions, computations;
  for (const auto& computation : report.module().computations()) {
    if (!computations.insert(computation->name()).second)
      report.Error("verify-name", *computation, "computation {0} has the name of another computation",
                   Name(*computation));
    for (const Instruction* inst : computation->instructions())
      if (LLVM_UNLIKELY(!instructions.insert(inst->name()).second))
        report.Error("verify-name", *inst, "{0} in computation {1} has the name of another instruction",
                     Name(*inst), Name(*computation));
  }
}

// Depth first; the first computation that reaches itself is reported. Calls nest as deeply as text may: what
// runs and changes modules goes down with them.
void VerifyNoRecursion(llvm::ArrayRef<const Instruction*> callers, Report& report) {
  enum State : uint8_t { Unseen, Open, Done };
  struct Node {
    State state = Unseen;
    size_t next_caller = 0, next_callee = 0;
    size_t depth = 0;  // of calls within calls
    std::vector<const Instruction*> callers;
  };
  llvm::DenseMap<const Computation*, Node> nodes;
  for (const Instruction* caller : callers) nodes[caller->parent()].callers.push_back(caller);
  std::vector<const Computation*> stack;
  for (const Instruction* start : callers) {
    if (nodes.find(start->parent())->second.state != Unseen) continue;
    stack.push_back(start->parent());
    while (!stack.empty()) {
      const auto at = nodes.find(stack.back());
      if (at == nodes.end()) {  // calls nothing
        stack.pop_back();
        continue;
      }
      Node& node = at->second;
      node.state = Open;
      while (node.next_caller < node.callers.size() &&
             node.next_callee == node.callers[node.next_caller]->callees().size()) {
        ++node.next_caller;
        node.next_callee = 0;
      }
      if (node.next_caller == node.callers.size()) {
        node.state = Done;
        stack.pop_back();
        if (!stack.empty()) {
          size_t& around = nodes.find(stack.back())->second.depth;
          around = std::max(around, node.depth + 1);
        }
        if (node.depth > static_cast<size_t>(kMaxNesting)) {
          report.Error("limit-nesting", *node.callers[0],
                       "calls within computation {0} nest deeper than {1} levels",
                       Name(*node.callers[0]->parent()), kMaxNesting);
          return;
        }
        continue;
      }
      const Instruction* caller = node.callers[node.next_caller];
      const Computation* callee = caller->callees()[node.next_callee++];
      const auto to = nodes.find(callee);
      if (to == nodes.end() || to->second.state == Done) {
        node.depth = std::max(node.depth, 1 + (to == nodes.end() ? 0 : to->second.depth));
        continue;
      }
      if (to->second.state == Open) {
        report.Error("verify-callee", *caller, "{0} in computation {1} calls {2}, which calls {1} in turn",
                     Name(*caller), Name(*caller->parent()), Name(*callee));
        return;
      }
      stack.push_back(callee);
    }
  }
}

void VerifyHeader(Report& report) {
  const Computation* entry = report.module().entry();
  if (!entry) {
    report.ModuleError("verify-structure", "module {0} has no entry computation", report.module().name());
    return;
  }
  if (entry->IsFusion())
    report.Error("verify-fusion", *entry, "entry computation {0} is also the body of fusion {1}",
                 Name(*entry), Name(**llvm::find_if(entry->callers(), [](const Instruction* i) {
                   return i->kind() == OpKind::Fusion;
                 })));
  VerifyEntryLayout(report);
  if (entry->root() && !llvm::is_contained(entry->parameters(), nullptr)) VerifyAliases(report);
  VerifyStackTables(report);
}

void VerifySchedules(Report& report) {
  if (!report.module().config.is_scheduled) return;
  for (const auto& computation : report.module().computations()) {
    if (computation->IsFusion()) continue;
    if (computation->has_schedule() || computation->instruction_count() == 0)
      VerifySchedule(*computation, report);
    else
      report.Error("verify-schedule", *computation,
                   "the module has is_scheduled=true, but {0} has no schedule", Name(*computation));
  }
}

}  // namespace hlo::verify
