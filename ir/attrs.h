// Attributes of opcodes: plain structs, and a table per struct from which parsing, printing,
// comparing, hashing and JSON follow. One struct per group of opcodes (ir/ops.def names it);
// fields stand in print order (hlo-text §10).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/dim_numbers.h"
#include "ir/literal.h"
#include "ir/sharding.h"
#include "ir/window.h"

namespace hlo {

// --- Enumerations; their words are in attrs.cc. ---
enum class Direction : uint8_t { EQ, NE, GE, GT, LE, LT };
enum class CompareType : uint8_t { Float, TotalOrder, Signed, Unsigned };
enum class FftType : uint8_t { FFT, IFFT, RFFT, IRFFT };
enum class FusionKind : uint8_t { Loop, Input, Output, Custom };
enum class Distribution : uint8_t { Invalid, Uniform, Normal };
enum class RngAlgorithm : uint8_t { Default, ThreeFry, Philox };
enum class Precision : uint8_t { Default, High, Highest };
enum class DotAlgorithm : uint8_t {
  Unset,
  AnyF8AnyF8F32,
  AnyF8AnyF8F32FastAccum,
  F16F16F16,
  F16F16F32,
  BF16BF16BF16,
  BF16BF16F32,
  BF16BF16F32X3,
  BF16BF16F32X6,
  BF16BF16F32X9,
  TF32TF32F32,
  TF32TF32F32X3,
  F32F32F32,
  F64F64F64
};
enum class TransposeA : uint8_t { Invalid, NoTranspose, Transpose, Adjoint };
enum class PaddingType : uint8_t { Invalid, Valid, Same };
enum class CustomCallSchedule : uint8_t { None, Latest, Earliest };
enum class ApiVersion : uint8_t { Unspecified, Original, StatusReturning, StatusReturningUnified, TypedFfi };
enum class ConvolutionKind : uint8_t { Unset, Fprop, Wgrad, Dgrad };

/// Words of one enumeration, indexed by enumerator.
struct EnumInfo {
  llvm::ArrayRef<llvm::StringRef> words;
  bool ignore_case = false;  // on input; output is as in `words`
};
template <class E>
const EnumInfo& EnumInfoOf();
/// Enumerator spelled `word`, as its number; nothing if there is none.
std::optional<uint8_t> ParseEnum(const EnumInfo& info, llvm::StringRef word);
template <class E>
llvm::StringRef ToString(E value) {
  return EnumInfoOf<E>().words[static_cast<size_t>(value)];
}

// --- Values that are no plain numbers. ---
struct SliceRange {
  int64_t start = 0, limit = 0, stride = 1;
  bool operator==(const SliceRange&) const = default;
};
struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;
  bool operator==(const PaddingDim&) const = default;
};
/// Output part that shares the buffer of an operand part.
struct OutputOperandAlias {
  ShapeIndex output;
  int64_t operand = 0;
  ShapeIndex operand_index;
  bool operator==(const OutputOperandAlias&) const = default;
};
struct SparsitySide {
  int64_t group = 0, count = 0;  // sparsity=count x group, as written `1x4`
  int64_t dimension = 0, stride = 0;
  bool operator==(const SparsitySide&) const = default;
};
struct SparsityConfig {
  std::optional<SparsitySide> lhs, rhs;
  bool operator==(const SparsityConfig&) const = default;
};
struct DomainSpec {
  std::string kind;
  ShardingPtr entry, exit;  // kind "sharding"
  bool operator==(const DomainSpec&) const;
};
using SliceRanges = llvm::SmallVector<SliceRange, 2>;
using Padding = llvm::SmallVector<PaddingDim, 2>;
using Precisions = llvm::SmallVector<Precision, 2>;
using Aliasing = std::vector<OutputOperandAlias>;
using ShapeList = std::vector<Shape>;

