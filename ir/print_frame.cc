// Text of the attributes that every instruction may carry (hlo-text §4), and of strings.
#include "ir/print_internal.h"

#include "ir/support/json.h"

namespace hlo {
namespace {

using namespace print_internal;
using llvm::raw_ostream;
using llvm::StringRef;

bool NeedsEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || c == '"' || c == '\'' || c == '\\';
}

void PrintEscape(raw_ostream& os, char c) {
  switch (c) {
    case '\n': os << "\\n"; return;
    case '\r': os << "\\r"; return;
    case '\t': os << "\\t"; return;
    case '"':
    case '\'':
    case '\\': os << '\\' << c; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  os << '\\' << static_cast<char>('0' + (byte >> 6)) << static_cast<char>('0' + (byte >> 3 & 7))
     << static_cast<char>('0' + (byte & 7));
}

/// Skips blanks and comments; nothing if a comment does not end.
std::optional<StringRef> SkipBlank(StringRef text) {
  while (true) {
    text = text.ltrim(" \t\n\r");
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n' || c == '\r'; });
    } else if (text.starts_with("/*")) {
      const size_t end = text.find("*/", 2);
      if (end == StringRef::npos) return std::nullopt;
      text = text.drop_front(end + 2);
    } else {
      return text;
    }
  }
}

/// What follows the brace that closes the JSON dict at the start of `text` (hlo-text §1 "JSON dict").
std::optional<StringRef> AfterDict(StringRef text) {
  int64_t depth = 0;
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
    if (c == '"')
      in_string = true;
    else if (c == '{')
      ++depth;
    else if (c == '}' && --depth == 0)
      return text.drop_front(i + 1);
  }
  return std::nullopt;
}

/// Blanks and comments may surround the dict.
bool IsJsonDict(StringRef text) {
  auto start = SkipBlank(text);
  if (!start || !start->starts_with("{")) return false;
  auto after = AfterDict(*start);
  if (!after) return false;
  auto end = SkipBlank(*after);
  return end && end->empty();
}

void PrintBackendConfig(raw_ostream& os, StringRef config, const PrintOptions& options) {
  if (options.sort_backend_config && config.trim().starts_with("{")) {
    if (auto json = ParseJson(config)) {
      json->Sort();
      JsonWriter(os).Value(*json);
      return;
    }
  }
  PrintStringOrJson(os, config);
}

constexpr MetadataField kMetadataFields[] = {
    {.name = "op_type", .text = &OpMetadata::op_type},
    {.name = "op_name", .text = &OpMetadata::op_name},
    {.name = "source_file", .text = &OpMetadata::source_file},
    {.name = "source_line", .number = &OpMetadata::source_line},
    {.name = "source_end_line", .number = &OpMetadata::source_end_line},
    {.name = "source_column", .number = &OpMetadata::source_column},
    {.name = "source_end_column", .number = &OpMetadata::source_end_column},
    {.name = "profile_type", .numbers = &OpMetadata::profile_type},
    {.name = "deduplicated_name", .text = &OpMetadata::deduplicated_name},
    {.name = "scheduling_name", .text = &OpMetadata::scheduling_name, .escaped = false},
    {.name = "stack_frame_id", .number = &OpMetadata::stack_frame_id},
    {.name = "metadata_payload", .text = &OpMetadata::payload},
};

/// The value of a field; false if it has none.
bool PrintMetadataValue(raw_ostream& os, const OpMetadata& m, const MetadataField& field, StringRef before) {
  if (field.text != nullptr) {
    const StringRef text = m.*field.text;
    if (text.empty()) return false;
    os << before << field.name << "=\"";
    if (field.escaped)
      PrintEscaped(os, text);
    else
      os << text;
    os << '"';
  } else if (field.number != nullptr) {
    if (m.*field.number == 0) return false;
    os << before << field.name << '=' << m.*field.number;
  } else {
    if ((m.*field.numbers).empty()) return false;
    os << before << field.name << "={";
    llvm::interleave(m.*field.numbers, os, ",");
    os << '}';
  }
  return true;
}

/// The source position that a stack frame stands for; null if the id is none.
const StackTables::Location* FrameLocation(const StackTables* tables, int32_t frame) {
  const auto at = [](const auto& table, int32_t id) {
    return id >= 1 && static_cast<size_t>(id) <= table.size() ? &table[static_cast<size_t>(id - 1)] : nullptr;
  };
  if (!tables) return nullptr;
  const StackTables::Frame* f = at(tables->frames, frame);
  return f ? at(tables->locations, f->location) : nullptr;
}

}  // namespace

void PrintEscaped(raw_ostream& os, StringRef text) {
  while (!text.empty()) {
    const size_t plain = static_cast<size_t>(llvm::find_if(text, NeedsEscape) - text.begin());
    os << text.take_front(plain);
    text = text.drop_front(plain);
    if (text.empty()) return;
    PrintEscape(os, text.front());
    text = text.drop_front();
  }
}

void PrintResultAccuracy(raw_ostream& os, const ResultAccuracy& accuracy) {
  if (accuracy.highest) {
    os << "{mode=highest}";
    return;
  }
  os << "{tolerance={atol=";
  PrintGeneral(os, accuracy.atol, 6);
  os << ",rtol=";
  PrintGeneral(os, accuracy.rtol, 6);
  os << ",ulps=" << accuracy.ulps << "}}";
}

