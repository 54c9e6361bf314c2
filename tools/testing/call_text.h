// Calls of built-in custom-call targets as text that may be anything: made from signatures, then spoilt.
#pragma once
#include <string>
#include <vector>

#include "ir/custom_call_signature.h"
#include "tools/testing/value_sets.h"

namespace hlo::testing {

/// Numbers that depend on where they begin only (SplitMix64).
class Dice : Random {
 public:
  Dice(uint64_t seed, uint64_t number) : Random(seed * 0x9e3779b97f4a7c15 + number * 0xd1342543de82ef95) {
    Next();
  }
  using Random::Next;
  /// 0 ... n - 1; 0 if there is none.
  int64_t Below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  /// low ... high
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <class Range>
  auto& Pick(Range& range) {
    return range[static_cast<size_t>(Below(static_cast<int64_t>(std::size(range))))];
  }
  void Shuffle(llvm::MutableArrayRef<int64_t> numbers) {
    for (size_t i = numbers.size(); i > 1; --i)
      std::swap(numbers[i - 1], numbers[static_cast<size_t>(Below(static_cast<int64_t>(i)))]);
  }
};

/// An operand, a result or a layout constraint.
struct ValueText {
  std::string type;
  std::vector<std::string> sizes;  // `3`, `<=3`, `?`
  std::string layout;              // `{1,0}`, with properties, or nothing
  std::string whole;               // `token[]`, `(f32[2], s32[])`: instead of all that
  [[nodiscard]] std::string Text() const;
};

struct AttributeText {
  std::string name, value, type;  // `name = value : type`
};

/// A call, and what stands around it in its module.
struct CallText {
  std::string target;
  std::vector<ValueText> operands, results;
  bool tuple = false;  // the result is one, whatever the number of results
  std::vector<ValueText> constraints;
  bool has_constraints = false;
  std::vector<AttributeText> dictionary;
  bool has_dictionary = false;
  std::string config;             // of targets without dictionary, or instead of it: as written
  std::vector<std::string> more;  // further attributes, as written
  std::string computations;       // before the entry
  [[nodiscard]] std::string ResultText() const;
};

/// A module that calls: operands are parameters, constants, copies, or have sizes of the run; its result is
/// that of the call, an element, or a tuple of some.
std::string ModuleText(const CallText& call, Dice& dice);

/// A call that fits the signature.
CallText MakeCall(const CustomCallSignature& signature, Dice& dice);
/// A size such as calls have: mostly up to 5, seldom 0 or up to 20.
int64_t MakeSize(Dice& dice);
/// The name of an array's element type.
std::string MakeType(Dice& dice);
/// An array of any type.
ValueText MakeArray(Dice& dice);
/// A layout of so many dimensions; with `as_matrices` mostly that of column-major matrices.
std::string MakeLayout(size_t rank, bool as_matrices, Dice& dice);

}  // namespace hlo::testing