// --- Field tables. ---
enum class FieldKind : uint8_t {
  Bool,
  Int,
  OptInt,
  Float,
  String,
  DimList,
  DimLists,
  BoolList,
  Enum,
  OptEnum,
  Precisions,
  Window,
  OptWindow,
  ConvLabels,
  SliceRanges,
  Padding,
  ReplicaGroups,
  Shape,
  OptShapeList,
  Literal,
  Aliasing,
  Sparsity,
  Domain,
  OptBool,
  Callee,   // a called computation: callees()[callee]
  Callees,  // all called computations, `{%a, %b}`
};
inline constexpr int kFieldKindCount = static_cast<int>(FieldKind::Callees) + 1;

enum FieldFlags : uint16_t {
  kRequired = 1,       // the parser demands it (`!`)
  kAlwaysPrint = 2,    // printed even if default (`=`)
  kPositional = 4,     // stands inside the parentheses (parameter number, constant literal)
  kParseOnly = 8,      // accepted and ignored
  kUnescaped = 16,     // a string printed between quotes as it is
  kChannelId = 32,     // masked by PrintOptions::channel_ids
  kHostConfig = 64,    // left out by PrintOptions::infeed_outfeed_config
  kInlineCalls = 128,  // a callee spelled `calls=` where its body is printed inline
  kSequential = 256,   // a callee left out by SubcomputationMode::NonSequentialBodies
  kBraced = 512,       // an integer written as a list of one, `{1}`
};

/// One attribute of an opcode.
struct FieldInfo {
  llvm::StringRef name;
  FieldKind kind;
  uint16_t flags;
  void* (*access)(void* attrs);  // address of the member; null for Callee(s)
  const EnumInfo* enum_info;     // Enum, OptEnum
  int callee;                    // Callee: index into callees()
  template <class T>
  const T& Get(const void* attrs) const {
    return *static_cast<const T*>(access(const_cast<void*>(attrs)));
  }
  template <class T>
  T& Mutable(void* attrs) const {
    return *static_cast<T*>(access(attrs));
  }
};

/// One attribute struct.
struct AttrInfo {
  llvm::StringRef name;
  llvm::ArrayRef<FieldInfo> fields;
  const void* default_value;
  void* (*clone)(const void*);
  void (*destroy)(void*);
};