void PrintStringOrJson(raw_ostream& os, StringRef text) {
  if (IsJsonDict(text)) {
    os << text;
    return;
  }
  os << '"';
  PrintEscaped(os, text);
  os << '"';
}

void print_internal::PrintFrontendAttributes(raw_ostream& os, llvm::ArrayRef<FrontendAttribute> attributes) {
  os << '{';
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (i > 0) os << ',';
    os << attributes[i].key << '=';
    PrintStringOrJson(os, attributes[i].value);
  }
  os << '}';
}

bool print_internal::HasPrintedMetadata(const OpMetadata& m) {
  return !m.op_name.empty() || !m.op_type.empty() || !m.source_file.empty() || !m.scheduling_name.empty() ||
         m.stack_frame_id != 0 || !m.payload.empty() || !m.unknown_fields.empty();
}

llvm::ArrayRef<MetadataField> MetadataFields() { return kMetadataFields; }

void print_internal::PrintMetadata(raw_ostream& os, const OpMetadata& m, const PrintOptions& options,
                                   const StackTables* tables) {
  OpMetadata shown = m;
  if (options.only_op_name) {
    shown = {};
    shown.op_name = m.op_name;
  } else if (const StackTables::Location* frame =
                 options.inline_stack_frames ? FrameLocation(tables, m.stack_frame_id) : nullptr) {
    if (frame->file >= 1 && static_cast<size_t>(frame->file) <= tables->files.size())
      shown.source_file = tables->files[static_cast<size_t>(frame->file - 1)];
    shown.source_line = frame->line;
    shown.source_end_line = frame->end_line;
    shown.source_column = frame->column;
    shown.source_end_column = frame->end_column;
    shown.stack_frame_id = 0;
  }
  os << '{';
  StringRef before;
  for (const MetadataField& field : kMetadataFields)
    if (PrintMetadataValue(os, shown, field, before)) before = " ";
  if (!shown.unknown_fields.empty()) os << before << shown.unknown_fields;
  os << '}';
}

void PrintStatistics(raw_ostream& os, const Statistics& statistics) {
  os << "{visualizing_index=" << statistics.visualizing_index;
  for (const Statistic& s : statistics.values) {
    os << ',' << s.name << '=';
    PrintGeneral(os, s.value, 6);
  }
  os << '}';
}

void PrintOrigin(raw_ostream& os, const Origin& origin) {
  if (origin.synthetic_call) {
    os << "[synthetic_call]";
  } else if (origin.is_tuple) {
    os << '(';
    for (size_t i = 0; i < origin.elements.size(); ++i) {
      if (i > 0) os << ", ";
      PrintOrigin(os, origin.elements[i]);
    }
    os << ')';
  } else if (origin.has_name) {
    PrintOriginLeaf(os, origin.name, origin.index);
  } else {
    os << "{}";
  }
}

void print_internal::PrintOriginLeaf(raw_ostream& os, StringRef name, const ShapeIndex& index) {
  os << "{\"" << name << '"';
  if (!index.empty()) {
    os << ' ';
    PrintIndex(os, index);
  }
  os << '}';
}

void print_internal::TextPrinter::PrintControlPredecessors(llvm::ArrayRef<Instruction*> predecessors) {
  os_ << ", control-predecessors={";
  for (size_t i = 0; i < predecessors.size(); ++i) {
    if (i > 0) os_ << ", ";
    PrintName(os_, predecessors[i]->name(), options_);
  }
  os_ << '}';
}

void print_internal::TextPrinter::PrintFirstOfFrame(const Instruction& instruction,
                                                    bool frontend_attributes) {
  const InstructionExtras& extras = instruction.extras();
  if (extras.sharding && options_.sharding) {
    os_ << ", sharding=";
    PrintSharding(os_, *extras.sharding, options_.metadata);
  }
  if (!extras.frontend_attributes.empty() && frontend_attributes) {
    os_ << ", frontend_attributes=";
    PrintFrontendAttributes(os_, extras.frontend_attributes);
  }
  if (!extras.control_predecessors.empty() && options_.control_predecessors)
    PrintControlPredecessors(extras.control_predecessors);
  if (extras.statistics && !extras.statistics->values.empty()) {
    os_ << ", statistics=";
    PrintStatistics(os_, *extras.statistics);
  }
  if (!extras.result_accuracy.is_default()) {
    os_ << ", result_accuracy=";
    PrintResultAccuracy(os_, extras.result_accuracy);
  }
}

void print_internal::TextPrinter::PrintFrame(const Instruction& instruction) {
  PrintFirstOfFrame(instruction, options_.frontend_attributes);
  const InstructionExtras& extras = instruction.extras();
  if (extras.origin && options_.origin) {
    os_ << ", origin={";
    PrintOrigin(os_, *extras.origin);
    os_ << '}';
  }
  if (options_.metadata && instruction.metadata() && HasPrintedMetadata(*instruction.metadata())) {
    os_ << ", metadata=";
    const Module* module = instruction.parent() ? instruction.module() : nullptr;
    PrintMetadata(os_, *instruction.metadata(), options_, module ? &module->stack_tables : nullptr);
  }
  if (!extras.backend_config.empty() && options_.backend_config) {
    os_ << ", backend_config=";
    PrintBackendConfig(os_, extras.backend_config, options_);
  }
  os_ << extras.unknown_attributes;
}

}  // namespace hlo
