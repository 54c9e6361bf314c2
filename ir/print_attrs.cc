// Values of attributes: one print function per FieldKind.
#include "ir/print_internal.h"

namespace hlo {
namespace print_internal {

void PrintDims(llvm::raw_ostream& os, llvm::ArrayRef<int64_t> dims) {
  os << '{';
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) os << ',';
    os << dims[i];
  }
  os << '}';
}

void PrintBools(llvm::raw_ostream& os, llvm::ArrayRef<bool> values) {
  os << '{';
  for (size_t i = 0; i < values.size(); ++i) os << (i > 0 ? "," : "") << (values[i] ? "true" : "false");
  os << '}';
}

void PrintIndex(llvm::raw_ostream& os, const ShapeIndex& index) { PrintDims(os, index); }

void PrintName(llvm::raw_ostream& os, llvm::StringRef name, const PrintOptions& options) {
  if (options.percent) os << '%';
  os << (options.ids ? name : name.take_until([](char c) { return c == '.'; }));
}

}  // namespace print_internal

namespace {

using namespace print_internal;
using llvm::raw_ostream;

struct Context {
  const Instruction& instruction;
  const FieldInfo& field;
  const PrintOptions& options;
};

// --- Numbers, words, lists ---
void PrintValue(raw_ostream& os, bool value, const Context&) { os << (value ? "true" : "false"); }
void PrintValue(raw_ostream& os, const std::optional<bool>& value, const Context&) {
  if (value) os << (*value ? "true" : "false");
}
void PrintValue(raw_ostream& os, int64_t value, const Context&) { os << value; }
void PrintValue(raw_ostream& os, const std::optional<int64_t>& value, const Context& c) {
  if ((c.field.flags & kChannelId) != 0 && !c.options.channel_ids)
    os << '_';
  else if (value && (c.field.flags & kBraced) != 0)
    os << '{' << *value << '}';
  else if (value)
    os << *value;
}
void PrintValue(raw_ostream& os, float value, const Context&) { PrintGeneral(os, value, 6); }
void PrintValue(raw_ostream& os, const std::string& value, const Context& c) {
  os << '"';
  if ((c.field.flags & kUnescaped) != 0)
    os << value;
  else
    PrintEscaped(os, value);
  os << '"';
}
void PrintValue(raw_ostream& os, const Dims& value, const Context&) { PrintDims(os, value); }
void PrintValue(raw_ostream& os, const std::vector<Dims>& value, const Context&) {
  os << '{';
  for (size_t i = 0; i < value.size(); ++i) {
    if (i > 0) os << ',';
    PrintDims(os, value[i]);
  }
  os << '}';
}
void PrintValue(raw_ostream& os, const llvm::SmallVector<bool, 4>& value, const Context&) {
  PrintBools(os, value);
}
/// Enum and OptEnum: every enumeration is one byte.
void PrintValue(raw_ostream& os, uint8_t value, const Context& c) { os << c.field.enum_info->words[value]; }
void PrintValue(raw_ostream& os, const std::optional<CompareType>& value, const Context&) {
  if (value) os << ToString(*value);
}
void PrintValue(raw_ostream& os, const Precisions& value, const Context&) {
  os << '{';
  for (size_t i = 0; i < value.size(); ++i) os << (i > 0 ? "," : "") << ToString(value[i]);
  os << '}';
}

// --- Windows, dimension labels, ranges ---
template <class F>
void Interleave(raw_ostream& os, llvm::ArrayRef<WindowDim> dims, F print) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) os << 'x';
    print(dims[i]);
  }
}

void PrintValue(raw_ostream& os, const Window& window, const Context&) {
  struct Part {
    llvm::StringRef name;
    int64_t WindowDim::* value;
  };
  static constexpr Part kStride{" stride=", &WindowDim::stride};
  static constexpr Part kDilations[] = {{" lhs_dilate=", &WindowDim::base_dilation},
                                        {" rhs_dilate=", &WindowDim::window_dilation}};
  const auto print = [&](const Part& part) {
    if (llvm::all_of(window.dims, [&](const WindowDim& d) { return d.*part.value == 1; })) return;
    os << part.name;
    Interleave(os, window.dims, [&](const WindowDim& d) { os << d.*part.value; });
  };
  os << "{size=";
  Interleave(os, window.dims, [&](const WindowDim& d) { os << d.size; });
  print(kStride);
  if (llvm::any_of(window.dims, [](const WindowDim& d) { return d.pad_low != 0 || d.pad_high != 0; })) {
    os << " pad=";
    Interleave(os, window.dims, [&](const WindowDim& d) { os << d.pad_low << '_' << d.pad_high; });
  }
  for (const Part& part : kDilations) print(part);
  if (llvm::any_of(window.dims, [](const WindowDim& d) { return d.reversal; })) {
    os << " rhs_reversal=";
    Interleave(os, window.dims, [&](const WindowDim& d) { os << (d.reversal ? '1' : '0'); });
  }
  os << '}';
}
void PrintValue(raw_ostream& os, const std::optional<Window>& window, const Context& c) {
  if (window && window->dims.empty())
    os << "{}";
  else if (window)
    PrintValue(os, *window, c);
}

