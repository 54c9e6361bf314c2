#include "tools/testing/value_sets.h"

#include <cmath>

#include "ir/numeric/narrow_float.h"

namespace hlo::testing {
namespace {

/// Codes of a type that is not complex, sign-extended for signed types.
std::vector<uint64_t> SpecialCodes(ElementType type) {
  const int bits = Info(type).bits;
  if (IsPred(type)) return {0, 1};
  if (IsFloat(type)) {
    std::vector<uint64_t> codes;
    for (const double value : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 1.5, 0.1, 100.0, -7.25,
                               HUGE_VAL, -HUGE_VAL, std::nan("")})
      codes.push_back(FromDouble(type, value));
    const uint64_t all = ~uint64_t{0} >> (64 - bits),
                   mantissa = (uint64_t{1} << Info(type).mantissa_bits) - 1;
    const uint64_t exponent = (uint64_t{1} << Info(type).exponent_bits) - 1;
    const uint64_t top = (exponent - 1) << Info(type).mantissa_bits | mantissa;  // largest or next to it
    // The smallest and largest denormal, the smallest normal number, the largest numbers, both signs.
    for (const uint64_t code : {uint64_t{1}, mantissa, mantissa + 1, top, top + 1})
      for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << (bits - 1)})
        codes.push_back((code | sign) & all);
    return codes;
  }
  const uint64_t min = IsSigned(type) ? uint64_t{1} << (bits - 1) : 0;
  const uint64_t max = (~uint64_t{0} >> (64 - bits)) ^ min;
  std::vector<uint64_t> codes;
  for (const uint64_t code :
       {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{2}, uint64_t{3}, ~uint64_t{1}, min, min + 1, max,
        max - 1, uint64_t{7}, uint64_t{8}, max / 2, max / 2 + 1, uint64_t{100}, ~uint64_t{100}})
    codes.push_back(code);
  return codes;
}

/// Bits above the type's width as unpacked storage has them.
uint64_t Extended(ElementType type, uint64_t code) {
  const int unused = 64 - Info(type).bits;
  const uint64_t shifted = code << unused;
  return IsSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(shifted) >> unused) : shifted >> unused;
}

}  // namespace

uint64_t Random::Next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t x = state_;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

ValueSet::ValueSet(ElementType type) : type_(type) {
  const ElementType part = RealPartType(type);
  const std::vector<uint64_t> codes = SpecialCodes(part);
  if (!IsComplex(type)) {
    for (const uint64_t code : codes) special_.push_back({Extended(part, code), 0});
    return;
  }
  for (size_t i = 0; i < codes.size(); ++i) {
    special_.push_back({codes[i], codes[(i * 7 + 3) % codes.size()]});
    special_.push_back({codes[i], 0});
  }
}

int64_t ValueSet::code_count() const {
  const int bits = Info(type_).bits;
  return bits <= 16 ? int64_t{1} << bits : 0;
}

Element ValueSet::Code(int64_t code) const { return {Extended(type_, static_cast<uint64_t>(code)), 0}; }

uint64_t ValueSet::DrawPart(Random& random) const {
  const ElementType part = RealPartType(type_);
  const uint64_t bits = random.Next();
  if (random.Below(2) == 0) return Extended(part, bits);  // any code
  if (!IsFloat(part)) return Extended(part, static_cast<uint64_t>(random.Below(41) - 20));
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
  if (random.Below(4) == 0) return FromDouble(part, std::floor(unit * 33) - 16);
  return FromDouble(part, (unit * 2 - 1) * std::ldexp(1.0, static_cast<int>(random.Below(9)) - 4));
}

Element ValueSet::Draw(Random& random) const {
  if (random.Below(4) == 0) return special_[static_cast<size_t>(random.Below(std::ssize(special_)))];
  if (IsPred(type_)) return {random.Next() & 1, 0};
  const uint64_t low = DrawPart(random);
  return {low, IsComplex(type_) ? DrawPart(random) : 0};
}

void SetElement(Literal& literal, int64_t i, const Element& element) {
  const ElementType type = literal.shape().element_type();
  if (!IsComplex(type)) return literal.SetBits(i, element.low);
  const auto width = static_cast<size_t>(Info(RealPartType(type)).host_bytes());
  uint8_t* at = literal.MutableData() + static_cast<size_t>(i) * 2 * width;
  std::memcpy(at, &element.low, width);
  std::memcpy(at + width, &element.high, width);
}

Combinations PlanCombinations(llvm::ArrayRef<ElementType> types, int64_t limit, int64_t samples) {
  int64_t all = 1, special = 1;
  for (const ElementType type : types) {
    const ValueSet set(type);
    const int64_t codes = set.code_count();
    all = codes == 0 || all > limit ? limit + 1 : all * codes;
    special = special > limit ? special : special * std::ssize(set.special());
  }
  if (all <= limit) return {all, true};
  return {std::min(samples, std::max<int64_t>(4096, 4 * special)), false};
}

std::vector<Literal> MakeCombinations(llvm::ArrayRef<Shape> shapes, const Combinations& plan, uint64_t seed) {
  Random random(seed);
  std::vector<Literal> arrays;
  int64_t period = 1;  // of this operand's values
  for (const Shape& shape : shapes) {
    Literal array = Literal::Zeros(shape);
    const ValueSet set(shape.element_type());
    const int64_t choices = plan.exhaustive ? set.code_count() : std::ssize(set.special());
    // The combinations of special values come first, as far as they fit.
    const int64_t ordered = plan.exhaustive ? plan.length : plan.length / 2;
    for (int64_t i = 0; i < shape.ElementCount(); ++i) {
      const int64_t choice = i / period % choices;
      if (i >= ordered)
        SetElement(array, i, set.Draw(random));
      else
        SetElement(array, i, plan.exhaustive ? set.Code(choice) : set.special()[static_cast<size_t>(choice)]);
    }
    if (period < plan.length) period *= choices;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace hlo::testing
