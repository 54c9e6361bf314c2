// Computations that were built: modules of HLO.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "hlo/shape.h"

namespace hlo_toolkit {

namespace internal {
struct ComputationAccess;
}

/// A finished computation with all it calls. A value: copies share it, and nothing changes it any more.
class XlaComputation {
 public:
  /// None; an error for those who use it.
  XlaComputation() = default;
  /// A module of HLO text that verifies; its entry is the computation. Errors say `name:line:column: `.
  static StatusOr<XlaComputation> FromText(std::string_view text, std::string_view name = "<text>");

  [[nodiscard]] bool IsNull() const { return rep_ == nullptr; }
  /// Empty if it is null, as all that follow.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] StatusOr<ProgramShape> GetProgramShape() const;
  /// HLO text, constants in full.
  [[nodiscard]] std::string ToString() const;
  /// What the verifier says.
  [[nodiscard]] Status Verify() const;
  /// The documents' programs write `*max` of a computation and of a pointer to one.
  const XlaComputation& operator*() const { return *this; }

 private:
  friend struct internal::ComputationAccess;
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};

}  // namespace hlo_toolkit
