// What differs between two matched instructions.
#include "ir/support/edit_script.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "tools/diff/compare/entries.h"
#include "tools/diff/compare/properties.h"

namespace hlo {
namespace {

constexpr size_t kMostEdits = 1000;  // between the operands of two instructions

std::string NameOf(const Instruction& inst) { return "%" + inst.name().str(); }

class MatchedComparison {
 public:
  MatchedComparison(const DiffMatching& m, DiffId l, DiffId r) : m_(m), l_(l), r_(r) {}

  std::vector<PropertyChange> Run() {
    const Instruction &left = m_.left[l_], &right = m_.right[r_];
    if (!CompareProperties(left, right, m_.options, nullptr))
      CompareProperties(left, right, m_.options, &changes_);
    CompareOperands();
    CompareCallees();
    if (!m_.options.Ignores(DiffProperty::ControlDeps)) CompareControl();
    CompareRoots();
    return std::move(changes_);
  }

 private:
  /// The same value: a pair, equal constants, or what a pair hands on through computations or tuples that
  /// came or went.
  [[nodiscard]] bool SameValue(DiffId a, DiffId b) const {
    if (m_.ToRight(a) == b || SameConstant(a, b)) return true;
    const bool both_stay = m_.ToRight(a) != kNoDiffId && m_.ToLeft(b) != kNoDiffId &&
                           m_.SamePlace(a, m_.ToRight(a)) && m_.SamePlace(m_.ToLeft(b), b) &&
                           m_.SamePlace(l_, r_);
    return !both_stay && m_.ToRight(m_.left.Source(a)) == m_.right.Source(b);
  }

  /// Equal constants of which one came or went: users that take the copy have not changed.
  [[nodiscard]] bool SameConstant(DiffId a, DiffId b) const {
    const Instruction &left = m_.left[a], &right = m_.right[b];
    return left.kind() == OpKind::Constant && right.kind() == OpKind::Constant &&
           (m_.ToRight(a) == kNoDiffId || m_.ToLeft(b) == kNoDiffId) &&
           CompareProperties(left, right, m_.options, nullptr);
  }

  void CompareOperands() {
    const llvm::ArrayRef<DiffId> a = m_.left.Operands(l_), b = m_.right.Operands(r_);
    const bool commutes = !m_.options.strict_order && m_.left[l_].info().Is(kCommutative) &&
                          m_.right[r_].info().Is(kCommutative) && a.size() == 2 && b.size() == 2;
    if (commutes && SameValue(a[0], b[1]) && SameValue(a[1], b[0])) return;
    if (commutes && !SameValue(a[0], b[0]) && !SameValue(a[1], b[1])) {
      // One operand in the other place, the other one exchanged.
      if (SameValue(a[0], b[1])) return AddOperand(1, a[1], b[0]);
      if (SameValue(a[1], b[0])) return AddOperand(0, a[0], b[1]);
    }
    // Some may have come or gone: what stands between those that stay is compared place by place.
    auto kept = a.size() == b.size() ? std::vector<std::pair<size_t, size_t>>()
                                     : KeptPairs(a.size(), b.size(), kMostEdits,
                                                 [&](size_t i, size_t j) { return SameValue(a[i], b[j]); });
    kept.emplace_back(a.size(), b.size());
    size_t i = 0, j = 0;
    for (const auto& [end_i, end_j] : kept) {
      for (; i < end_i || j < end_j; i += i < end_i, j += j < end_j) {
        const DiffId x = i < end_i ? a[i] : kNoDiffId, y = j < end_j ? b[j] : kNoDiffId;
        if (x == kNoDiffId || y == kNoDiffId || !SameValue(x, y)) AddOperand(x == kNoDiffId ? j : i, x, y);
      }
      i = end_i + 1;
      j = end_j + 1;
    }
  }

