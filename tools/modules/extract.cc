// Taking modules apart (tools.md §2.1 "Extraction").
#include "tools/modules/transform.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "tools/modules/stand_in.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// The name as the text has it, which may be shared by several computations.
StringRef WrittenName(Loc loc, StringRef name) {
  if (!loc.valid()) return name;
  StringRef text = loc.source->text().slice(loc.begin, loc.end);
  text.consume_front("%");
  return text;
}

StringRef WithoutPercent(StringRef name) {
  name.consume_front("%");
  return name;
}

/// Copies computations with everything they call into a new module.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(const Module& from, StringRef name) : to_(std::make_unique<Module>(name)) {
    for (const SourcePtr& source : from.sources()) to_->KeepSource(source);
    to_->stack_tables = from.stack_tables;
    to_->config.replica_count = from.config.replica_count;
    to_->config.num_partitions = from.config.num_partitions;
  }

  Module& module() { return *to_; }
  StringRef InstructionName(StringRef wanted) { return to_->UniqueInstructionName(wanted); }

  /// The copy of a computation, made with its callees if need be.
  Computation* Copy(const Computation* start) {
    std::vector<std::pair<const Computation*, bool>> stack = {{start, false}};
    while (!stack.empty()) {
      auto [at, ready] = stack.back();
      stack.pop_back();
      if (copies_.contains(at)) continue;
      if (ready) {
        Computation* copy = to_->AddComputation(to_->UniqueComputationName(at->name()));
        for (const Instruction* i : at->instructions()) to_->UniqueInstructionName(i->name());
        CloneInto(*at, *copy, [&](Computation* callee) { return copies_.lookup(callee); });
        copies_[at] = copy;
        continue;
      }
      stack.emplace_back(at, true);
      for (const Instruction* i : at->instructions())
        for (const Computation* callee : i->callees()) stack.emplace_back(callee, false);
    }
    return copies_.lookup(start);
  }

  Computation* NewEntry(StringRef name) {
    Computation* entry = to_->AddComputation(to_->UniqueComputationName(name));
    to_->set_entry(entry);
    return entry;
  }

  std::unique_ptr<Module> Finish() {
    EntryLayout layout;
    layout.parameters = to_->entry()->ParameterShapes();
    layout.result = to_->entry()->root()->shape();
    to_->config.entry_layout = std::move(layout);
    return std::move(to_);
  }

 private:
  std::unique_ptr<Module> to_;
  llvm::DenseMap<const Computation*, Computation*> copies_;
};

/// Places of the instructions of a computation in its post-order.
using Places = llvm::DenseMap<const Instruction*, size_t>;

Places PlacesOf(const Computation& computation) {
  Places places;
  for (const Instruction* i : computation.PostOrder()) places.try_emplace(i, places.size());
  return places;
}

/// The instructions within `height` operand levels of the targets (-1: all), in post-order.
std::vector<const Instruction*> Within(llvm::ArrayRef<const Instruction*> targets, int64_t height,
                                       const Places& places) {
  llvm::SetVector<const Instruction*> kept(targets.begin(), targets.end());
  std::vector<const Instruction*> level(targets.begin(), targets.end());
  for (int64_t h = 0; !level.empty() && (height < 0 || h < height); ++h) {
    std::vector<const Instruction*> next;
    for (const Instruction* i : level)
      for (const Instruction* operand : i->operands())
        if (kept.insert(operand)) next.push_back(operand);
    level = std::move(next);
  }
  std::vector<const Instruction*> order(kept.begin(), kept.end());
  llvm::sort(order,
             [&](const Instruction* a, const Instruction* b) { return places.lookup(a) < places.lookup(b); });
  return order;
}

/// Constants up to this size stay with an isolated instruction: bounds, exponents, indices.
constexpr int64_t kKeptConstantElements = 16;

/// Builds the entry of an extracted module.
class Extraction {
 public:
  /// `places`: of the computation that the targets stand in.
  Extraction(const Module& from, StringRef name, ExtractOptions options, const Places& places)
      : builder_(from, name), options_(std::move(options)), places_(places) {}

