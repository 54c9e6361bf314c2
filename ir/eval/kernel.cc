// Choosing and running kernels.
#include "ir/eval/kernel.h"

#include <algorithm>

#include "ir/by_op_kind.h"
#include "ir/eval/kernel_loops.h"
#include "ir/numeric/narrow_float.h"
#include "ir/support/cpu_features.h"

namespace hlo {
namespace kernels {

KernelFn Pick(const Loops& loops) {
  static const bool wide = HasCpuFeatures({"avx2", "lzcnt"});
  return wide && loops.wide != nullptr ? loops.wide : loops.base;
}

KernelFn Find(llvm::ArrayRef<Row> rows, OpKind kind) {
  for (const Row& row : rows)
    if (row.kind == kind) return Pick(row.loops);
  return nullptr;
}

}  // namespace kernels

namespace {

int StorageBits(ElementType type) {
  const TypeInfo& info = Info(type);
  return info.is_packed() ? info.bits : info.host_bytes() * 8;
}

bool IsNative(ElementType type) { return type == ElementType::F32 || type == ElementType::F64; }

template <class Real>
void Flush(Real* data, int64_t n) {
  for (int64_t i = 0; i < n; ++i) data[i] = static_cast<Real>(FlushToZero(data[i]));
}

}  // namespace

class KernelFinder {
 public:
  KernelFinder(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result, const Attrs& attrs,
               FloatFunctions functions)
      : kind_(kind), operands_(operands), result_(result), attrs_(attrs), functions_(functions) {}

  std::optional<Kernel> Find() {
    if (operands_.empty() || operands_.size() > Kernel::kMaxOperands) return std::nullopt;
    kernel_.operand_count_ = static_cast<int>(operands_.size());
    llvm::copy(operands_, kernel_.operand_types_.begin());
    kernel_.result_type_ = result_;
    kernel_.param_.bits = Info(operands_[0]).bits;
    kernel_.param_.from = operands_[0];
    kernel_.param_.to = result_;
    kernel_.expensive_ = Info(kind_).category == OpCategory::Transcendental || kind_ == OpKind::Remainder;
    Choose();
    if (kernel_.fn_ == nullptr) return std::nullopt;
    return kernel_;
  }

 private:
  void Choose() {
    using Choice = void (KernelFinder::*)();
    static constexpr ByOpKind<Choice> kChoices({{OpKind::Convert, &KernelFinder::Convert},
                                                {OpKind::BitcastConvert, &KernelFinder::BitcastConvert},
                                                {OpKind::ReducePrecision, &KernelFinder::ReducePrecision},
                                                {OpKind::StochasticConvert, &KernelFinder::StochasticConvert},
                                                {OpKind::Compare, &KernelFinder::Compare},
                                                {OpKind::Select, &KernelFinder::Select}},
                                               &KernelFinder::Arithmetic);
    (this->*kChoices[kind_])();
  }

  void BitcastConvert() {
    if (StorageBits(operands_[0]) != StorageBits(result_)) return;
    kernel_.fn_ = kernels::CopyKernel(Info(result_).host_bytes());
    Wrap();
  }

  void StochasticConvert() {
    kernel_.param_.from = operands_[1];
    kernel_.widening_ = Kernel::Widening::Double;
    kernel_.widen_operand_[0] = operands_[0] != ElementType::F64;
    kernel_.fn_ = &kernels::StochasticConvert;
    Wrap();
  }

  void Wrap() { kernel_.wrap_result_ = IsIntegral(result_) && Info(result_).bits < 8; }

  /// All floating operands (and the result) in the type to compute in; that type.
  ElementType Widen(bool narrow_result) {
    bool any_double = narrow_result && result_ == ElementType::F64;
    bool any_other = narrow_result && IsFloat(result_) && !IsNative(result_);
    bool differ = false;
    for (ElementType type : operands_) {
      if (!IsFloat(type)) continue;
      // Functions of F16 in float would show the double rounding; those of BF16 and F8 do not.
      any_double |= type == ElementType::F64 || (type == ElementType::F16 && kernel_.expensive_);
      // Quotients of narrower types come close to the middle of two numbers.
      any_double |= kind_ == OpKind::Atan2 && type != ElementType::F32;
      any_other |= !IsNative(type);
      differ |= type != operands_.back();
    }
    const ElementType compute = any_double ? ElementType::F64 : ElementType::F32;
    if (!any_other && !differ && (!narrow_result || !IsFloat(result_) || result_ == compute)) return compute;
    kernel_.widening_ = any_double ? Kernel::Widening::Double : Kernel::Widening::Float;
    for (size_t i = 0; i < operands_.size(); ++i)
      kernel_.widen_operand_[i] = IsFloat(operands_[i]) && operands_[i] != compute;
    kernel_.narrow_result_ = narrow_result && IsFloat(result_) && result_ != compute;
    return compute;
  }

