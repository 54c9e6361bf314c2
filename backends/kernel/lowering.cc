// Loop nests: outputs, reductions, updates in place.
#include "backends/kernel/lowering.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace hlo::kernel {

Address Linearize(const Indices& at, llvm::ArrayRef<int64_t> dims) {
  Address linear;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    linear.Add(at[d], stride);
    stride *= dims[d];
  }
  return linear;
}

Result<LoweredKernel> Lowering::Run(llvm::StringRef name) {
  Kernel& kernel = lowered_.kernel;
  kernel.name = name.str();
  memo_.resize(1);
  for (const Instruction* parameter : fused_.parameters()) {
    if (!parameter->shape().IsArray())
      return Decline(parameter->loc(), "%{0} is no array", parameter->name());
    kernel.buffers.push_back({parameter->shape().element_type(), parameter->shape().ElementCount(), false});
  }
  const Instruction* root = fused_.root();
  llvm::SmallVector<const Instruction*, 2> outputs = {root};
  if (root->kind() == OpKind::Tuple) outputs.assign(root->operands().begin(), root->operands().end());
  if (root->kind() != OpKind::Tuple && root->shape().IsTuple())
    for (int64_t i = 1; i < root->shape().tuple_size(); ++i) outputs.push_back(root);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool whole = root->kind() != OpKind::Tuple && root->shape().IsTuple();
    const Shape& shape = whole ? root->shape().tuple_shape(static_cast<int64_t>(i)) : outputs[i]->shape();
    if (!shape.IsArray() || shape.HasDynamicDimension() || shape.ElementCount() == 0)
      return Decline(outputs[i]->loc(), "%{0} has shape {1}", outputs[i]->name(), shape);
    kernel.buffers.push_back({shape.element_type(), shape.ElementCount(), true});
  }
  HLO_CHECK_OK(LowerOutputs(outputs));
  return std::move(lowered_);
}

Status Lowering::LowerOutputs(llvm::ArrayRef<const Instruction*> outputs) {
  const Instruction* root = fused_.root();
  if (root->kind() == OpKind::Sort) return LowerSort(*root);
  if (root->kind() != OpKind::Tuple && root->shape().IsTuple()) {
    llvm::SmallVector<int64_t, 2> numbers;
    for (size_t i = 0; i < outputs.size(); ++i) numbers.push_back(static_cast<int64_t>(i));
    if (root->kind() == OpKind::Scatter) return LowerScatter(*root, numbers);
    return LowerNest(outputs.take_front(1), numbers);
  }
  // Outputs of equal dimensions share a nest.
  llvm::SmallVector<bool, 4> done(outputs.size(), false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (done[i]) continue;
    if (const LowerRoot lower = FindRootLowering(*outputs[i])) {
      HLO_CHECK_OK((this->*lower)(*outputs[i], static_cast<int64_t>(i)));
      continue;
    }
    llvm::SmallVector<const Instruction*, 2> group;
    llvm::SmallVector<int64_t, 2> numbers;
    for (size_t j = i; j < outputs.size(); ++j) {
      if (done[j] || FindRootLowering(*outputs[j]) != nullptr ||
          !SameDims(outputs[i]->shape(), outputs[j]->shape()))
        continue;
      done[j] = true;
      group.push_back(outputs[j]);
      numbers.push_back(static_cast<int64_t>(j));
    }
    HLO_CHECK_OK(LowerNest(group, numbers));
  }
  return {};
}

Status Lowering::LowerNest(llvm::ArrayRef<const Instruction*> outputs, llvm::ArrayRef<int64_t> numbers) {
  const Shape& shape =
      outputs[0]->shape().IsTuple() ? outputs[0]->shape().tuple_shape(0) : outputs[0]->shape();
  return InLoops(shape.dims(), [&](const Indices& at) -> Status {
    llvm::SmallVector<ValueId, 4> values;
    for (const Instruction* output : outputs) {
      HLO_TRY(const Values mine, Emit(*output, at, -1));
      values.append(mine.begin(), mine.end());
    }
    // All is read before anything is written: an output may lie over a parameter.
    for (size_t i = 0; i < values.size(); ++i) StoreOutput(numbers[i], shape, at, values[i]);
    return {};
  });
}

void Lowering::StoreOutput(int64_t number, const Shape& shape, const Indices& at, ValueId value,
                           ValueId mask) {
  const auto first = static_cast<int64_t>(fused_.parameters().size());
  builder_.Store(static_cast<BufferId>(first + number), Linearize(at, shape.dims()), value, mask);
}

