// XlaBuilder makes a computation, operation by operation.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/array.h"
#include "hlo/computation.h"
#include "hlo/dimension_numbers.h"
#include "hlo/literal.h"
#include "hlo/shape.h"
#include "hlo/span.h"
#include "hlo/status.h"

namespace hlo_toolkit {

class Client;
class XlaBuilder;

namespace internal {
class BuilderState;
}

/// A value of the computation that a builder makes. A handle, cheap to copy; it is used while its builder
/// lives and before the Build() that follows. A default one, and what a failed call gives, is not valid.
class XlaOp {
 public:
  XlaOp() = default;
  [[nodiscard]] bool valid() const { return handle_ >= 0; }
  [[nodiscard]] bool IsUninitialized() const { return builder_ == nullptr; }
  /// Null of a default handle.
  [[nodiscard]] XlaBuilder* builder() const { return builder_; }
  [[nodiscard]] int64_t handle() const { return handle_; }
  bool operator==(const XlaOp&) const = default;

 private:
  friend class internal::BuilderState;
  XlaOp(XlaBuilder* builder, int64_t handle) : builder_(builder), handle_(handle) {}
  XlaBuilder* builder_ = nullptr;
  int64_t handle_ = -1;
};

#define HLO_UNWRAP(...)      __VA_ARGS__
#define HLO_UNWRAP_MORE(...) __VA_ARGS__ __VA_OPT__(, )

/// What the free functions and the methods are: with a builder, or null for that of the operands.
namespace ops {
#define HLO_UNARY(Name, Kind) XlaOp Name(XlaBuilder* builder, XlaOp operand, Location location);
#define HLO_BINARY(Name, Kind)                                                                    \
  XlaOp Name(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> broadcast_dimensions, \
             Location location);
#define HLO_COMPARE(Name, direction, total) HLO_BINARY(Name, Compare)
#include "hlo/elementwise.def"
#define HLO_FUNCTION(Name, parameters, arguments) \
  XlaOp Name(XlaBuilder* builder, HLO_UNWRAP_MORE parameters Location location = SourceLocation::current());
#define HLO_SOURCE HLO_FUNCTION
#include "hlo/functions.def"
#undef HLO_FUNCTION
#undef HLO_SOURCE
}  // namespace ops

/// Makes one computation. Errors wait: the first is kept with the place of the call that made it, calls that
/// follow give handles that are not valid, and Build() says what was wrong. Nothing ends the program, unless
/// it was asked for.
///
/// Every function that enqueues an operation is there as a method, `builder.Add(x, y)`, and as a free
/// function (hlo/ops.h), `Add(x, y)`. The root of the computation is what was enqueued last, if nobody says
/// otherwise.
class XlaBuilder {
 public:
  explicit XlaBuilder(std::string_view name);
  /// The client is only remembered.
  XlaBuilder(Client* client, std::string_view name);
  XlaBuilder(const XlaBuilder&) = delete;
  XlaBuilder& operator=(const XlaBuilder&) = delete;
  virtual ~XlaBuilder();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Client* client() const { return client_; }

  // --- Errors ---
  /// The first error ends the program, with a message.
  void set_die_immediately_on_error(bool enabled);
  [[nodiscard]] const Status& first_error() const;
  [[nodiscard]] Status GetCurrentStatus() const { return first_error(); }
  /// Notes an error of the caller's own; the handle is not valid.
  XlaOp ReportError(const Status& error, Location location = SourceLocation::current());

  // --- The result ---
  /// What the computation returns, in place of what was enqueued last.
  Status SetReturnValue(XlaOp operand, Location location = SourceLocation::current());
  /// The computation, which verifies, or the first error. The builder is as new then; its handles are no use
  /// any more.
  StatusOr<XlaComputation> Build(Location location = SourceLocation::current());
  StatusOr<XlaComputation> Build(XlaOp root, Location location = SourceLocation::current());
  /// Null if there was an error, which the parent then knows.
  XlaComputation BuildAndNoteError(Location location = SourceLocation::current());
  /// For a computation that this one uses: it ends the program at once if this one does.
  std::unique_ptr<XlaBuilder> CreateSubBuilder(std::string_view name);

  // --- Queries; nothing is enqueued and errors are not kept ---
  [[nodiscard]] StatusOr<Shape> GetShape(XlaOp operand) const;
  /// Types of the parameters so far and of what would be the root.
  [[nodiscard]] StatusOr<ProgramShape> GetProgramShape() const;
  /// Whether the value is the same at each run: it depends on no parameter, and on nothing random, of other
  /// devices or of the host, nor on calls, loops and scatters.
  [[nodiscard]] StatusOr<bool> IsConstant(XlaOp operand) const;
  /// A computation without parameters of what a constant depends on. Sizes that are dynamic count as their
  /// bounds.
  [[nodiscard]] StatusOr<XlaComputation> BuildConstantSubGraph(XlaOp root) const;
  /// The value of a constant, by the reference evaluator; with the layout, if one is given.
  [[nodiscard]] StatusOr<Literal> ComputeConstant(XlaOp operand, const Layout* output_layout = nullptr) const;
  /// The operand, or an error, which is kept, if it has another shape.
  XlaOp CheckShape(XlaOp operand, const Shape& expected, Location location = SourceLocation::current());
  void CheckSameShape(XlaOp lhs, XlaOp rhs, Location location = SourceLocation::current());
  /// The documents' tag for debugging: HLO has no such operation any more. The operand must be one.
  void Trace(std::string_view tag, XlaOp operand, Location location = SourceLocation::current());
  /// HLO text of what there is so far; empty while nothing is, or parameters are missing.
  [[nodiscard]] std::string ToString() const;

