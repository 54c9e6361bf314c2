#include <cstring>
#include <limits>

#include "backends/kernel/interpret.h"
#include "ir/eval/kernel.h"
#include "ir/numeric/narrow_float.h"

namespace hlo::kernel {

std::optional<std::array<uint8_t, 16>> NeutralElement(OpKind op, ElementType type) {
  std::array<uint8_t, 16> element{};
  if (type == ElementType::F8E8M0FNU) return std::nullopt;
  if (IsComplex(type)) {
    if (op != OpKind::Add) return std::nullopt;
    const auto part = *NeutralElement(op, RealPartType(type));
    const auto width = static_cast<size_t>(Info(type).host_bytes()) / 2;
    for (size_t i = 0; i < 2; ++i) std::memcpy(element.data() + i * width, part.data(), width);
    return element;
  }
  if (IsFloat(type)) {
    // Types without infinities would make NaN of one.
    const double most = HasInfinity(type) ? std::numeric_limits<double>::infinity() : MaxFinite(type);
    const double value = op == OpKind::Add        ? -0.0
                         : op == OpKind::Multiply ? 1
                         : op == OpKind::Maximum  ? -most
                                                  : most;
    const void* in = &value;
    FindKernel(OpKind::Convert, ElementType::F64, type)->Run(element.data(), &in, 1);
    return element;
  }
  const auto bits = static_cast<unsigned>(Info(type).bits);
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t top = IsSigned(type) ? uint64_t{1} << (bits - 1) : 0;
  uint64_t value = 0;
  if (op == OpKind::Multiply) value = 1;
  if (op == OpKind::And) value = ones;
  if (op == OpKind::Minimum) value = ones ^ top;
  if (op == OpKind::Maximum) value = top;
  // Narrow integers are stored with their sign.
  if (IsSigned(type) && (value & top) != 0) value |= ~ones;
  std::memcpy(element.data(), &value, static_cast<size_t>(Info(type).host_bytes()));
  return element;
}

}  // namespace hlo::kernel
