#include "tools/modules/graph_input.h"

#include "ir/op.h"
#include "ir/print.h"
#include "ir/support/json.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {
namespace {

using llvm::StringRef;

std::string Quoted(StringRef text) {
  std::string result = "\"";
  llvm::raw_string_ostream os(result);
  PrintEscaped(os, text);
  return result + "\"";
}

/// Writes one module as text.
class GraphWriter {
 public:
  explicit GraphWriter(const JsonDocument& document) : document_(document) {}

  Result<std::string> Run() {
    const JsonValue& graph = document_.root;
    if (graph.String("schema") != "hlo.graph/1") return WrongMember(graph, "schema", "'hlo.graph/1'");
    const JsonValue* module = graph.Object("module");
    const JsonArray* computations = graph.Array("computations");
    if (!module) return WrongMember(graph, "module", "an object");
    if (!computations) return WrongMember(graph, "computations", "a list");
    HLO_CHECK_OK(WriteHeader(*module));
    const StringRef entry = module->String("entry").value_or("");
    for (size_t i = 0; i < computations->size(); ++i) {
      path_ = "computations[" + std::to_string(i) + "]";
      const JsonValue& computation = (*computations)[i];
      if (!computation.AsObject()) return Wrong(computation, "", "an object");
      HLO_CHECK_OK(WriteComputation(computation, entry));
    }
    return text_;
  }

 private:
  /// Of a value that is there.
  tl::unexpected<Diagnostic> Wrong(const JsonValue& value, const llvm::Twine& field,
                                   StringRef expected) const {
    return document_.Wrong(value, "JSON graph: {0} is not {1}", Path(field), expected);
  }
  /// Of a member of an object, which may lack it.
  tl::unexpected<Diagnostic> WrongMember(const JsonValue& object, StringRef key, StringRef expected) const {
    if (const JsonValue* value = object.Find(key)) return Wrong(*value, key, expected);
    return document_.Wrong(object, "JSON graph: {0} is missing, expected {1}", Path(key), expected);
  }
  [[nodiscard]] std::string Path(const llvm::Twine& field) const {
    const std::string name = field.str();
    if (path_.empty() && name.empty()) return "the text";
    return path_ + (path_.empty() || name.empty() ? "" : ".") + name;
  }

  Result<StringRef> Text(const JsonValue& object, StringRef key) const {
    if (auto value = object.String(key)) return *value;
    return WrongMember(object, key, "a string");
  }

  Status WriteHeader(const JsonValue& module) {
    path_ = "module";
    HLO_TRY(const StringRef name, Text(module, "name"));
    os_ << "HloModule " << name;
    if (module.Bool("is_scheduled").value_or(false)) os_ << ", is_scheduled=true";
    if (const JsonArray* aliases = module.Array("alias")) {
      os_ << ", input_output_alias={ ";
      for (size_t i = 0; i < aliases->size(); ++i) {
        const JsonValue& alias = (*aliases)[i];
        const JsonArray* output = alias.Array("output_index");
        const JsonArray* index = alias.Array("param_index");
        path_ = "module.alias[" + std::to_string(i) + "]";
        if (!output) return WrongMember(alias, "output_index", "a list");
        if (!index) return WrongMember(alias, "param_index", "a list");
        os_ << (i > 0 ? ", " : "");
        HLO_CHECK_OK(WriteNumbers(*output, "output_index"));
        const auto parameter = alias.Integer("param");
        if (!parameter) return WrongMember(alias, "param", "an integer");
        os_ << ": (" << *parameter << ", ";
        HLO_CHECK_OK(WriteNumbers(*index, "param_index"));
        os_ << ", " << alias.String("kind").value_or("may-alias") << ')';
      }
      os_ << " }";
    }
    // What the fields above say is not said twice.
    path_ = "module";
    if (const JsonValue* attributes = module.Object("attributes"))
      for (const JsonMember& member : *attributes->AsObject()) {
        const auto text = member.value.AsString();
        if (!text) return Wrong(member.value, "attributes." + member.key, "a string");
        os_ << ", " << member.key << '=' << *text;
      }
    if (auto n = module.Integer("num_replicas"); n && *n != 1) os_ << ", replica_count=" << *n;
    if (auto n = module.Integer("num_partitions"); n && *n != 1) os_ << ", num_partitions=" << *n;
    os_ << module.String("unknown_attributes").value_or("") << "\n\n";
    if (auto tables = module.String("stack_tables")) os_ << *tables << "\n\n";
    return {};
  }

