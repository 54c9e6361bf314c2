// How an element of an instruction's result comes from elements of its operands.
#include <complex>

#include "backends/kernel/lowering.h"
#include "backends/kernel/value_bounds.h"

namespace hlo::kernel {

namespace {

/// An element of a constant, as it lies in memory.
uint64_t BitsOf(const Literal& literal, int64_t element, uint64_t* high) {
  const auto bytes = static_cast<size_t>(Info(literal.shape().element_type()).host_bytes());
  uint64_t bits[2] = {0, 0};
  std::memcpy(bits, literal.data() + static_cast<size_t>(element) * bytes, bytes);
  if (IsComplex(literal.shape().element_type()) && bytes == sizeof(std::complex<float>)) {
    bits[1] = bits[0] >> std::numeric_limits<uint32_t>::digits;
    bits[0] &= UINT32_MAX;
  }
  *high = bits[1];
  return bits[0];
}

bool AllElementsEqual(const Literal& literal) {
  const auto bytes = static_cast<size_t>(Info(literal.shape().element_type()).host_bytes());
  for (size_t at = bytes; at < literal.byte_size(); at += bytes)
    if (std::memcmp(literal.data(), literal.data() + at, bytes) != 0) return false;
  return true;
}

}  // namespace

Lowering::EmitFn Lowering::FindEmitter(OpKind kind) {
  struct Row {
    OpKind kind;
    EmitFn emit;
  };
  static constexpr Row kRows[] = {
      {OpKind::Parameter, &Lowering::EmitParameter},
      {OpKind::Constant, &Lowering::EmitConstant},
      {OpKind::Iota, &Lowering::EmitIota},
      {OpKind::Copy, &Lowering::EmitIdentity},
      {OpKind::BitcastConvert, &Lowering::EmitBitcastConvert},
      {OpKind::Broadcast, &Lowering::EmitBroadcast},
      {OpKind::Transpose, &Lowering::EmitTranspose},
      {OpKind::Slice, &Lowering::EmitSlice},
      {OpKind::Reverse, &Lowering::EmitReverse},
      {OpKind::Reshape, &Lowering::EmitReshape},
      {OpKind::Bitcast, &Lowering::EmitReshape},
      {OpKind::Concatenate, &Lowering::EmitConcatenate},
      {OpKind::Pad, &Lowering::EmitPad},
      {OpKind::DynamicSlice, &Lowering::EmitDynamicSlice},
      {OpKind::DynamicUpdateSlice, &Lowering::EmitDynamicUpdateSlice},
      {OpKind::Gather, &Lowering::EmitGather},
      {OpKind::Reduce, &Lowering::EmitReduce},
      {OpKind::ReduceWindow, &Lowering::EmitReduce},
      {OpKind::Dot, &Lowering::EmitReduce},
      {OpKind::Convolution, &Lowering::EmitReduce},
      {OpKind::GetTupleElement, &Lowering::EmitTupleElement},
      {OpKind::Map, &Lowering::EmitCall},
  };
  for (const Row& row : kRows)
    if (row.kind == kind) return row.emit;
  return Info(kind).Is(kElementwise) ? &Lowering::EmitElementwise : nullptr;
}

Result<Lowering::Values> Lowering::Emit(const Instruction& inst, const Indices& at, ValueId mask) {
  for (auto& level : memo_) {
    const auto it = level.find(&inst);
    if (it == level.end()) continue;
    for (const Memo& memo : it->second)
      if ((memo.mask == mask || memo.mask < 0) && memo.at == at) return memo.values;
  }
  if (lowered_.kernel.value_types.size() > kMostValues || level_of_operands_ == kMostLevels) {
    too_long_ = true;
    return Decline(inst.loc(), "what %{0} is made of is computed in too many ways", inst.name());
  }
  const EmitFn emit = FindEmitter(inst.kind());
  if (emit == nullptr || inst.shape().HasDynamicDimension())
    return Decline(inst.loc(), "%{0} = {1} has no loops", inst.name(), inst.info().text);
  ++level_of_operands_;
  Result<Values> emitted = (this->*emit)(inst, at, mask);
  --level_of_operands_;
  HLO_TRY(Values values, std::move(emitted));
  int32_t level = 0;
  for (const ValueId value : values) level = std::max(level, builder_.LevelOf(value));
  memo_[static_cast<size_t>(level)][&inst].push_back({&inst, at, mask, values});
  return values;
}

Result<ValueId> Lowering::EmitOne(const Instruction& inst, const Indices& at, ValueId mask) {
  HLO_TRY(const Values values, Emit(inst, at, mask));
  return values[0];
}

Result<Lowering::Values> Lowering::EmitParameter(const Instruction& inst, const Indices& at, ValueId mask) {
  const auto number = static_cast<BufferId>(inst.attr<ParameterAttrs>().number);
  const ValueId otherwise = mask < 0 ? -1 : ZeroOf(inst.shape().element_type());
  return Values{builder_.Load(number, Linearize(at, inst.shape().dims()), mask, otherwise)};
}

Result<Lowering::Values> Lowering::EmitConstant(const Instruction& inst, const Indices&, ValueId) {
  const LiteralPtr& literal = inst.attr<ConstantAttrs>().literal;
  if (!literal) return Decline(inst.loc(), "%{0} is elided", inst.name());
  const Literal value = literal->Unpack();
  if (!AllElementsEqual(value)) return Decline(inst.loc(), "%{0} is a constant array", inst.name());
  uint64_t high = 0;
  const uint64_t low = BitsOf(value, 0, &high);
  return Values{builder_.Constant(inst.shape().element_type(), low, high)};
}

Result<Lowering::Values> Lowering::EmitIota(const Instruction& inst, const Indices& at, ValueId) {
  const ValueId index = builder_.Index(at[static_cast<size_t>(inst.attr<IotaAttrs>().iota_dimension)]);
  return Values{builder_.Op(OpKind::Convert, inst.shape().element_type(), {index})};
}

Result<Lowering::Values> Lowering::EmitElementwise(const Instruction& inst, const Indices& at, ValueId mask) {
  llvm::SmallVector<ValueId, 3> operands;
  for (const Instruction* operand : inst.operands()) {
    // Predicates of select and bounds of clamp may be scalars.
    const bool scalar = operand->shape().rank() == 0;
    HLO_TRY(const ValueId value, EmitOne(*operand, scalar ? Indices() : at, mask));
    operands.push_back(value);
  }
  return Values{
      builder_.Op(inst.kind(), inst.shape().element_type(), operands, inst.attrs(), HasBoundedOperand(inst))};
}

Result<Lowering::Values> Lowering::EmitIdentity(const Instruction& inst, const Indices& at, ValueId mask) {
  return Emit(*inst.operand(0), at, mask);
}

/// The unsigned type of as many bits.
static ElementType UnsignedOfBits(int bits) {
  return bits == 8    ? ElementType::U8
         : bits == 16 ? ElementType::U16
         : bits == 32 ? ElementType::U32
                      : ElementType::U64;
}

Result<Lowering::Values> Lowering::EmitBitcastConvert(const Instruction& inst, const Indices& at,
                                                      ValueId mask) {
  const ElementType from = inst.operand(0)->shape().element_type(), to = inst.shape().element_type();
  const int wide = std::max(Info(from).bits, Info(to).bits),
            narrow = std::min(Info(from).bits, Info(to).bits);
  if (wide == narrow) {
    HLO_TRY(const ValueId value, EmitOne(*inst.operand(0), at, mask));
    return Values{builder_.Op(OpKind::BitcastConvert, to, {value})};
  }
  if (narrow < CHAR_BIT || wide > Info(ElementType::U64).bits)
    return Decline(inst.loc(), "%{0} changes the element size", inst.name());
  // Narrow elements are parts of wide ones along a last dimension, the lowest bits first.
  const ElementType part = UnsignedOfBits(narrow), whole = UnsignedOfBits(wide);
  if (Info(to).bits == narrow) {
    HLO_TRY(const ValueId value, EmitOne(*inst.operand(0), Indices(llvm::ArrayRef(at).drop_back()), mask));
    Address shift;
    shift.Add(at.back(), narrow);
    const ValueId by = builder_.Op(OpKind::Convert, whole, {builder_.Index(shift)});
    const ValueId bits = builder_.Op(OpKind::BitcastConvert, whole, {value});
    const ValueId low = builder_.Op(OpKind::ShiftRightLogical, whole, {bits, by});
    return Values{builder_.Op(OpKind::BitcastConvert, to, {builder_.Op(OpKind::Convert, part, {low})})};
  }
  ValueId all = -1;
  for (int k = 0; k < wide / narrow; ++k) {
    Indices element = at;
    element.push_back({});
    element.back().offset = k;
    HLO_TRY(const ValueId value, EmitOne(*inst.operand(0), element, mask));
    const ValueId bits = builder_.Op(OpKind::BitcastConvert, part, {value});
    ValueId moved = builder_.Op(OpKind::Convert, whole, {bits});
    if (k > 0) {
      const ValueId by = builder_.Constant(whole, static_cast<uint64_t>(k) * static_cast<uint64_t>(narrow));
      moved = builder_.Op(OpKind::ShiftLeft, whole, {moved, by});
    }
    all = all < 0 ? moved : builder_.Op(OpKind::Or, whole, {all, moved});
  }
  return Values{builder_.Op(OpKind::BitcastConvert, to, {all})};
}

Result<Lowering::Values> Lowering::EmitBroadcast(const Instruction& inst, const Indices& at, ValueId mask) {
  Indices from;
  for (const int64_t d : inst.attr<DimensionsAttrs>().dimensions) from.push_back(at[static_cast<size_t>(d)]);
  return Emit(*inst.operand(0), from, mask);
}

Result<Lowering::Values> Lowering::EmitTranspose(const Instruction& inst, const Indices& at, ValueId mask) {
  const Dims& permutation = inst.attr<DimensionsAttrs>().dimensions;
  Indices from(at.size());
  for (size_t d = 0; d < at.size(); ++d) from[static_cast<size_t>(permutation[d])] = at[d];
  return Emit(*inst.operand(0), from, mask);
}

Result<Lowering::Values> Lowering::EmitSlice(const Instruction& inst, const Indices& at, ValueId mask) {
  Indices from(at.size());
  const auto& ranges = inst.attr<SliceAttrs>().slice;
  for (size_t d = 0; d < at.size(); ++d) {
    from[d].offset = ranges[d].start;
    from[d].Add(at[d], ranges[d].stride);
  }
  return Emit(*inst.operand(0), from, mask);
}

Result<Lowering::Values> Lowering::EmitReverse(const Instruction& inst, const Indices& at, ValueId mask) {
  Indices from = at;
  for (const int64_t d : inst.attr<DimensionsAttrs>().dimensions) {
    Address back;
    back.offset = inst.shape().dim(d) - 1;
    back.Add(at[static_cast<size_t>(d)], -1);
    from[static_cast<size_t>(d)] = back;
  }
  return Emit(*inst.operand(0), from, mask);
}

Result<Lowering::Values> Lowering::EmitReshape(const Instruction& inst, const Indices& at, ValueId mask) {
  const Instruction& operand = *inst.operand(0);
  if (operand.shape().element_type() != inst.shape().element_type())
    return Decline(inst.loc(), "%{0} reinterprets elements", inst.name());
  return Emit(operand, Reshaped(at, inst.shape().dims(), operand.shape().dims()), mask);
}

bool Lowering::Varies(const Address& index) const {
  return !index.values.empty() ||
         llvm::any_of(index.loops, [&](const auto& term) { return builder_.Extent(term.id) > 1; });
}

Result<Lowering::Values> Lowering::EmitConcatenate(const Instruction& inst, const Indices& at, ValueId mask) {
  const auto dimension = static_cast<size_t>(inst.attr<DimensionsAttrs>().dimensions[0]);
  const ElementType type = inst.shape().element_type();
  ValueId result = -1;
  int64_t end = inst.shape().dims()[dimension];
  // From the last operand to the first: select(index < end of the first, first, select(…)).
  for (int64_t k = inst.operand_count(); k-- > 0;) {
    const int64_t begin = end - inst.operand(k)->shape().dims()[dimension];
    bool never = begin == end;
    const ValueId inside = InRange(at[dimension], begin, end, never);
    end = begin;
    if (never) continue;
    Indices from = at;
    // What has one element there is that of its row, whatever the place: nothing is made again for another
    // one.
    if (inst.operand(k)->shape().dims()[dimension] == 1 && Varies(from[dimension]))
      from[dimension] = Address();
    else
      from[dimension].offset -= begin;
    HLO_TRY(const ValueId value, EmitOne(*inst.operand(k), from, builder_.And(mask, inside)));
    result = result < 0 || inside < 0 ? value : builder_.Op(OpKind::Select, type, {inside, value, result});
  }
  return Values{result};
}

Result<Lowering::Values> Lowering::EmitPad(const Instruction& inst, const Indices& at, ValueId mask) {
  const Instruction& operand = *inst.operand(0);
  const auto& padding = inst.attr<PadAttrs>().padding;
  ValueId inside = -1;
  bool never = operand.shape().ElementCount() == 0;
  Indices from(at.size());
  for (size_t d = 0; d < at.size() && !never; ++d) {
    const int64_t step = padding[d].interior + 1, size = operand.shape().dims()[d];
    Address shifted = at[d];
    shifted.offset -= padding[d].low;
    inside = builder_.And(inside, InRange(shifted, 0, (size - 1) * step + 1, never));
    if (never) break;
    if (size == 1 && Varies(shifted)) continue;
    from[d] = shifted;
    if (step == 1) continue;
    // In range the shifted index is not negative, so that its quotient is what it should be.
    const ValueId index = builder_.Index(shifted);
    const ValueId step_value = builder_.Integer(step);
    const ValueId rest = builder_.Op(OpKind::Remainder, ElementType::S64, {index, step_value});
    inside = builder_.And(inside, builder_.Compare(Direction::EQ, rest, builder_.Integer(0)));
    from[d] = Address();
    from[d].AddValue(builder_.Op(OpKind::Divide, ElementType::S64, {index, step_value}), 1);
  }
  HLO_TRY(const ValueId outside, EmitOne(*inst.operand(1), {}, mask));
  if (never) return Values{outside};
  HLO_TRY(const ValueId value, EmitOne(operand, from, builder_.And(mask, inside)));
  if (inside < 0) return Values{value};
  return Values{builder_.Op(OpKind::Select, inst.shape().element_type(), {inside, value, outside})};
}

Result<Lowering::Values> Lowering::EmitDynamicSlice(const Instruction& inst, const Indices& at,
                                                    ValueId mask) {
  const Shape& operand = inst.operand(0)->shape();
  HLO_TRY(Indices from, Starts(inst, 1, operand.dims(), inst.shape().dims(), mask));
  for (size_t d = 0; d < at.size(); ++d) from[d].Add(at[d]);
  return Emit(*inst.operand(0), from, mask);
}

Result<Lowering::Values> Lowering::EmitDynamicUpdateSlice(const Instruction& inst, const Indices& at,
                                                          ValueId mask) {
  const Instruction &target = *inst.operand(0), &update = *inst.operand(1);
  if (update.shape().ElementCount() == 0) return Emit(target, at, mask);
  HLO_TRY(const Indices starts, Starts(inst, 2, inst.shape().dims(), update.shape().dims(), mask));
  ValueId inside = -1;
  Indices from = at;
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t size = update.shape().dims()[d];
    if (inst.shape().dims()[d] == size) continue;
    bool never = false;
    from[d].Add(starts[d], -1);
    inside = builder_.And(inside, InRange(from[d], 0, size, never));
  }
  HLO_TRY(const ValueId value, EmitOne(update, from, builder_.And(mask, inside)));
  if (inside < 0) return Values{value};
  HLO_TRY(const ValueId old, EmitOne(target, at, mask));
  return Values{builder_.Op(OpKind::Select, inst.shape().element_type(), {inside, value, old})};
}

Result<Lowering::Values> Lowering::EmitTupleElement(const Instruction& inst, const Indices& at,
                                                    ValueId mask) {
  HLO_TRY(const Values values, Emit(*inst.operand(0), at, mask));
  return Values{values[static_cast<size_t>(inst.attr<GetTupleElementAttrs>().index)]};
}

Result<Lowering::Values> Lowering::EmitCall(const Instruction& inst, const Indices& at, ValueId mask) {
  llvm::SmallVector<ValueId, 3> arguments;
  for (const Instruction* operand : inst.operands()) {
    HLO_TRY(const ValueId value, EmitOne(*operand, at, mask));
    arguments.push_back(value);
  }
  return InlineScalars(*inst.callee(), arguments);
}

}  // namespace hlo::kernel
