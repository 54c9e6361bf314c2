// Field tables of the attribute structs, and the generic operations over them.
#include "ir/attrs.h"

#include <bit>
#include <cmath>

#include "ir/binary_members.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo {
namespace {

using llvm::StringRef;
using BoolList = llvm::SmallVector<bool, 4>;

// --- C++ type of a member -> field kind ---
template <class T>
struct KindOf {
  static_assert(std::is_enum_v<T>, "no field kind for this type");
  static constexpr FieldKind kKind = FieldKind::Enum;
  static const EnumInfo* Enum() { return &EnumInfoOf<T>(); }
};
template <class T>
struct KindOf<std::optional<T>> {
  static constexpr FieldKind kKind = FieldKind::OptEnum;
  static const EnumInfo* Enum() { return &EnumInfoOf<T>(); }
};
#define HLO_KIND(Type, Kind)                            \
  template <>                                           \
  struct KindOf<Type> {                                 \
    static constexpr FieldKind kKind = FieldKind::Kind; \
    static const EnumInfo* Enum() { return nullptr; }   \
  };
HLO_KIND(bool, Bool)
HLO_KIND(int64_t, Int)
HLO_KIND(std::optional<int64_t>, OptInt)
HLO_KIND(std::optional<bool>, OptBool)
HLO_KIND(float, Float)
HLO_KIND(std::string, String)
HLO_KIND(Dims, DimList)
HLO_KIND(std::vector<Dims>, DimLists)
HLO_KIND(BoolList, BoolList)
HLO_KIND(Precisions, Precisions)
HLO_KIND(Window, Window)
HLO_KIND(std::optional<Window>, OptWindow)
HLO_KIND(std::optional<ConvDimLabels>, ConvLabels)
HLO_KIND(SliceRanges, SliceRanges)
HLO_KIND(Padding, Padding)
HLO_KIND(ReplicaGroups, ReplicaGroups)
HLO_KIND(Shape, Shape)
HLO_KIND(std::optional<ShapeList>, OptShapeList)
HLO_KIND(LiteralPtr, Literal)
HLO_KIND(Aliasing, Aliasing)
HLO_KIND(SparsityConfig, Sparsity)
HLO_KIND(DomainSpec, Domain)
#undef HLO_KIND

template <auto Member>
struct MemberOf;
template <class S, class T, T S::* Member>
struct MemberOf<Member> {
  using Type = T;
  static void* Access(void* attrs) { return &(static_cast<S*>(attrs)->*Member); }
};

template <auto Member>
FieldInfo Field(StringRef name, int flags = 0) {
  using Kind = KindOf<typename MemberOf<Member>::Type>;
  return {name, Kind::kKind, static_cast<uint16_t>(flags), &MemberOf<Member>::Access, Kind::Enum(), -1};
}
FieldInfo Callee(StringRef name, int index, int flags = kRequired) {
  return {name, FieldKind::Callee, static_cast<uint16_t>(flags), nullptr, nullptr, index};
}
FieldInfo Callees(StringRef name, int flags = 0) {
  return {name, FieldKind::Callees, static_cast<uint16_t>(flags), nullptr, nullptr, -1};
}

template <class T, size_t N>
AttrInfo MakeInfo(StringRef name, const FieldInfo (&fields)[N]) {
  auto* copy = new std::array<FieldInfo, N>;
  std::copy(std::begin(fields), std::end(fields), copy->begin());
  return {name, *copy, new T, [](const void* p) -> void* { return new T(*static_cast<const T*>(p)); },
          [](void* p) { delete static_cast<T*>(p); }};
}

/// Kind -> operations on a member.
struct KindOps {
  bool (*equal)(const void*, const void*);
  llvm::hash_code (*hash)(const void*);
};

/// Hashes what a value archives (ir/binary_members.h), so that its members are listed once.
class Hasher {
 public:
  static constexpr bool kReads = false;
  void Number(uint64_t value) { code_ = llvm::hash_combine(code_, value); }
  void Text(StringRef text) { code_ = llvm::hash_combine(code_, text); }
  [[nodiscard]] llvm::hash_code code() const { return code_; }

