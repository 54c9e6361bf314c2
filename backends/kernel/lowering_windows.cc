// Windows at indices, windows that slide: what reads several elements for one.
#include "backends/kernel/lowering.h"
#include "ir/numeric/narrow_float.h"
#include "ir/prefix_reduction.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo::kernel {
Result<ValueId> Lowering::IndexComponent(const Instruction& indices, const Indices& batch, int64_t vector_dim,
                                         int64_t component, ValueId mask) {
  Indices at = batch;
  if (vector_dim < indices.shape().rank()) {
    Address number;
    number.offset = component;
    at.insert(at.begin() + vector_dim, number);
  }
  HLO_TRY(const ValueId index, EmitOne(indices, at, mask));
  return AsIndex(index);
}

Result<Lowering::Values> Lowering::EmitGather(const Instruction& inst, const Indices& at, ValueId mask) {
  const auto& attrs = inst.attr<GatherAttrs>();
  const Shape& operand = inst.operand(0)->shape();
  if (operand.ElementCount() == 0 || llvm::is_contained(attrs.slice_sizes, 0))
    return Decline(inst.loc(), "%{0} gathers nothing", inst.name());
  Indices batch, from(static_cast<size_t>(operand.rank()));
  size_t window = 0;
  for (int64_t d = 0; d < inst.shape().rank(); ++d) {
    if (!llvm::is_contained(attrs.offset_dims, d)) {
      batch.push_back(at[static_cast<size_t>(d)]);
      continue;
    }
    while (llvm::is_contained(attrs.collapsed_slice_dims, static_cast<int64_t>(window)) ||
           llvm::is_contained(attrs.operand_batching_dims, static_cast<int64_t>(window)))
      ++window;
    from[window++].Add(at[static_cast<size_t>(d)]);
  }
  for (size_t i = 0; i < attrs.operand_batching_dims.size(); ++i) {
    const int64_t d = attrs.start_indices_batching_dims[i];
    from[static_cast<size_t>(attrs.operand_batching_dims[i])].Add(
        batch[static_cast<size_t>(d > attrs.index_vector_dim ? d - 1 : d)]);
  }
  for (size_t i = 0; i < attrs.start_index_map.size(); ++i) {
    const auto d = static_cast<size_t>(attrs.start_index_map[i]);
    const int64_t limit = operand.dims()[d] - attrs.slice_sizes[d];
    if (limit <= 0) continue;  // clamped to 0
    HLO_TRY(const ValueId start,
            IndexComponent(*inst.operand(1), batch, attrs.index_vector_dim, static_cast<int64_t>(i), mask));
    from[d].AddValue(
        builder_.Op(OpKind::Clamp, ElementType::S64, {builder_.Integer(0), start, builder_.Integer(limit)}),
        1);
  }
  return Emit(*inst.operand(0), from, mask);
}

namespace {

/// The code of 1 or -0 (of integers 0) in a type; nothing for types of whose operations no code is made here.
std::optional<uint64_t> CodeOf(ElementType type, double number) {
  if (IsFloat(type) && Info(type).special == FloatSpecial::Ieee) return FromDouble(type, number);
  if (!IsIntegral(type) || IsPred(type)) return std::nullopt;
  return static_cast<uint64_t>(number);
}

}  // namespace

std::optional<ValueId> Lowering::NeutralIn(const Computation& combiner, ValueId init) {
  const Instruction& root = *combiner.root();
  const ElementType type = lowered_.kernel.TypeOf(init);
  const auto is_parameter = [](const Instruction* x) { return x->kind() == OpKind::Parameter; };
  if (root.operand_count() != 2 || root.operand(0) == root.operand(1) ||
      !llvm::all_of(root.operands(), is_parameter) || !CodeOf(type, 1))
    return {};
  if (root.info().Is(kIdempotent)) return init;  // once more changes nothing
  if (root.kind() == OpKind::Multiply) return builder_.Constant(type, *CodeOf(type, 1));
  if (root.kind() == OpKind::Add) return builder_.Constant(type, *CodeOf(type, -0.0));  // 0 + -0 is 0
  return {};
}

Result<Indices> Lowering::WindowPositions(const Instruction& inst, const Indices& at,
                                          llvm::SmallVectorImpl<LoopId>& loops) {
  const Window& window = inst.attr<ReduceWindowAttrs>().window;
  // There are ways that need fewer steps than those of all positions.
  const int64_t most = target_.code.taps;
  int64_t taps = 1;
  for (const WindowDim& w : window.dims) taps = w.size > most ? most + 1 : taps * w.size;
  if (taps > most || taps == 0 || inst.operand(0)->shape().ElementCount() == 0)
    return Decline(inst.loc(), "%{0} has windows of {1} elements", inst.name(), taps);
  const int nest = nests_++;
  Indices positions;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    if (w.reversal) return Decline(inst.loc(), "%{0} is reversed", inst.name());
    Address position;
    position.offset = -w.pad_low;
    position.Add(at[d], w.stride);
    position.Add(MakeLoops({nest, static_cast<int64_t>(d)}, w.size, loops), w.window_dilation);
    positions.push_back(position);
  }
  return positions;
}