  Result<std::unique_ptr<Module>> Run(llvm::ArrayRef<const Instruction*> targets) {
    const Computation& home = *targets.front()->parent();
    const std::vector<const Instruction*> order = Within(targets, options_.height, places_);
    // Callees come first, as they stand above their callers in the text.
    for (const Instruction* i : order)
      for (const Computation* callee : i->callees()) builder_.Copy(callee);
    to_ = builder_.NewEntry(home.name());
    CopyParameters(order);
    for (const Instruction* i : order) {
      if (i->kind() == OpKind::Parameter) continue;
      llvm::SmallVector<Instruction*, 4> operands;
      for (const Instruction* operand : i->operands()) {
        if (!copies_.contains(operand)) {
          HLO_TRY(Instruction * stand_in, StandIn(*operand));
          copies_[operand] = stand_in;
        }
        operands.push_back(copies_.lookup(operand));
      }
      CopyKept(*i, operands);
    }
    to_->set_root(copies_.lookup(targets.front()));
    if (targets.size() > 1) {
      llvm::SmallVector<Instruction*, 4> parts;
      llvm::SmallVector<Shape, 4> shapes;
      for (const Instruction* target : targets) {
        parts.push_back(copies_.lookup(target));
        shapes.push_back(target->shape());
      }
      to_->set_root(
          to_->Add(OpKind::Tuple, Shape::MakeTuple(shapes), builder_.InstructionName("tuple"), parts));
    }
    return builder_.Finish();
  }

 private:
  void CopyParameters(llvm::ArrayRef<const Instruction*> order) {
    std::vector<const Instruction*> parameters;
    for (const Instruction* i : order)
      if (i->kind() == OpKind::Parameter) parameters.push_back(i);
    llvm::sort(parameters, [](const Instruction* a, const Instruction* b) {
      return a->attr<ParameterAttrs>().number < b->attr<ParameterAttrs>().number;
    });
    for (const Instruction* p : parameters) {
      Instruction* copy = AddParameter(*p);
      copy->set_metadata(p->metadata() ? builder_.module().Save(*p->metadata()) : nullptr);
      if (p->extras().sharding) copy->MutableExtras().sharding = p->extras().sharding;
    }
  }

  Instruction* AddParameter(const Instruction& value) {
    ParameterAttrs attrs;
    attrs.number = next_parameter_++;
    Instruction* copy =
        to_->Add(OpKind::Parameter, value.shape(), builder_.InstructionName(value.name()), {}, attrs);
    copy->set_loc(value.loc());
    copies_[&value] = copy;
    return copy;
  }

  void CopyKept(const Instruction& from, llvm::ArrayRef<Instruction*> operands) {
    llvm::SmallVector<Computation*, 2> callees;
    for (const Computation* callee : from.callees()) callees.push_back(builder_.Copy(callee));
    Instruction* copy =
        CloneInstruction(from, *to_, operands, callees, builder_.InstructionName(from.name()));
    for (const Instruction* before : from.extras().control_predecessors)
      if (Instruction* kept = copies_.lookup(before)) copy->AddControlPredecessor(kept);
    copies_[&from] = copy;
  }

  Result<Instruction*> StandIn(const Instruction& value) {
    if (value.kind() == OpKind::Constant && value.shape().IsArray() && !value.shape().HasDynamicDimension() &&
        value.shape().ElementCount() <= options_.kept_constant_elements) {
      CopyKept(value, {});
      return copies_.lookup(&value);
    }
    if (options_.boundary != Boundary::Parameter) {
      StandInBuilder stand_ins(*to_);
      HLO_TRY(Instruction * made, stand_ins.Make(value.shape(), options_.boundary, value));
      if (made) return made;
      Diagnostic warning =
          MakeError("boundary-parameter", value.loc(),
                    "%{0} has shape {1}, of which there are no constants; it becomes a parameter",
                    value.name(), value.shape());
      warning.severity = Severity::Warning;
      if (options_.report) options_.report(std::move(warning));
    }
    return AddParameter(value);
  }

  ModuleBuilder builder_;
  ExtractOptions options_;
  const Places& places_;
  Computation* to_ = nullptr;
  llvm::DenseMap<const Instruction*, Instruction*> copies_;
  int64_t next_parameter_ = 0;
};

/// Instructions that say nothing when they stand alone: sources, wiring, and calls, whose bodies are
/// looked at instead.
bool IsTrivial(const Instruction& i) {
  const OpCategory category = i.info().category;
  return category == OpCategory::Source || category == OpCategory::Tuple || i.info().Is(kStart) ||
         (category == OpCategory::Control && i.kind() != OpKind::Fusion) || i.kind() == OpKind::Bitcast ||
         i.kind() == OpKind::AsyncUpdate;
}

}  // namespace

