#include "tools/proto/read_module.h"

#include "llvm/ADT/DenseSet.h"
#include "tools/proto/fields.h"
#include "tools/proto/origin_proto.h"
#include "tools/proto/read_instruction.h"
#include "tools/proto/read_values.h"

namespace hlo {
namespace {

/// DenseMap has no room for these.
bool IsReserved(int64_t id) {
  using Info = llvm::DenseMapInfo<int64_t>;
  return id == Info::getEmptyKey() || id == Info::getTombstoneKey();
}

class ModuleReader {
 public:
  ModuleReader(ProtoMessage& in, Module& module) : in_(in), module_(module), problems_(in.problems()) {}

  void Read() {
    module_.set_name(ReadName(in_.Text(1), module_));
    FindComputations();
    for (const Entry& entry : entries_) {
      if (problems_.failed()) return;
      ReadComputation(entry);
    }
    if (problems_.failed()) return;
    problems_.context.clear();
    FindEntry();
    if (!problems_.failed()) ReadConfig();
  }

 private:
  struct Entry {
    int64_t id;
    llvm::StringRef bytes;
    Computation* computation = nullptr;
  };

  void FindComputations() {
    in_.ForEachText(3, [&](llvm::StringRef bytes) {
      ProtoMessage message(bytes, "HloComputationProto", problems_, in_.depth() + 1);
      entries_.push_back({message.Number(5), bytes});
      message.IgnoreAll();
    });
    llvm::sort(entries_, [](const Entry& a, const Entry& b) { return a.id < b.id; });
    for (Entry& entry : entries_) {
      if (problems_.failed()) return;
      const auto name = ProtoMessage::FindBytes(entry.bytes, 1).value_or("");
      entry.computation = module_.AddComputation(module_.UniqueComputationName(ReadName(name, module_)));
      if (IsReserved(entry.id) || !computations_.try_emplace(entry.id, entry.computation).second)
        problems_.Fail("duplicate computation id {0}", entry.id);
    }
  }

