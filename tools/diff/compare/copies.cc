// Computations that hold the same: found by hash, confirmed by comparing.
#include "llvm/ADT/SmallPtrSet.h"
#include "tools/diff/compare/matching.h"
#include "tools/diff/compare/properties.h"

namespace hlo {
namespace {

/// Pairs two computations step by step, from the root and from other instructions without users to operands.
class Isomorphism {
 public:
  Isomorphism(const DiffBody& left, const DiffBody& right, const DiffOptions& options,
              llvm::function_ref<bool(DiffId, DiffId)> same_callee)
      : left_(left),
        right_(right),
        options_(options),
        same_callee_(same_callee),
        left_first_(left.graph.first(left.computation)),
        right_first_(right.graph.first(right.computation)),
        to_right_(Index(left.graph.count(left.computation)), kNoDiffId),
        to_left_(Index(right.graph.count(right.computation)), kNoDiffId) {}

  std::vector<DiffId> Find() {
    const Computation& a = left_.graph.computation(left_.computation);
    const Computation& b = right_.graph.computation(right_.computation);
    const DiffId left_root = left_.graph.root(left_.computation);
    const DiffId right_root = right_.graph.root(right_.computation);
    const bool shape_ok = to_right_.size() == to_left_.size() &&
                          a.execution_thread() == b.execution_thread() &&
                          (left_root == kNoDiffId) == (right_root == kNoDiffId);
    if (!shape_ok || (left_root != kNoDiffId && !(Pair(left_root, right_root) && Follow()))) return {};
    // What the root does not need. Those with users come by way of these.
    const std::vector<DiffId> left_rest = Rest(left_, left_first_, to_right_);
    const std::vector<DiffId> right_rest = Rest(right_, right_first_, to_left_);
    for (const bool sinks : {true, false})
      for (size_t i = 0; i < left_rest.size(); ++i) {
        const DiffId l = left_rest[i], r = right_rest[i];
        if (sinks && !left_.graph.Uses(l).empty()) continue;
        if (Right(l) == kNoDiffId && !(Left(r) == kNoDiffId && Pair(l, r) && Follow())) return {};
      }
    if (!ControlAgrees()) return {};
    return std::move(to_right_);
  }

 private:
  DiffId& Right(DiffId l) { return to_right_[Index(l - left_first_)]; }
  DiffId& Left(DiffId r) { return to_left_[Index(r - right_first_)]; }

  static std::vector<DiffId> Rest(const DiffBody& body, DiffId first, llvm::ArrayRef<DiffId> paired) {
    std::vector<DiffId> rest;
    for (size_t i = 0; i < paired.size(); ++i)
      if (paired[i] == kNoDiffId) rest.push_back(first + static_cast<DiffId>(i));
    llvm::sort(rest, [&](DiffId a, DiffId b) {
      const DiffHashes& h = body.hashes;
      return std::tuple(h.up[Index(a)], h.down[Index(a)], a) <
             std::tuple(h.up[Index(b)], h.down[Index(b)], b);
    });
    return rest;
  }

  bool Pair(DiffId l, DiffId r) {
    const Instruction &a = left_.graph[l], &b = right_.graph[r];
    if (a.operand_count() != b.operand_count() || a.callees().size() != b.callees().size() ||
        !CompareProperties(a, b, options_, nullptr))
      return false;
    for (size_t i = 0; i < a.callees().size(); ++i)
      if (!same_callee_(left_.graph.IdOf(a.callees()[i]), right_.graph.IdOf(b.callees()[i]))) return false;
    Right(l) = r;
    Left(r) = l;
    work_.push_back(l);
    return true;
  }

  /// Whether the two are a pair or can become one.
  bool Fits(DiffId l, DiffId r) {
    if (Right(l) != kNoDiffId || Left(r) != kNoDiffId) return Right(l) == r;
    return left_.hashes.up[Index(l)] == right_.hashes.up[Index(r)] &&
           left_.hashes.down[Index(l)] == right_.hashes.down[Index(r)];
  }

