// Text of module headers (hlo-text §3, §5 "origin_recovery_table", "debug_attributes").
#include "ir/print_internal.h"

namespace hlo::print_internal {
namespace {

using llvm::raw_ostream;
using llvm::StringRef;

void PrintAliases(raw_ostream& os, llvm::ArrayRef<InputOutputAlias> aliases) {
  os << ", input_output_alias={ ";
  for (size_t i = 0; i < aliases.size(); ++i) {
    if (i > 0) os << ", ";
    PrintIndex(os, aliases[i].output);
    os << ": (" << aliases[i].parameter << ", ";
    PrintIndex(os, aliases[i].parameter_index);
    os << ", " << (aliases[i].must_alias ? "must-alias" : "may-alias") << ')';
  }
  os << " }";
}

void PrintDonors(raw_ostream& os, llvm::ArrayRef<BufferDonor> donors) {
  os << ", buffer_donor={ ";
  for (size_t i = 0; i < donors.size(); ++i) {
    os << (i > 0 ? ", (" : "(") << donors[i].parameter << ", ";
    PrintIndex(os, donors[i].index);
    os << ')';
  }
  os << " }";
}

void PrintEntryLayout(raw_ostream& os, const EntryLayout& layout) {
  os << ", entry_computation_layout={(";
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    if (i > 0 && i % 5 == 0)
      os << ", /*index=" << i << "*/";
    else if (i > 0)
      os << ", ";
    Print(os, layout.parameters[i]);
  }
  os << ")->";
  Print(os, layout.result);
  os << '}';
}

EntryLayout LayoutOf(const Computation& entry) {
  EntryLayout layout;
  layout.parameters = entry.ParameterShapes();
  if (entry.root()) layout.result = entry.root()->shape();
  return layout;
}

void PrintPropagation(raw_ostream& os, StringRef name, llvm::ArrayRef<bool> flags) {
  if (flags.empty() || (flags.size() == 1 && !flags[0])) return;
  os << ", " << name << '=';
  PrintBools(os, flags);
}

void PrintDebugItem(raw_ostream& os, const DebugAttribute::Item& item) {
  bool first = true;
  const auto field = [&](StringRef name, bool shown, const auto& value) {
    if (!shown) return;
    os << (std::exchange(first, false) ? "" : ",") << name << '=' << value;
  };
  os << '{';
  field("log_mode", item.fusion_debugger, "fusion_debugger");
  field("callback_id", item.callback_id != 0, item.callback_id);
  field("partitioned", item.partitioned, "true");
  field("op_id", item.op_id != 0, item.op_id);
  os << '}';
}

void PrintDebugAttributes(raw_ostream& os, llvm::ArrayRef<DebugAttribute> attributes) {
  os << ",\ndebug_attributes={\n";
  for (size_t i = 0; i < attributes.size(); ++i) {
    os << (i > 0 ? ",\n  {\"" : "  {\"") << attributes[i].name << "\"}:(";
    for (size_t j = 0; j < attributes[i].items.size(); ++j) {
      if (j > 0) os << ", ";
      PrintDebugItem(os, attributes[i].items[j]);
    }
    os << ')';
  }
  os << "\n}";
}

void PrintStringTable(raw_ostream& os, StringRef title, llvm::ArrayRef<StringRef> rows) {
  os << title << '\n';
  for (size_t i = 0; i < rows.size(); ++i) {
    os << i + 1 << " \"";
    PrintEscaped(os, rows[i]);
    os << "\"\n";
  }
}

void PrintStackTables(raw_ostream& os, const StackTables& tables) {
  os << "\n\n";
  PrintStringTable(os, "FileNames", tables.files);
  os << '\n';
  PrintStringTable(os, "FunctionNames", tables.functions);
  os << "\nFileLocations\n";
  for (size_t i = 0; i < tables.locations.size(); ++i) {
    const StackTables::Location& l = tables.locations[i];
    os << i + 1 << " {file_name_id=" << l.file << " function_name_id=" << l.function << " line=" << l.line
       << " end_line=" << l.end_line << " column=" << l.column << " end_column=" << l.end_column << "}\n";
  }
  os << "\nStackFrames\n";
  for (size_t i = 0; i < tables.frames.size(); ++i)
    os << i + 1 << " {file_location_id=" << tables.frames[i].location
       << " parent_frame_id=" << tables.frames[i].parent + 1 << "}\n";
}

void PrintBackslashed(raw_ostream& os, StringRef text) {
  for (char c : text) {
    if (c == '\\' || c == '"') os << '\\';
    os << c;
  }
}

/// Computations that print as part of the async ops that wrap them.
bool IsHiddenBySugar(const Computation& computation) {
  return !computation.callers().empty() && HasAsyncSugar(computation) &&
         llvm::all_of(computation.callers(),
                      [](const Instruction* caller) { return caller->kind() == OpKind::AsyncStart; });
}

}  // namespace