  void Arithmetic() {
    const ElementType type = operands_[0];
    if (IsComplex(type)) {
      if (functions_ != nullptr) kernel_.fn_ = functions_(kind_, type);
      if (kernel_.fn_ == nullptr) kernel_.fn_ = kernels::ComplexKernel(kind_, type);
      return;
    }
    if (IsFloat(type)) {
      const ElementType compute = Widen(/*narrow_result=*/IsFloat(result_));
      if (functions_ != nullptr) kernel_.fn_ = functions_(kind_, compute);
      if (kernel_.fn_ == nullptr)
        kernel_.fn_ =
            kind_ == OpKind::Clamp ? kernels::ClampKernel(compute) : kernels::FloatKernel(kind_, compute);
      kernel_.flush_ = Info(kind_).Is(kFlushing) && result_ == ElementType::F8E8M0FNU;
      return;
    }
    kernel_.fn_ = kind_ == OpKind::Clamp ? kernels::ClampKernel(type) : kernels::IntegerKernel(kind_, type);
    Wrap();
  }

  void Convert() {
    const ElementType from = operands_[0];
    kernel_.param_.bits = Info(result_).bits;
    Wrap();
    if (!IsFloat(result_) || IsNative(result_)) {
      const bool from_codes = from == ElementType::F4E2M1FN && IsIntegral(result_);
      const ElementType compute = IsFloat(from) && !from_codes ? Widen(/*narrow_result=*/false) : from;
      kernel_.fn_ = kernels::ConvertKernel(compute, result_);
      return;
    }
    // To a narrow float: through float or double without rounding, then one rounding. BF16 and E8M0
    // are reached through float (errata A10, A11).
    if (IsFloat(from)) {
      // XLA goes by way of F32 with flushing, and 0 is no E8M0 value.
      kernel_.flush_ = from == ElementType::F64 && result_ == ElementType::F8E8M0FNU;
      kernel_.fn_ = kernels::CopyKernel(Info(Widen(/*narrow_result=*/true)).host_bytes());
      return;
    }
    const bool via_float = result_ == ElementType::BF16 || result_ == ElementType::F8E8M0FNU;
    const bool is_long = !IsComplex(from) && Info(from).bits == 64;
    if (is_long && !via_float) {
      kernel_.fn_ = kernels::LongToNarrowKernel(from);
      return;
    }
    const bool as_float = from == ElementType::C64 || (via_float && from != ElementType::C128);
    kernel_.widening_ = as_float ? Kernel::Widening::Float : Kernel::Widening::Double;
    kernel_.narrow_result_ = true;
    kernel_.fn_ = kernels::ConvertKernel(from, as_float ? ElementType::F32 : ElementType::F64);
  }

  void ReducePrecision() {
    const auto* attrs = attrs_.GetIf<ReducePrecisionAttrs>();
    if (attrs == nullptr || !IsFloat(operands_[0])) return;
    constexpr int64_t kNoEffect = 64;  // no type has more bits
    kernel_.param_.exponent_bits = static_cast<int>(std::min(attrs->exponent_bits, kNoEffect));
    kernel_.param_.mantissa_bits = static_cast<int>(std::min(attrs->mantissa_bits, kNoEffect));
    kernel_.fn_ = kernels::ReducePrecisionKernel(operands_[0]);
  }

  void Compare() {
    const auto* attrs = attrs_.GetIf<CompareAttrs>();
    if (attrs == nullptr) return;
    Direction direction = attrs->direction;
    if (direction == Direction::GT || direction == Direction::GE) {
      kernel_.swap_ = true;
      direction = direction == Direction::GT ? Direction::LT : Direction::LE;
    }
    const ElementType type = operands_[0];
    if (IsFloat(type) && attrs->type == CompareType::TotalOrder && llvm::all_equal(operands_)) {
      kernel_.fn_ = kernels::TotalOrderKernel(type, direction);
      return;
    }
    kernel_.fn_ = kernels::CompareKernel(IsFloat(type) ? Widen(/*narrow_result=*/false) : type, direction);
  }