  Status WriteNumbers(const JsonArray& numbers, const llvm::Twine& field) {
    os_ << '{';
    for (const JsonValue& value : numbers) {
      const auto number = value.AsInteger();
      if (!number) return Wrong(value, field, "a list of integers");
      os_ << (&value == numbers.data() ? "" : ",") << *number;
    }
    os_ << '}';
    return {};
  }

  Status WriteComputation(const JsonValue& computation, StringRef entry) {
    HLO_TRY(const StringRef name, Text(computation, "name"));
    const JsonArray* instructions = computation.Array("instructions");
    if (!instructions) return WrongMember(computation, "instructions", "a list");
    const StringRef root = computation.String("root").value_or("");
    os_ << (name == entry ? "ENTRY %" : "%") << name << " {\n";
    shapes_.clear();
    const std::string path = path_;
    for (size_t i = 0; i < instructions->size(); ++i) {
      path_ = path + ".instructions[" + std::to_string(i) + "]";
      const JsonValue& instruction = (*instructions)[i];
      if (!instruction.AsObject()) return Wrong(instruction, "", "an object");
      HLO_CHECK_OK(WriteInstruction(instruction, root));
    }
    os_ << '}';
    if (auto thread = computation.String("execution_thread"))
      os_ << ", execution_thread=\"" << *thread << '"';
    os_ << "\n\n";
    return {};
  }

  Result<std::vector<StringRef>> Names(const JsonValue& object, StringRef key) const {
    std::vector<StringRef> names;
    if (!object.Find(key)) return names;
    const JsonArray* list = object.Array(key);
    if (!list) return WrongMember(object, key, "a list");
    for (const JsonValue& value : *list) {
      const auto name = value.AsString();
      if (!name) return Wrong(value, key, "a list of strings");
      names.push_back(*name);
    }
    return names;
  }

  void WriteNames(llvm::ArrayRef<StringRef> names) {
    llvm::interleave(names, os_, [&](StringRef name) { os_ << '%' << name; }, ", ");
  }

  Status WriteInstruction(const JsonValue& inst, StringRef root) {
    HLO_TRY(const StringRef name, Text(inst, "name"));
    HLO_TRY(const StringRef opcode, Text(inst, "opcode"));
    HLO_TRY(const StringRef shape, Text(inst, "shape"));
    const auto kind = ParseOpKind(opcode);
    if (!kind) return WrongMember(inst, "opcode", "an opcode");
    HLO_TRY(const std::vector<StringRef> operands, Names(inst, "operands"));
    HLO_TRY(const std::vector<StringRef> called, Names(inst, "called"));
    HLO_TRY(const std::vector<StringRef> before, Names(inst, "control_predecessors"));
    static const JsonValue kNone;
    const JsonValue* attributes = inst.Object("attributes");
    if (!attributes) attributes = &kNone;
    shapes_[name] = shape;

    os_ << (name == root ? "  ROOT %" : "  %") << name << " = " << shape << ' ' << opcode << '(';
    if (*kind == OpKind::Parameter) {
      const JsonValue* value = attributes->Find("number");
      const auto number = attributes->Integer("number");
      if (value && !number) return Wrong(*value, "attributes.number", "an integer");
      if (!number) return WrongMember(inst, "attributes.number", "an integer");
      os_ << *number;
    } else if (*kind == OpKind::Constant) {
      os_ << inst.String("literal").value_or("{...}");
    } else {
      WriteNames(operands);
    }
    os_ << ')';
    const bool pred_selector =
        !operands.empty() && StringRef(shapes_.lookup(operands[0])).starts_with("pred[");
    for (const FieldInfo& field : Info(*kind).attrs->fields) {
      if (field.kind == FieldKind::Callee || field.kind == FieldKind::Callees) {
        if (*kind == OpKind::Conditional &&
            (field.kind == FieldKind::Callee) != (pred_selector && called.size() == 2))
          continue;
        WriteCalled(field, called);
      } else if ((field.flags & kPositional) == 0) {
        HLO_CHECK_OK(WriteAttribute(field, *attributes));
      }
    }
    HLO_CHECK_OK(WriteFrame(inst, *attributes, before));
    os_ << '\n';
    return {};
  }

  void WriteCalled(const FieldInfo& field, llvm::ArrayRef<StringRef> called) {
    if (field.kind == FieldKind::Callees) {
      if (called.empty()) return;
      os_ << ", " << field.name << "={";
      WriteNames(called);
      os_ << '}';
    } else if (static_cast<size_t>(field.callee) < called.size()) {
      os_ << ", " << field.name << "=%" << called[static_cast<size_t>(field.callee)];
    }
  }