Result<const Instruction*> FindInstruction(const Module& module, StringRef name) {
  const auto [scope, local] =
      name.contains("::") ? name.split("::") : std::pair<StringRef, StringRef>("", name);
  const StringRef wanted = WithoutPercent(local), home = WithoutPercent(scope);
  std::vector<const Instruction*> found;
  const Instruction* exact = nullptr;
  std::vector<StringRef> names;
  llvm::StringMap<const Computation*> homes;
  for (const auto& computation : module.computations()) {
    const bool in_scope = home.empty() || computation->name() == home ||
                          WrittenName(computation->loc(), computation->name()) == home;
    for (const Instruction* i : computation->instructions()) {
      names.push_back(i->name());
      homes[i->name()] = computation.get();
      if (!in_scope) continue;
      if (WrittenName(i->loc(), i->name()) == wanted) found.push_back(i);
      if (i->name() == wanted) exact = i;
    }
  }
  if (found.empty() && exact) return exact;
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    std::string candidates;
    for (const Instruction* i : found)
      candidates +=
          (candidates.empty() ? "'%" : ", '%") + i->parent()->name().str() + "::" + wanted.str() + "'";
    return Error("usage-name", {}, "'%{0}' stands in {1} computations: {2}", wanted, found.size(),
                 candidates);
  }
  std::string hint;
  for (const std::string& near : DidYouMean(wanted, names))
    hint += llvm::formatv("{0}'%{1}' (in %{2})", hint.empty() ? "; did you mean " : " or ", near,
                          homes[near]->name())
                .str();
  if (!hint.empty()) hint += "?";
  return Error("usage-name", {}, "no instruction '%{0}'{1}", wanted, hint);
}

Result<const Computation*> FindComputation(const Module& module, StringRef name) {
  const StringRef wanted = WithoutPercent(name);
  std::vector<StringRef> names;
  for (const auto& computation : module.computations()) {
    if (computation->name() == wanted) return computation.get();
    names.push_back(computation->name());
  }
  for (const auto& computation : module.computations())
    if (WrittenName(computation->loc(), computation->name()) == wanted) return computation.get();
  const std::string hint = DidYouMeanText(wanted, names);
  return Error("usage-name", {}, "no computation '%{0}'{1}{2}", wanted, hint.empty() ? "" : "; ", hint);
}

Result<std::unique_ptr<Module>> ExtractInstructions(const Module& module,
                                                    llvm::ArrayRef<const Instruction*> targets,
                                                    const ExtractOptions& options) {
  for (const Instruction* target : targets)
    if (target->parent() != targets.front()->parent())
      return Error(
          "usage-name", {},
          "'%{0}' is in %{1} but '%{2}' is in %{3}; instructions of one module must share a computation",
          targets.front()->name(), targets.front()->parent()->name(), target->name(),
          target->parent()->name());
  return Extraction(module, module.name(), options, PlacesOf(*targets.front()->parent())).Run(targets);
}

std::unique_ptr<Module> ExtractComputation(const Module& module, const Computation& computation) {
  ModuleBuilder builder(module, module.name());
  builder.module().set_entry(builder.Copy(&computation));
  // A fusion's body may have been scheduled by its caller only; as an entry it stands for itself.
  return builder.Finish();
}

Result<std::vector<std::unique_ptr<Module>>> IsolateInstructions(const Module& module) {
  std::vector<std::unique_ptr<Module>> result;
  llvm::DenseSet<uint64_t> seen;
  for (const Computation* computation : module.PrintOrder()) {
    // Bodies of control flow only: those of fusions, reducers and the like belong to their callers.
    const bool visited =
        computation->IsEntry() || llvm::all_of(computation->callers(), [](const Instruction* caller) {
          return caller->info().category == OpCategory::Control && caller->kind() != OpKind::Fusion;
        });
    if (!visited) continue;
    const Places places = PlacesOf(*computation);
    for (const Instruction* i : computation->PostOrder()) {
      if (IsTrivial(*i)) continue;
      ExtractOptions options;
      options.height = 0;
      options.kept_constant_elements = kKeptConstantElements;
      // A `done` takes its chain along.
      for (const Instruction* at = i;
           (at->info().Is(kDone) || at->kind() == OpKind::AsyncUpdate) && at->operand_count() > 0;
           at = at->operand(0))
        ++options.height;
      const std::string name = (module.name() + "." + i->name()).str();
      HLO_TRY(auto part, Extraction(module, name, options, places).Run({i}));
      if (seen.insert(Fingerprint(*part->entry())).second) result.push_back(std::move(part));
    }
  }
  return result;
}

}  // namespace hlo
