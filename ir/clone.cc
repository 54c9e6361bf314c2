// Deep copies of modules, computations and instructions.
#include "ir/module.h"
#include "ir/name_table.h"

namespace hlo {
namespace {

/// Copies what an instruction carries besides edges, re-homing strings into the target module.
class Copier {
 public:
  Copier(const Module* from, Module& to) : to_(to), same_module_(from == &to) {}

  llvm::StringRef Import(llvm::StringRef text) {
    if (same_module_) return text;
    for (const SourcePtr& source : to_.sources()) {
      const llvm::StringRef all = source->text();
      if (text.data() >= all.begin() && text.data() + text.size() <= all.end()) return text;
    }
    return to_.Save(text);
  }

  OpMetadata Import(OpMetadata m) {
    for (llvm::StringRef* s : {&m.op_type, &m.op_name, &m.source_file, &m.deduplicated_name,
                               &m.scheduling_name, &m.payload, &m.unknown_fields})
      *s = Import(*s);
    return m;
  }

  const OpMetadata* Metadata(const OpMetadata* metadata) {
    if (!metadata || same_module_) return metadata;
    const OpMetadata*& copy = metadata_[metadata];
    if (!copy) copy = to_.Save(Import(*metadata));
    return copy;
  }

  std::vector<FrontendAttribute> Frontend(std::vector<FrontendAttribute> attributes) {
    for (FrontendAttribute& a : attributes) a = {Import(a.key), Import(a.value)};
    return attributes;
  }

  ShardingPtr ImportSharding(const ShardingPtr& sharding) {
    if (!sharding || same_module_) return sharding;
    auto copy = std::make_shared<Sharding>(*sharding);
    ImportSharding(*copy);
    return copy;
  }

  void CopyFrame(const Instruction& from, Instruction& copy) {
    copy.set_metadata(Metadata(from.metadata()));
    copy.set_loc(from.loc());
    if (!from.has_extras()) return;
    const InstructionExtras& extras = from.extras();
    InstructionExtras& to = copy.MutableExtras();
    to.sharding = ImportSharding(extras.sharding);
    to.frontend_attributes = Frontend(extras.frontend_attributes);
    to.statistics = extras.statistics;
    if (to.statistics)
      for (Statistic& s : to.statistics->values) s.name = Import(s.name);
    to.result_accuracy = extras.result_accuracy;
    if (extras.origin) {
      auto origin = std::make_shared<Origin>(*extras.origin);
      ImportOrigin(*origin);
      to.origin = std::move(origin);
    }
    to.backend_config = Import(extras.backend_config);
    to.unknown_attributes = Import(extras.unknown_attributes);
  }

 private:
  void ImportSharding(Sharding& sharding) {
    for (OpMetadata& m : sharding.metadata) m = Import(m);
    for (Sharding& e : sharding.elements) ImportSharding(e);
  }
  void ImportOrigin(Origin& origin) {
    origin.name = Import(origin.name);
    for (Origin& e : origin.elements) ImportOrigin(e);
  }

  Module& to_;
  bool same_module_;
  llvm::DenseMap<const OpMetadata*, const OpMetadata*> metadata_;
};

Instruction* CopyInstruction(Copier& copier, const Instruction& from, Computation& to,
                             llvm::ArrayRef<Instruction*> operands, llvm::ArrayRef<Computation*> callees,
                             llvm::StringRef name) {
  Instruction* copy = to.Add(from.kind(), from.shape(), copier.Import(name), operands, from.attrs(), callees);
  copier.CopyFrame(from, *copy);
  return copy;
}

void CopyComputation(Copier& copier, const Computation& from, Computation& to,
                     llvm::function_ref<Computation*(Computation*)> map_callee) {
  llvm::DenseMap<const Instruction*, Instruction*> copies;
  // Two rounds: list order need not put operands before users.
  for (Instruction* i : from.instructions()) {
    llvm::SmallVector<Computation*, 2> callees;
    for (Computation* c : i->callees()) callees.push_back(map_callee(c));
    copies[i] = CopyInstruction(copier, *i, to, {}, callees, i->name());
  }
  for (Instruction* i : from.instructions()) {
    llvm::SmallVector<Instruction*, 4> operands;
    for (Instruction* o : i->operands()) operands.push_back(copies[o]);
    copies[i]->SetOperands(operands);
  }
  for (Instruction* i : from.instructions())
    for (Instruction* p : i->extras().control_predecessors) copies[i]->AddControlPredecessor(copies[p]);
  if (from.root()) to.set_root(copies[from.root()]);
  std::vector<Instruction*> schedule;
  for (Instruction* i : from.schedule()) schedule.push_back(copies[i]);
  to.set_schedule(std::move(schedule));
  to.set_execution_thread(copier.Import(from.execution_thread()));
  to.set_loc(from.loc());
}

}  // namespace

Instruction* CloneInstruction(const Instruction& from, Computation& to, llvm::ArrayRef<Instruction*> operands,
                              llvm::ArrayRef<Computation*> callees, llvm::StringRef name) {
  Copier copier(from.module(), *to.module());
  return CopyInstruction(copier, from, to, operands, callees, name);
}

void CloneInto(const Computation& from, Computation& to,
               llvm::function_ref<Computation*(Computation*)> map_callee) {
  Copier copier(from.module(), *to.module());
  CopyComputation(copier, from, to, map_callee);
}

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>(name_);
  copy->sources_ = sources_;
  Copier copier(this, *copy);
  llvm::DenseMap<const Computation*, Computation*> map;
  for (const auto& c : computations_) map[c.get()] = copy->AddComputation(copier.Import(c->name()));
  for (const auto& c : computations_)
    CopyComputation(copier, *c, *map[c.get()], [&](Computation* callee) { return map[callee]; });
  if (entry_) copy->entry_ = map[entry_];
  copy->instruction_names_->Assign(*instruction_names_, *copy);
  copy->computation_names_->Assign(*computation_names_, *copy);
  copy->config = config;
  copy->config.frontend_attributes = copier.Frontend(config.frontend_attributes);
  for (OriginRecovery& r : copy->config.origin_recovery_table)
    r.old_name = copier.Import(r.old_name), r.new_name = copier.Import(r.new_name);
  for (DebugAttribute& d : copy->config.debug_attributes) d.name = copier.Import(d.name);
  copy->stack_tables = stack_tables;
  for (llvm::StringRef& f : copy->stack_tables.files) f = copier.Import(f);
  for (llvm::StringRef& f : copy->stack_tables.functions) f = copier.Import(f);
  return copy;
}

}  // namespace hlo