  void AddOperand(size_t k, DiffId x, DiffId y) {
    changes_.push_back({"operand " + std::to_string(k), x == kNoDiffId ? "" : NameOf(m_.left[x]),
                        y == kNoDiffId ? "" : NameOf(m_.right[y]), OperandNote(x, y)});
  }

  /// What came or went between the value and its user.
  [[nodiscard]] std::string OperandNote(DiffId x, DiffId y) const {
    if (x == kNoDiffId || y == kNoDiffId) return "";
    if (m_.ToRight(x) == kNoDiffId)
      for (const DiffId behind : m_.left.Operands(x))
        if (SameValue(behind, y))
          return m_.left[x].info().text.str() + (Reshapes(m_.left[x]) ? " folded" : " removed");
    if (m_.ToLeft(y) == kNoDiffId)
      for (const DiffId behind : m_.right.Operands(y))
        if (SameValue(x, behind)) return m_.right[y].info().text.str() + " inserted";
    return "";
  }

  void CompareCallees() {
    const auto a = m_.left[l_].callees(), b = m_.right[r_].callees();
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const Computation* x = i < a.size() ? a[i] : nullptr;
      const Computation* y = i < b.size() ? b[i] : nullptr;
      if (x && y && m_.SameCallee(m_.left.IdOf(x), m_.right.IdOf(y))) continue;
      changes_.push_back({CalleePath(x ? m_.left[l_] : m_.right[r_], static_cast<int>(i)),
                          x ? "%" + x->name().str() : "", y ? "%" + y->name().str() : "", ""});
    }
  }

  static std::string CalleePath(const Instruction& inst, int index) {
    // Two fields may name the same callee in different spellings; the one that is printed comes last.
    std::string path = "calls";
    for (const FieldInfo& field : inst.attrs().info().fields) {
      if (field.kind == FieldKind::Callee && field.callee == index) path = field.name.str();
      const bool indexed =
          inst.kind() != OpKind::Conditional || inst.operand(0)->shape().IsScalarOf(ElementType::S32);
      if (field.kind == FieldKind::Callees && indexed)
        path = field.name.str() + "{" + std::to_string(index) + "}";
    }
    return path;
  }

  void CompareControl() {
    const auto& a = m_.left[l_].extras().control_predecessors;
    const auto& b = m_.right[r_].extras().control_predecessors;
    const auto names = [](const std::vector<Instruction*>& list) {
      std::string text;
      for (const Instruction* inst : list) text += (text.empty() ? "" : ", ") + NameOf(*inst);
      return text.empty() ? text : "{" + text + "}";
    };
    bool same = a.size() == b.size();
    const llvm::SmallPtrSet<const Instruction*, 4> of_right(b.begin(), b.end());
    for (const Instruction* before : a) {
      const DiffId r = m_.ToRight(m_.left.IdOf(before));
      same = same && r != kNoDiffId && of_right.contains(&m_.right[r]);
    }
    if (!same) changes_.push_back({"control-predecessors", names(a), names(b), ""});
  }

  /// That another instruction is the root is said of the new root, if nothing else tells of it.
  void CompareRoots() {
    if (!m_.SamePlace(l_, r_) || !m_.right.IsRoot(r_) || m_.left.IsRoot(l_)) return;
    const DiffId old_root = m_.left.root(m_.left.ComputationOf(l_));
    const bool told = old_root != kNoDiffId && m_.ToRight(old_root) == kNoDiffId;
    if (!told)
      changes_.push_back(
          {"ROOT", old_root == kNoDiffId ? "" : NameOf(m_.left[old_root]), NameOf(m_.right[r_]), ""});
  }

  const DiffMatching& m_;
  DiffId l_, r_;
  std::vector<PropertyChange> changes_;
};

}  // namespace

std::vector<PropertyChange> CompareMatched(const DiffMatching& matching, DiffId l, DiffId r) {
  return MatchedComparison(matching, l, r).Run();
}

}  // namespace hlo
