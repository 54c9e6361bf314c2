// Which instruction and computation became which: the state that the steps of matching share.
#pragma once
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "tools/diff/compare/graph.h"
#include "tools/diff/compare/hash.h"
#include "tools/diff/compare/module_diff.h"

namespace hlo {

/// Pairs found so far. Every instruction and computation is in one pair at most.
class DiffMatching {
 public:
  DiffMatching(const DiffGraph& left, const DiffGraph& right, const DiffOptions& options);

  const DiffGraph &left, &right;
  const DiffOptions& options;
  bool cut_short = false;

  /// kNoDiffId: none.
  [[nodiscard]] DiffId ToRight(DiffId l) const { return to_right_[static_cast<size_t>(l)]; }
  [[nodiscard]] DiffId ToLeft(DiffId r) const { return to_left_[static_cast<size_t>(r)]; }
  [[nodiscard]] MatchedBy By(DiffId l) const { return by_[static_cast<size_t>(l)]; }
  /// Both must be free.
  void Match(DiffId l, DiffId r, MatchedBy by);
  [[nodiscard]] bool Free(DiffId l, DiffId r) const {
    return ToRight(l) == kNoDiffId && ToLeft(r) == kNoDiffId;
  }
  /// Instructions of either side that have no counterpart yet.
  [[nodiscard]] DiffId FreeLeft() const { return left.size() - matched_; }
  [[nodiscard]] DiffId FreeRight() const { return right.size() - matched_; }

  [[nodiscard]] DiffId ComputationToRight(DiffId l) const {
    return computation_to_right_[static_cast<size_t>(l)];
  }
  [[nodiscard]] DiffId ComputationToLeft(DiffId r) const {
    return computation_to_left_[static_cast<size_t>(r)];
  }
  [[nodiscard]] MatchedBy ComputationBy(DiffId l) const { return computation_by_[static_cast<size_t>(l)]; }
  void MatchComputations(DiffId l, DiffId r, MatchedBy by);
  /// Whether the computations of two instructions are a pair.
  [[nodiscard]] bool SamePlace(DiffId l, DiffId r) const {
    return ComputationToRight(left.ComputationOf(l)) == right.ComputationOf(r);
  }

  /// Computations that were compared and found equal share a number, on both sides.
  std::vector<int32_t> left_class, right_class;
  [[nodiscard]] bool SameClass(DiffId cl, DiffId cr) const {
    return left_class[static_cast<size_t>(cl)] == right_class[static_cast<size_t>(cr)];
  }
  /// Whether a call of the one may stand for a call of the other: they are a pair, or copies of one.
  [[nodiscard]] bool SameCallee(DiffId cl, DiffId cr) const;
  /// The paired computation of the same side that an unpaired one is a copy of; kNoDiffId: none.
  [[nodiscard]] DiffId LeftOriginal(DiffId cl) const;
  [[nodiscard]] DiffId RightOriginal(DiffId cr) const;

  /// Takes steps from DiffOptions::max_effort; false if there are none left, which is remembered.
  bool Spend(int64_t steps);

 private:
  std::vector<DiffId> to_right_, to_left_, computation_to_right_, computation_to_left_;
  std::vector<MatchedBy> by_, computation_by_;
  DiffId matched_ = 0;
  int64_t effort_;
  llvm::DenseSet<std::pair<int32_t, int32_t>> paired_classes_;
  llvm::DenseMap<int32_t, DiffId> left_original_, right_original_;  // by class
};

/// Pairs of instructions of two computations that hold the same, in the order of the left one; empty if they
/// do not. `same_callee` compares called computations by DiffId.
struct DiffBody {
  const DiffGraph& graph;
  const DiffHashes& hashes;  // local ones
  DiffId computation;
};
std::vector<DiffId> FindIsomorphism(const DiffBody& left, const DiffBody& right, const DiffOptions& options,
                                    llvm::function_ref<bool(DiffId, DiffId)> same_callee);
/// Fills the classes of `matching`.
void FindCopies(DiffMatching& matching, const DiffHashes& left, const DiffHashes& right,
                llvm::ArrayRef<uint64_t> left_computations, llvm::ArrayRef<uint64_t> right_computations);

/// Matches by hashes and along edges.
class HashMatcher {
 public:
  using Keys = std::vector<std::pair<uint64_t, DiffId>>;
  HashMatcher(DiffMatching& matching, const DiffHashes& left, const DiffHashes& right)
      : m_(matching), left_(left), right_(right) {}
  // Candidates stand operands before users.
  /// Within a pair of computations: all their instructions.
  void MatchWithin(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids);
  /// Between computations: what moved.
  void MatchAcross(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids);

 private:
  enum class Key : uint8_t { UpDown, Up, Down };
  [[nodiscard]] uint64_t KeyOf(const DiffHashes& hashes, DiffId id, Key key) const;
  Keys SortedKeys(const DiffHashes& hashes, llvm::ArrayRef<DiffId> ids, Key key, bool left) const;
  void MatchUnique(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids, Key key);
  void MatchInOrder(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids, Key key);
  void Take(DiffId l, DiffId r, MatchedBy by);
  /// What two instructions by the side of a pair must have in common besides themselves to be a pair, too.
  enum class Trust : uint8_t {
    Value,   // what they are computed from
    Either,  // that, or what becomes of them
    Own      // nothing
  };
  /// Follows operands and users of all pairs that are new.
  void Propagate(Trust trust);
  void PropagateToOperands(DiffId l, DiffId r, Trust trust);
  void PropagateToUsers(DiffId l, DiffId r, Trust trust);
  [[nodiscard]] bool Acceptable(DiffId l, DiffId r, Trust trust) const;
  [[nodiscard]] bool SameOwn(DiffId l, DiffId r) const;

  DiffMatching& m_;
  const DiffHashes &left_, &right_;
  std::vector<DiffId> work_;  // left ids of new pairs
  bool across_ = false;
};

/// Within a pair of computations: the parameter, if each has one, and the elements of matched tuples of which
/// one has more elements than the other.
void MatchTupleElements(DiffMatching& matching, DiffId cl, DiffId cr);
/// Finds the counterpart of a free right computation among those that the counterparts of its callers call.
void MatchCalled(DiffMatching& matching, DiffId cr);
/// Pairs computations that hold the same or much of it; or that are used alike. Further copies of paired ones
/// only if `copies_too`.
void MatchByContent(DiffMatching& matching, bool copies_too = false);
/// Within a pair of computations, what hashes do not bring together: by place among what is matched, then by
/// likeness. `left`, `right`: hashes that know meanings.
void MatchLikely(DiffMatching& matching, llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids,
                 const DiffHashes& left, const DiffHashes& right);

/// All of it, step by step from what is certain to what is likely.
void FindMatching(DiffMatching& matching);

}  // namespace hlo
