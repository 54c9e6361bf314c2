// Rewrite rules as data (passes.md §3): pattern, replacement, licence, guards.
#pragma once
#include <variant>

#include "passes/rewrite/context.h"
#include "passes/rewrite/licence.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/pattern.h"

namespace hlo {

/// A place where a rule's pattern fits, for guards and replacement functions.
class Match {
 public:
  Match(Instruction* at, PassContext& context_, const void* options)
      : root(at), make(at), context(context_), options_(options) {}

  Instruction* const root;  // what will be replaced
  Maker make;               // makes instructions before the root
  PassContext& context;
  bool layout_sensitive = false;

  /// What a slot is bound to.
  Instruction* operator[](const Pattern& slot) const { return bound[static_cast<size_t>(slot.slot())]; }
  /// The options of the pass, of type T.
  template <class T>
  [[nodiscard]] const T& options() const {
    return *static_cast<const T*>(options_);
  }
  [[nodiscard]] const Shape& shape() const { return root->shape(); }
  [[nodiscard]] ElementType type() const { return root->shape().element_type(); }

  std::array<Instruction*, Pattern::kSlots> bound{};
  /// Instructions with side effects that the replacement does in their stead; they go once they are unused.
  llvm::SmallVector<Instruction*, 1> superseded;

 private:
  const void* options_;
};

using Guard = bool (*)(const Match& m);
/// Makes the replacement; null: does not apply after all.
using ReplacementFn = Instruction* (*)(Match& m);

/// One rewrite. Rows of the tables in passes/rules.
struct Rule {
  llvm::StringRef name;  // the id of passes.md §3, `add.1`; suffixes tell variants apart, `add.1b`
  Pattern pattern;
  std::variant<Pattern, ReplacementFn> replacement;
  Licence licence = Exact;
  llvm::SmallVector<Guard, 2> guards = {};
};

/// The rules with one more guard each.
std::vector<Rule> WithGuard(std::vector<Rule> rules, Guard guard);

// Guards that many rules share.
bool StaticShapes(const Match& m);  // no dynamic dimensions in the root, its operands and what slots bind
bool Integral(const Match& m);      // INT: the root's element type is an integer type
bool Floating(const Match& m);      // the root's element type is a real floating type
bool LayoutInsensitive(const Match& m);  // LI
bool LayoutSensitive(const Match& m);    // LS

}  // namespace hlo
