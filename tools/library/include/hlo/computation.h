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
  /// The same of a file's bytes, of whatever form they are: HLO text, or a protocol buffer, HloModuleProto,
  /// HloProto or HloSnapshot, binary or as text.
  static StatusOr<XlaComputation> FromBytes(std::string_view bytes, std::string_view name = "<bytes>");

  [[nodiscard]] bool IsNull() const { return rep_ == nullptr; }
  /// Empty if it is null, as all that follow.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] StatusOr<ProgramShape> GetProgramShape() const;
  /// HLO text, constants in full.
  [[nodiscard]] std::string ToString() const;
  /// HLO text whose constants are left out where they have more elements: to be read, not parsed.
  [[nodiscard]] std::string ToShortString(int64_t constant_elements = 10) const;
  /// The bytes of an HloModuleProto. Errors: UNAVAILABLE for what messages have no field for.
  [[nodiscard]] StatusOr<std::string> ToProto() const;
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
