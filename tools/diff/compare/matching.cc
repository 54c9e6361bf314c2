#include "tools/diff/compare/matching.h"

namespace hlo {

DiffMatching::DiffMatching(const DiffGraph& left_graph, const DiffGraph& right_graph,
                           const DiffOptions& diff_options)
    : left(left_graph),
      right(right_graph),
      options(diff_options),
      to_right_(Index(left.size()), kNoDiffId),
      to_left_(Index(right.size()), kNoDiffId),
      computation_to_right_(Index(left.computation_count()), kNoDiffId),
      computation_to_left_(Index(right.computation_count()), kNoDiffId),
      by_(Index(left.size()), MatchedBy::Nothing),
      computation_by_(Index(left.computation_count()), MatchedBy::Nothing),
      effort_(options.max_effort) {}

void DiffMatching::Match(DiffId l, DiffId r, MatchedBy by) {
  to_right_[Index(l)] = r;
  to_left_[Index(r)] = l;
  by_[Index(l)] = by;
  ++matched_;
}

void DiffMatching::MatchComputations(DiffId l, DiffId r, MatchedBy by) {
  computation_to_right_[Index(l)] = r;
  computation_to_left_[Index(r)] = l;
  computation_by_[Index(l)] = by;
  paired_classes_.insert({left_class[Index(l)], right_class[Index(r)]});
  left_original_.try_emplace(left_class[Index(l)], l);
  right_original_.try_emplace(right_class[Index(r)], r);
}

bool DiffMatching::SameCallee(DiffId cl, DiffId cr) const {
  const DiffId l = ComputationToLeft(cr), r = ComputationToRight(cl);
  if (r == cr || SameClass(cl, cr)) return true;
  if (l != kNoDiffId && r != kNoDiffId) return false;
  return paired_classes_.contains({left_class[Index(cl)], right_class[Index(cr)]});
}

DiffId DiffMatching::LeftOriginal(DiffId cl) const {
  if (ComputationToRight(cl) != kNoDiffId) return kNoDiffId;
  const auto found = left_original_.find(left_class[Index(cl)]);
  return found == left_original_.end() ? kNoDiffId : found->second;
}

DiffId DiffMatching::RightOriginal(DiffId cr) const {
  if (ComputationToLeft(cr) != kNoDiffId) return kNoDiffId;
  const auto found = right_original_.find(right_class[Index(cr)]);
  return found == right_original_.end() ? kNoDiffId : found->second;
}

bool DiffMatching::Spend(int64_t steps) {
  effort_ -= steps;
  if (effort_ < 0) cut_short = true;
  return effort_ >= 0;
}

}  // namespace hlo
