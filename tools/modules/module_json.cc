#include "tools/modules/module_json.h"

#include "ir/support/json.h"
#include "ir/support/line_table.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {
namespace {

using llvm::StringRef;
using Json = JsonWriter;

template <class F>
std::string Text(F&& print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

void WriteAliases(Json& json, llvm::ArrayRef<InputOutputAlias> aliases) {
  json.Array("alias", [&] {
    for (const InputOutputAlias& alias : aliases) {
      json.Object([&] {
        json.List("output_index", alias.output);
        json.Member("param", alias.parameter);
        json.List("param_index", alias.parameter_index);
        json.Member("kind", alias.must_alias ? "must-alias" : "may-alias");
      });
    }
  });
}

void WriteConfig(Json& json, const Module& module, const PrintOptions& options) {
  const ModuleConfig& config = module.config;
  json.Member("name", module.name());
  if (module.entry()) json.Member("entry", module.entry()->name());
  json.Member("is_scheduled", config.is_scheduled);
  json.Member("num_replicas", config.replica_count);
  json.Member("num_partitions", config.num_partitions);
  if (!config.input_output_alias.empty()) WriteAliases(json, config.input_output_alias);
  // The others in the spelling of HLO.
  static constexpr StringRef kAbove[] = {"is_scheduled", "input_output_alias", "replica_count",
                                         "num_partitions"};
  json.Object("attributes", [&] {
    for (const auto& [name, text] : ModuleAttributeTexts(module))
      if (!llvm::is_contained(kAbove, name) && (options.layouts || name != "entry_computation_layout"))
        json.Member(name, text);
  });
  if (!config.unknown_attributes.empty()) json.Member("unknown_attributes", config.unknown_attributes);
  if (options.metadata && !module.stack_tables.empty())
    json.Member("stack_tables",
                Text([&](llvm::raw_ostream& os) { PrintStackTables(os, module.stack_tables); }));
}

template <class List>
void WriteNames(Json& json, StringRef key, const List& list) {
  if (list.empty()) return;
  json.Array(key, [&] {
    for (const auto* named : list) json.Value(named->name());
  });
}

void WriteField(Json& json, const Instruction& inst, const FieldInfo& field, const PrintOptions& options) {
  const void* data = inst.attrs().data();
  switch (field.kind) {
    case FieldKind::Bool: json.Member(field.name, field.Get<bool>(data)); return;
    case FieldKind::Int: json.Member(field.name, field.Get<int64_t>(data)); return;
    case FieldKind::OptBool:
      if (const auto& value = field.Get<std::optional<bool>>(data)) json.Member(field.name, *value);
      return;
    case FieldKind::OptInt:
      if (const auto& value = field.Get<std::optional<int64_t>>(data)) json.Member(field.name, *value);
      return;
    case FieldKind::String: json.Member(field.name, field.Get<std::string>(data)); return;
    default: break;
  }
  json.Member(field.name, Text([&](llvm::raw_ostream& os) { PrintField(os, inst, field, options); }));
}

void WriteAttributes(Json& json, const Instruction& inst, const PrintOptions& options) {
  const Attrs& attrs = inst.attrs();
  llvm::SmallVector<const FieldInfo*, 8> shown;
  for (const FieldInfo& field : attrs.info().fields) {
    if (inst.kind() == OpKind::Constant || !field.access) continue;
    if ((field.flags & (kAlwaysPrint | kPositional)) != 0 ||
        !FieldIsDefault(attrs.info(), field, attrs.data()))
      shown.push_back(&field);
  }
  const InstructionExtras& extras = inst.extras();
  const bool frame = !extras.frontend_attributes.empty() || !extras.result_accuracy.is_default() ||
                     extras.statistics || extras.origin;
  if (shown.empty() && !frame) return;
  json.Object("attributes", [&] {
    for (const FieldInfo* field : shown) WriteField(json, inst, *field, options);
    if (!extras.frontend_attributes.empty())
      json.Object("frontend_attributes", [&] {
        for (const FrontendAttribute& a : extras.frontend_attributes) json.Member(a.key, a.value);
      });
    if (!extras.result_accuracy.is_default())
      json.Member("result_accuracy",
                  Text([&](llvm::raw_ostream& os) { PrintResultAccuracy(os, extras.result_accuracy); }));
    if (extras.statistics && !extras.statistics->values.empty())
      json.Member("statistics",
                  Text([&](llvm::raw_ostream& os) { PrintStatistics(os, *extras.statistics); }));
    if (extras.origin)
      json.Member("origin", Text([&](llvm::raw_ostream& os) { PrintOrigin(os, *extras.origin); }));
  });
}

void WriteMetadata(Json& json, const OpMetadata& m) {
  json.Object("metadata", [&] {
    for (const MetadataField& field : MetadataFields()) {
      if (field.text != nullptr && !(m.*field.text).empty()) json.Member(field.name, m.*field.text);
      if (field.number != nullptr && m.*field.number != 0) json.Member(field.name, m.*field.number);
      if (field.numbers != nullptr && !(m.*field.numbers).empty()) json.List(field.name, m.*field.numbers);
    }
    if (!m.unknown_fields.empty()) json.Member("unknown_fields", m.unknown_fields);
  });
}

void WriteInstruction(Json& json, const Instruction& inst, const PrintOptions& options, LineTable& lines) {
  json.Member("name", inst.name());
  json.Member("opcode", inst.info().text);
  json.Member("shape", ToString(inst.shape(), options.layouts));
  WriteNames(json, "operands", inst.operands());
  const InstructionExtras& extras = inst.extras();
  WriteNames(json, "control_predecessors", extras.control_predecessors);
  WriteNames(json, "called", inst.callees());
  WriteAttributes(json, inst, options);
  if (inst.kind() == OpKind::Constant) {
    const auto& attrs = inst.attr<ConstantAttrs>();
    const LiteralPtr& literal = attrs.literal ? attrs.literal : attrs.partial;
    const bool whole =
        literal &&
        (options.max_constant_elements < 0 ||
         (literal->shape().IsArray() && literal->shape().ElementCount() <= options.max_constant_elements));
    json.Member("literal",
                whole ? Text([&](llvm::raw_ostream& os) { PrintLiteral(os, *literal); }) : "{...}");
  }
  if (inst.metadata() && options.metadata) WriteMetadata(json, *inst.metadata());
  if (extras.sharding && options.sharding)
    json.Member("sharding",
                Text([&](llvm::raw_ostream& os) { PrintSharding(os, *extras.sharding, options.metadata); }));
  if (!extras.backend_config.empty() && options.backend_config)
    json.Member("backend_config", extras.backend_config);
  if (!extras.unknown_attributes.empty()) json.Member("unknown_attributes", extras.unknown_attributes);
  if (inst.loc().valid()) json.Member("line", lines.Line(inst.loc()));
}

/// As scheduled, else as they stand in the module, unless some stand before what they need: the order of the
/// printed text depends on it.
std::vector<const Instruction*> InOrder(const Computation& computation) {
  std::vector<const Instruction*> order;
  if (computation.has_schedule() && !computation.IsFusion()) {
    order.assign(computation.schedule().begin(), computation.schedule().end());
    return order;
  }
  llvm::DenseSet<const Instruction*> seen;
  bool ready = true;
  for (const Instruction* inst : computation.instructions()) {
    const auto is_seen = [&](const Instruction* before) { return seen.contains(before); };
    ready &=
        llvm::all_of(inst->operands(), is_seen) && llvm::all_of(inst->extras().control_predecessors, is_seen);
    seen.insert(inst);
    order.push_back(inst);
  }
  if (ready) return order;
  const auto sorted = computation.PostOrder();
  return {sorted.begin(), sorted.end()};
}

}  // namespace

StringRef ComputationKind(const Computation& computation) {
  // The first caller decides.
  if (computation.IsEntry()) return "entry";
  if (computation.callers().empty()) return "called";
  const Instruction& caller = *computation.callers().front();
  switch (caller.kind()) {
    case OpKind::Fusion: return "fusion";
    case OpKind::While: return caller.callee(0) == &computation ? "while_body" : "while_cond";
    case OpKind::Conditional: return "branch";
    default: break;
  }
  for (const FieldInfo& field : caller.attrs().info().fields)
    if (field.kind == FieldKind::Callee && field.name == "to_apply" && caller.kind() != OpKind::Call)
      return "to_apply";
  return "called";
}

void WriteGraphJson(llvm::raw_ostream& os, const Module& module, const PrintOptions& options, unsigned indent,
                    llvm::function_ref<bool(const Instruction&)> selected, llvm::StringRef tool) {
  const auto is_selected = [&](const Instruction* inst) { return !selected || selected(*inst); };
  Json json(os, indent);
  LineTable lines;
  json.Object([&] {
    json.Member("schema", "hlo.graph/1");
    json.Member("tool", tool);
    json.Member("version", HLO_VERSION);
    json.Object("module", [&] { WriteConfig(json, module, options); });
    json.Array("computations", [&] {
      // Their order in the module, on which that of the printed text depends.
      for (const auto& computation : module.computations()) {
        if (llvm::none_of(computation->instructions(), is_selected)) continue;
        json.Object([&] {
          json.Member("name", computation->name());
          json.Member("kind", ComputationKind(*computation));
          if (computation->execution_thread() != "main")
            json.Member("execution_thread", computation->execution_thread());
          if (computation->root()) json.Member("root", computation->root()->name());
          json.Array("instructions", [&] {
            for (const Instruction* inst : InOrder(*computation))
              if (is_selected(inst)) json.Object([&] { WriteInstruction(json, *inst, options, lines); });
          });
        });
      }
    });
  });
  os << '\n';
}

void WriteOpsJson(llvm::raw_ostream& os, unsigned indent) {
  static constexpr std::pair<OpTraits, StringRef> kTraits[] = {{kElementwise, "elementwise"},
                                                               {kCommutative, "commutative"},
                                                               {kAccuracy, "result_accuracy"},
                                                               {kDeclared, "shape_required"},
                                                               {kStrict, "strict_layout"},
                                                               {kMixed, "mixed_precision"},
                                                               {kSideEffect, "side_effect"},
                                                               {kReshapesLayout, "changes_layout"},
                                                               {kStart, "start"},
                                                               {kDone, "done"},
                                                               {kGrouped, "replica_groups"},
                                                               {kIncreasing, "increasing"},
                                                               {kFlushing, "flushes_scales"},
                                                               {kMonoid, "monoid"},
                                                               {kIdempotent, "idempotent"},
                                                               {kRuns, "runs_computations"},
                                                               {kRearranges, "rearranges"}};
  Json json(os, indent);
  json.Object([&] {
    json.Member("schema", "hlo.ops/1");
    json.Member("tool", "hlo-opt");
    json.Member("version", HLO_VERSION);
    json.Array("ops", [&] {
      for (const OpInfo& op : AllOps()) {
        json.Object([&] {
          json.Member("opcode", op.text);
          json.Member("min_operands", static_cast<int64_t>(op.min_operands));
          if (op.max_operands != OpInfo::kVariadic)
            json.Member("max_operands", static_cast<int64_t>(op.max_operands));
          json.Member("category", ToString(op.category));
          json.Member("rounding", ToString(op.rounding));
          json.Array("traits", [&] {
            for (const auto& [trait, name] : kTraits)
              if (op.Is(trait)) json.Value(name);
          });
          json.Array("attributes", [&] {
            for (const FieldInfo& field : op.attrs->fields) {
              if ((field.flags & kPositional) != 0) continue;
              json.Object([&] {
                json.Member("name", field.name);
                json.Member("required", (field.flags & kRequired) != 0);
                if (!field.enum_info) return;
                json.List("words", field.enum_info->words);
              });
            }
          });
        });
      }
    });
  });
  os << '\n';
}

}  // namespace hlo
