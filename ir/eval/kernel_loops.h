// Loops over elements from functions of one element, compiled for more than one instruction set.
#pragma once
#include <complex>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ir/eval/kernel.h"

namespace hlo::kernels {

/// The same loop for the least and for a common better processor; results are bit for bit the same.
/// No `wide` version: it would not be faster.
struct Loops {
  KernelFn base = nullptr;
  KernelFn wide = nullptr;
};
/// The version for this processor.
KernelFn Pick(const Loops& loops);

struct Row {
  OpKind kind;
  Loops loops;
};
/// The version for this processor of the row of `kind`; null if there is none.
KernelFn Find(llvm::ArrayRef<Row> rows, OpKind kind);

/// Op::Apply(a, b, …) or Op::Apply(a, b, …, param).
template <class Op, class... In>
[[gnu::always_inline]] inline auto ApplyTo(const KernelParam& param, In... in) {
  if constexpr (requires { Op::Apply(in..., param); })
    return Op::Apply(in..., param);
  else
    return Op::Apply(in...);
}

// `out` may be one of the inputs, hence assume_safety where loops are meant to be vectorised: element i
// is read before it is written and nothing else depends on it.
#define HLO_ELEMENTS(...)                                                                 \
  if constexpr (kVectorise) {                                                             \
    _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = 0; i < n; ++i) o[i] = \
        ApplyTo<Op>(param, __VA_ARGS__);                                                  \
  } else {                                                                                \
    for (int64_t i = 0; i < n; ++i) o[i] = ApplyTo<Op>(param, __VA_ARGS__);               \
  }
template <bool kVectorise, class Op, class Out, class... In>
[[gnu::always_inline]] inline void Loop(void* out, const void* const* in, int64_t n,
                                        const KernelParam& shared) {
  const KernelParam param = shared;
  using Types = std::tuple<In...>;
  auto* o = static_cast<Out*>(out);
  const auto* a = static_cast<const std::tuple_element_t<0, Types>*>(in[0]);
  if constexpr (sizeof...(In) == 1) {
    HLO_ELEMENTS(a[i])
  } else {
    const auto* b = static_cast<const std::tuple_element_t<1, Types>*>(in[1]);
    if constexpr (sizeof...(In) == 2) {
      HLO_ELEMENTS(a[i], b[i])
    } else {
      const auto* c = static_cast<const std::tuple_element_t<2, Types>*>(in[2]);
      HLO_ELEMENTS(a[i], b[i], c[i])
    }
  }
}
#undef HLO_ELEMENTS

template <class Op, class Out, class... In>
void BaseLoop(void* out, const void* const* in, int64_t n, const KernelParam& param) {
  Loop<false, Op, Out, In...>(out, in, n, param);
}

#if defined(__x86_64__)
#define HLO_WIDE __attribute__((target("avx2,lzcnt,popcnt")))
#else
#define HLO_WIDE
#endif
template <class Op, class Out, class... In>
HLO_WIDE void WideLoop(void* out, const void* const* in, int64_t n, const KernelParam& param) {
  Loop<true, Op, Out, In...>(out, in, n, param);
}

/// For ops that compilers vectorise.
template <class Op, class Out, class... In>
constexpr Loops Vector() {
#if defined(__x86_64__)
  return {&BaseLoop<Op, Out, In...>, &WideLoop<Op, Out, In...>};
#else
  return {&WideLoop<Op, Out, In...>, nullptr};
#endif
}
/// For ops that call functions or divide.
template <class Op, class Out, class... In>
constexpr Loops Scalar() {
  return {&BaseLoop<Op, Out, In...>, nullptr};
}

// Kernels by op and native type (integers and floats at their storage width, complex); null if there
// is none. Sub-byte integers and PRED use the 8-bit ones.
KernelFn IntegerKernel(OpKind kind, ElementType type);
KernelFn FloatKernel(OpKind kind, ElementType type);
KernelFn ComplexKernel(OpKind kind, ElementType type);
/// Compare EQ, NE, LT or LE of elements of a native type.
KernelFn CompareKernel(ElementType type, Direction direction);
/// The same in total order; narrow floats by KernelParam::from.
KernelFn TotalOrderKernel(ElementType type, Direction direction);
/// Select among elements of `width` bytes.
KernelFn SelectKernel(int width);
KernelFn ClampKernel(ElementType type);
/// Between native types, PRED as U8 source; integers to integers truncate, floats to integers saturate
/// to KernelParam::bits bits. F4E2M1FN only to integers; other narrow floats are widened before.
KernelFn ConvertKernel(ElementType from, ElementType to);
/// 64-bit integers to narrow floats in one rounding (KernelParam::to).
KernelFn LongToNarrowKernel(ElementType from);
KernelFn CopyKernel(int width);
KernelFn ReducePrecisionKernel(ElementType type);
/// stochastic-convert from double and random bits (KernelParam::from) to a signed integer (to).
void StochasticConvert(void* out, const void* const* in, int64_t n, const KernelParam& param);
/// Brings 8-bit integers back to `bits` bits.
void WrapSigned(int8_t* data, int64_t n, int bits);
void WrapUnsigned(uint8_t* data, int64_t n, int bits);

}  // namespace hlo::kernels
