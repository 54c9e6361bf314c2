// ComputationBuilder: the builder as the documents of 2016 and 2017 have it.
#pragma once
#include <memory>
#include <string_view>

#include "hlo/builder.h"
#include "hlo/client.h"

namespace hlo_toolkit {

using Computation = XlaComputation;
using ComputationDataHandle = XlaOp;

/// An XlaBuilder with the results of old: pointers that the caller owns.
class ComputationBuilder : public XlaBuilder {
 public:
  using XlaBuilder::XlaBuilder;

  [[nodiscard]] StatusOr<std::unique_ptr<Shape>> GetShape(const ComputationDataHandle& operand) const;
  StatusOr<std::unique_ptr<Computation>> Build(Location location = SourceLocation::current());
  /// Null if there was an error.
  std::unique_ptr<Computation> BuildAndNoteError(Location location = SourceLocation::current());
  std::unique_ptr<ComputationBuilder> CreateSubBuilder(std::string_view name);
  /// The value on the first device of the builder's client; without one, of that of ClientLibrary. Errors:
  /// those of XlaBuilder's, and of having no client.
  [[nodiscard]] StatusOr<std::unique_ptr<GlobalData>> ComputeConstant(
      const ComputationDataHandle& handle, const Layout* output_layout = nullptr) const;
};

}  // namespace hlo_toolkit
