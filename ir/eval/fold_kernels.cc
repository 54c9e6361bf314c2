#include "ir/eval/fold_kernels.h"

#include <bit>
#include <limits>
#include <type_traits>

#include "ir/eval/compute_type.h"
#include "ir/numeric/narrow_float.h"
#include "ir/support/cpu_features.h"

namespace hlo {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

struct AddOp {
  template <class T>
  static constexpr T kIdentity = std::is_floating_point_v<T> ? static_cast<T>(-0.0) : T(0);
  template <class T>
  static T Apply(T a, T b) {
    return a + b;
  }
};
struct MultiplyOp {
  template <class T>
  static constexpr T kIdentity = T(1);
  template <class T>
  static T Apply(T a, T b) {
    return a * b;
  }
};
/// NaN wins, -0 < +0.
struct MaximumOp {
  template <class T>
  static constexpr T kIdentity =
      std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  template <class T>
  static T Apply(T a, T b) {
    T m = a > b ? a : b;
    if constexpr (std::is_floating_point_v<T>) {
      const T both = std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) & std::bit_cast<BitsOf<T>>(b));
      m = a == b ? both : m;
      m = a != a ? a : m;
    }
    return m;
  }
};
struct MinimumOp {
  template <class T>
  static constexpr T kIdentity =
      std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  template <class T>
  static T Apply(T a, T b) {
    T m = a < b ? a : b;
    if constexpr (std::is_floating_point_v<T>) {
      const T either = std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) | std::bit_cast<BitsOf<T>>(b));
      m = a == b ? either : m;
      m = a != a ? a : m;
    }
    return m;
  }
};
struct AndOp {
  template <class T>
  static constexpr T kIdentity = static_cast<T>(~T(0));
  template <class T>
  static T Apply(T a, T b) {
    return a & b;
  }
};
struct OrOp {
  template <class T>
  static constexpr T kIdentity = T(0);
  template <class T>
  static T Apply(T a, T b) {
    return a | b;
  }
};
struct XorOp {
  template <class T>
  static constexpr T kIdentity = T(0);
  template <class T>
  static T Apply(T a, T b) {
    return a ^ b;
  }
};

constexpr int kLanes = 32;

template <class Op, class S, class A>
[[gnu::always_inline]] inline void RowBody(void* acc, const void* x, int64_t n) {
  auto* a = static_cast<A*>(acc);
  const auto* s = static_cast<const S*>(x);
  for (int64_t j = 0; j < n; ++j) a[j] = Op::template Apply<A>(a[j], static_cast<A>(s[j]));
}

template <class Op, class S, class A>
[[gnu::always_inline]] inline void RunBody(void* acc, const void* x, int64_t n) {
  const auto* s = static_cast<const S*>(x);
  A total = *static_cast<A*>(acc);
  int64_t i = 0;
  if (n >= kLanes) {
    A lanes[kLanes];
    for (A& lane : lanes) lane = Op::template kIdentity<A>;
    for (; i + kLanes <= n; i += kLanes)
      for (int l = 0; l < kLanes; ++l) lanes[l] = Op::template Apply<A>(lanes[l], static_cast<A>(s[i + l]));
    for (int width = kLanes / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) lanes[l] = Op::template Apply<A>(lanes[l], lanes[l + width]);
    total = Op::template Apply<A>(total, lanes[0]);
  }
  for (; i < n; ++i) total = Op::template Apply<A>(total, static_cast<A>(s[i]));
  *static_cast<A*>(acc) = total;
}

// The same code for two instruction sets; without contraction into FMA the results are the same.
template <class Op, class S, class A>
struct Baseline {
  static void Row(void* acc, const void* x, int64_t n) { RowBody<Op, S, A>(acc, x, n); }
  static void Run(void* acc, const void* x, int64_t n) { RunBody<Op, S, A>(acc, x, n); }
};
#if defined(__x86_64__)
template <class Op, class S, class A>
struct Avx2 {
  [[gnu::target("avx2")]] static void Row(void* acc, const void* x, int64_t n) {
    RowBody<Op, S, A>(acc, x, n);
  }
  [[gnu::target("avx2")]] static void Run(void* acc, const void* x, int64_t n) {
    RunBody<Op, S, A>(acc, x, n);
  }
};

