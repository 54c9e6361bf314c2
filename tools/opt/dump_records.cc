#include "tools/opt/dump_records.h"
#include "tools/common/gzip.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {
namespace {

std::string Upper(llvm::StringRef text) { return text.upper(); }

/// `name { ... }` of a shape, indented by `indent` blanks.
void PrintShapeProto(llvm::raw_ostream& os, llvm::StringRef name, const Shape& shape, unsigned indent) {
  os.indent(indent) << name << " {\n";
  os.indent(indent + 2) << "element_type: " << Upper(Info(shape.element_type()).text) << '\n';
  if (shape.IsTuple())
    for (const Shape& element : shape.tuple_shapes())
      PrintShapeProto(os, "tuple_shapes", element, indent + 2);
  if (shape.IsArray()) {
    for (const int64_t dim : shape.dims()) os.indent(indent + 2) << "dimensions: " << dim << '\n';
    for (const bool dynamic : shape.dynamic_flags())
      os.indent(indent + 2) << "is_dynamic_dimension: " << (dynamic ? "true" : "false") << '\n';
    if (shape.has_layout()) {
      os.indent(indent + 2) << "layout {\n";
      for (const int64_t dim : shape.layout().minor_to_major)
        os.indent(indent + 4) << "minor_to_major: " << dim << '\n';
      os.indent(indent + 2) << "}\n";
    }
  }
  os.indent(indent) << "}\n";
}

}  // namespace

std::string ProtoQuoted(llvm::StringRef text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (llvm::isPrint(c))
      out += c;
    else
      out += llvm::formatv("\\{0}{1}{2}", (c >> 6) & 3, (c >> 3) & 7, c & 7).str();
  }
  return out + '"';
}

std::string ConfigText(const Module& module) {
  const ModuleConfig& config = module.config;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (config.entry_layout) {
    os << "entry_computation_layout {\n";
    for (const Shape& shape : config.entry_layout->parameters) PrintShapeProto(os, "parameters", shape, 2);
    PrintShapeProto(os, "result", config.entry_layout->result, 2);
    os << "}\n";
  }
  os << "replica_count: " << config.replica_count << "\nnum_partitions: " << config.num_partitions << '\n';
  for (const bool b : config.spmd_propagation_to_parameters)
    os << "allow_spmd_sharding_propagation_to_parameters: " << (b ? "true" : "false") << '\n';
  for (const bool b : config.spmd_propagation_to_output)
    os << "allow_spmd_sharding_propagation_to_output: " << (b ? "true" : "false") << '\n';
  if (config.alias_passthrough_params) os << "alias_passthrough_params: true\n";
  return text;
}

}  // namespace hlo
