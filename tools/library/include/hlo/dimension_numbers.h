// What describes operations beside their operands; names as in XLA's messages.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hlo/span.h"
#include "hlo/status.h"

namespace hlo_toolkit {

// NOLINTBEGIN(readability-identifier-naming): names of the documents and of XLA's messages
/// How windows meet the ends of an array: so that every element is covered once, or only inside.
enum class Padding { kSame, kValid };
/// (low, high) of one dimension.
using PaddingPair = std::pair<int64_t, int64_t>;

/// The field `name`, a list of numbers, with the accessors of a message.
#define HLO_REPEATED(name)                                                                      \
  [[nodiscard]] const std::vector<int64_t>& name() const { return name##_; }                    \
  [[nodiscard]] int64_t name(int i) const { return name##_[static_cast<size_t>(i)]; }           \
  [[nodiscard]] int name##_size() const { return static_cast<int>(name##_.size()); }            \
  void add_##name(int64_t value) { name##_.push_back(value); }                                  \
  void set_##name(Span<const int64_t> values) { name##_.assign(values.begin(), values.end()); } \
  std::vector<int64_t> name##_;
#define HLO_FIELD(type, name, otherwise)              \
  [[nodiscard]] type name() const { return name##_; } \
  void set_##name(type value) { name##_ = value; }    \
  type name##_ = otherwise;

#define HLO_TEXT(name)                                              \
  [[nodiscard]] const std::string& name() const { return name##_; } \
  void set_##name(std::string_view value) { name##_ = value; }      \
  std::string name##_;

struct PaddingConfigDimension {
  HLO_FIELD(int64_t, edge_padding_low, 0)
  HLO_FIELD(int64_t, edge_padding_high, 0)
  HLO_FIELD(int64_t, interior_padding, 0)
};
struct PaddingConfig {
  PaddingConfigDimension* add_dimensions() { return &dimensions_.emplace_back(); }
  [[nodiscard]] const std::vector<PaddingConfigDimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] const PaddingConfigDimension& dimensions(int i) const {
    return dimensions_[static_cast<size_t>(i)];
  }
  std::vector<PaddingConfigDimension> dimensions_;
};
/// Padding at the edges alone.
PaddingConfig MakeEdgePaddingConfig(Span<const PaddingPair> padding);
/// (low, high) of each dimension of a window over sizes; an error if the lists differ in length or windows or
/// strides are not positive.
StatusOr<std::vector<PaddingPair>> MakePadding(Span<const int64_t> input_sizes,
                                               Span<const int64_t> window_sizes,
                                               Span<const int64_t> window_strides, Padding padding);

struct DotDimensionNumbers {
  HLO_REPEATED(lhs_contracting_dimensions)
  HLO_REPEATED(rhs_contracting_dimensions)
  HLO_REPEATED(lhs_batch_dimensions)
  HLO_REPEATED(rhs_batch_dimensions)
};
struct ConvolutionDimensionNumbers {
  HLO_FIELD(int64_t, input_batch_dimension, 0)
  HLO_FIELD(int64_t, input_feature_dimension, 1)
  HLO_REPEATED(input_spatial_dimensions)
  HLO_FIELD(int64_t, kernel_input_feature_dimension, 1)
  HLO_FIELD(int64_t, kernel_output_feature_dimension, 0)
  HLO_REPEATED(kernel_spatial_dimensions)
  HLO_FIELD(int64_t, output_batch_dimension, 0)
  HLO_FIELD(int64_t, output_feature_dimension, 1)
  HLO_REPEATED(output_spatial_dimensions)
};
struct GatherDimensionNumbers {
  HLO_REPEATED(offset_dims)
  HLO_REPEATED(collapsed_slice_dims)
  HLO_REPEATED(start_index_map)
  HLO_FIELD(int64_t, index_vector_dim, 0)
  HLO_REPEATED(operand_batching_dims)
  HLO_REPEATED(start_indices_batching_dims)
};
struct ScatterDimensionNumbers {
  HLO_REPEATED(update_window_dims)
  HLO_REPEATED(inserted_window_dims)
  HLO_REPEATED(scatter_dims_to_operand_dims)
  HLO_FIELD(int64_t, index_vector_dim, 0)
  HLO_REPEATED(input_batching_dims)
  HLO_REPEATED(scatter_indices_batching_dims)
};

/// How exactly the operands of a product count.
struct PrecisionConfig {
  enum Precision : int { DEFAULT, HIGH, HIGHEST };
  void add_operand_precision(Precision precision) { operand_precision_.push_back(precision); }
  std::vector<Precision> operand_precision_;
};

/// Devices that communicate with each other. Lists of lists are groups: `{{0, 2}, {1, 3}}`.
struct ReplicaGroup {
  ReplicaGroup() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): written as the documents write groups
  ReplicaGroup(std::initializer_list<int64_t> replica_ids) : replica_ids_(replica_ids) {}
  HLO_REPEATED(replica_ids)
};
/// Names a channel; a send and its recv share one. A number is the channel of that number.
struct ChannelHandle {
  ChannelHandle() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): the documents have both
  ChannelHandle(int64_t handle) : handle_(handle) {}
  HLO_FIELD(int64_t, handle, 0)
};

enum class FftType { FFT, IFFT, RFFT, IRFFT };
enum class RandomAlgorithm { RNG_DEFAULT, RNG_THREE_FRY, RNG_PHILOX };
struct TriangularSolveOptions {
  enum Transpose : int { TRANSPOSE_INVALID, NO_TRANSPOSE, TRANSPOSE, ADJOINT };
};

/// Where an operation comes from.
struct OpMetadata {
  HLO_TEXT(op_type)
  HLO_TEXT(op_name)
  HLO_TEXT(source_file)
  HLO_FIELD(int32_t, source_line, 0)
};
/// How a value is spread over devices, as HLO text writes it: `{replicated}`, `{devices=[2,1]<=[2]}`.
struct OpSharding {
  std::string text;
  bool operator==(const OpSharding&) const = default;
};
using FrontendAttributes = std::map<std::string, std::string>;
#undef HLO_REPEATED
#undef HLO_FIELD
#undef HLO_TEXT
// NOLINTEND(readability-identifier-naming)

}  // namespace hlo_toolkit
