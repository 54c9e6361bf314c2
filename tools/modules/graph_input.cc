#include "tools/modules/graph_input.h"

#include "ir/op.h"
#include "ir/print.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace hlo {
namespace {

using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

constexpr int kMaxDepth = 64;

std::string Quoted(StringRef text) {
  std::string result = "\"";
  llvm::raw_string_ostream os(result);
  PrintEscaped(os, text);
  return result + "\"";
}

/// Calls `go_on` with the nesting depth after each bracket outside strings, until it returns false; the
/// place of that bracket, or npos.
size_t FindBracket(StringRef text, llvm::function_ref<bool(int depth)> go_on) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    in_string = c == '"';
    const bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
    depth += opens - closes;
    if ((opens || closes) && !go_on(depth)) return i;
  }
  return StringRef::npos;
}

/// JSON nested deeper than any graph is refused before it is parsed.
bool IsTooDeep(StringRef text) {
  return FindBracket(text, [](int depth) { return depth <= kMaxDepth; }) != StringRef::npos;
}

/// The end of the JSON object that begins at the start of `text`, or the end of the text.
size_t ObjectEnd(StringRef text) {
  const size_t last = FindBracket(text, [](int depth) { return depth > 0; });
  return last == StringRef::npos ? text.size() : last + 1;
}

/// Writes one module as text.
class GraphWriter {
 public:
  Result<std::string> Run(const Object& graph) {
    if (graph.getString("schema").value_or("") != "hlo.graph/1") return Wrong("schema", "'hlo.graph/1'");
    const Object* module = graph.getObject("module");
    const Array* computations = graph.getArray("computations");
    if (!module) return Wrong("module", "an object");
    if (!computations) return Wrong("computations", "a list");
    HLO_CHECK_OK(WriteHeader(*module));
    const StringRef entry = module->getString("entry").value_or("");
    for (size_t i = 0; i < computations->size(); ++i) {
      path_ = "computations[" + std::to_string(i) + "]";
      const Object* computation = (*computations)[i].getAsObject();
      if (!computation) return Wrong("", "an object");
      HLO_CHECK_OK(WriteComputation(*computation, entry));
    }
    return text_;
  }

 private:
  tl::unexpected<Diagnostic> Wrong(StringRef field, StringRef expected) const {
    const std::string place = path_ + (path_.empty() || field.empty() ? "" : ".") + field.str();
    return Error("input-format", {}, "JSON graph: {0} is not {1}", place.empty() ? "the text" : place,
                 expected);
  }

  Result<StringRef> Text(const Object& object, StringRef key) const {
    if (auto value = object.getString(key)) return *value;
    return Wrong(key, "a string");
  }

  Status WriteHeader(const Object& module) {
    path_ = "module";
    HLO_TRY(const StringRef name, Text(module, "name"));
    os_ << "HloModule " << name;
    if (module.getBoolean("is_scheduled").value_or(false)) os_ << ", is_scheduled=true";
    if (const Array* aliases = module.getArray("alias")) {
      os_ << ", input_output_alias={ ";
      for (size_t i = 0; i < aliases->size(); ++i) {
        const Object* alias = (*aliases)[i].getAsObject();
        const Array* output = alias ? alias->getArray("output_index") : nullptr;
        const Array* index = alias ? alias->getArray("param_index") : nullptr;
        if (!output || !index) return Wrong("alias", "a list of objects with output_index and param_index");
        os_ << (i > 0 ? ", " : "");
        WriteNumbers(*output);
        os_ << ": (" << alias->getInteger("param").value_or(0) << ", ";
        WriteNumbers(*index);
        os_ << ", " << alias->getString("kind").value_or("may-alias") << ')';
      }
      os_ << " }";
    }
    // What the fields above say is not said twice.
    if (const Object* attributes = module.getObject("attributes"))
      for (const auto& [key, value] : *attributes) {
        const auto text = value.getAsString();
        if (!text) return Wrong(("attributes." + StringRef(key)).str(), "a string");
        os_ << ", " << StringRef(key) << '=' << *text;
      }
    if (auto n = module.getInteger("num_replicas"); n && *n != 1) os_ << ", replica_count=" << *n;
    if (auto n = module.getInteger("num_partitions"); n && *n != 1) os_ << ", num_partitions=" << *n;
    os_ << module.getString("unknown_attributes").value_or("") << "\n\n";
    if (auto tables = module.getString("stack_tables")) os_ << *tables << "\n\n";
    return {};
  }