// --- The structs; one line each where they fit. ---
// clang-format off
#define HLO_ATTRS(Name) struct Name { static const AttrInfo kInfo;
HLO_ATTRS(NoAttrs) };
HLO_ATTRS(CompareAttrs) Direction direction = Direction::EQ; std::optional<CompareType> type; };
HLO_ATTRS(ParameterAttrs) int64_t number = 0; llvm::SmallVector<bool, 4> parameter_replication; };
HLO_ATTRS(ConstantAttrs)
  LiteralPtr literal;  // null: elided, as a whole or in part
  LiteralPtr partial;  // then, of a tuple: what is known of it, with elided leaves
};
HLO_ATTRS(IotaAttrs) int64_t iota_dimension = 0; };
/// broadcast, transpose, reverse, concatenate, reduce, get/set-dimension-size.
HLO_ATTRS(DimensionsAttrs) Dims dimensions; };
HLO_ATTRS(MapAttrs) Dims dimensions; };
HLO_ATTRS(ReduceAttrs) Dims dimensions; };
HLO_ATTRS(ReshapeAttrs) int64_t inferred_dimension = -1; };
HLO_ATTRS(SliceAttrs) SliceRanges slice; };
HLO_ATTRS(DynamicSliceAttrs) Dims dynamic_slice_sizes; };
HLO_ATTRS(PadAttrs) Padding padding; };
HLO_ATTRS(GatherAttrs)
  Dims offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  Dims slice_sizes;
  bool indices_are_sorted = false;
};
HLO_ATTRS(ScatterAttrs)
  Dims update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, input_batching_dims,
      scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false, unique_indices = false;
};
HLO_ATTRS(GetTupleElementAttrs) int64_t index = 0; };
/// dot and scaled-dot.
HLO_ATTRS(DotAttrs)
  Dims lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims;
  Precisions operand_precision;
  DotAlgorithm algorithm = DotAlgorithm::Unset;
};
HLO_ATTRS(RaggedDotAttrs)
  Dims lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, lhs_ragged_dims, rhs_group_dims;
  Precisions operand_precision;
};
HLO_ATTRS(ConvolutionAttrs)
  Window window;
  std::optional<ConvDimLabels> dim_labels;
  int64_t feature_group_count = 1, batch_group_count = 1;
  ConvolutionKind convolution_kind = ConvolutionKind::Unset;
  Precisions operand_precision;
  DotAlgorithm algorithm = DotAlgorithm::Unset;
  SparsityConfig sparsity_config;
};
HLO_ATTRS(FftAttrs) FftType fft_type = FftType::FFT; Dims fft_length; };
HLO_ATTRS(CholeskyAttrs) bool lower = false; };
HLO_ATTRS(TriangularSolveAttrs)
  bool left_side = false, lower = false, unit_diagonal = false;
  TransposeA transpose_a = TransposeA::Invalid;
};
HLO_ATTRS(BatchNormAttrs) float epsilon = 0; int64_t feature_index = 0; };
HLO_ATTRS(ReduceWindowAttrs) Window window; };
HLO_ATTRS(SelectAndScatterAttrs) Window window; };
HLO_ATTRS(SortAttrs) Dims dimensions; bool is_stable = false; };
HLO_ATTRS(TopKAttrs) int64_t k = 0; bool largest = true; std::optional<bool> is_stable; /* absent: true */ };
HLO_ATTRS(ScanAttrs) Dims dimensions; int64_t num_carries = 0; bool is_reverse = false, is_associative = false; };
HLO_ATTRS(ReducePrecisionAttrs) int64_t exponent_bits = 0, mantissa_bits = 0; };
HLO_ATTRS(RngAttrs) Distribution distribution = Distribution::Invalid; };
HLO_ATTRS(RngBitGeneratorAttrs) RngAlgorithm algorithm = RngAlgorithm::Default; };
HLO_ATTRS(RngStateAttrs) int64_t delta = 0; };
HLO_ATTRS(WhileAttrs) };
HLO_ATTRS(ConditionalAttrs) };
HLO_ATTRS(CallAttrs) bool is_composite = false; };
HLO_ATTRS(FusionAttrs) FusionKind kind = FusionKind::Loop; Aliasing output_to_operand_aliasing; };
HLO_ATTRS(CustomCallAttrs)
  std::optional<Window> window;
  std::optional<ConvDimLabels> dim_labels;
  int64_t feature_group_count = 1, batch_group_count = 1;
  Precisions operand_precision;
  PaddingType padding_type = PaddingType::Invalid;
  std::string custom_call_target;
  std::optional<ShapeList> operand_layout_constraints;
  bool custom_call_has_side_effect = false;
  LiteralPtr literal;
  Aliasing output_to_operand_aliasing;
  CustomCallSchedule schedule = CustomCallSchedule::None;
  ApiVersion api_version = ApiVersion::Original;
};
HLO_ATTRS(DomainAttrs) DomainSpec domain; };
HLO_ATTRS(InfeedAttrs) std::string infeed_config; };
HLO_ATTRS(OutfeedAttrs) Shape outfeed_shape; std::string outfeed_config; };
HLO_ATTRS(SendRecvAttrs) std::optional<int64_t> channel_id; bool is_host_transfer = false; };
HLO_ATTRS(CopyStartAttrs) std::optional<int64_t> cross_program_prefetch_index; };
HLO_ATTRS(AllGatherAttrs)
  std::optional<int64_t> channel_id; ReplicaGroups replica_groups; bool constrain_layout = false;
  Dims dimensions; bool use_global_device_ids = false;
};
HLO_ATTRS(AllReduceAttrs)
  std::optional<int64_t> channel_id; ReplicaGroups replica_groups; bool constrain_layout = false;
  bool use_global_device_ids = false;
};
HLO_ATTRS(ReduceScatterAttrs)
  std::optional<int64_t> channel_id; ReplicaGroups replica_groups; bool constrain_layout = false;
  bool use_global_device_ids = false; Dims dimensions;
};
HLO_ATTRS(AllToAllAttrs)
  std::optional<int64_t> channel_id; ReplicaGroups replica_groups; bool constrain_layout = false;
  std::optional<int64_t> dimension;
};
HLO_ATTRS(RaggedAllToAllAttrs) std::optional<int64_t> channel_id; ReplicaGroups replica_groups; };
HLO_ATTRS(CollectiveBroadcastAttrs)
  std::optional<int64_t> channel_id; ReplicaGroups replica_groups;
  std::optional<bool> has_dynamic_root;  // absent: false
};
HLO_ATTRS(CollectivePermuteAttrs)
  std::optional<int64_t> channel_id; std::vector<Dims> source_target_pairs, slice_sizes;
};
HLO_ATTRS(AsyncStartAttrs) std::string async_execution_thread = "main"; Aliasing output_to_operand_aliasing; };
#undef HLO_ATTRS
// clang-format on