void TextPrinter::PrintOriginRecoveryTable(llvm::ArrayRef<OriginRecovery> table) {
  llvm::SmallVector<const OriginRecovery*, 4> sorted;
  for (const OriginRecovery& row : table) sorted.push_back(&row);
  llvm::sort(sorted, [](const OriginRecovery* a, const OriginRecovery* b) {
    return std::tie(a->old_name, a->old_index) < std::tie(b->old_name, b->old_index);
  });
  os_ << ", origin_recovery_table={\n";
  for (const OriginRecovery* row : sorted) {
    Spaces(indent_ + 1);
    PrintOriginLeaf(os_, row->old_name, row->old_index);
    os_ << " : ";
    PrintOriginLeaf(os_, row->new_name, row->new_index);
    if (row->recovery) {
      PrintOptions options;
      options.indent = indent_ + 2;
      os_ << ",\n  \"\n";
      PrintBackslashed(os_, ToString(*row->recovery, options));
      os_ << "\n  \"";
    }
    os_ << '\n';
  }
  os_ << "}\n";
}

void TextPrinter::PrintModuleAttributes(const Module& module) {
  const ModuleConfig& config = module.config;
  if (config.is_scheduled) os_ << ", is_scheduled=true";
  if (!config.input_output_alias.empty()) PrintAliases(os_, config.input_output_alias);
  if (!config.buffer_donors.empty()) PrintDonors(os_, config.buffer_donors);
  if (config.alias_passthrough_params) os_ << ", alias_passthrough_params=true";
  if (config.entry_layout)
    PrintEntryLayout(os_, *config.entry_layout);
  else if (module.entry())
    PrintEntryLayout(os_, LayoutOf(*module.entry()));
  PrintPropagation(os_, "allow_spmd_sharding_propagation_to_parameters",
                   config.spmd_propagation_to_parameters);
  PrintPropagation(os_, "allow_spmd_sharding_propagation_to_output", config.spmd_propagation_to_output);
  if (config.replica_count != 1) os_ << ", replica_count=" << config.replica_count;
  if (config.num_partitions != 1) os_ << ", num_partitions=" << config.num_partitions;
  if (!config.frontend_attributes.empty()) {
    os_ << ", frontend_attributes=";
    PrintFrontendAttributes(os_, config.frontend_attributes);
  }
  if (!config.origin_recovery_table.empty()) PrintOriginRecoveryTable(config.origin_recovery_table);
  if (!config.debug_attributes.empty()) PrintDebugAttributes(os_, config.debug_attributes);
  os_ << config.unknown_attributes;
}

void TextPrinter::PrintModule(const Module& module) {
  Spaces(indent_);
  os_ << "HloModule ";
  if (options_.ids) os_ << module.name();
  PrintModuleAttributes(module);
  if (options_.metadata && !module.stack_tables.empty()) PrintStackTables(os_, module.stack_tables);
  os_ << "\n\n";
  for (const Computation* computation :
       options_.sort_computations ? module.PostOrder() : module.PrintOrder()) {
    if (options_.async_sugar && IsHiddenBySugar(*computation)) continue;
    PrintComputation(*computation);
    os_ << "\n\n";
  }
}

}  // namespace hlo::print_internal
