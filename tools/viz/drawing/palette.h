// Colours of instructions in drawings (tools.md §5.2).
#pragma once
#include "ir/module.h"

namespace hlo {

enum class Scheme : uint8_t {
#define HLO_SCHEME(Name, ...) Name,
#include "tools/viz/drawing/palette.def"
};

struct SchemeColours {
  llvm::StringRef fill, border, text;
};
const SchemeColours& ColoursOf(Scheme scheme);

/// Elements from which on arrays count as large.
inline constexpr int64_t kLargeElements = 4096;
/// Elements of all arrays in a shape; saturates.
int64_t TotalElements(const Shape& shape);

/// How an instruction is coloured where it stands.
Scheme SchemeOf(const Instruction& instruction);

/// Of the kinds of differences and of wrong values; null for other words.
const SchemeColours* ColoursOfMark(llvm::StringRef word);
/// Of the nth class of nodes; the last colours serve all further ones.
const SchemeColours& ColoursOfClass(size_t index);
inline constexpr size_t kClassColours = 12;

/// From white over ten steps to red, for shares of the largest value.
struct HeatColours {
  std::string fill, border;
  llvm::StringRef text;
};
inline constexpr int kHeatSteps = 10;
/// 0 for nothing, else 1 to kHeatSteps.
int HeatStep(double share);
HeatColours ColoursOfHeat(int step);

}  // namespace hlo