  void WriteNumbers(const Array& numbers) {
    os_ << '{';
    llvm::interleave(numbers, os_, [&](const Value& v) { os_ << v.getAsInteger().value_or(0); }, ",");
    os_ << '}';
  }

  Status WriteComputation(const Object& computation, StringRef entry) {
    HLO_TRY(const StringRef name, Text(computation, "name"));
    const Array* instructions = computation.getArray("instructions");
    if (!instructions) return Wrong("instructions", "a list");
    const StringRef root = computation.getString("root").value_or("");
    os_ << (name == entry ? "ENTRY %" : "%") << name << " {\n";
    shapes_.clear();
    const std::string path = path_;
    for (size_t i = 0; i < instructions->size(); ++i) {
      path_ = path + ".instructions[" + std::to_string(i) + "]";
      const Object* instruction = (*instructions)[i].getAsObject();
      if (!instruction) return Wrong("", "an object");
      HLO_CHECK_OK(WriteInstruction(*instruction, root));
    }
    os_ << '}';
    if (auto thread = computation.getString("execution_thread"))
      os_ << ", execution_thread=\"" << *thread << '"';
    os_ << "\n\n";
    return {};
  }

  Result<std::vector<StringRef>> Names(const Object& object, StringRef key) const {
    std::vector<StringRef> names;
    if (!object.get(key)) return names;
    const Array* list = object.getArray(key);
    if (!list) return Wrong(key, "a list");
    for (const Value& value : *list) {
      const auto name = value.getAsString();
      if (!name) return Wrong(key, "a list of strings");
      names.push_back(*name);
    }
    return names;
  }

  void WriteNames(llvm::ArrayRef<StringRef> names) {
    llvm::interleave(names, os_, [&](StringRef name) { os_ << '%' << name; }, ", ");
  }