bool HasAvx2() {
  static const bool has = HasCpuFeatures({"avx2"});
  return has;
}
#endif

template <class Op, class T>
void FoldRunSequential(void* acc, const void* x, int64_t n) {
  T total = *static_cast<T*>(acc);
  for (int64_t i = 0; i < n; ++i) total = Op::template Apply<T>(total, static_cast<const T*>(x)[i]);
  *static_cast<T*>(acc) = total;
}

template <class Op, class A>
void Clear(void* acc, int64_t n) {
  std::fill_n(static_cast<A*>(acc), n, Op::template kIdentity<A>);
}

template <class Op, class S, class A>
FoldKernels Make(ElementType source, ElementType accumulator) {
#if defined(__x86_64__)
  if (HasAvx2())
    return {source,        accumulator, &Avx2<Op, S, A>::Row, &Avx2<Op, S, A>::Run, &Avx2<Op, A, A>::Row,
            &Clear<Op, A>, false};
#endif
  return {source,
          accumulator,
          &Baseline<Op, S, A>::Row,
          &Baseline<Op, S, A>::Run,
          &Baseline<Op, A, A>::Row,
          &Clear<Op, A>,
          false};
}
template <class T>
FoldKernels MakeProduct(ElementType type) {
  FoldKernels kernels = Make<MultiplyOp, T, T>(type, type);
  kernels.run = &FoldRunSequential<MultiplyOp, T>;
  kernels.sequential = true;
  return kernels;
}

struct Entry {
  OpKind op;
  FoldKernels kernels;
};
constexpr ElementType kF32 = ElementType::F32, kF64 = ElementType::F64, kS32 = ElementType::S32,
                      kU32 = ElementType::U32, kS64 = ElementType::S64, kU64 = ElementType::U64;
/// By op and source type; signedness matters to the extremes only.
llvm::ArrayRef<Entry> Entries() {
  static const Entry entries[] = {
      {OpKind::Add, Make<AddOp, float, double>(kF32, kF64)},
      {OpKind::Add, Make<AddOp, double, double>(kF64, kF64)},
      {OpKind::Add, Make<AddOp, uint32_t, uint32_t>(kU32, kU32)},
      {OpKind::Add, Make<AddOp, uint64_t, uint64_t>(kU64, kU64)},
      {OpKind::Multiply, MakeProduct<float>(kF32)},
      {OpKind::Multiply, MakeProduct<double>(kF64)},
      {OpKind::Multiply, Make<MultiplyOp, uint32_t, uint32_t>(kU32, kU32)},
      {OpKind::Multiply, Make<MultiplyOp, uint64_t, uint64_t>(kU64, kU64)},
      {OpKind::Maximum, Make<MaximumOp, float, float>(kF32, kF32)},
      {OpKind::Maximum, Make<MaximumOp, double, double>(kF64, kF64)},
      {OpKind::Maximum, Make<MaximumOp, int32_t, int32_t>(kS32, kS32)},
      {OpKind::Maximum, Make<MaximumOp, uint32_t, uint32_t>(kU32, kU32)},
      {OpKind::Maximum, Make<MaximumOp, int64_t, int64_t>(kS64, kS64)},
      {OpKind::Maximum, Make<MaximumOp, uint64_t, uint64_t>(kU64, kU64)},
      {OpKind::Minimum, Make<MinimumOp, float, float>(kF32, kF32)},
      {OpKind::Minimum, Make<MinimumOp, double, double>(kF64, kF64)},
      {OpKind::Minimum, Make<MinimumOp, int32_t, int32_t>(kS32, kS32)},
      {OpKind::Minimum, Make<MinimumOp, uint32_t, uint32_t>(kU32, kU32)},
      {OpKind::Minimum, Make<MinimumOp, int64_t, int64_t>(kS64, kS64)},
      {OpKind::Minimum, Make<MinimumOp, uint64_t, uint64_t>(kU64, kU64)},
      {OpKind::And, Make<AndOp, uint32_t, uint32_t>(kU32, kU32)},
      {OpKind::And, Make<AndOp, uint64_t, uint64_t>(kU64, kU64)},
      {OpKind::Or, Make<OrOp, uint32_t, uint32_t>(kU32, kU32)},
      {OpKind::Or, Make<OrOp, uint64_t, uint64_t>(kU64, kU64)},
      {OpKind::Xor, Make<XorOp, uint32_t, uint32_t>(kU32, kU32)},
      {OpKind::Xor, Make<XorOp, uint64_t, uint64_t>(kU64, kU64)},
  };
  return entries;
}

