#include "tools/proto/module_proto.h"

#include "llvm/ADT/DenseMap.h"
#include "tools/proto/fields.h"
#include "tools/proto/instruction_proto.h"
#include "tools/proto/origin_proto.h"

namespace hlo {
namespace {

class ModuleProtoWriter {
 public:
  /// Numbers tell in which order a reader lists computations and instructions: that of the module.
  explicit ModuleProtoWriter(const Module& module) : module_(module), order_(module.PostOrder()) {
    int64_t number = 0;
    for (const auto& c : module.computations()) {
      int64_t place = number << 32;
      ids_.computations[c.get()] = number++;
      for (const Instruction* inst : c->instructions()) ids_.instructions[inst] = place++;
    }
  }

  Result<std::string> Write() {
    ProtoWriter out;
    const Computation& entry = *module_.entry();
    out.Text(1, module_.name());
    out.Text(2, entry.name());
    for (const Computation* c : order_) {
      HLO_CHECK_OK(out.TryMessage(3, [&](ProtoWriter& inner) { return WriteComputation(inner, *c); }));
    }
    // Parameters of the layout have names of their own.
    EntryLayout layout{entry.ParameterShapes(), entry.root()->shape()};
    if (module_.config.entry_layout) layout = *module_.config.entry_layout;
    out.Message(4, [&](ProtoWriter& shape) {
      WriteProgramShape(shape, layout.parameters, layout.result, NumberedNames(layout.parameters.size()));
    });
    out.Number(6, ids_.computations.lookup(&entry));
    HLO_CHECK_OK(WriteConfig(out));
    return out.bytes();
  }

 private:
  static std::vector<std::string> ParameterNames(const Computation& c) {
    std::vector<std::string> names;
    for (const Instruction* p : c.parameters()) names.push_back(p->name().str());
    return names;
  }

  static std::vector<std::string> NumberedNames(size_t count) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back("p" + std::to_string(i));
    return names;
  }

  Status WriteComputation(ProtoWriter& out, const Computation& c) {
    out.Text(1, c.name());
    const std::vector<Instruction*> order = c.PostOrder();
    for (const Instruction* inst : order) {
      HLO_CHECK_OK(out.TryMessage(2, [&](ProtoWriter& inner) { return WriteProto(inner, *inst, ids_); }));
    }
    out.Message(4, [&](ProtoWriter& shape) {
      WriteProgramShape(shape, c.ParameterShapes(), c.root()->shape(), ParameterNames(c));
    });
    out.Number(5, ids_.computations.lookup(&c));
    out.Number(6, ids_.instructions.lookup(c.root()));
    out.Number(7, c.IsFusion());
    if (c.execution_thread() != "main") out.Text(8, c.execution_thread());
    return {};
  }

  Status WriteConfig(ProtoWriter& out) {
    const ModuleConfig& config = module_.config;
    if (config.is_scheduled) out.Message(7, [&](ProtoWriter& schedule) { WriteSchedule(schedule); });
    out.Message(8, [&](ProtoWriter& aliases) {
      for (const InputOutputAlias& alias : config.input_output_alias)
        aliases.Message(1, [&](ProtoWriter& entry) {
          WriteFields(entry, alias);
          entry.Number(4, alias.must_alias ? 2 : 1);
        });
    });
    if (!module_.stack_tables.empty()) out.Message(17, [&](ProtoWriter& stack) { WriteStack(stack); });
    out.Message(18, [&](ProtoWriter& donors) { FieldWriter{donors}.Messages(1, "", config.buffer_donors); });
    out.Message(19, [&](ProtoWriter& map) { WriteFrontendAttributes(map, config.frontend_attributes); });
    if (!config.origin_recovery_table.empty())
      HLO_CHECK_OK(
          out.TryMessage(20, [&](ProtoWriter& table) { return WriteRecoveryTable(table, module_); }));
    return {};
  }

  void WriteSchedule(ProtoWriter& out) {
    for (const Computation* c : order_) {
      if (!c->has_schedule()) continue;
      out.Message(1, [&](ProtoWriter& entry) {
        entry.Number(1, ids_.computations.lookup(c));
        entry.Message(2, [&](ProtoWriter& sequence) {
          llvm::SmallVector<int64_t, 32> ids;
          for (const Instruction* inst : c->schedule()) ids.push_back(ids_.instructions.lookup(inst));
          sequence.Packed(1, ids);
        });
      });
    }
  }

  void WriteStack(ProtoWriter& out) {
    const StackTables& tables = module_.stack_tables;
    for (const llvm::StringRef file : tables.files) out.BytesAlways(1, file);
    for (const llvm::StringRef function : tables.functions) out.BytesAlways(2, function);
    FieldWriter a{out};
    a.Messages(3, "", tables.locations);
    a.Messages(4, "", tables.frames);
  }

  const Module& module_;
  std::vector<Computation*> order_;  // that of the text: callees first
  ProtoIds ids_;
};

}  // namespace

Result<std::string> ModuleProtoBytes(const Module& module) { return ModuleProtoWriter(module).Write(); }

Result<std::string> HloProtoBytes(const Module& module) {
  HLO_TRY(const std::string bytes, ModuleProtoBytes(module));
  ProtoWriter out;
  out.BytesAlways(1, bytes);
  return out.bytes();
}

}  // namespace hlo
