// Text of module headers (hlo-text §3, §5 "origin_recovery_table", "debug_attributes").
#include "ir/print_internal.h"

namespace hlo {

using llvm::raw_ostream;
using llvm::StringRef;

namespace print_internal {
namespace {

constexpr StringRef kDebugAttributes = "debug_attributes";  // starts a line

void PrintAliases(raw_ostream& os, llvm::ArrayRef<InputOutputAlias> aliases) {
  os << "{ ";
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
  os << "{ ";
  for (size_t i = 0; i < donors.size(); ++i) {
    os << (i > 0 ? ", (" : "(") << donors[i].parameter << ", ";
    PrintIndex(os, donors[i].index);
    os << ')';
  }
  os << " }";
}

void PrintEntryLayout(raw_ostream& os, const EntryLayout& layout) {
  os << "{(";
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

void PrintDebugItem(raw_ostream& os, const DebugAttribute::Item& item) {
  bool first = true;
  const auto field = [&](StringRef name, bool shown, const auto& value) {
    if (!shown) return;
    os << (std::exchange(first, false) ? "" : ",") << name << '=' << value;
  };
  os << '{';
  field("log_mode", item.fusion_debugger || item.default_log_mode,
        item.fusion_debugger ? "fusion_debugger" : "default");
  field("callback_id", item.callback_id != 0, item.callback_id);
  field("partitioned", item.partitioned, "true");
  field("op_id", item.op_id != 0, item.op_id);
  os << '}';
}

void PrintDebugAttributes(raw_ostream& os, llvm::ArrayRef<DebugAttribute> attributes) {
  os << "{\n";
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

/// Computations that print as part of the async ops that wrap them.
bool IsHiddenBySugar(const Computation& computation) {
  return !computation.callers().empty() && HasAsyncSugar(computation) &&
         llvm::all_of(computation.callers(),
                      [](const Instruction* caller) { return caller->kind() == OpKind::AsyncStart; });
}

void PrintOriginRecoveryTable(raw_ostream& os, llvm::ArrayRef<OriginRecovery> table, int indent) {
  llvm::SmallVector<const OriginRecovery*, 4> sorted;
  for (const OriginRecovery& row : table) sorted.push_back(&row);
  llvm::sort(sorted, [](const OriginRecovery* a, const OriginRecovery* b) {
    return std::tie(a->old_name, a->old_index) < std::tie(b->old_name, b->old_index);
  });
  os << "{\n";
  for (const OriginRecovery* row : sorted) {
    os.indent(static_cast<unsigned>(2 * std::max(indent + 1, 0)));
    PrintOriginLeaf(os, row->old_name, row->old_index);
    os << " : ";
    PrintOriginLeaf(os, row->new_name, row->new_index);
    if (row->recovery) {
      PrintOptions options;
      options.indent = indent + 2;
      os << ",\n  \"\n";
      os << ToString(*row->recovery, options);  // quotes in it are not escaped (errata-2 12)
      os << "\n  \"";
    }
    os << '\n';
  }
  os << "}\n";
}

/// Calls print_name(name) before it prints the value, for each attribute in order.
void PrintModuleAttributes(raw_ostream& os, const Module& module, int indent,
                           llvm::function_ref<void(StringRef)> print_name) {
  const ModuleConfig& config = module.config;
  const auto propagation = [&](StringRef name, llvm::ArrayRef<bool> flags) {
    if (flags.empty() || (flags.size() == 1 && !flags[0])) return;
    print_name(name);
    PrintBools(os, flags);
  };
  const auto number = [&](StringRef name, int64_t value) {
    if (value == 1) return;
    print_name(name);
    os << value;
  };
  const auto flag = [&](StringRef name, bool value) {
    if (!value) return;
    print_name(name);
    os << "true";
  };
  flag("is_scheduled", config.is_scheduled);
  if (!config.input_output_alias.empty()) {
    print_name("input_output_alias");
    PrintAliases(os, config.input_output_alias);
  }
  if (!config.buffer_donors.empty()) {
    print_name("buffer_donor");
    PrintDonors(os, config.buffer_donors);
  }
  flag("alias_passthrough_params", config.alias_passthrough_params);
  if (config.entry_layout || module.entry()) {
    print_name("entry_computation_layout");
    PrintEntryLayout(os, config.entry_layout ? *config.entry_layout : LayoutOf(*module.entry()));
  }
  propagation("allow_spmd_sharding_propagation_to_parameters", config.spmd_propagation_to_parameters);
  propagation("allow_spmd_sharding_propagation_to_output", config.spmd_propagation_to_output);
  number("replica_count", config.replica_count);
  number("num_partitions", config.num_partitions);
  if (!config.frontend_attributes.empty()) {
    print_name("frontend_attributes");
    PrintFrontendAttributes(os, config.frontend_attributes);
  }
  if (!config.origin_recovery_table.empty()) {
    print_name("origin_recovery_table");
    PrintOriginRecoveryTable(os, config.origin_recovery_table, indent);
  }
  if (!config.debug_attributes.empty()) {
    print_name(kDebugAttributes);
    PrintDebugAttributes(os, config.debug_attributes);
  }
}

}  // namespace

void TextPrinter::PrintModuleAttributes(const Module& module) {
  print_internal::PrintModuleAttributes(os_, module, indent_, [&](StringRef name) {
    os_ << (name == kDebugAttributes ? ",\n" : ", ") << name << '=';
  });
  os_ << module.config.unknown_attributes;
}

void TextPrinter::PrintModule(const Module& module) {
  Spaces(indent_);
  os_ << "HloModule ";
  if (options_.ids) os_ << module.name();
  PrintModuleAttributes(module);
  if (options_.metadata && !module.stack_tables.empty()) {
    os_ << "\n\n";
    PrintStackTables(os_, module.stack_tables);
  }
  os_ << "\n\n";
  for (const Computation* computation :
       options_.sort_computations ? module.PostOrder() : module.PrintOrder()) {
    if (options_.async_sugar && IsHiddenBySugar(*computation)) continue;
    PrintComputation(*computation);
    os_ << "\n\n";
  }
}

namespace {

void PrintStringTable(raw_ostream& os, StringRef title, llvm::ArrayRef<StringRef> rows) {
  os << title << '\n';
  for (size_t i = 0; i < rows.size(); ++i) {
    os << i + 1 << " \"";
    PrintEscaped(os, rows[i]);
    os << "\"\n";
  }
}

}  // namespace
}  // namespace print_internal

void PrintStackTables(raw_ostream& os, const StackTables& tables) {
  print_internal::PrintStringTable(os, "FileNames", tables.files);
  os << '\n';
  print_internal::PrintStringTable(os, "FunctionNames", tables.functions);
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

std::vector<std::pair<StringRef, std::string>> ModuleAttributeTexts(const Module& module) {
  std::vector<std::pair<StringRef, std::string>> attributes;
  std::string text;
  llvm::raw_string_ostream os(text);
  const auto finish = [&] {
    if (!attributes.empty()) attributes.back().second = std::exchange(text, {});
  };
  print_internal::PrintModuleAttributes(os, module, /*indent=*/0, [&](StringRef name) {
    finish();
    attributes.emplace_back(name, "");
  });
  finish();
  return attributes;
}

}  // namespace hlo
