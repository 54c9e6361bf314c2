// Products made ready: by the way that suits, or that is forced.
#pragma once
#include <string>

#include "backends/products/ways.h"

namespace hlo::gemm {

/// A problem made ready. Immutable; runs on several threads at once.
class Product {
 public:
  /// By the cheapest way that suits, or by `forced`, if that is set and can.
  Product(const Problem& problem, const Target& target, const Way* forced = nullptr);
  /// Computes the result at `out` from the arrays of the operands. The result does not depend on the number
  /// of threads. After an interrupt the contents are undefined: the caller checks.
  void Run(const void* lhs, const void* rhs, void* out) const;
  /// Where a library is to compute it, which may refuse: null, or what asks it. Whoever runs it looks after
  /// padding and Run()s if it cannot.
  [[nodiscard]] const Plan* library() const { return library_.get(); }
  [[nodiscard]] const Way* library_way() const { return library_way_; }
  /// Whether some rows of the result can be computed apart from others, by RunRows().
  [[nodiscard]] bool RunsByRows() const;
  /// The same bits as Run() for some rows, in the calling thread. Only they are read and written: of the left
  /// factor and the result no more needs to be there. Demands RunsByRows().
  void RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const;
  /// No way suits, and none is forced: general loops are better.
  [[nodiscard]] bool IsSlow() const { return slow_; }
  /// Zeros beyond the ends of an operand are multiplied, which gives NaN for infinite factors.
  [[nodiscard]] bool MultipliesPadding() const;
  /// `f32, tiles of 8x48`, for --explain-codegen.
  [[nodiscard]] std::string Describe() const;
  /// By which Run() computes it.
  [[nodiscard]] const Way& way() const { return *way_; }
  /// It is computed, by Run() or the library, by the way that was to be forced.
  [[nodiscard]] bool is_forced() const { return forced_; }

 private:
  const Way *way_ = nullptr, *library_way_ = nullptr;
  bool forced_ = false, exchanged_ = false, slow_ = false, padded_ = false, empty_ = false;
  ComputeType compute_;
  std::unique_ptr<Plan> plan_, library_;
};

/// The way that a Product takes by itself; null: none suits. `libraries` may be asked as well.
const Way* SuitingWay(const Problem& problem, const Target& target, bool libraries);

/// The best of the ways that compute some rows apart.
const Way* RowWay(const Problem& problem, const Target& target);

/// True if products of these operands can be computed here. The types are those of the arrays and of the
/// result.
bool IsSupported(ElementType lhs, ElementType rhs, ElementType result);

}  // namespace hlo::gemm