 private:
  llvm::hash_code code_{0};
};
using hlo::Archive;
// Equal values that differ in bits, and those that have hashes of their own.
void Archive(Hasher& a, float& v) { a.Number(v == 0 ? 0 : std::isnan(v) ? 1 : std::bit_cast<uint32_t>(v)); }
void Archive(Hasher& a, uint8_t& v) { a.Number(v); }
void Archive(Hasher& a, Shape& v) { a.Number(hash_value(v)); }
void Archive(Hasher& a, LiteralPtr& v) { a.Number(v ? static_cast<size_t>(hash_value(*v)) : 1); }

template <class T>
llvm::hash_code HashOf(const T& value) {
  Hasher hasher;
  Archive(hasher, const_cast<T&>(value));  // which only reads it
  return hasher.code();
}

template <class T>
bool EqualOf(const T& a, const T& b) {
  return a == b;
}
/// A NaN is the same as any other: results are.
bool EqualOf(const float& a, const float& b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool EqualOf(const LiteralPtr& a, const LiteralPtr& b) { return a == b || (a && b && *a == *b); }

template <class T>
constexpr KindOps OpsFor() {
  return {[](const void* a, const void* b) {
            return EqualOf(*static_cast<const T*>(a), *static_cast<const T*>(b));
          },
          [](const void* a) { return HashOf(*static_cast<const T*>(a)); }};
}

// One row per FieldKind, in its order; the two callee kinds have no member.
constexpr KindOps kKindOps[] = {
    OpsFor<bool>(),
    OpsFor<int64_t>(),
    OpsFor<std::optional<int64_t>>(),
    OpsFor<float>(),
    OpsFor<std::string>(),
    OpsFor<Dims>(),
    OpsFor<std::vector<Dims>>(),
    OpsFor<BoolList>(),
    OpsFor<uint8_t>(),
    OpsFor<std::optional<CompareType>>(),
    OpsFor<Precisions>(),
    OpsFor<Window>(),
    OpsFor<std::optional<Window>>(),
    OpsFor<std::optional<ConvDimLabels>>(),
    OpsFor<SliceRanges>(),
    OpsFor<Padding>(),
    OpsFor<ReplicaGroups>(),
    OpsFor<Shape>(),
    OpsFor<std::optional<ShapeList>>(),
    OpsFor<LiteralPtr>(),
    OpsFor<Aliasing>(),
    OpsFor<SparsityConfig>(),
    OpsFor<DomainSpec>(),
    OpsFor<std::optional<bool>>(),
};
static_assert(std::size(kKindOps) + 2 == kFieldKindCount);

}  // namespace

// --- Words of the enumerations ---
#define HLO_ENUM(Type, ignore_case, ...)                 \
  template <>                                            \
  const EnumInfo& EnumInfoOf<Type>() {                   \
    static constexpr StringRef kWords[] = {__VA_ARGS__}; \
    static const EnumInfo info{kWords, ignore_case};     \
    return info;                                         \
  }
HLO_ENUM(Direction, false, "EQ", "NE", "GE", "GT", "LE", "LT")
HLO_ENUM(CompareType, false, "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
HLO_ENUM(FftType, false, "FFT", "IFFT", "RFFT", "IRFFT")
HLO_ENUM(FusionKind, false, "kLoop", "kInput", "kOutput", "kCustom")
HLO_ENUM(Distribution, true, "rng_invalid", "rng_uniform", "rng_normal")
HLO_ENUM(RngAlgorithm, true, "rng_default", "rng_three_fry", "rng_philox")
HLO_ENUM(Precision, true, "default", "high", "highest")
HLO_ENUM(DotAlgorithm, true, "unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum",
         "dot_f16_f16_f16", "dot_f16_f16_f32", "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32",
         "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_bf16_bf16_f32_x9", "dot_tf32_tf32_f32",
         "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64")
HLO_ENUM(TransposeA, false, "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
HLO_ENUM(PaddingType, false, "PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")
HLO_ENUM(CustomCallSchedule, true, "SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
HLO_ENUM(ApiVersion, true, "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
         "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI")
HLO_ENUM(ConvolutionKind, false, "unset", "fprop", "wgrad", "dgrad")
#undef HLO_ENUM

std::optional<uint8_t> ParseEnum(const EnumInfo& info, StringRef word) {
  for (size_t i = 0; i < info.words.size(); ++i)
    if (info.ignore_case ? word.equals_insensitive(info.words[i]) : word == info.words[i])
      return static_cast<uint8_t>(i);
  return std::nullopt;
}

// --- Fields of the structs, in print order (hlo-text §10) ---
// clang-format off
#define F(member, ...) Field<&T::member>(#member __VA_OPT__(, ) __VA_ARGS__)
#define HLO_FIELDS(Type, ...)                                              \
  const AttrInfo Type::kInfo = [] {                                        \
    using T = Type;                                                        \
    return MakeInfo<T>(#Type, {__VA_ARGS__});                              \
  }();
const AttrInfo NoAttrs::kInfo = {"NoAttrs", {}, new NoAttrs, [](const void*) -> void* { return new NoAttrs; },
                                 [](void* p) { delete static_cast<NoAttrs*>(p); }};
HLO_FIELDS(CompareAttrs, F(direction, kRequired | kAlwaysPrint), F(type))
HLO_FIELDS(ParameterAttrs, F(number, kPositional), F(parameter_replication))
HLO_FIELDS(ConstantAttrs, F(literal, kPositional), F(partial, kPositional))
HLO_FIELDS(IotaAttrs, F(iota_dimension, kRequired | kAlwaysPrint))
HLO_FIELDS(DimensionsAttrs, F(dimensions, kRequired | kAlwaysPrint))
HLO_FIELDS(MapAttrs, F(dimensions, kAlwaysPrint), Callee("to_apply", 0))
HLO_FIELDS(ReduceAttrs, F(dimensions, kRequired | kAlwaysPrint), Callee("to_apply", 0))
HLO_FIELDS(ReshapeAttrs, F(inferred_dimension))
HLO_FIELDS(SliceAttrs, F(slice, kRequired | kAlwaysPrint))
HLO_FIELDS(DynamicSliceAttrs, F(dynamic_slice_sizes, kRequired | kAlwaysPrint))
HLO_FIELDS(PadAttrs, F(padding, kRequired | kAlwaysPrint))
HLO_FIELDS(GatherAttrs, F(offset_dims, kRequired | kAlwaysPrint), F(collapsed_slice_dims, kRequired | kAlwaysPrint),
           F(start_index_map, kRequired | kAlwaysPrint), F(operand_batching_dims), F(start_indices_batching_dims),
           F(index_vector_dim, kRequired | kAlwaysPrint), F(slice_sizes, kRequired | kAlwaysPrint),
           F(indices_are_sorted))
HLO_FIELDS(ScatterAttrs, F(update_window_dims, kRequired | kAlwaysPrint),
           F(inserted_window_dims, kRequired | kAlwaysPrint), F(scatter_dims_to_operand_dims, kRequired | kAlwaysPrint),
           F(input_batching_dims), F(scatter_indices_batching_dims), F(index_vector_dim, kRequired | kAlwaysPrint),
           F(indices_are_sorted), F(unique_indices), Callee("to_apply", 0))
HLO_FIELDS(GetTupleElementAttrs, F(index, kRequired | kAlwaysPrint))
HLO_FIELDS(DotAttrs, F(lhs_batch_dims), F(lhs_contracting_dims, kAlwaysPrint), F(rhs_batch_dims),
           F(rhs_contracting_dims, kAlwaysPrint), F(operand_precision), F(algorithm))
HLO_FIELDS(RaggedDotAttrs, F(lhs_batch_dims), F(lhs_contracting_dims, kAlwaysPrint), F(rhs_batch_dims),
           F(rhs_contracting_dims, kAlwaysPrint), F(lhs_ragged_dims), F(rhs_group_dims), F(operand_precision))
HLO_FIELDS(ConvolutionAttrs, F(window), F(dim_labels, kRequired | kAlwaysPrint), F(feature_group_count),
           F(batch_group_count), F(convolution_kind), F(operand_precision), F(algorithm), F(sparsity_config))
HLO_FIELDS(FftAttrs, F(fft_type, kRequired | kAlwaysPrint), F(fft_length, kRequired | kAlwaysPrint))
HLO_FIELDS(CholeskyAttrs, F(lower))
HLO_FIELDS(TriangularSolveAttrs, F(left_side), F(lower), F(unit_diagonal), F(transpose_a))
HLO_FIELDS(BatchNormAttrs, F(epsilon, kRequired | kAlwaysPrint), F(feature_index, kRequired | kAlwaysPrint))
HLO_FIELDS(ReduceWindowAttrs, F(window), Callee("to_apply", 0))
HLO_FIELDS(SelectAndScatterAttrs, F(window), Callee("select", 0), Callee("scatter", 1))
HLO_FIELDS(SortAttrs, F(dimensions, kRequired | kAlwaysPrint), F(is_stable), Callee("to_apply", 0))
HLO_FIELDS(TopKAttrs, F(k, kRequired | kAlwaysPrint), F(largest, kAlwaysPrint), F(is_stable))
HLO_FIELDS(ScanAttrs, F(dimensions, kRequired | kAlwaysPrint), F(num_carries, kRequired | kAlwaysPrint), F(is_reverse),
           F(is_associative, kAlwaysPrint), Callee("to_apply", 0, kRequired | kInlineCalls))
HLO_FIELDS(ReducePrecisionAttrs, F(exponent_bits, kRequired | kAlwaysPrint), F(mantissa_bits, kRequired | kAlwaysPrint))
HLO_FIELDS(RngAttrs, F(distribution, kRequired | kAlwaysPrint))
HLO_FIELDS(RngBitGeneratorAttrs, F(algorithm, kRequired | kAlwaysPrint))
HLO_FIELDS(RngStateAttrs, F(delta, kRequired | kAlwaysPrint))
HLO_FIELDS(WhileAttrs, Callee("condition", 1, kRequired | kSequential),
           Callee("body", 0, kRequired | kSequential))
// The first two belong to a pred selector, the third to an s32 one.
HLO_FIELDS(ConditionalAttrs, Callee("true_computation", 0, kSequential), Callee("false_computation", 1, kSequential),
           Callees("branch_computations", kSequential))
HLO_FIELDS(CallAttrs, Callee("to_apply", 0, kRequired | kSequential), F(is_composite))
HLO_FIELDS(FusionAttrs, F(kind, kRequired | kAlwaysPrint), F(output_to_operand_aliasing), Callee("calls", 0))
HLO_FIELDS(CustomCallAttrs, F(window), F(dim_labels), F(feature_group_count), F(batch_group_count),
           F(operand_precision), F(padding_type), F(custom_call_target, kRequired | kAlwaysPrint),
           F(operand_layout_constraints), F(custom_call_has_side_effect), F(literal), F(output_to_operand_aliasing),
           F(schedule), F(api_version), Callees("called_computations"))
HLO_FIELDS(DomainAttrs, F(domain, kRequired | kAlwaysPrint))
HLO_FIELDS(InfeedAttrs, F(infeed_config, kHostConfig))
HLO_FIELDS(OutfeedAttrs, F(outfeed_shape, kAlwaysPrint), F(outfeed_config, kHostConfig))
HLO_FIELDS(SendRecvAttrs, F(channel_id, kChannelId), F(is_host_transfer))
HLO_FIELDS(CopyStartAttrs, F(cross_program_prefetch_index))
HLO_FIELDS(AllGatherAttrs, F(channel_id, kChannelId), F(replica_groups, kAlwaysPrint), F(constrain_layout),
           F(dimensions, kRequired | kAlwaysPrint), F(use_global_device_ids))
HLO_FIELDS(AllReduceAttrs, F(channel_id, kChannelId), F(replica_groups, kAlwaysPrint), F(constrain_layout),
           F(use_global_device_ids), Callee("to_apply", 0))
HLO_FIELDS(ReduceScatterAttrs, F(channel_id, kChannelId), F(replica_groups, kAlwaysPrint), F(constrain_layout),
           F(use_global_device_ids), F(dimensions, kRequired | kAlwaysPrint),
           Callee("to_apply", 0, kRequired | kInlineCalls))
HLO_FIELDS(AllToAllAttrs, F(channel_id, kChannelId), F(replica_groups, kAlwaysPrint), F(constrain_layout),
           Field<&T::dimension>("dimensions", kBraced))
HLO_FIELDS(RaggedAllToAllAttrs, F(channel_id, kChannelId), F(replica_groups, kAlwaysPrint))
HLO_FIELDS(CollectiveBroadcastAttrs, F(channel_id, kChannelId), F(replica_groups, kAlwaysPrint), F(has_dynamic_root))
HLO_FIELDS(CollectivePermuteAttrs, F(channel_id, kChannelId), F(source_target_pairs, kRequired | kAlwaysPrint), F(slice_sizes))
HLO_FIELDS(AsyncStartAttrs, F(async_execution_thread, kUnescaped), F(output_to_operand_aliasing), Callee("calls", 0))
#undef HLO_FIELDS
#undef F
// clang-format on

bool DomainSpec::operator==(const DomainSpec& o) const {
  auto same = [](const ShardingPtr& a, const ShardingPtr& b) { return a == b || (a && b && *a == *b); };
  return kind == o.kind && same(entry, o.entry) && same(exit, o.exit);
}

void internal::FailAttrsOfOtherKind(const AttrInfo& found, const AttrInfo& wanted) {
  llvm::report_fatal_error(llvm::Twine(found.name) + " read as " + wanted.name);
}

Attrs Attrs::Default(const AttrInfo& info) {
  Attrs a;
  if (&info == &NoAttrs::kInfo) return a;
  a.info_ = &info;
  a.data_ = info.clone(info.default_value);
  return a;
}

bool FieldEqual(const FieldInfo& field, const void* a, const void* b) {
  if (!field.access) return true;
  return kKindOps[static_cast<size_t>(field.kind)].equal(field.access(const_cast<void*>(a)),
                                                         field.access(const_cast<void*>(b)));
}

llvm::hash_code FieldHash(const FieldInfo& field, const void* attrs) {
  if (!field.access) return llvm::hash_value(0);
  return kKindOps[static_cast<size_t>(field.kind)].hash(field.access(const_cast<void*>(attrs)));
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (&a.info() != &b.info()) return false;
  for (const FieldInfo& field : a.info().fields)
    if (!FieldEqual(field, a.data(), b.data())) return false;
  return true;
}

llvm::hash_code hash_value(const Attrs& a) {
  llvm::hash_code h = llvm::hash_value(a.info().name);
  for (const FieldInfo& field : a.info().fields) h = llvm::hash_combine(h, FieldHash(field, a.data()));
  return h;
}

}  // namespace hlo
