// HLO spelling of shapes and layouts (hlo-text §2, §7.1).
#include "ir/shape.h"

namespace hlo {
namespace {

void PrintList(llvm::raw_ostream& os, llvm::ArrayRef<int64_t> values) { llvm::interleave(values, os, ","); }

void PrintTile(llvm::raw_ostream& os, const Tile& tile) {
  os << '(';
  llvm::interleave(
      tile.dims,
      [&](int64_t d) {
        if (d == Tile::kCombine)
          os << '*';
        else
          os << d;
      },
      [&] { os << ','; });
  os << ')';
}

void PrintProperties(llvm::raw_ostream& os, const Layout& layout) {
  os << ':';
  if (!layout.tiles.empty()) {
    os << 'T';
    for (const Tile& tile : layout.tiles) PrintTile(os, tile);
  }
  if (layout.tail_padding_alignment != 1) os << "L(" << layout.tail_padding_alignment << ')';
  if (layout.index_type) os << "#(" << ToString(*layout.index_type) << ')';
  if (layout.pointer_type) os << "*(" << ToString(*layout.pointer_type) << ')';
  if (layout.element_size_bits != 0) os << "E(" << layout.element_size_bits << ')';
  if (layout.memory_space != 0) os << "S(" << layout.memory_space << ')';
  if (!layout.split_configs.empty()) {
    os << "SC";
    for (const SplitConfig& split : layout.split_configs) {
      os << '(' << split.dimension << ':';
      PrintList(os, split.indices);
      os << ')';
    }
  }
  if (layout.dynamic_shape_metadata_prefix_bytes != 0)
    os << "M(" << layout.dynamic_shape_metadata_prefix_bytes << ')';
}

}  // namespace

void PrintLayout(llvm::raw_ostream& os, const Shape& array) {
  const Layout& layout = array.layout();
  if (layout.minor_to_major.empty() && !layout.HasProperties()) return;
  os << '{';
  PrintList(os, layout.minor_to_major);
  if (layout.HasProperties()) PrintProperties(os, layout);
  os << '}';
}

void Print(llvm::raw_ostream& os, const Shape& shape, bool with_layout) {
  if (!shape.valid()) {
    os << "?";
    return;
  }
  if (shape.IsTuple()) {
    os << '(';
    for (int64_t i = 0; i < shape.tuple_size(); ++i) {
      if (i > 0 && i % 5 == 0)
        os << ", /*index=" << i << "*/";
      else if (i > 0)
        os << ", ";
      Print(os, shape.tuple_shape(i), with_layout);
    }
    os << ')';
    return;
  }
  if (shape.IsBuffer()) {
    os << "b(";
    Print(os, shape.buffer_shape(), with_layout);
    os << ')';
    return;
  }
  os << ToString(shape.element_type()) << '[';
  if (!shape.IsArray()) {
    os << ']';
    return;
  }
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) os << ',';
    if (shape.is_unbounded(i))
      os << '?';
    else
      os << (shape.is_dynamic(i) ? "<=" : "") << shape.dim(i);
  }
  os << ']';
  if (with_layout && shape.has_layout()) PrintLayout(os, shape);
}

std::string ToString(const Shape& shape, bool with_layout) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Print(os, shape, with_layout);
  return text;
}

std::string ToString(const ShapeIndex& index) {
  std::string text = "{";
  for (size_t i = 0; i < index.size(); ++i) text += (i ? "," : "") + std::to_string(index[i]);
  return text + "}";
}

llvm::raw_ostream& operator<<(llvm::raw_ostream& os, const Shape& shape) {
  Print(os, shape, /*with_layout=*/false);
  return os;
}

}  // namespace hlo
