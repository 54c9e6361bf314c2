// What the table of ways (ways.h) says of a way in which products and convolutions are computed.
#pragma once
#include <memory>
#include <string>

#include "backends/products/common/isa.h"
#include "backends/products/common/kernels.h"
#include "backends/products/common/problem.h"
#include "ir/instruction.h"

namespace hlo::gemm {

/// Whether a way can compute a problem, and whether it is good at it.
class Fit {
 public:
  /// The way computes only problems for which all needs hold; `why` says what it lacks otherwise.
  bool Needs(bool holds, const char* why) {
    if (!holds && can_) why_ = why;
    can_ &= holds;
    return holds;
  }
  /// It is not chosen for those for which `holds` is false, but computes them when it is forced.
  void Suits(bool holds, const char* why) {
    if (!holds && why_ == nullptr) why_ = why;
    suits_ &= holds;
  }
  [[nodiscard]] bool can() const { return can_; }
  [[nodiscard]] bool suits() const { return can_ && suits_; }
  /// Why it cannot or does not suit; of several reasons the first.
  [[nodiscard]] const char* why() const { return why_ == nullptr ? "" : why_; }

 private:
  bool can_ = true, suits_ = true;
  const char* why_ = nullptr;
};

/// A problem made ready for a way. Immutable; runs on several threads at once.
class Plan {
 public:
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  virtual ~Plan() = default;
  /// Computes the result. False if it could not after all: what has been written then means nothing.
  virtual bool Run(const void* lhs, const void* rhs, void* out) const = 0;
  /// Does now what would lengthen the first run; false: Run() will not be able to.
  virtual bool Prepare() const { return true; }
  /// Why Run() will not be able to, as a library is missing or has nothing good; empty: it will.
  [[nodiscard]] virtual std::string Refusal() const { return ""; }
  /// Some rows alone can be computed by RunRows(), in the calling thread and to the same bits.
  [[nodiscard]] virtual bool RunsByRows() const { return false; }
  virtual void RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const {
    (void)rows, (void)lhs, (void)rhs, (void)out;
  }
  /// What is special about it, for --explain-codegen; empty: nothing.
  [[nodiscard]] virtual std::string Detail() const { return ""; }
};

/// What becomes of steps beyond the ends of an operand, which read zeros. Multiplied, they make NaN of
/// infinite factors that they should not meet: the caller looks for these.
enum class Padding : uint8_t { Skipped, Multiplied };

}  // namespace hlo::gemm