namespace internal {
[[noreturn]] void FailAttrsOfOtherKind(const AttrInfo& found, const AttrInfo& wanted);
}

/// A value of any attribute struct; empty for NoAttrs. Copies deeply.
class Attrs {
 public:
  Attrs() = default;
  template <class T>
  Attrs(T value)  // NOLINT(google-explicit-constructor): a value of one of the structs
      : info_(&T::kInfo), data_(new T(std::move(value))) {}
  Attrs(const Attrs& o) : info_(o.info_), data_(o.data_ ? o.info_->clone(o.data_) : nullptr) {}
  Attrs(Attrs&& o) noexcept : info_(o.info_), data_(std::exchange(o.data_, nullptr)) { o.info_ = nullptr; }
  Attrs& operator=(Attrs o) noexcept {
    std::swap(info_, o.info_);
    std::swap(data_, o.data_);
    return *this;
  }
  ~Attrs() {
    if (data_) info_->destroy(data_);
  }
  /// The default value of the struct described by `info`.
  static Attrs Default(const AttrInfo& info);

  [[nodiscard]] const AttrInfo& info() const { return info_ ? *info_ : NoAttrs::kInfo; }
  [[nodiscard]] const void* data() const { return data_; }
  void* mutable_data() { return data_; }
  /// The struct, or null if it is another one.
  template <class T>
  [[nodiscard]] const T* GetIf() const {
    return info_ == &T::kInfo ? static_cast<const T*>(data_) : nullptr;
  }
  /// The struct; the program ends if it is not a T.
  template <class T>
  [[nodiscard]] const T& Get() const {
    if (info_ != &T::kInfo) [[unlikely]]
      internal::FailAttrsOfOtherKind(info(), T::kInfo);
    return *static_cast<const T*>(data_);
  }
  template <class T>
  T& Mutable() {
    if (info_ != &T::kInfo) [[unlikely]]
      internal::FailAttrsOfOtherKind(info(), T::kInfo);
    return *static_cast<T*>(data_);
  }

  friend bool operator==(const Attrs& a, const Attrs& b);  // attrs.cc
  friend llvm::hash_code hash_value(const Attrs& a);

 private:
  const AttrInfo* info_ = nullptr;
  void* data_ = nullptr;
};

/// Equality, hash of one field; true if it holds the struct's default value.
bool FieldEqual(const FieldInfo& field, const void* a, const void* b);
llvm::hash_code FieldHash(const FieldInfo& field, const void* attrs);
inline bool FieldIsDefault(const AttrInfo& info, const FieldInfo& field, const void* attrs) {
  return FieldEqual(field, attrs, info.default_value);
}

}  // namespace hlo
