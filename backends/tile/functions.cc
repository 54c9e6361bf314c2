#include "backends/tile/functions.h"

#include "ir/support/cpu_features.h"

// NOLINTBEGIN(readability-identifier-naming): names of generated code
#define HLO_TILE_CODE(Kind, operands, Type, type)                                            \
  extern "C" void hlo_tile_baseline_##Kind##_##type(void* const* buffers, int64_t, int64_t); \
  extern "C" void hlo_tile_avx2_##Kind##_##type(void* const* buffers, int64_t, int64_t);     \
  extern "C" void hlo_tile_avx512_##Kind##_##type(void* const* buffers, int64_t, int64_t);
#include "backends/tile/math_ops.inc"
// NOLINTEND(readability-identifier-naming)

namespace hlo::tile {
namespace {

using Code = void(void* const* buffers, int64_t begin, int64_t end);

/// Generated code in the form of the evaluator's loops.
template <Code* code, int operands>
#if defined(__clang__)
[[clang::no_sanitize("function")]]
#endif
void Run(void* out, const void* const* in, int64_t n, const KernelParam&) {
  void* buffers[operands + 1];
  for (int i = 0; i < operands; ++i) buffers[i] = const_cast<void*>(in[i]);
  buffers[operands] = out;
  code(buffers, 0, n);
}

enum class InstructionSet : uint8_t { Baseline, Avx2, Avx512 };

InstructionSet BestSet() {
  const bool avx2 = HasCpuFeatures({"avx2", "fma", "bmi2", "lzcnt", "f16c"});
  const bool avx512 = HasCpuFeatures({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  return !avx2 ? InstructionSet::Baseline : avx512 ? InstructionSet::Avx512 : InstructionSet::Avx2;
}

struct Row {
  OpKind kind;
  ElementType type;
  KernelFn functions[3];  // by instruction set
};
constexpr Row kRows[] = {
#define HLO_TILE_CODE(Kind, operands, Type, type)                                                   \
  {OpKind::Kind,                                                                                    \
   ElementType::Type,                                                                               \
   {Run<hlo_tile_baseline_##Kind##_##type, operands>, Run<hlo_tile_avx2_##Kind##_##type, operands>, \
    Run<hlo_tile_avx512_##Kind##_##type, operands>}},
#include "backends/tile/math_ops.inc"
};

KernelFn FindMath(OpKind kind, ElementType type) {
  static const auto set = static_cast<size_t>(BestSet());
  for (const Row& row : kRows)
    if (row.kind == kind && row.type == type) return row.functions[set];
  return nullptr;
}

/// Nanoseconds of an element beyond those of moving operands and result: integers, what is computed in f32,
/// what is computed in f64, complex numbers. Measured.
struct Times {
  double integer = 0, single = 0, wide = 0, complex = 0;
};
constexpr Times kFunction = {0.6, 0.6, 2, 4};
struct TimesRow {
  OpKind kind;
  Times times;
};
constexpr TimesRow kTimes[] = {
    {OpKind::Divide, {3, 0.4, 0.4, 0.6}},
    {OpKind::Remainder, {3, 10.4, 10.4, 0}},
    {OpKind::Power, {0.6, 0.6, 2, 9}},
    {OpKind::Atan2, {0.6, 0.6, 2, 12}},
};

double ComputingNanoseconds(OpKind kind, ElementType operand) {
  Times times = Info(kind).category == OpCategory::Transcendental ? kFunction : Times{};
  for (const auto& row : kTimes)
    if (row.kind == kind) times = row.times;
  if (IsComplex(operand)) return times.complex;
  if (!IsFloat(operand)) return times.integer;
  // Functions of f16 round through f64.
  return operand == ElementType::F64 || operand == ElementType::F16 ? times.wide : times.single;
}

/// Measured; most operations take as long as their operands and results take to be moved.
double NanosecondsOf(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result) {
  double bytes = Info(result).host_bytes();
  double narrow = 0;
  for (const ElementType type : operands) {
    bytes += Info(type).host_bytes();
    if (IsFloat(type) && Info(type).bits < 32) narrow += 1;
  }
  if (IsFloat(result) && Info(result).bits < 32) narrow += 1;
  return 0.02 * bytes + 0.4 * narrow + ComputingNanoseconds(kind, operands[0]);
}

/// Complex operations that the evaluator computes with the bits of compiled code.
bool HasSameBits(OpKind kind) {
  constexpr OpKind kKinds[] = {OpKind::Add,     OpKind::Subtract, OpKind::Negate,        OpKind::Multiply,
                               OpKind::Real,    OpKind::Imag,     OpKind::Complex,       OpKind::Compare,
                               OpKind::Convert, OpKind::Select,   OpKind::BitcastConvert};
  return llvm::is_contained(kKinds, kind);
}

}  // namespace

std::optional<Function> FindFunction(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result,
                                     const Attrs& attrs) {
  if (IsComplex(operands[0]) && !HasSameBits(kind) && FindMath(kind, operands[0]) == nullptr)
    return std::nullopt;
  const auto kernel = FindKernel(kind, operands, result, attrs, FindMath);
  if (!kernel) return std::nullopt;
  return Function{*kernel, NanosecondsOf(kind, operands, result)};
}

}  // namespace hlo::tile