Result<Lowering::Values> Lowering::WindowInits(const Instruction& inst, ValueId mask) {
  const int64_t count = inst.operand_count() / 2;
  Values inits;
  for (int64_t i = 0; i < count; ++i) {
    HLO_TRY(const ValueId init, EmitOne(*inst.operand(count + i), {}, mask));
    const ElementType type = lowered_.kernel.TypeOf(init);
    if (inst.callee()->parameter(i)->shape().element_type() != type ||
        inst.operand(i)->shape().element_type() != type)
      return Decline(inst.loc(), "%{0} converts its operands", inst.name());
    inits.push_back(init);
  }
  return inits;
}

bool Lowering::MayLeaveBase(const Window& window, llvm::ArrayRef<int64_t> base,
                            const Indices& positions) const {
  for (size_t d = 0; d < positions.size(); ++d) {
    const auto range = RangeOf(positions[d]);
    if (!range || range->first < 0 || range->second >= base[d] || window.dims[d].base_dilation > 1)
      return true;
  }
  return false;
}

Result<ValueId> Lowering::IndexBase(const Instruction& inst, const Window& window,
                                    llvm::ArrayRef<int64_t> base, Indices& positions) {
  ValueId inside = -1;
  for (size_t d = 0; d < positions.size(); ++d) {
    const int64_t step = window.dims[d].base_dilation;
    bool never = false;
    const int64_t end = (base[d] - 1) * step + 1;
    inside = builder_.And(inside, InRange(positions[d], 0, end, never));
    if (never) return Decline(inst.loc(), "%{0} has windows in the padding only", inst.name());
    if (step == 1) continue;
    const ValueId index = builder_.Index(positions[d]), by = builder_.Integer(step);
    const ValueId rest = builder_.Op(OpKind::Remainder, ElementType::S64, {index, by});
    inside = builder_.And(inside, builder_.Compare(Direction::EQ, rest, builder_.Integer(0)));
    positions[d] = Address();
    positions[d].AddValue(builder_.Op(OpKind::Divide, ElementType::S64, {index, by}), 1);
  }
  return inside;
}

Result<Lowering::Values> Lowering::EmitReduceWindowHere(const Instruction& inst, const Indices& at,
                                                        ValueId mask) {
  llvm::SmallVector<LoopId, 4> loops;
  HLO_TRY(const Indices positions, WindowPositions(inst, at, loops));
  HLO_TRY(Values inits, WindowInits(inst, mask));
  const size_t count = inits.size();
  // Positions in the padding take no part: they count as what changes nothing, or a last element says which.
  const Window& window = inst.attr<ReduceWindowAttrs>().window;
  const llvm::ArrayRef<int64_t> base = inst.operand(0)->shape().dims();
  const bool bounded = MayLeaveBase(window, base, positions);
  const auto neutral = bounded && count == 1 ? NeutralIn(*inst.callee(), inits[0]) : std::nullopt;
  const bool flags = bounded && !neutral;
  if (flags) inits.push_back(builder_.Constant(ElementType::Pred, 1));
  const auto elements = [&]() -> Result<Values> {
    Indices from = positions;
    HLO_TRY(const ValueId inside, IndexBase(inst, window, base, from));
    Values values;
    for (size_t i = 0; i < count; ++i) {
      HLO_TRY(const ValueId element,
              EmitOne(*inst.operand(static_cast<int64_t>(i)), from, builder_.And(mask, inside)));
      values.push_back(element);
    }
    if (neutral && inside >= 0)
      values[0] =
          builder_.Op(OpKind::Select, lowered_.kernel.TypeOf(values[0]), {inside, values[0], *neutral});
    if (flags) values.push_back(inside >= 0 ? inside : builder_.Constant(ElementType::Pred, 1));
    return values;
  };
  const auto combine = [&](llvm::ArrayRef<ValueId> parameters) -> Result<Values> {
    if (!flags) return InlineScalars(*inst.callee(), parameters);
    // Accumulators, a flag, elements, a flag.
    Values arguments(parameters.take_front(count));
    arguments.append(parameters.begin() + count + 1, parameters.end() - 1);
    HLO_TRY(const Values folded, InlineScalars(*inst.callee(), arguments));
    Values results;
    for (size_t i = 0; i < count; ++i)
      results.push_back(builder_.Op(OpKind::Select, lowered_.kernel.TypeOf(parameters[i]),
                                    {parameters.back(), folded[i], parameters[i]}));
    results.push_back(parameters[count]);
    return results;
  };
  HLO_TRY(Values results, Fold(inst, loops, inits, elements, combine));
  results.resize(count);
  return results;
}