namespace {

/// What an update in place reads of its target besides.
enum class UpdateReads : uint8_t { Nothing, OwnPlace, Elsewhere, Unknown };

/// Every way from `from` leads through elementwise operations on equal dimensions to `to`.
bool LeadsElementwise(const Instruction& from, const Instruction& to, const Instruction& root) {
  llvm::SmallVector<const Instruction*, 8> todo = {&from};
  llvm::SmallPtrSet<const Instruction*, 8> seen = {&from};
  while (!todo.empty()) {
    const Instruction* at = todo.pop_back_val();
    for (const Instruction* user : at->users()) {
      if (at == &to && user == &root) continue;
      if (!user->info().Is(kElementwise) || !SameDims(user->shape(), from.shape())) return false;
      if (seen.insert(user).second) todo.push_back(user);
    }
  }
  return true;
}

UpdateReads ReadsOf(const Instruction& target, const Instruction& root) {
  UpdateReads reads = UpdateReads::Nothing;
  for (const Instruction* reader : target.users()) {
    if (reader == &root) continue;
    const bool slice = reader->kind() == OpKind::DynamicSlice && reader->operand(0) == &target &&
                       reader->operand_count() + 1 == root.operand_count() &&
                       SameDims(reader->shape(), root.operand(1)->shape());
    if (!slice || !LeadsElementwise(*reader, *root.operand(1), root)) return UpdateReads::Elsewhere;
    reads = UpdateReads::OwnPlace;
    for (int64_t i = 1; i < reader->operand_count(); ++i) {
      if (reader->operand(i) != root.operand(i + 1)) return UpdateReads::Unknown;
      // Bounds of updates wrap in narrow unsigned types, those of slices do not.
      const ElementType type = reader->operand(i)->shape().element_type();
      if (IsUnsigned(type) && Info(type).bits < 64) return UpdateReads::Unknown;
    }
  }
  return reads;
}

}  // namespace

Status Lowering::LowerUpdate(const Instruction& root, int64_t number) {
  const Instruction& target = *root.operand(0);
  const Instruction& update = *root.operand(1);
  const auto reads = ReadsOf(target, root);
  if (target.kind() != OpKind::Parameter || reads == UpdateReads::Elsewhere)
    return LowerNest({&root}, {number});
  if (reads == UpdateReads::Unknown) return Decline(root.loc(), "%{0} reads what it updates", root.name());
  lowered_.in_place.emplace_back(number, target.attr<ParameterAttrs>().number);
  HLO_TRY(const Indices starts, Starts(root, 2, root.shape().dims(), update.shape().dims(), -1));
  return InLoops(update.shape().dims(), [&](const Indices& at) -> Status {
    HLO_TRY(const ValueId value, EmitOne(update, at, -1));
    Indices to = starts;
    for (size_t d = 0; d < to.size(); ++d) to[d].Add(at[d]);
    StoreOutput(number, root.shape(), to, value);
    return {};
  });
}

/// A reduction is computed in the outermost loops that know its result's indices: once per row, not once per
/// element of what is made of it.
Result<Lowering::Values> Lowering::EmitReduce(const Instruction& inst, const Indices& at, ValueId mask) {
  int32_t level = builder_.LevelOf(mask);
  for (const Address& index : at) level = std::max(level, builder_.LevelOf(index));
  const auto regions = builder_.Suspend(level);
  std::vector<MemoLevel> memo(std::make_move_iterator(memo_.begin() + level + 1),
                              std::make_move_iterator(memo_.end()));
  memo_.resize(static_cast<size_t>(level) + 1);
  const EmitFn here = inst.kind() == OpKind::Dot            ? &Lowering::EmitDotHere
                      : inst.kind() == OpKind::Convolution  ? &Lowering::EmitConvolutionHere
                      : inst.kind() == OpKind::ReduceWindow ? &Lowering::EmitReduceWindowHere
                                                            : &Lowering::EmitReduceHere;
  Result<Values> results = (this->*here)(inst, at, mask);
  if (!results) return results;
  builder_.Resume(regions);
  memo_.insert(memo_.end(), std::make_move_iterator(memo.begin()), std::make_move_iterator(memo.end()));
  return results;
}

