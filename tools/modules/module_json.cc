#include "tools/modules/module_json.h"

#include "ir/support/line_table.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"

namespace hlo {
namespace {

using llvm::StringRef;
using Json = llvm::json::OStream;

/// JSON wants UTF-8; other bytes (from escapes in HLO strings) become replacement characters.
std::string Utf8(StringRef text) { return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text); }

template <class F>
std::string Text(F&& print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return Utf8(text);
}

void WriteIndex(Json& json, const ShapeIndex& index) {
  json.array([&] {
    for (int64_t i : index) json.value(i);
  });
}

void WriteAliases(Json& json, llvm::ArrayRef<InputOutputAlias> aliases) {
  json.attributeArray("alias", [&] {
    for (const InputOutputAlias& alias : aliases) {
      json.object([&] {
        json.attributeBegin("output_index");
        WriteIndex(json, alias.output);
        json.attributeEnd();
        json.attribute("param", alias.parameter);
        json.attributeBegin("param_index");
        WriteIndex(json, alias.parameter_index);
        json.attributeEnd();
        json.attribute("kind", alias.must_alias ? "must-alias" : "may-alias");
      });
    }
  });
}

void WriteConfig(Json& json, const Module& module, const PrintOptions& options) {
  const ModuleConfig& config = module.config;
  json.attribute("name", Utf8(module.name()));
  if (module.entry()) json.attribute("entry", Utf8(module.entry()->name()));
  json.attribute("is_scheduled", config.is_scheduled);
  json.attribute("num_replicas", config.replica_count);
  json.attribute("num_partitions", config.num_partitions);
  if (!config.input_output_alias.empty()) WriteAliases(json, config.input_output_alias);
  // The others in the spelling of HLO.
  static constexpr StringRef kAbove[] = {"is_scheduled", "input_output_alias", "replica_count",
                                         "num_partitions"};
  json.attributeObject("attributes", [&] {
    for (const auto& [name, text] : ModuleAttributeTexts(module))
      if (!llvm::is_contained(kAbove, name) && (options.layouts || name != "entry_computation_layout"))
        json.attribute(name, Utf8(text));
  });
  if (!config.unknown_attributes.empty())
    json.attribute("unknown_attributes", Utf8(config.unknown_attributes));
  if (options.metadata && !module.stack_tables.empty())
    json.attribute("stack_tables",
                   Text([&](llvm::raw_ostream& os) { PrintStackTables(os, module.stack_tables); }));
}

template <class List>
void WriteNames(Json& json, StringRef key, const List& list) {
  if (list.empty()) return;
  json.attributeArray(key, [&] {
    for (const auto* named : list) json.value(Utf8(named->name()));
  });
}

void WriteField(Json& json, const Instruction& inst, const FieldInfo& field, const PrintOptions& options) {
  const void* data = inst.attrs().data();
  switch (field.kind) {
    case FieldKind::Bool: json.attribute(field.name, field.Get<bool>(data)); return;
    case FieldKind::Int: json.attribute(field.name, field.Get<int64_t>(data)); return;
    case FieldKind::OptBool:
      if (const auto& value = field.Get<std::optional<bool>>(data)) json.attribute(field.name, *value);
      return;
    case FieldKind::OptInt:
      if (const auto& value = field.Get<std::optional<int64_t>>(data)) json.attribute(field.name, *value);
      return;
    case FieldKind::String: json.attribute(field.name, Utf8(field.Get<std::string>(data))); return;
    default: break;
  }
  json.attribute(field.name, Text([&](llvm::raw_ostream& os) { PrintField(os, inst, field, options); }));
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
  json.attributeObject("attributes", [&] {
    for (const FieldInfo* field : shown) WriteField(json, inst, *field, options);
    if (!extras.frontend_attributes.empty())
      json.attributeObject("frontend_attributes", [&] {
        for (const FrontendAttribute& a : extras.frontend_attributes)
          json.attribute(Utf8(a.key), Utf8(a.value));
      });
    if (!extras.result_accuracy.is_default())
      json.attribute("result_accuracy",
                     Text([&](llvm::raw_ostream& os) { PrintResultAccuracy(os, extras.result_accuracy); }));
    if (extras.statistics && !extras.statistics->values.empty())
      json.attribute("statistics",
                     Text([&](llvm::raw_ostream& os) { PrintStatistics(os, *extras.statistics); }));
    if (extras.origin)
      json.attribute("origin", Text([&](llvm::raw_ostream& os) { PrintOrigin(os, *extras.origin); }));
  });
}

void WriteMetadata(Json& json, const OpMetadata& m) {
  json.attributeObject("metadata", [&] {
    for (const MetadataField& field : MetadataFields()) {
      if (field.text != nullptr && !(m.*field.text).empty()) json.attribute(field.name, Utf8(m.*field.text));
      if (field.number != nullptr && m.*field.number != 0) json.attribute(field.name, m.*field.number);
      if (field.numbers != nullptr && !(m.*field.numbers).empty())
        json.attributeArray(field.name, [&] {
          for (const int32_t number : m.*field.numbers) json.value(number);
        });
    }
    if (!m.unknown_fields.empty()) json.attribute("unknown_fields", Utf8(m.unknown_fields));
  });
}

void WriteInstruction(Json& json, const Instruction& inst, const PrintOptions& options, LineTable& lines) {
  json.attribute("name", Utf8(inst.name()));
  json.attribute("opcode", inst.info().text);
  json.attribute("shape", ToString(inst.shape(), options.layouts));
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
    json.attribute("literal",
                   whole ? Text([&](llvm::raw_ostream& os) { PrintLiteral(os, *literal); }) : "{...}");
  }
  if (inst.metadata() && options.metadata) WriteMetadata(json, *inst.metadata());
  if (extras.sharding && options.sharding)
    json.attribute("sharding", Text([&](llvm::raw_ostream& os) {
                     PrintSharding(os, *extras.sharding, options.metadata);
                   }));
  if (!extras.backend_config.empty() && options.backend_config)
    json.attribute("backend_config", Utf8(extras.backend_config));
  if (!extras.unknown_attributes.empty())
    json.attribute("unknown_attributes", Utf8(extras.unknown_attributes));
  if (inst.loc().valid()) json.attribute("line", lines.Line(inst.loc()));
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
  json.object([&] {
    json.attribute("schema", "hlo.graph/1");
    json.attribute("tool", tool);
    json.attribute("version", HLO_VERSION);
    json.attributeObject("module", [&] { WriteConfig(json, module, options); });
    json.attributeArray("computations", [&] {
      // Their order in the module, on which that of the printed text depends.
      for (const auto& computation : module.computations()) {
        if (llvm::none_of(computation->instructions(), is_selected)) continue;
        json.object([&] {
          json.attribute("name", Utf8(computation->name()));
          json.attribute("kind", ComputationKind(*computation));
          if (computation->execution_thread() != "main")
            json.attribute("execution_thread", Utf8(computation->execution_thread()));
          if (computation->root()) json.attribute("root", Utf8(computation->root()->name()));
          json.attributeArray("instructions", [&] {
            for (const Instruction* inst : InOrder(*computation))
              if (is_selected(inst)) json.object([&] { WriteInstruction(json, *inst, options, lines); });
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
                                                               {kGrouped, "replica_groups"}};
  Json json(os, indent);
  json.object([&] {
    json.attribute("schema", "hlo.ops/1");
    json.attribute("tool", "hlo-opt");
    json.attribute("version", HLO_VERSION);
    json.attributeArray("ops", [&] {
      for (const OpInfo& op : AllOps()) {
        json.object([&] {
          json.attribute("opcode", op.text);
          json.attribute("min_operands", static_cast<int64_t>(op.min_operands));
          if (op.max_operands != OpInfo::kVariadic)
            json.attribute("max_operands", static_cast<int64_t>(op.max_operands));
          json.attribute("category", ToString(op.category));
          json.attributeArray("traits", [&] {
            for (const auto& [trait, name] : kTraits)
              if (op.Is(trait)) json.value(name);
          });
          json.attributeArray("attributes", [&] {
            for (const FieldInfo& field : op.attrs->fields) {
              if ((field.flags & kPositional) != 0) continue;
              json.object([&] {
                json.attribute("name", field.name);
                json.attribute("required", (field.flags & kRequired) != 0);
                if (!field.enum_info) return;
                json.attributeArray("words", [&] {
                  for (StringRef word : field.enum_info->words) json.value(word);
                });
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
