// Kernels of float and double, in which all real floating types compute.
#include <cmath>
#include <limits>

#include "ir/eval/float_functions.h"
#include "ir/eval/kernel_loops.h"
#include "ir/numeric/math.h"

namespace hlo::kernels {
namespace {

// Functions that the compiler turns into vector instructions.
struct Add {
  template <class T>
  static T Apply(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T Apply(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T Apply(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T Apply(T a, T b) {
    return a / b;
  }
};
struct Maximum {
  template <class T>
  static T Apply(T a, T b) {
    return math::Maximum(a, b);
  }
};
struct Minimum {
  template <class T>
  static T Apply(T a, T b) {
    return math::Minimum(a, b);
  }
};
struct Negate {
  template <class T>
  static T Apply(T a) {
    return -a;
  }
};
struct Abs {
  template <class T>
  static T Apply(T a) {
    return std::fabs(a);
  }
};
struct Ceil {
  template <class T>
  static T Apply(T a) {
    return std::ceil(a);
  }
};
struct Floor {
  template <class T>
  static T Apply(T a) {
    return std::floor(a);
  }
};
struct RoundNearestEven {
  template <class T>
  static T Apply(T a) {
    return std::nearbyint(a);
  }
};
struct RoundNearestAfz {
  template <class T>
  static T Apply(T a) {
    const T whole = std::trunc(a);
    const T up = std::fabs(a - whole) >= T(0.5) ? T(1) : T(0);
    return std::copysign(std::fabs(whole) + up, a);
  }
};
struct Sign {
  template <class T>
  static T Apply(T a) {
    return math::Sign(a);
  }
};
// math::Sqrt and math::Rsqrt by the instruction: std::sqrt may set errno, which bars vectors.
struct Sqrt {
  template <class T>
  static T Apply(T a) {
    const T root = __builtin_elementwise_sqrt(a);
    return a < 0 && a > -std::numeric_limits<T>::min() ? -T{0} : root;
  }
};
struct Rsqrt {
  template <class T>
  static T Apply(T a) {
    return static_cast<T>(1.0 / __builtin_elementwise_sqrt(static_cast<double>(a)));
  }
};
struct IsFinite {
  template <class T>
  static uint8_t Apply(T a) {
    return std::fabs(a) < std::numeric_limits<T>::infinity();
  }
};
struct Real {
  template <class T>
  static T Apply(T a) {
    return a;
  }
};
struct Imag {
  template <class T>
  static T Apply(T) {
    return T(0);
  }
};
struct MakeComplex {
  template <class T>
  static std::complex<T> Apply(T re, T im) {
    return {re, im};
  }
};
struct Remainder {
  template <class T>
  static T Apply(T a, T b) {
    return math::Remainder(a, b);
  }
};
struct Power {
  template <class T>
  static T Apply(T a, T b) {
    return math::Pow(a, b);
  }
};
struct Atan2 {
  template <class T>
  static T Apply(T a, T b) {
    return math::Atan2(a, b);
  }
};

#define HLO_Own(Kind)
#define HLO_Called(Kind)    \
  struct Kind {             \
    template <class T>      \
    static T Apply(T a) {   \
      return math::Kind(a); \
    }                       \
  };
#define HLO_Fast(Kind)                                         \
  struct Kind {                                                \
    static float Apply(float a) { return FastFloat::Kind(a); } \
    static double Apply(double a) { return math::Kind(a); }    \
  };
#define HLO_FUNCTION(Kind, Loops, Complex) HLO_##Loops(Kind)
#include "ir/numeric/functions.def"
#undef HLO_Own
#undef HLO_Called
#undef HLO_Fast

template <class Op, class T>
constexpr Loops Fast() {
  if constexpr (std::is_same_v<T, float>)
    return Vector<Op, T, T>();
  else
    return Scalar<Op, T, T>();
}

template <class T>
llvm::ArrayRef<Row> Rows() {
  static constexpr Row kRows[] = {
      {OpKind::Add, Vector<Add, T, T, T>()},
      {OpKind::Subtract, Vector<Subtract, T, T, T>()},
      {OpKind::Multiply, Vector<Multiply, T, T, T>()},
      {OpKind::Divide, Vector<Divide, T, T, T>()},
      {OpKind::Maximum, Vector<Maximum, T, T, T>()},
      {OpKind::Minimum, Vector<Minimum, T, T, T>()},
      {OpKind::Negate, Vector<Negate, T, T>()},
      {OpKind::Abs, Vector<Abs, T, T>()},
      {OpKind::Ceil, Vector<Ceil, T, T>()},
      {OpKind::Floor, Vector<Floor, T, T>()},
      {OpKind::RoundNearestEven, Vector<RoundNearestEven, T, T>()},
      {OpKind::RoundNearestAfz, Vector<RoundNearestAfz, T, T>()},
      {OpKind::Sign, Vector<Sign, T, T>()},
      {OpKind::Sqrt, Vector<Sqrt, T, T>()},
      {OpKind::Rsqrt, Vector<Rsqrt, T, T>()},
      {OpKind::IsFinite, Vector<IsFinite, uint8_t, T>()},
      {OpKind::Real, Scalar<Real, T, T>()},
      {OpKind::Imag, Scalar<Imag, T, T>()},
      {OpKind::Complex, Scalar<MakeComplex, std::complex<T>, T, T>()},
      {OpKind::Remainder, Scalar<Remainder, T, T, T>()},
      {OpKind::Power, Scalar<Power, T, T, T>()},
      {OpKind::Atan2, Scalar<Atan2, T, T, T>()},
#define HLO_Own(Kind)
#define HLO_Called(Kind)                   {OpKind::Kind, Scalar<Kind, T, T>()},
#define HLO_Fast(Kind)                     {OpKind::Kind, Fast<Kind, T>()},
#define HLO_FUNCTION(Kind, Loops, Complex) HLO_##Loops(Kind)
#include "ir/numeric/functions.def"
#undef HLO_Own
#undef HLO_Called
#undef HLO_Fast
  };
  return kRows;
}

}  // namespace

KernelFn FloatKernel(OpKind kind, ElementType type) {
  return type == ElementType::F64 ? Find(Rows<double>(), kind) : Find(Rows<float>(), kind);
}

}  // namespace hlo::kernels