  void Select() {
    if (operands_[1] == result_ && operands_[2] == result_) {
      kernel_.fn_ = kernels::SelectKernel(Info(result_).host_bytes());
    } else if (IsFloat(operands_[1]) && IsFloat(operands_[2]) && IsFloat(result_)) {
      kernel_.fn_ = kernels::SelectKernel(Info(Widen(/*narrow_result=*/true)).host_bytes());
    }
  }

  OpKind kind_;
  llvm::ArrayRef<ElementType> operands_;
  ElementType result_;
  const Attrs& attrs_;
  FloatFunctions functions_;
  Kernel kernel_;
};

void Kernel::RunBlock(void* out, const void* const* in, int64_t n) const {
  alignas(64) std::array<std::array<double, kBlock>, kMaxOperands> wide;
  alignas(64) std::array<double, kBlock> wide_out;
  std::array<const void*, kMaxOperands> source{};
  const auto count = static_cast<size_t>(n);
  const bool as_double = widening_ == Widening::Double;
  for (int k = 0; k < operand_count_; ++k) {
    const auto i = static_cast<size_t>(k);
    source[i] = in[k];
    if (!widen_operand_[i]) continue;
    double* buffer = wide[i].data();
    source[i] = buffer;
    if (as_double) {
      WidenToDouble(operand_types_[i], in[k], buffer, count);
      if (flush_) Flush(buffer, n);
    } else {
      WidenToFloat(operand_types_[i], in[k], reinterpret_cast<float*>(buffer), count);
      if (flush_) Flush(reinterpret_cast<float*>(buffer), n);
    }
  }
  if (swap_) std::swap(source[0], source[1]);
  fn_(narrow_result_ ? wide_out.data() : out, source.data(), n, param_);
  if (!narrow_result_) return;
  if (as_double) {
    if (flush_) Flush(wide_out.data(), n);
    NarrowFromDouble(result_type_, wide_out.data(), out, count);
  } else {
    auto* floats = reinterpret_cast<float*>(wide_out.data());
    if (flush_) Flush(floats, n);
    NarrowFromFloat(result_type_, floats, out, count);
  }
}

void Kernel::Run(void* out, const void* const* in, int64_t n) const {
  if (widening_ == Widening::None && !wrap_result_) {
    const void* swapped[kMaxOperands] = {in[0], in[0], nullptr};
    if (swap_) swapped[0] = in[1];
    fn_(out, swap_ ? swapped : in, n, param_);
    return;
  }
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t m = std::min(kBlock, n - begin);
    std::array<const void*, kMaxOperands> source{};
    for (int k = 0; k < operand_count_; ++k) {
      const auto i = static_cast<size_t>(k);
      source[i] = static_cast<const uint8_t*>(in[k]) + begin * Info(operand_types_[i]).host_bytes();
    }
    void* target = static_cast<uint8_t*>(out) + begin * Info(result_type_).host_bytes();
    RunBlock(target, source.data(), m);
    if (!wrap_result_) continue;
    if (IsSigned(result_type_))
      kernels::WrapSigned(static_cast<int8_t*>(target), m, Info(result_type_).bits);
    else
      kernels::WrapUnsigned(static_cast<uint8_t*>(target), m, Info(result_type_).bits);
  }
}

std::optional<Kernel> FindKernel(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result,
                                 const Attrs& attrs, FloatFunctions functions) {
  return KernelFinder(kind, operands, result, attrs, functions).Find();
}

std::optional<Kernel> FindKernel(const Instruction& inst) {
  if (!inst.shape().IsArray()) return std::nullopt;
  llvm::SmallVector<ElementType, 3> types;
  for (const Instruction* operand : inst.operands()) {
    if (!operand->shape().IsArray()) return std::nullopt;
    types.push_back(operand->shape().element_type());
  }
  return FindKernel(inst.kind(), types, inst.shape().element_type(), inst.attrs());
}

}  // namespace hlo