void PrintLabels(raw_ostream& os, int64_t rank, char first, int64_t first_dim, char second,
                 int64_t second_dim, const Dims& spatial) {
  llvm::SmallString<8> labels;
  labels.assign(static_cast<size_t>(std::max<int64_t>(rank, 0)), '?');
  const auto set = [&](int64_t dim, char label) {
    if (dim >= 0 && dim < rank) labels[static_cast<size_t>(dim)] = label;
  };
  set(first_dim, first);
  set(second_dim, second);
  for (size_t i = 0; i < spatial.size(); ++i) set(spatial[i], static_cast<char>('0' + i));
  os << labels;
}
void PrintValue(raw_ostream& os, const std::optional<ConvDimLabels>& labels, const Context&) {
  if (!labels) return;
  PrintLabels(os, labels->input_rank, 'b', labels->input_batch, 'f', labels->input_feature,
              labels->input_spatial);
  os << '_';
  PrintLabels(os, labels->kernel_rank, 'i', labels->kernel_input_feature, 'o', labels->kernel_output_feature,
              labels->kernel_spatial);
  os << "->";
  PrintLabels(os, labels->output_rank, 'b', labels->output_batch, 'f', labels->output_feature,
              labels->output_spatial);
}

void PrintValue(raw_ostream& os, const SliceRanges& ranges, const Context&) {
  const bool strides = llvm::any_of(ranges, [](const SliceRange& r) { return r.stride != 1; });
  os << '{';
  for (size_t i = 0; i < ranges.size(); ++i) {
    os << (i > 0 ? ", [" : "[") << ranges[i].start << ':' << ranges[i].limit;
    if (strides) os << ':' << ranges[i].stride;
    os << ']';
  }
  os << '}';
}

void PrintValue(raw_ostream& os, const Padding& padding, const Context&) {
  const bool interior = llvm::any_of(padding, [](const PaddingDim& p) { return p.interior != 0; });
  for (size_t i = 0; i < padding.size(); ++i) {
    os << (i > 0 ? "x" : "") << padding[i].low << '_' << padding[i].high;
    if (interior) os << '_' << padding[i].interior;
  }
}

// --- Structured values ---
void PrintValue(raw_ostream& os, const ReplicaGroups& groups, const Context& c) {
  PrintReplicaGroups(os, groups, c.options.full_replica_groups);
}
void PrintValue(raw_ostream& os, const Shape& shape, const Context& c) {
  Print(os, shape, c.options.layouts);
}
void PrintValue(raw_ostream& os, const std::optional<ShapeList>& shapes, const Context&) {
  os << '{';
  for (size_t i = 0; shapes && i < shapes->size(); ++i) {
    if (i > 0) os << ", ";
    Print(os, (*shapes)[i]);
  }
  os << '}';
}
void PrintValue(raw_ostream& os, const LiteralPtr& literal, const Context&) {
  if (literal) PrintLiteralWithShape(os, *literal);
}
void PrintValue(raw_ostream& os, const Aliasing& aliasing, const Context&) {
  os << '{';
  for (size_t i = 0; i < aliasing.size(); ++i) {
    if (i > 0) os << ", ";
    PrintIndex(os, aliasing[i].output);
    os << ": (" << aliasing[i].operand << ", ";
    PrintIndex(os, aliasing[i].operand_index);
    os << ')';
  }
  os << '}';
}
void PrintValue(raw_ostream& os, const SparsityConfig& sparsity, const Context&) {
  const auto print = [&](llvm::StringRef name, const SparsitySide& side) {
    os << name << "={sparsity=" << side.count << 'x' << side.group << " dimension=" << side.dimension
       << " stride=" << side.stride << '}';
  };
  os << '{';
  if (sparsity.lhs) print("lhs", *sparsity.lhs);
  if (sparsity.lhs && sparsity.rhs) os << ' ';
  if (sparsity.rhs) print("rhs", *sparsity.rhs);
  os << '}';
}
void PrintValue(raw_ostream& os, const DomainSpec& domain, const Context&) {
  os << "{kind=\"" << domain.kind << "\", entry=";
  if (domain.entry)
    PrintSharding(os, *domain.entry, /*with_metadata=*/false);
  else
    os << "{}";
  os << ", exit=";
  if (domain.exit)
    PrintSharding(os, *domain.exit, /*with_metadata=*/false);
  else
    os << "{}";
  os << '}';
}

