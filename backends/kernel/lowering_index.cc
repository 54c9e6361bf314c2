// Index arithmetic of the lowering.
#include <numeric>

#include "backends/kernel/lowering.h"
#include "ir/start_bounds.h"

namespace hlo::kernel {

ValueId Lowering::AsIndex(ValueId value) {
  const ElementType type = lowered_.kernel.TypeOf(value);
  if (type == ElementType::U64)
    value = builder_.Op(OpKind::Minimum, type, {value, builder_.Constant(type, INT64_MAX)});
  return type == ElementType::S64 ? value : builder_.Op(OpKind::Convert, ElementType::S64, {value});
}

Result<Indices> Lowering::Starts(const Instruction& inst, int64_t first_index, llvm::ArrayRef<int64_t> dims,
                                 llvm::ArrayRef<int64_t> sizes, ValueId mask) {
  Indices starts(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == sizes[d]) continue;  // clamped to 0
    const int64_t number = first_index + static_cast<int64_t>(d);
    if (number >= inst.operand_count() || inst.operand(number)->shape().rank() != 0)
      return Decline(inst.loc(), "%{0} has its indices in an array", inst.name());
    HLO_TRY(ValueId start, EmitOne(*inst.operand(number), {}, mask));
    const ElementType type = lowered_.kernel.TypeOf(start);
    start = AsIndex(start);
    int64_t most = dims[d] - sizes[d];
    if (inst.kind() == OpKind::DynamicUpdateSlice && UpdateBoundBits(type) < Info(ElementType::U64).bits)
      most &= (int64_t{1} << UpdateBoundBits(type)) - 1;
    start =
        builder_.Op(OpKind::Clamp, ElementType::S64, {builder_.Integer(0), start, builder_.Integer(most)});
    starts[d].AddValue(start, 1);
  }
  return starts;
}

std::optional<std::pair<int64_t, int64_t>> Lowering::RangeOf(const Address& address) const {
  if (!address.values.empty()) return {};
  int64_t low = address.offset, high = address.offset;
  for (const auto& term : address.loops) {
    const int64_t most = term.factor * (builder_.Extent(term.id) - 1);
    (most < 0 ? low : high) += most;
  }
  return std::pair(low, high);
}

ValueId Lowering::InRange(const Address& address, int64_t low, int64_t high, bool& never) {
  const auto range = RangeOf(address);
  if (range && (range->second < low || range->first >= high)) never = true;
  if (never) return -1;
  ValueId inside = -1;
  const bool check_low = !range || range->first < low, check_high = !range || range->second >= high;
  if (!check_low && !check_high) return -1;
  WantCuts(address, low, high);
  const ValueId index = builder_.Index(address);
  if (check_low) inside = builder_.Compare(Direction::GE, index, builder_.Integer(low));
  if (check_high)
    inside = builder_.And(inside, builder_.Compare(Direction::LT, index, builder_.Integer(high)));
  return inside;
}