  bool Follow() {
    while (!work_.empty()) {
      const DiffId l = work_.back();
      work_.pop_back();
      const llvm::ArrayRef<DiffId> a = left_.graph.Operands(l), b = right_.graph.Operands(Right(l));
      const bool commutes = !options_.strict_order && left_.graph[l].info().Is(kCommutative) && a.size() >= 2;
      const bool cross =
          commutes && !(Fits(a[0], b[0]) && Fits(a[1], b[1])) && Fits(a[0], b[1]) && Fits(a[1], b[0]);
      for (size_t k = 0; k < a.size(); ++k) {
        const DiffId r = b[cross && k < 2 ? 1 - k : k];
        if (Right(a[k]) == r) continue;
        if (Right(a[k]) != kNoDiffId || Left(r) != kNoDiffId || !Pair(a[k], r)) return false;
      }
    }
    return true;
  }

  bool ControlAgrees() {
    if (options_.Ignores(DiffProperty::ControlDeps)) return true;
    for (size_t i = 0; i < to_right_.size(); ++i) {
      const auto& before = left_.graph[left_first_ + static_cast<DiffId>(i)].extras().control_predecessors;
      const auto& before_right = right_.graph[to_right_[i]].extras().control_predecessors;
      if (before.size() != before_right.size()) return false;
      const llvm::SmallPtrSet<const Instruction*, 4> of_right(before_right.begin(), before_right.end());
      for (const Instruction* p : before)
        if (!of_right.contains(&right_.graph[Right(left_.graph.IdOf(p))])) return false;
    }
    return true;
  }

  const DiffBody &left_, &right_;
  const DiffOptions& options_;
  llvm::function_ref<bool(DiffId, DiffId)> same_callee_;
  DiffId left_first_, right_first_;
  std::vector<DiffId> to_right_, to_left_, work_;
};

}  // namespace

std::vector<DiffId> FindIsomorphism(const DiffBody& left, const DiffBody& right, const DiffOptions& options,
                                    llvm::function_ref<bool(DiffId, DiffId)> same_callee) {
  return Isomorphism(left, right, options, same_callee).Find();
}

void FindCopies(DiffMatching& m, const DiffHashes& left, const DiffHashes& right,
                llvm::ArrayRef<uint64_t> left_computations, llvm::ArrayRef<uint64_t> right_computations) {
  m.left_class.assign(Index(m.left.computation_count()), -1);
  m.right_class.assign(Index(m.right.computation_count()), -1);
  struct Representative {
    bool is_left;
    DiffId computation;
  };
  llvm::DenseMap<uint64_t, std::vector<Representative>> representatives;
  constexpr size_t kMostPerHash = 4;  // of one hash and still different: hardly ever
  int32_t next = 0;
  const auto classify = [&](bool is_left, DiffId c) {
    const auto class_of = [&](bool of_left, DiffId id) -> int32_t& {
      return (of_left ? m.left_class : m.right_class)[Index(id)];
    };
    auto& same_hash = representatives[(is_left ? left_computations : right_computations)[Index(c)]];
    int32_t& mine = class_of(is_left, c);
    for (const Representative& other : same_hash) {
      const auto same = [&](DiffId a, DiffId b) {
        return class_of(is_left, a) == class_of(other.is_left, b);
      };
      const DiffBody body = {is_left ? m.left : m.right, is_left ? left : right, c};
      const DiffBody other_body = {other.is_left ? m.left : m.right, other.is_left ? left : right,
                                   other.computation};
      if (FindIsomorphism(body, other_body, m.options, same).empty()) continue;
      mine = class_of(other.is_left, other.computation);
      return;
    }
    mine = next++;
    if (same_hash.size() < kMostPerHash) same_hash.push_back({is_left, c});
  };
  // Called computations have higher numbers than their callers and come first.
  for (DiffId c = m.left.computation_count() - 1; c >= 0; --c) classify(true, c);
  for (DiffId c = m.right.computation_count() - 1; c >= 0; --c) classify(false, c);
}

}  // namespace hlo