Result<Lowering::Values> Lowering::EmitReduceHere(const Instruction& inst, const Indices& at, ValueId mask) {
  const auto count = static_cast<size_t>(inst.operand_count() / 2);
  const Shape& operand = inst.operand(0)->shape();
  const Dims& reduced = inst.attr<ReduceAttrs>().dimensions;
  const int nest = nests_++;
  const NestDimension first(nest, reduced.empty() ? 0 : reduced[0]);
  const bool written_out = plan_.written_out.contains(first);
  llvm::SmallVector<LoopId, 4> loops;
  Indices from;
  size_t kept = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool folded = llvm::is_contained(reduced, d);
    if (folded && written_out)
      from.emplace_back();
    else
      from.push_back(folded ? MakeLoops({nest, d}, operand.dim(d), loops) : at[kept++]);
  }
  if (reduced.size() == 1 && operand.dim(reduced[0]) <= target_.code.without_loop)
    short_reductions_.insert(first);
  if (operand.ElementCount() == 0) return Decline(inst.loc(), "%{0} reduces nothing", inst.name());
  Values inits;
  for (size_t i = 0; i < count; ++i) {
    HLO_TRY(const ValueId init, EmitOne(*inst.operand(static_cast<int64_t>(count + i)), {}, mask));
    inits.push_back(init);
  }
  const auto elements = [&]() -> Result<Values> {
    Values values;
    for (size_t i = 0; i < count; ++i) {
      HLO_TRY(const ValueId element, EmitOne(*inst.operand(static_cast<int64_t>(i)), from, mask));
      values.push_back(element);
    }
    return values;
  };
  const auto combine = [&](llvm::ArrayRef<ValueId> values) { return InlineScalars(*inst.callee(), values); };
  if (!written_out) return Fold(inst, loops, inits, elements, combine);
  lowered_.written_out.insert(&inst);
  return FoldWrittenOut(from[static_cast<size_t>(reduced[0])], operand.dim(reduced[0]), inits, elements,
                        combine);
}

Result<Lowering::Values> Lowering::FoldWrittenOut(Address& index, int64_t extent, Values inits,
                                                  Elements elements, Combine combine) {
  const int inner = nests_;
  for (index.offset = 0; index.offset < extent; ++index.offset) {
    nests_ = inner;  // nests below have the same numbers for each element
    HLO_TRY(const Values element, elements());
    inits.append(element.begin(), element.end());
    HLO_TRY(inits, combine(inits));
  }
  return inits;
}

Result<Lowering::Values> Lowering::Fold(const Instruction& inst, llvm::ArrayRef<LoopId> loops,
                                        const Values& inits, Elements elements, Combine combine) {
  if (loops.empty()) {
    // One element per result.
    Values arguments(inits);
    HLO_TRY(const Values element, elements());
    arguments.append(element.begin(), element.end());
    return combine(arguments);
  }
  ReduceStmt reduce;
  reduce.origin = &inst;
  reduce.in_order = inst.extras().backend_config == kInOrder;
  reduce.inits = inits;
  reduce.body = std::make_unique<Region>();
  builder_.Open(*reduce.body, loops);
  memo_.emplace_back();
  HLO_TRY(reduce.body->yields, elements());
  builder_.Close();
  memo_.pop_back();
  for (const LoopId loop : loops) reduce.loops.push_back({loop, builder_.Extent(loop)});
  reduce.combiner = std::make_unique<Region>();
  for (const auto* side : {&reduce.inits, &reduce.body->yields})
    for (const ValueId value : *side)
      reduce.parameters.push_back(builder_.NewValue(lowered_.kernel.TypeOf(value)));
  builder_.Open(*reduce.combiner, {}, reduce.parameters);
  memo_.emplace_back();
  HLO_TRY(reduce.combiner->yields, combine(reduce.parameters));
  builder_.Close();
  memo_.pop_back();
  Values results;
  for (const ValueId init : inits) results.push_back(builder_.NewValue(lowered_.kernel.TypeOf(init)));
  reduce.results = results;
  builder_.Append(std::move(reduce));
  return results;
}

Result<Lowering::Values> Lowering::InlineScalars(const Computation& computation,
                                                 llvm::ArrayRef<ValueId> arguments) {
  llvm::DenseMap<const Instruction*, ValueId> values;
  Values results;
  const auto order = computation.PostOrder();
  for (const Instruction* inst : order) {
    if (inst->kind() == OpKind::Parameter) {
      values[inst] = arguments[static_cast<size_t>(inst->attr<ParameterAttrs>().number)];
      continue;
    }
    if (inst->kind() == OpKind::Tuple && inst->IsRoot()) {
      for (const Instruction* operand : inst->operands()) results.push_back(values[operand]);
      return results;
    }
    llvm::SmallVector<ValueId, 3> operands;
    for (const Instruction* operand : inst->operands()) operands.push_back(values[operand]);
    if (inst->kind() == OpKind::Constant) {
      HLO_TRY(const Values constant, EmitConstant(*inst, {}, -1));
      values[inst] = constant[0];
    } else if (inst->kind() == OpKind::Call) {
      HLO_TRY(Values called, InlineScalars(*inst->callee(), operands));
      if (inst->IsRoot()) return called;
      values[inst] = called[0];
    } else if (inst->shape().IsScalar() && inst->info().Is(kElementwise) && inst->callees().empty()) {
      values[inst] = inst->kind() == OpKind::Copy
                         ? operands[0]
                         : builder_.Op(inst->kind(), inst->shape().element_type(), operands, inst->attrs());
    } else {
      return Decline(inst->loc(), "%{0} in %{1} is no scalar operation", inst->name(), computation.name());
    }
  }
  return Values{values[computation.root()]};
}

}  // namespace hlo::kernel