  void ReadComputation(const Entry& entry) {
    Computation& to = *entry.computation;
    problems_.context = ("in computation %" + to.name()).str();
    ProtoMessage in(entry.bytes, "HloComputationProto", problems_, in_.depth() + 1);
    in.Ignore(1), in.Ignore(4), in.Ignore(5), in.Ignore(7);
    std::vector<std::pair<int64_t, llvm::StringRef>> found;
    in.ForEachText(2, [&](llvm::StringRef bytes) { found.emplace_back(0, bytes); });
    static constexpr llvm::StringLiteral kInstruction = "HloInstructionProto";
    std::vector<std::unique_ptr<ProtoMessage>> messages;
    for (auto& [id, bytes] : found) {
      messages.push_back(std::make_unique<ProtoMessage>(bytes, kInstruction, problems_, in.depth() + 1));
      id = messages.back()->Number(35);
    }
    std::vector<size_t> order(found.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    llvm::sort(order, [&](size_t a, size_t b) { return found[a].first < found[b].first; });
    llvm::DenseMap<int64_t, Instruction*> by_id;
    for (const size_t i : order) {
      if (problems_.failed()) return;
      problems_.context = llvm::formatv("in %{0} of computation %{1}", messages[i]->Text(1), to.name()).str();
      Instruction* inst = ReadInstruction(*messages[i], to, computations_);
      if (inst && (IsReserved(found[i].first) || !by_id.try_emplace(found[i].first, inst).second))
        problems_.Fail("duplicate instruction id {0}", found[i].first);
    }
    for (const size_t i : order)
      if (!problems_.failed()) Connect(*messages[i], *by_id.lookup(found[i].first), by_id);
    if (problems_.failed()) return;
    problems_.context = ("in computation %" + to.name()).str();
    if (llvm::is_contained(to.parameters(), nullptr)) problems_.Fail("parameter numbers have gaps");
    const int64_t root = in.Number(6);
    to.set_root(IsReserved(root) ? nullptr : by_id.lookup(root));
    if (!to.root()) problems_.Fail("found root id {0}, which no instruction has", root);
    if (const llvm::StringRef thread = in.Text(8); !thread.empty()) to.set_execution_thread(thread);
    instructions_.try_emplace(&to, std::move(by_id));
  }

  void Connect(ProtoMessage& message, Instruction& inst, const llvm::DenseMap<int64_t, Instruction*>& by_id) {
    problems_.context =
        llvm::formatv("in %{0} of computation %{1}", inst.name(), inst.parent()->name()).str();
    ReadReferences(message, inst, by_id);
  }

  void FindEntry() {
    const int64_t id = in_.Number(6);
    Computation* entry = IsReserved(id) ? nullptr : computations_.lookup(id);
    in_.Ignore(2);
    if (!entry) return problems_.Fail("found entry computation id {0}, which none has", id);
    module_.set_entry(entry);
  }

  void ReadConfig() {
    ModuleConfig& config = module_.config;
    if (ProtoMessage* shape = in_.Message(4, "ProgramShapeProto")) {
      EntryLayout layout = ReadProgramShape(*shape);
      for (Shape& parameter : layout.parameters) parameter = parameter.WithDefaultLayouts();
      layout.result = layout.result.WithDefaultLayouts();
      config.entry_layout = std::move(layout);
    } else {
      config.entry_layout = EntryLayout{module_.entry()->ParameterShapes(), module_.entry()->root()->shape()};
    }
    in_.Ignore(5);
    if (ProtoMessage* schedule = in_.Message(7, "HloScheduleProto")) ReadSchedule(*schedule);
    if (ProtoMessage* aliases = in_.Message(8, "HloInputOutputAliasProto"))
      aliases->ForEach(1, "AliasEntryProto", [&](ProtoMessage& entry) {
        InputOutputAlias& alias = config.input_output_alias.emplace_back();
        ReadFields(entry, alias);
        alias.must_alias = entry.Number(4) == 2;
      });
    // How many devices it was compiled for; on which ones is not of the module.
    if (ProtoMessage* devices = in_.Message(15, "DeviceAssignmentProto")) {
      if (const int64_t replicas = devices->Number(1); replicas > 1) config.replica_count = replicas;
      if (const int64_t partitions = devices->Number(2); partitions > 1) config.num_partitions = partitions;
      devices->Ignore(3);
    }
    if (ProtoMessage* donors = in_.Message(18, "HloBufferDonorProto"))
      FieldReader{*donors}.Messages(1, "BufferDonorEntryProto", config.buffer_donors);
    if (ProtoMessage* map = in_.Message(19, "FrontendAttributes"))
      config.frontend_attributes = ReadFrontendAttributes(*map);
    if (ProtoMessage* table = in_.Message(20, "OriginalValueRecoveryTableProto"))
      ReadRecoveryTable(*table, module_);
    if (ProtoMessage* stack = in_.Message(17, "StackFrameIndexProto")) ReadStack(*stack);
  }

  void ReadSchedule(ProtoMessage& in) {
    module_.config.is_scheduled = true;
    in.ForEach(1, "HloScheduleProto.Entry", [&](ProtoMessage& entry) {
      const int64_t id = entry.Number(1);
      Computation* computation = IsReserved(id) ? nullptr : computations_.lookup(id);
      ProtoMessage* sequence = entry.Message(2, "InstructionSequence");
      if (!computation) return problems_.Fail("found computation id {0} in the schedule, which none has", id);
      std::vector<Instruction*> order;
      llvm::DenseSet<const Instruction*> seen;
      const auto& by_id = instructions_.find(computation)->second;
      if (sequence)
        sequence->ForEachNumber(1, [&](int64_t number) {
          Instruction* inst = IsReserved(number) ? nullptr : by_id.lookup(number);
          if (inst && seen.insert(inst).second) order.push_back(inst);
        });
      if (static_cast<int64_t>(order.size()) != computation->instruction_count())
        return problems_.Fail("the schedule of computation %{0} does not name each instruction once",
                              computation->name());
      computation->set_schedule(std::move(order));
    });
  }

  void ReadStack(ProtoMessage& in) {
    StackTables& tables = module_.stack_tables;
    in.ForEachText(1, [&](llvm::StringRef file) { tables.files.push_back(file); });
    in.ForEachText(2, [&](llvm::StringRef function) { tables.functions.push_back(function); });
    FieldReader a{in};
    a.Messages(3, "FileLocation", tables.locations);
    a.Messages(4, "StackFrame", tables.frames);
    const auto fits = [](int32_t id, size_t count) { return id >= 0 && static_cast<size_t>(id) <= count; };
    for (const StackTables::Location& l : tables.locations)
      if (!fits(l.file, tables.files.size()) || !fits(l.function, tables.functions.size()))
        problems_.Fail("a location of the stack tables names file {0} and function {1}, of {2} and {3}",
                       l.file, l.function, tables.files.size(), tables.functions.size());
    for (const StackTables::Frame& f : tables.frames)
      if (!fits(f.location, tables.locations.size()) || !fits(f.parent, tables.frames.size()))
        problems_.Fail("a frame of the stack tables names location {0} and frame {1}, of {2} and {3}",
                       f.location, f.parent, tables.locations.size(), tables.frames.size());
  }

  ProtoMessage& in_;
  Module& module_;
  ProtoProblems& problems_;
  std::vector<Entry> entries_;
  llvm::DenseMap<int64_t, Computation*> computations_;
  llvm::DenseMap<const Computation*, llvm::DenseMap<int64_t, Instruction*>> instructions_;
};

/// Whether the bytes are those of a module: its name and at least one computation.
bool IsModule(llvm::StringRef bytes) {
  return ProtoMessage::IsWellFormed(bytes) && ProtoMessage::FindBytes(bytes, 3) &&
         ProtoMessage::FindBytes(bytes, 2);
}
bool HoldsModule(llvm::StringRef bytes) {
  const auto inner = ProtoMessage::FindBytes(bytes, 1);
  return inner && IsModule(*inner);
}

Diagnostic Remark(std::string text) {
  Diagnostic remark = MakeError("proto-fields", {}, "{0}", text);
  remark.severity = Severity::Remark;
  return remark;
}

/// The arguments of an HloUnoptimizedSnapshot, by partition.
void ReadPartitions(ProtoMessage& in, ProtoFile& file) {
  int64_t partitions = 0;
  in.ForEach(2, "HloInputs", [&](ProtoMessage& inputs) {
    ++partitions;
    inputs.ForEach(1, "LiteralProto",
                   [&](ProtoMessage& literal) { file.arguments.push_back(ReadLiteral(literal)); });
  });
  in.Ignore(3);  // the version
  if (partitions <= 1) return;
  file.arguments.clear();
  file.remarks.push_back(Remark(llvm::formatv(
      "arguments of {0} partitions are left out: they are parts of those of the module", partitions)));
}

/// The module of a message that is one, an HloProto, an HloSnapshot or an HloUnoptimizedSnapshot; what else
/// is in it goes to `file`.
void ReadFile(ProtoMessage& in, llvm::StringRef bytes, ProtoFile& file) {
  const auto read = [&](ProtoMessage& message) { ModuleReader(message, *file.module).Read(); };
  const auto inner = ProtoMessage::FindBytes(bytes, 1);
  ProtoProblems& problems = in.problems();
  constexpr int kBufferAssignment = 3;
  if (HoldsModule(bytes)) {
    read(*in.Message(1, "HloModuleProto"));
    if (in.Has(2))
      ReadPartitions(in, file);
    else
      in.Ignore(kBufferAssignment);
  } else if (inner && ProtoMessage::IsWellFormed(*inner) && HoldsModule(*inner)) {
    ProtoMessage* hlo = in.Message(1, "HloProto");
    hlo->Ignore(kBufferAssignment);
    read(*hlo->Message(1, "HloModuleProto"));
    if (problems.failed()) return;
    in.ForEach(2, "LiteralProto",
               [&](ProtoMessage& literal) { file.arguments.push_back(ReadLiteral(literal)); });
    if (ProtoMessage* result = in.Message(3, "LiteralProto")) file.result = ReadLiteral(*result);
    in.Ignore(4);
  } else {
    read(in);
  }
}

}  // namespace

Result<ProtoFile> ReadModuleProto(const SourcePtr& source) {
  ProtoFile file;
  file.module = std::make_unique<Module>("");
  file.module->KeepSource(source);
  ProtoProblems problems;
  {
    ProtoMessage in(source->text(), "HloModuleProto", problems);
    if (!problems.failed()) ReadFile(in, source->text(), file);
  }
  if (problems.error()) return Error(*problems.error());
  if (!problems.unread.empty()) {
    std::string names;
    for (const auto& [name, count] : problems.unread)
      names +=
          (names.empty() ? "" : ", ") + name + (count > 1 ? " (" + std::to_string(count) + " times)" : "");
    file.remarks.push_back(Remark("fields that are not read are left out: " + names));
  }
  return file;
}

Result<Literal> ReadLiteralProto(llvm::StringRef bytes) {
  ProtoProblems problems;
  Literal literal;
  {
    ProtoMessage in(bytes, "LiteralProto", problems);
    if (!problems.failed()) literal = ReadLiteral(in);
  }
  if (problems.error()) return Error(*problems.error());
  return literal;
}

}  // namespace hlo
