// Layouts of values that pass between computations: one for all places that must agree.
#pragma once
#include "ir/module.h"
#include "llvm/ADT/PointerUnion.h"

namespace hlo {

/// `shape` with the layouts that `like` has in the same places, as far as both are built alike.
Shape LaidOut(const Shape& shape, const Shape& like);
/// `shape` with elements as wide in memory as those of `like`.
Shape WithWidths(const Shape& shape, const Shape& like);

/// The parameters and results of what loops, conditionals and calls run, and those instructions themselves:
/// where the text gives one value several layouts, that of the called computation holds.
class LayoutBoundaries {
 public:
  explicit LayoutBoundaries(llvm::ArrayRef<Computation*> computations);

  /// Whether Apply would change a shape.
  [[nodiscard]] bool Disagree() const;
  /// Gives parameters and callers the shapes they agree on. Operands and roots are left to the caller.
  void Apply();
  /// What the computation's root has to lie like.
  [[nodiscard]] Shape Root(const Computation& computation) const;
  /// The shape in which a loop, conditional, call, fusion or async-start takes its operand; nothing if any
  /// will do.
  static Shape Operand(const Instruction& caller, int64_t i);

 private:
  /// A parameter, a caller, or (as its computation) a root.
  using Place = llvm::PointerUnion<Instruction*, const Computation*>;
  void Visit(Instruction* caller);
  /// The class of the second joins that of the first, whose layouts hold.
  void Unite(Place first, Place second);
  int64_t ClassOf(Place place);
  [[nodiscard]] int64_t Find(int64_t at) const;
  [[nodiscard]] Shape Agreed(size_t place) const;

  llvm::DenseMap<Place, int64_t> numbers_;
  std::vector<Place> places_;
  std::vector<Shape> shapes_;  // as written
  std::vector<int64_t> parents_;
};

}  // namespace hlo