std::optional<Address> Lowering::DigitOf(const Address& linear, int64_t unit, int64_t extent,
                                         bool outermost) {
  // Terms below `unit` belong to digits on the right, multiples of unit * extent to digits on the left.
  Address digit;
  const int64_t above = unit * extent;
  // What values there are is not known: the outermost digit takes them as they are.
  for (const auto& term : linear.values) {
    if (term.factor % above == 0 && !outermost) continue;
    if (term.factor % unit != 0 || !outermost) return {};
    digit.AddValue(term.id, term.factor / unit);
  }
  const bool open = outermost && !linear.values.empty();
  int64_t low_rest = linear.offset % unit;
  if (linear.offset < 0) return {};
  int64_t rest_high = low_rest;
  digit.offset = open ? linear.offset / unit : linear.offset / unit % extent;
  int64_t high = digit.offset;
  for (const auto& term : linear.loops) {
    const int64_t span = term.factor * builder_.Extent(term.id);
    if (term.factor < 0) return {};
    if (term.factor % above == 0 && !open) continue;
    const bool in_digit = term.factor % unit == 0 && span <= above;
    const bool right = span <= unit;
    if (!in_digit && !right) {
      // A finer loop may help: cut where the digit begins or ends.
      const int64_t cut = term.factor < unit ? unit : above;
      const int64_t extent_of_loop = builder_.Extent(term.id);
      if (!divide_ && cut % term.factor == 0 && extent_of_loop % (cut / term.factor) == 0 &&
          extent_of_loop != cut / term.factor) {
        const LoopOrigin origin = origins_[static_cast<size_t>(term.id)];
        if (plan_.cuts.contains(origin.dimension)) {
          divides_cut_ = true;
          return {};
        }
        auto& parts = plan_.splits[origin.dimension];
        if (parts.empty()) parts = {extent_of_loop};
        if (!wants_split_) {
          const int64_t inner = cut / term.factor;
          parts[origin.part] = extent_of_loop / inner;
          parts.insert(parts.begin() + static_cast<int64_t>(origin.part) + 1, inner);
          wants_split_ = true;
        }
      }
      return {};
    }
    if (in_digit) {
      digit.AddLoop(term.id, term.factor / unit);
      high += term.factor / unit * (builder_.Extent(term.id) - 1);
    } else {
      rest_high += term.factor * (builder_.Extent(term.id) - 1);
    }
  }
  // Carries out of the digit or into it make it no sum.
  if ((high >= extent && !open) || rest_high >= unit) return {};
  return digit;
}

Address Lowering::Divided(const Address& linear, int64_t unit, int64_t extent, int64_t count) {
  for (const auto& term : linear.loops)
    divides_cut_ |= plan_.cuts.contains(origins_[static_cast<size_t>(term.id)].dimension);
  // Few processors divide vectors of 64 bits.
  const ElementType type = count <= INT32_MAX ? ElementType::U32 : ElementType::S64;
  const auto convert = [&](ElementType from, ElementType to, ValueId value) {
    return from == to ? value : builder_.Op(OpKind::Convert, to, {value});
  };
  const auto number = [&](int64_t n) { return builder_.Constant(type, static_cast<uint64_t>(n)); };
  ValueId value = convert(ElementType::S64, type, builder_.Index(linear));
  if (unit != 1) value = builder_.Op(OpKind::Divide, type, {value, number(unit)});
  if (extent > 0) value = builder_.Op(OpKind::Remainder, type, {value, number(extent)});
  value = convert(type, ElementType::S64, value);
  Address digit;
  digit.AddValue(value, 1);
  return digit;
}

Indices Lowering::Delinearize(const Address& linear, llvm::ArrayRef<int64_t> dims) {
  Indices at(dims.size());
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  int64_t unit = 1;
  size_t outermost = 0;
  while (outermost < dims.size() && dims[outermost] == 1) ++outermost;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 1) continue;
    if (auto digit = DigitOf(linear, unit, dims[d], d == outermost)) {
      at[d] = std::move(*digit);
    } else {
      at[d] = Divided(linear, unit, d == outermost ? 0 : dims[d], count);
    }
    unit *= dims[d];
  }
  return at;
}

Indices Lowering::Reshaped(llvm::ArrayRef<Address> at, llvm::ArrayRef<int64_t> from,
                           llvm::ArrayRef<int64_t> to) {
  if (llvm::is_contained(from, 0)) return Delinearize(Linearize(Indices(at), from), to);
  Indices result(to.size());
  size_t from_end = from.size(), to_end = to.size();
  // From the right: the fewest dimensions of either side that have as many elements.
  while (to_end > 0) {
    size_t i = from_end, j = to_end;
    int64_t left = 1, right = 1;
    do {
      if (i > 0 && (left <= right || j == 0))
        left *= from[--i];
      else
        right *= to[--j];
    } while (left != right || (j == to_end && j > 0));
    while (j == 0 && i > 0) left *= from[--i];
    const Indices part(at.begin() + i, at.begin() + from_end);
    const auto dims = to.slice(j, to_end - j);
    const Indices digits = part.size() == 1 && dims.size() == 1
                               ? part
                               : Delinearize(Linearize(part, from.slice(i, from_end - i)), dims);
    llvm::copy(digits, result.begin() + j);
    from_end = i;
    to_end = j;
  }
  return result;
}

}  // namespace hlo::kernel
