// Values that rules are tried on: all of a narrow type, special and random ones of a wide type.
#pragma once
#include "ir/literal.h"

namespace hlo::testing {

/// Random numbers that depend on the seed alone.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

/// An element: up to two words (complex128).
struct Element {
  uint64_t low = 0, high = 0;
};
/// Values of one type.
class ValueSet {
 public:
  explicit ValueSet(ElementType type);
  [[nodiscard]] ElementType type() const { return type_; }
  /// Number of codes of the type, if at most 2^16; else 0.
  [[nodiscard]] int64_t code_count() const;
  /// The code, as Literal stores it.
  [[nodiscard]] Element Code(int64_t code) const;
  /// Zeros, ones, limits, denormals, infinities, NaN, some small and odd numbers.
  [[nodiscard]] llvm::ArrayRef<Element> special() const { return special_; }
  /// Special values, random codes, and random numbers of moderate size.
  Element Draw(Random& random) const;

 private:
  [[nodiscard]] uint64_t DrawPart(Random& random) const;
  ElementType type_;
  std::vector<Element> special_;
};

void SetElement(Literal& literal, int64_t i, const Element& element);

/// Operand arrays of one length: all combinations of the types' values if there are at most `limit` of them
/// (`exhaustive`), else up to `samples` combinations, of special values first, then of random ones.
struct Combinations {
  int64_t length = 0;
  bool exhaustive = false;
};
Combinations PlanCombinations(llvm::ArrayRef<ElementType> types, int64_t limit, int64_t samples);
std::vector<Literal> MakeCombinations(llvm::ArrayRef<Shape> shapes, const Combinations& plan, uint64_t seed);

}  // namespace hlo::testing
