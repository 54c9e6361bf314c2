#include "tools/viz/palette.h"

#include <array>

#include "llvm/Support/MathExtras.h"

namespace hlo {
namespace {

constexpr SchemeColours kColours[] = {
#define HLO_SCHEME(Name, fill, border, text) {fill, border, text},
#include "tools/viz/palette.def"
};

constexpr std::array<Scheme, 256> kByKind = [] {
  std::array<Scheme, 256> schemes{};
#define HLO_COLOUR(Kind, Name) schemes[static_cast<size_t>(OpKind::Kind)] = Scheme::Name;
#include "tools/viz/palette.def"
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

}  // namespace hlo