  Status WriteInstruction(const Object& inst, StringRef root) {
    HLO_TRY(const StringRef name, Text(inst, "name"));
    HLO_TRY(const StringRef opcode, Text(inst, "opcode"));
    HLO_TRY(const StringRef shape, Text(inst, "shape"));
    const auto kind = ParseOpKind(opcode);
    if (!kind) return Wrong("opcode", "an opcode");
    HLO_TRY(const std::vector<StringRef> operands, Names(inst, "operands"));
    HLO_TRY(const std::vector<StringRef> called, Names(inst, "called"));
    HLO_TRY(const std::vector<StringRef> before, Names(inst, "control_predecessors"));
    static const Object kNone;
    const Object* attributes = inst.getObject("attributes");
    if (!attributes) attributes = &kNone;
    shapes_[name] = shape;

    os_ << (name == root ? "  ROOT %" : "  %") << name << " = " << shape << ' ' << opcode << '(';
    if (*kind == OpKind::Parameter)
      os_ << attributes->getInteger("number").value_or(0);
    else if (*kind == OpKind::Constant)
      os_ << inst.getString("literal").value_or("{...}");
    else
      WriteNames(operands);
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

  Status WriteAttribute(const FieldInfo& field, const Object& attributes) {
    const Value* value = attributes.get(field.name);
    if (!value) return {};
    os_ << ", " << field.name << '=';
    const bool braced = (field.flags & kBraced) != 0;
    if (auto text = value->getAsString())
      os_ << (field.kind != FieldKind::String   ? text->str()
              : (field.flags & kUnescaped) != 0 ? ("\"" + *text + "\"").str()
                                                : Quoted(*text));
    else if (auto flag = value->getAsBoolean())
      os_ << (*flag ? "true" : "false");
    else if (auto number = value->getAsInteger())
      os_ << (braced ? "{" : "") << *number << (braced ? "}" : "");
    else
      return Wrong(("attributes." + field.name).str(), "a string, an integer or a boolean");
    return {};
  }

  Status WriteFrame(const Object& inst, const Object& attributes, llvm::ArrayRef<StringRef> before) {
    if (auto sharding = inst.getString("sharding")) os_ << ", sharding=" << *sharding;
    if (const Object* frontend = attributes.getObject("frontend_attributes")) {
      os_ << ", frontend_attributes={";
      bool first = true;
      for (const auto& [key, value] : *frontend) {
        os_ << (std::exchange(first, false) ? "" : ",") << StringRef(key) << '=';
        PrintStringOrJson(os_, value.getAsString().value_or(""));
      }
      os_ << '}';
    }
    if (!before.empty()) {
      os_ << ", control-predecessors={";
      WriteNames(before);
      os_ << '}';
    }
    if (auto statistics = attributes.getString("statistics")) os_ << ", statistics=" << *statistics;
    if (auto accuracy = attributes.getString("result_accuracy")) os_ << ", result_accuracy=" << *accuracy;
    if (auto origin = attributes.getString("origin")) os_ << ", origin={" << *origin << '}';
    if (const Object* metadata = inst.getObject("metadata")) HLO_CHECK_OK(WriteMetadata(*metadata));
    if (auto config = inst.getString("backend_config")) {
      os_ << ", backend_config=";
      PrintStringOrJson(os_, *config);
    }
    os_ << inst.getString("unknown_attributes").value_or("");
    return {};
  }

  Status WriteMetadata(const Object& metadata) {
    os_ << ", metadata={";
    for (const auto& [key, value] : metadata) {
      const StringRef name = key;
      const auto* field = llvm::find_if(MetadataFields(), [&](const auto& f) { return f.name == name; });
      if (name == "unknown_fields") continue;
      if (field == MetadataFields().end()) return Wrong(("metadata." + name).str(), "a field of metadata");
      os_ << ' ' << name << '=';
      if (auto text = value.getAsString(); text && field->text != nullptr)
        os_ << (field->escaped ? Quoted(*text) : ("\"" + *text + "\"").str());
      else if (auto number = value.getAsInteger(); number && field->number != nullptr)
        os_ << *number;
      else if (const Array* numbers = value.getAsArray(); numbers && field->numbers != nullptr)
        WriteNumbers(*numbers);
      else
        return Wrong(("metadata." + name).str(), "a value of the field's type");
    }
    os_ << ' ' << metadata.getString("unknown_fields").value_or("") << '}';
    return {};
  }

  std::string text_, path_;
  llvm::raw_string_ostream os_{text_};
  llvm::StringMap<StringRef> shapes_;  // of the computation
};

}  // namespace

bool LooksLikeJson(StringRef text) {
  text = text.ltrim();
  return text.consume_front("{") && text.ltrim().starts_with("\"");
}

Result<std::string> GraphJsonToHlo(StringRef json) {
  if (IsTooDeep(json))
    return Error("input-format", {}, "JSON graph: nested more than {0} levels deep", kMaxDepth);
  std::string text;
  for (StringRef rest = json.trim(); !rest.empty(); rest = rest.ltrim()) {
    const size_t end = ObjectEnd(rest);
    auto parsed = llvm::json::parse(rest.take_front(end));
    if (!parsed) return Error("input-format", {}, "JSON graph: {0}", llvm::toString(parsed.takeError()));
    const Object* graph = parsed->getAsObject();
    if (!graph) return Error("input-format", {}, "JSON graph: the text is not an object");
    HLO_TRY(std::string module, GraphWriter().Run(*graph));
    if (!text.empty()) text += "// -----\n";
    text += module;
    rest = rest.drop_front(end);
  }
  return text;
}

Result<llvm::json::Object> ParseJsonObject(StringRef text, StringRef file, StringRef schema) {
  const auto wrong = [&](const std::string& message) {
    Diagnostic error = MakeError("input-format", {}, "{0}", message);
    error.file = file.str();
    return Error(std::move(error));
  };
  if (IsTooDeep(text)) return wrong("JSON is nested more than " + std::to_string(kMaxDepth) + " levels deep");
  auto parsed = llvm::json::parse(text);
  if (!parsed) return wrong("JSON: " + llvm::toString(parsed.takeError()));
  Object* object = parsed->getAsObject();
  if (!object || object->getString("schema") != schema)
    return wrong(llvm::formatv("found no object of schema '{0}'", schema).str());
  return std::move(*object);
}

}  // namespace hlo