// --- The table ---
using FieldPrinter = void (*)(raw_ostream&, const void* value, const Context&);

template <class T>
constexpr FieldPrinter Typed() {
  return [](raw_ostream& os, const void* value, const Context& c) {
    PrintValue(os, *static_cast<const T*>(value), c);
  };
}
void PrintCalleeName(raw_ostream& os, const void*, const Context& c) {
  const auto callees = c.instruction.callees();
  const auto i = static_cast<size_t>(c.field.callee);
  if (i < callees.size()) PrintName(os, callees[i]->name(), c.options);
}
void PrintCalleeNames(raw_ostream& os, const void*, const Context& c) {
  os << '{';
  bool first = true;
  for (const Computation* callee : c.instruction.callees()) {
    if (!std::exchange(first, false)) os << ", ";
    PrintName(os, callee->name(), c.options);
  }
  os << '}';
}

// In the order of FieldKind.
constexpr FieldPrinter kFieldPrinters[] = {
    Typed<bool>(),
    Typed<int64_t>(),
    Typed<std::optional<int64_t>>(),
    Typed<float>(),
    Typed<std::string>(),
    Typed<Dims>(),
    Typed<std::vector<Dims>>(),
    Typed<llvm::SmallVector<bool, 4>>(),
    Typed<uint8_t>(),
    Typed<std::optional<CompareType>>(),
    Typed<Precisions>(),
    Typed<Window>(),
    Typed<std::optional<Window>>(),
    Typed<std::optional<ConvDimLabels>>(),
    Typed<SliceRanges>(),
    Typed<Padding>(),
    Typed<ReplicaGroups>(),
    Typed<Shape>(),
    Typed<std::optional<ShapeList>>(),
    Typed<LiteralPtr>(),
    Typed<Aliasing>(),
    Typed<SparsityConfig>(),
    Typed<DomainSpec>(),
    Typed<std::optional<bool>>(),
    &PrintCalleeName,
    &PrintCalleeNames,
};
static_assert(std::size(kFieldPrinters) == kFieldKindCount);

/// The comparison type that a compare has if none is written (hlo-text §5 "type").
CompareType ImpliedCompareType(const Instruction& compare) {
  if (compare.operand_count() == 0 || !compare.operand(0)->shape().valid()) return CompareType::Float;
  switch (Info(compare.operand(0)->shape().element_type()).type_class) {
    case TypeClass::Signed: return CompareType::Signed;
    case TypeClass::Unsigned:
    case TypeClass::Pred: return CompareType::Unsigned;
    default: return CompareType::Float;
  }
}

}  // namespace

bool print_internal::IsFieldShown(const Instruction& instruction, const FieldInfo& field,
                                  const PrintOptions& options) {
  if ((field.flags & (kPositional | kParseOnly)) != 0) return false;
  if ((field.flags & kHostConfig) != 0 && !options.infeed_outfeed_config) return false;
  if ((field.flags & kAlwaysPrint) != 0) return true;
  const Attrs& attrs = instruction.attrs();
  if (FieldIsDefault(attrs.info(), field, attrs.data())) return false;
  switch (field.kind) {
    case FieldKind::Precisions:
      return llvm::any_of(field.Get<Precisions>(attrs.data()),
                          [](Precision p) { return p != Precision::Default; });
    case FieldKind::OptEnum:
      return field.Get<std::optional<CompareType>>(attrs.data()) != ImpliedCompareType(instruction);
    case FieldKind::BoolList: return options.ids;
    default: return true;
  }
}

void PrintField(raw_ostream& os, const Instruction& inst, const FieldInfo& field,
                const PrintOptions& options) {
  const void* value = field.access ? field.access(const_cast<void*>(inst.attrs().data())) : nullptr;
  kFieldPrinters[static_cast<size_t>(field.kind)](os, value, Context{inst, field, options});
}

}  // namespace hlo
