#include "tools/viz/drawing/palette.h"

#include <array>

#include "llvm/Support/MathExtras.h"

namespace hlo {
namespace {

constexpr SchemeColours kColours[] = {
#define HLO_SCHEME(Name, fill, border, text) {fill, border, text},
#include "tools/viz/drawing/palette.def"
};

constexpr std::pair<llvm::StringLiteral, SchemeColours> kMarkColours[] = {
#define HLO_MARK(word, fill, border) {word, {fill, border, "black"}},
#include "tools/viz/drawing/palette.def"
};

constexpr SchemeColours kClassColourRows[] = {
#define HLO_CLASS(fill, border) {fill, border, "black"},
#include "tools/viz/drawing/palette.def"
};
static_assert(std::size(kClassColourRows) == kClassColours);

constexpr std::array<Scheme, 256> kByKind = [] {
  std::array<Scheme, 256> schemes{};
#define HLO_COLOUR(Kind, Name) schemes[static_cast<size_t>(OpKind::Kind)] = Scheme::Name;
#include "tools/viz/drawing/palette.def"
  return schemes;
}();

/// What an asynchronous instruction runs; null for others.
const Instruction* WrappedOp(const Instruction& inst) {
  const Instruction* at = &inst;
  while ((at->kind() == OpKind::AsyncUpdate || at->kind() == OpKind::AsyncDone) && at->operand_count() > 0)
    at = at->operand(0);
  if (at->kind() != OpKind::AsyncStart || at->callees().empty()) return nullptr;
  return at->callee()->root();
}

}  // namespace

const SchemeColours& ColoursOf(Scheme scheme) { return kColours[static_cast<size_t>(scheme)]; }

int64_t TotalElements(const Shape& shape) {
  int64_t total = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (leaf.IsArray() && llvm::AddOverflow(total, leaf.ElementCount(), total)) total = INT64_MAX;
  });
  return total;
}

Scheme SchemeOf(const Instruction& instruction) {
  const Instruction* wrapped = WrappedOp(instruction);
  const Instruction& inst = wrapped && wrapped->kind() != OpKind::AsyncStart ? *wrapped : instruction;
  const Scheme scheme = kByKind[static_cast<size_t>(inst.kind())];
  if (inst.kind() == OpKind::Bitcast && !inst.parent()->IsFusion()) return Scheme::Plain;
  if (scheme == Scheme::Orange && TotalElements(inst.shape()) >= kLargeElements) return Scheme::DarkOrange;
  return scheme;
}

const SchemeColours* ColoursOfMark(llvm::StringRef word) {
  const auto* row = llvm::find_if(kMarkColours, [&](const auto& r) { return r.first == word; });
  return row == std::end(kMarkColours) ? nullptr : &row->second;
}

const SchemeColours& ColoursOfClass(size_t index) {
  return kClassColourRows[std::min(index, kClassColours - 1)];
}

int HeatStep(double share) {
  if (!(share > 0)) return 0;
  return std::clamp(static_cast<int>(std::ceil(share * kHeatSteps)), 1, kHeatSteps);
}

HeatColours ColoursOfHeat(int step) {
  if (step <= 0) return {"#f5f5f5", "#c2c2c2", "black"};
  // Between the first and the last colour in equal steps; borders are a third darker.
  constexpr int kFirst[] = {0xf7, 0xd4, 0xcc}, kLast[] = {0xff, 0x2d, 0x00};
  constexpr int kWhiteText = 6;
  HeatColours colours{"#", "#", step > kWhiteText ? "white" : "black"};
  for (int i = 0; i < 3; ++i) {
    const int value = kFirst[i] + (kLast[i] - kFirst[i]) * (step - 1) / (kHeatSteps - 1);
    colours.fill += llvm::formatv("{0:x-2}", value).str();
    colours.border += llvm::formatv("{0:x-2}", value * 2 / 3).str();
  }
  return colours;
}

}  // namespace hlo