  Status WriteAttribute(const FieldInfo& field, const JsonValue& attributes) {
    const JsonValue* value = attributes.Find(field.name);
    if (!value) return {};
    os_ << ", " << field.name << '=';
    const bool braced = (field.flags & kBraced) != 0;
    if (auto text = value->AsString())
      os_ << (field.kind != FieldKind::String   ? text->str()
              : (field.flags & kUnescaped) != 0 ? ("\"" + *text + "\"").str()
                                                : Quoted(*text));
    else if (auto flag = value->AsBool())
      os_ << (*flag ? "true" : "false");
    else if (auto number = value->AsInteger())
      os_ << (braced ? "{" : "") << *number << (braced ? "}" : "");
    else
      return Wrong(*value, "attributes." + field.name, "a string, an integer or a boolean");
    return {};
  }

  Status WriteFrame(const JsonValue& inst, const JsonValue& attributes, llvm::ArrayRef<StringRef> before) {
    if (auto sharding = inst.String("sharding")) os_ << ", sharding=" << *sharding;
    if (const JsonValue* frontend = attributes.Object("frontend_attributes")) {
      os_ << ", frontend_attributes={";
      bool first = true;
      for (const JsonMember& member : *frontend->AsObject()) {
        os_ << (std::exchange(first, false) ? "" : ",") << member.key << '=';
        const auto text = member.value.AsString();
        if (!text) return Wrong(member.value, "attributes.frontend_attributes." + member.key, "a string");
        PrintStringOrJson(os_, *text);
      }
      os_ << '}';
    }
    if (!before.empty()) {
      os_ << ", control-predecessors={";
      WriteNames(before);
      os_ << '}';
    }
    if (auto statistics = attributes.String("statistics")) os_ << ", statistics=" << *statistics;
    if (auto accuracy = attributes.String("result_accuracy")) os_ << ", result_accuracy=" << *accuracy;
    if (auto origin = attributes.String("origin")) os_ << ", origin={" << *origin << '}';
    if (const JsonValue* metadata = inst.Object("metadata")) HLO_CHECK_OK(WriteMetadata(*metadata));
    if (auto config = inst.String("backend_config")) {
      os_ << ", backend_config=";
      PrintStringOrJson(os_, *config);
    }
    os_ << inst.String("unknown_attributes").value_or("");
    return {};
  }

  Status WriteMetadata(const JsonValue& metadata) {
    os_ << ", metadata={";
    for (const auto& [key, value, begin] : *metadata.AsObject()) {
      const StringRef name = key;
      const auto* field = llvm::find_if(MetadataFields(), [&](const auto& f) { return f.name == name; });
      if (name == "unknown_fields") continue;
      if (field == MetadataFields().end()) return Wrong(value, "metadata." + name, "a field of metadata");
      os_ << ' ' << name << '=';
      if (auto text = value.AsString(); text && field->text != nullptr)
        os_ << (field->escaped ? Quoted(*text) : ("\"" + *text + "\"").str());
      else if (auto number = value.AsInteger(); number && field->number != nullptr)
        os_ << *number;
      else if (const JsonArray* numbers = value.AsArray(); numbers && field->numbers != nullptr)
        HLO_CHECK_OK(WriteNumbers(*numbers, "metadata." + name));
      else
        return Wrong(value, "metadata." + name, "a value of the field's type");
    }
    os_ << ' ' << metadata.String("unknown_fields").value_or("") << '}';
    return {};
  }

  const JsonDocument& document_;
  std::string text_, path_;
  llvm::raw_string_ostream os_{text_};
  llvm::StringMap<StringRef> shapes_;  // of the computation
};

}  // namespace

bool LooksLikeJson(StringRef text) {
  text = text.ltrim();
  return text.consume_front("{") && text.ltrim().starts_with("\"");
}

Result<std::string> GraphJsonToHlo(const SourcePtr& json) {
  std::string text;
  for (size_t at = 0; at < json->text().rtrim().size();) {
    HLO_TRY(const JsonDocument document, ReadJsonAt(json, at));
    HLO_TRY(std::string module, GraphWriter(document).Run());
    if (!text.empty()) text += "// -----\n";
    text += module;
  }
  return text;
}

Result<JsonDocument> ReadJsonObject(const SourcePtr& source, StringRef schema) {
  HLO_TRY(JsonDocument document, ReadJson(source));
  if (document.root.String("schema") == schema) return document;
  const JsonValue* found = document.root.Find("schema");
  return document.Wrong(found ? *found : document.root, "found no object of schema '{0}'", schema);
}

}  // namespace hlo