/// The type elements are loaded into; nothing if the op cannot be folded that way.
std::optional<ElementType> SourceType(OpKind op, ElementType type) {
  const bool extreme = op == OpKind::Maximum || op == OpKind::Minimum;
  if (IsComplex(type)) return op == OpKind::Add ? std::optional(RealPartType(type)) : std::nullopt;
  if (IsFloat(type)) {
    if (type == ElementType::F32 || type == ElementType::F64) return type;
    // The products of narrow types round at every step; E8M0 sums and extremes have their own rules.
    const bool exact = (extreme || op == OpKind::Add) && Format(type).special != FloatSpecial::E8M0;
    return exact ? std::optional(kF32) : std::nullopt;
  }
  if (IsPred(type) && (op == OpKind::Add || op == OpKind::Multiply)) return std::nullopt;
  if (Info(type).bits > 32) return extreme && IsSigned(type) ? kS64 : kU64;
  return extreme && IsSigned(type) ? kS32 : kU32;
}

bool IsStoredAsSource(ElementType type, ElementType source) {
  const TypeInfo& info = Info(RealPartType(type));
  return info.bits == Info(source).bits && (info.type_class == TypeClass::Float) == IsFloat(source);
}

template <class F>
decltype(auto) VisitSource(ElementType source, F&& f) {
  if (source == kF32) return f(float{});
  if (source == kF64) return f(double{});
  return Info(source).bits == 64 ? f(uint64_t{}) : f(uint32_t{});
}

}  // namespace

const FoldKernels* FindFoldKernels(OpKind op, ElementType type) {
  const auto source = SourceType(op, type);
  if (!source) return nullptr;
  for (const Entry& entry : Entries())
    if (entry.op == op && entry.kernels.source == *source) return &entry.kernels;
  return nullptr;
}

const void* LoadForFold(const FoldKernels& kernels, ElementType type, const void* elements, int64_t n,
                        void* scratch) {
  const ElementType real = RealPartType(type);
  if (IsStoredAsSource(real, kernels.source)) return elements;
  VisitSource(kernels.source, [&](auto tag) {
    using T = decltype(tag);
    ConvertToCompute<T>(real, elements, kernels.source, n, static_cast<T*>(scratch));
  });
  return scratch;
}

void StoreFolded(const FoldKernels& kernels, const void* acc, ElementType type, int64_t n, void* elements) {
  VisitSource(kernels.accumulator, [&](auto tag) {
    using T = decltype(tag);
    ConvertFromCompute<T>(static_cast<const T*>(acc), RealPartType(type), n, elements);
  });
}

void LoadAccumulators(const FoldKernels& kernels, ElementType type, const void* elements, int64_t n,
                      void* acc) {
  VisitSource(kernels.accumulator, [&](auto tag) {
    using T = decltype(tag);
    ConvertToCompute<T>(RealPartType(type), elements, kernels.accumulator, n, static_cast<T*>(acc));
  });
}

}  // namespace hlo
