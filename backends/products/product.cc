#include "backends/products/product.h"

#include "backends/products/common/sums.h"

namespace hlo::gemm {
namespace {

struct Choice {
  const Way* way = nullptr;
  Arranged arranged;
  bool suits = false;
};

/// The first way that suits, of libraries or others; else the last.
Choice Choose(const Problem& problem, const Target& target, bool by_library) {
  const Way& last = Ways().back();
  if (problem.depth() == 0) return {by_library ? nullptr : &last, {problem}, !by_library};
  for (const Way& way : Ways()) {
    if (way.by_library != by_library) continue;
    Arranged arranged = way.arrange(problem, target);
    const bool suits = way.fit(arranged.problem, target).suits();
    if (suits || &way == &last) return {&way, std::move(arranged), suits};
  }
  return {nullptr, {}, false};
}

}  // namespace

const Way* SuitingWay(const Problem& problem, const Target& target, bool libraries) {
  for (const bool by_library : {true, false}) {
    if (by_library && !libraries) continue;
    if (const Choice choice = Choose(problem, target, by_library); choice.suits) return choice.way;
  }
  return nullptr;
}

const Way* RowWay(const Problem& problem, const Target& target) {
  for (const Way& way : Ways())
    if (way.by_rows && FitOf(way, problem, target).suits()) return &way;
  return &Ways().back();
}

bool IsSupported(ElementType lhs, ElementType rhs, ElementType result) {
  const auto real_or = [&](ElementType t) {
    return t != ElementType::F8E8M0FNU && (t == result || !IsComplex(t));
  };
  const auto compute = result == ElementType::C128 ? ComputeType::F64 : ComputeType::F32;
  return real_or(lhs) && real_or(rhs) && (!IsComplex(result) || ComputeTypeFor(result, lhs, rhs) == compute);
}

Product::Product(const Problem& problem, const Target& target, const Way* forced)
    : compute_(problem.compute) {
  Choice choice, library;
  if (forced != nullptr && problem.depth() > 0) {
    Arranged arranged = forced->arrange(problem, target);
    forced_ = forced->fit(arranged.problem, target).can();
    if (forced_) (forced->by_library ? library : choice) = {forced, std::move(arranged), true};
  }
  if (library.way == nullptr && choice.way == nullptr) library = Choose(problem, target, /*by_library=*/true);
  if (choice.way == nullptr) choice = Choose(problem, target, /*by_library=*/false);
  way_ = choice.way;
  exchanged_ = choice.arranged.exchanged;
  slow_ = !choice.suits;
  padded_ = !problem.lhs.bounds.empty() || !problem.rhs.bounds.empty();
  empty_ = problem.rows() == 0 || problem.columns() == 0 || problem.batches() == 0;
  plan_ = way_->plan(std::move(choice.arranged.problem), target);
  if (library.way == nullptr || !library.suits) return;
  library_way_ = library.way;
  library_ = library.way->plan(std::move(library.arranged.problem), target);
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