  // --- What operations get as long as it is set; for scopes hlo/scopes.h ---
  /// Of all instructions that are made.
  void SetOpMetadata(OpMetadata metadata);
  /// Of those of the next operation alone.
  void SetOneShotOpMetadata(OpMetadata metadata);
  void ClearOpMetadata();
  [[nodiscard]] std::optional<OpMetadata> metadata() const;
  /// Of results: what an operation needs on the way has none.
  void SetSharding(const OpSharding& sharding, Location location = SourceLocation::current());
  void ClearSharding();
  [[nodiscard]] std::optional<OpSharding> sharding() const;
  /// An error, which is kept, if a key is none that HLO text can have.
  void SetFrontendAttributes(FrontendAttributes attributes, Location location = SourceLocation::current());
  void ClearFrontendAttributes();
  [[nodiscard]] const FrontendAttributes& frontend_attributes() const;
  Status SetInstructionFrontendAttribute(XlaOp operand, const std::string& key, const std::string& value,
                                         Location location = SourceLocation::current());

  // --- Dimension numbers of convolutions ---
  static constexpr int64_t kConvBatchDimension = 0;
  static constexpr int64_t kConvFeatureDimension = 1;
  static constexpr int64_t kConvFirstSpatialDimension = 2;
  static constexpr int64_t kConvSecondSpatialDimension = 3;
  static constexpr int64_t kConvKernelOutputDimension = 0;
  static constexpr int64_t kConvKernelInputDimension = 1;
  static constexpr int64_t kConvKernelFirstSpatialDimension = 2;
  static constexpr int64_t kConvKernelSecondSpatialDimension = 3;
  static ConvolutionDimensionNumbers CreateDefaultConvDimensionNumbers(int num_spatial_dims = 2);
  /// An error if those of the input or of the kernel conflict.
  static StatusOr<ConvolutionDimensionNumbers> CreateConvDimensionNumbers(
      int64_t batch, int64_t feature, int64_t first_spatial, int64_t second_spatial,
      int64_t kernel_output_feature, int64_t kernel_input_feature, int64_t kernel_first_spatial,
      int64_t kernel_second_spatial);

  // --- Constants ---
  template <class T>
  XlaOp ConstantR0(T value, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR0<T>(value), location);
  }
  template <class T>
  XlaOp ConstantR1(Span<const T> values, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR1<T>(values), location);
  }
  /// `length` times `value`.
  template <class T>
  XlaOp ConstantR1(int64_t length, T value, Location location = SourceLocation::current()) {
    return Broadcast(ConstantR0<T>(value, location), {length}, location);
  }
  template <class T>
  XlaOp ConstantR2(internal::List2<T> values, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR2<T>(values), location);
  }
  template <class T>
  XlaOp ConstantR3(internal::List3<T> values, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR3<T>(values), location);
  }
  template <class T>
  XlaOp ConstantR4(internal::List4<T> values, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR4<T>(values), location);
  }
  template <class T>
  XlaOp ConstantR2FromArray2D(const Array2D<T>& values, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR2FromArray2D<T>(values), location);
  }
  template <class T>
  XlaOp ConstantR3FromArray3D(const Array3D<T>& values, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR3FromArray3D<T>(values), location);
  }
  template <class T>
  XlaOp ConstantR4FromArray4D(const Array4D<T>& values, Location location = SourceLocation::current()) {
    return ConstantLiteral(LiteralUtil::CreateR4FromArray4D<T>(values), location);
  }

  // --- Operations ---
#define HLO_UNARY(Name, Kind)                                                \
  XlaOp Name(XlaOp operand, Location location = SourceLocation::current()) { \
    return ops::Name(this, operand, location);                               \
  }
#define HLO_BINARY(Name, Kind)                                                    \
  XlaOp Name(XlaOp lhs, XlaOp rhs, Span<const int64_t> broadcast_dimensions = {}, \
             Location location = SourceLocation::current()) {                     \
    return ops::Name(this, lhs, rhs, broadcast_dimensions, location);             \
  }
#define HLO_COMPARE(Name, direction, total) HLO_BINARY(Name, Compare)
#include "hlo/elementwise.def"
#define HLO_FUNCTION(Name, parameters, arguments)                                        \
  XlaOp Name(HLO_UNWRAP_MORE parameters Location location = SourceLocation::current()) { \
    return ops::Name(this, HLO_UNWRAP_MORE arguments location);                          \
  }
#define HLO_SOURCE HLO_FUNCTION
#include "hlo/functions.def"
#undef HLO_FUNCTION
#undef HLO_SOURCE

 protected:
  /// As in CreateSubBuilder.
  void BecomeParentOf(XlaBuilder& child);

 private:
  friend class internal::BuilderState;
  std::string name_;
  Client* client_ = nullptr;
  XlaBuilder* parent_ = nullptr;
  std::unique_ptr<internal::BuilderState> state_;
};

}  // namespace hlo_toolkit
