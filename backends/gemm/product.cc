#include "backends/gemm/product.h"

#include "backends/gemm/sums.h"

namespace hlo::gemm {
namespace {

struct Choice {
  const Way* way;
  Arranged arranged;
  bool suits;
};

/// The cheapest way that suits: costs fall with gain, so the first of those that have some; else the last.
Choice Choose(const Problem& problem, const Target& target, const Way* forced) {
  const Way& last = Ways().back();
  if (problem.depth() == 0) return {&last, {problem}, true};
  if (forced != nullptr) {
    Arranged arranged = forced->arrange(problem, target);
    if (forced->fit(arranged.problem, target).can()) return {forced, std::move(arranged), true};
  }
  for (const Way& way : Ways()) {
    Arranged arranged = way.arrange(problem, target);
    const bool suits = way.fit(arranged.problem, target).suits();
    if (suits || &way == &last) return {&way, std::move(arranged), suits};
  }
  llvm_unreachable("the last way takes every problem");
}

}  // namespace

bool IsSupported(ElementType lhs, ElementType rhs, ElementType result) {
  const auto real_or = [&](ElementType t) {
    return t != ElementType::F8E8M0FNU && (t == result || !IsComplex(t));
  };
  const auto compute = result == ElementType::C128 ? ComputeType::F64 : ComputeType::F32;
  return real_or(lhs) && real_or(rhs) && (!IsComplex(result) || ComputeTypeFor(result, lhs, rhs) == compute);
}

Product::Product(const Problem& problem, const Target& target, const Way* forced)
    : compute_(problem.compute) {
  Choice choice = Choose(problem, target, forced);
  way_ = choice.way;
  exchanged_ = choice.arranged.exchanged;
  slow_ = !choice.suits;
  padded_ = !problem.lhs.bounds.empty() || !problem.rhs.bounds.empty();
  empty_ = problem.rows() == 0 || problem.columns() == 0 || problem.batches() == 0;
  plan_ = way_->plan(std::move(choice.arranged.problem), target);
}

void Product::Run(const void* lhs, const void* rhs, void* out) const {
  if (empty_) return;
  if (exchanged_) std::swap(lhs, rhs);
  plan_->Run(lhs, rhs, out);
}

bool Product::RunsByRows() const { return !exchanged_ && way_->by_rows && plan_->RunsByRows(); }

void Product::RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const {
  plan_->RunRows(rows, lhs, rhs, out);
}

bool Product::MultipliesPadding() const { return padded_ && way_->padding == Padding::Multiplied; }

std::string Product::Describe() const {
  constexpr const char* kNames[] = {"f32", "f64", "32-bit integers", "64-bit integers"};
  const std::string detail = plan_->Detail();
  return std::string(kNames[static_cast<size_t>(compute_)]) + ", " + (detail.empty() ? way_->what : detail);
}

}  // namespace hlo::gemm
