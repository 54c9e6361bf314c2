// Kernels of complex<float> and complex<double>.
#include "ir/eval/kernel_loops.h"
#include "ir/numeric/complex_math.h"

namespace hlo::kernels {
namespace {

struct Add {
  template <class C>
  static C Apply(C a, C b) {
    return {a.real() + b.real(), a.imag() + b.imag()};
  }
};
struct Subtract {
  template <class C>
  static C Apply(C a, C b) {
    return {a.real() - b.real(), a.imag() - b.imag()};
  }
};
struct Negate {
  template <class C>
  static C Apply(C a) {
    return {-a.real(), -a.imag()};
  }
};
struct Real {
  template <class C>
  static typename C::value_type Apply(C a) {
    return a.real();
  }
};
struct Imag {
  template <class C>
  static typename C::value_type Apply(C a) {
    return a.imag();
  }
};
struct Abs {
  template <class C>
  static typename C::value_type Apply(C a) {
    return math::Abs(a);
  }
};
struct Multiply {
  template <class C>
  static C Apply(C a, C b) {
    return math::Multiply(a, b);
  }
};
struct Divide {
  template <class C>
  static C Apply(C a, C b) {
    return math::Divide(a, b);
  }
};
struct Maximum {
  template <class C>
  static C Apply(C a, C b) {
    return math::Maximum(a, b);
  }
};
struct Minimum {
  template <class C>
  static C Apply(C a, C b) {
    return math::Minimum(a, b);
  }
};
struct Power {
  template <class C>
  static C Apply(C a, C b) {
    return math::Pow(a, b);
  }
};
struct Atan2 {
  template <class C>
  static C Apply(C a, C b) {
    return math::Atan2(a, b);
  }
};

#define HLO_RealOnly(Kind)
#define HLO_Evaluated(Kind) \
  struct Kind {             \
    template <class C>      \
    static C Apply(C a) {   \
      return math::Kind(a); \
    }                       \
  };
#define HLO_Compiled(Kind)                 HLO_Evaluated(Kind)
#define HLO_FUNCTION(Kind, Loops, Complex) HLO_##Complex(Kind)
#include "ir/numeric/functions.def"
HLO_Evaluated(Sign) HLO_Evaluated(Sqrt)
#undef HLO_Evaluated

    template <class C>
    llvm::ArrayRef<Row> Rows() {
  using T = typename C::value_type;
  static constexpr Row kRows[] = {
      {OpKind::Add, Scalar<Add, C, C, C>()},
      {OpKind::Subtract, Scalar<Subtract, C, C, C>()},
      {OpKind::Negate, Scalar<Negate, C, C>()},
      {OpKind::Real, Scalar<Real, T, C>()},
      {OpKind::Imag, Scalar<Imag, T, C>()},
      {OpKind::Abs, Scalar<Abs, T, C>()},
      {OpKind::Multiply, Scalar<Multiply, C, C, C>()},
      {OpKind::Divide, Scalar<Divide, C, C, C>()},
      {OpKind::Maximum, Scalar<Maximum, C, C, C>()},
      {OpKind::Minimum, Scalar<Minimum, C, C, C>()},
      {OpKind::Power, Scalar<Power, C, C, C>()},
      {OpKind::Atan2, Scalar<Atan2, C, C, C>()},
      {OpKind::Sign, Scalar<Sign, C, C>()},
      {OpKind::Sqrt, Scalar<Sqrt, C, C>()},
#define HLO_Evaluated(Kind)                {OpKind::Kind, Scalar<Kind, C, C>()},
#define HLO_FUNCTION(Kind, Loops, Complex) HLO_##Complex(Kind)
#include "ir/numeric/functions.def"
#undef HLO_RealOnly
#undef HLO_Evaluated
#undef HLO_Compiled
  };
  return kRows;
}

}  // namespace

KernelFn ComplexKernel(OpKind kind, ElementType type) {
  return type == ElementType::C128 ? Find(Rows<std::complex<double>>(), kind)
                                   : Find(Rows<std::complex<float>>(), kind);
}

}  // namespace hlo::kernels