Lowering::LowerRoot Lowering::FindRootLowering(const Instruction& root) const {
  if (target_.blocks.lanes > 0 && IsRowScan(root)) return &Lowering::LowerRowScan;
  if (root.kind() == OpKind::DynamicUpdateSlice) return &Lowering::LowerUpdate;
  if (root.kind() == OpKind::Concatenate && root.operand_count() > 1) return &Lowering::LowerConcatenate;
  if (root.kind() == OpKind::Scatter) return &Lowering::LowerOneScatter;
  const auto has_interior = [](const PaddingDim& d) { return d.interior > 0; };
  if (root.kind() == OpKind::Pad && llvm::none_of(root.attr<PadAttrs>().padding, has_interior) &&
      root.operand(0)->shape().ElementCount() > 0)
    return &Lowering::LowerPad;
  return nullptr;
}

Status Lowering::LowerConcatenate(const Instruction& root, int64_t number) {
  const auto dimension = static_cast<size_t>(root.attr<DimensionsAttrs>().dimensions[0]);
  const auto dims = root.shape().dims();
  return InLoops(dims.take_front(dimension), [&](const Indices& before) -> Status {
    int64_t begin = 0;
    for (const Instruction* operand : root.operands()) {
      const int64_t offset = begin;
      begin += operand->shape().dims()[dimension];
      if (offset == begin) continue;
      HLO_CHECK_OK(InLoops(operand->shape().dims().drop_front(dimension), [&](const Indices& rest) -> Status {
        Indices from = before;
        from.append(rest.begin(), rest.end());
        HLO_TRY(const ValueId value, EmitOne(*operand, from, -1));
        Indices to = from;
        to[dimension].offset += offset;
        StoreOutput(number, root.shape(), to, value);
        return {};
      }));
    }
    return {};
  });
}

Status Lowering::LowerPad(const Instruction& root, int64_t number) {
  const Instruction& operand = *root.operand(0);
  const auto& padding = root.attr<PadAttrs>().padding;
  const size_t rank = padding.size();
  // In each dimension: the border before, what is kept of the operand, the border behind.
  Dims before, kept, after, first;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = operand.shape().dims()[d], result = root.shape().dims()[d];
    before.push_back(std::clamp<int64_t>(padding[d].low, 0, result));
    after.push_back(std::clamp<int64_t>(padding[d].high, 0, result - before[d]));
    kept.push_back(result - before[d] - after[d]);
    first.push_back(std::max<int64_t>(-padding[d].low, 0));
    if (first[d] + kept[d] > size) return Decline(root.loc(), "%{0} pads what it cuts off", root.name());
  }
  HLO_TRY(const ValueId value, EmitOne(*root.operand(1), {}, -1));
  // The outer dimensions of a border are those kept, the inner ones whole.
  const std::function<Status(const Indices&)> fill = [&](const Indices& outer) -> Status {
    const size_t d = outer.size();
    if (d == rank) {
      Indices from = outer;
      for (size_t i = 0; i < rank; ++i) from[i].offset += first[i] - before[i];
      HLO_TRY(const ValueId element, EmitOne(operand, from, -1));
      StoreOutput(number, root.shape(), outer, element);
      return {};
    }
    const auto border = [&](int64_t begin, int64_t size) -> Status {
      if (size == 0) return {};
      Dims dims = {size};
      dims.append(root.shape().dims().begin() + static_cast<int64_t>(d) + 1, root.shape().dims().end());
      return InLoops(dims, [&](const Indices& inner) -> Status {
        Indices to = outer;
        to.append(inner.begin(), inner.end());
        to[d].offset += begin;
        StoreOutput(number, root.shape(), to, value);
        return {};
      });
    };
    HLO_CHECK_OK(border(0, before[d]));
    if (kept[d] > 0) {
      const int64_t dims[] = {kept[d]};
      HLO_CHECK_OK(InLoops(dims, [&](const Indices& middle) {
        Indices next = outer;
        next.push_back(middle[0]);
        next[d].offset += before[d];
        return fill(next);
      }));
    }
    return border(before[d] + kept[d], after[d]);
  };
  return fill({});
}

}  // namespace hlo::kernel
