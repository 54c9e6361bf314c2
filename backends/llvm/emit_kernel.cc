// Statements.
#include "backends/llvm/emit_kernel.h"

#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"
#include "backends/llvm/emit_ops.h"
#include "backends/llvm/kernel_emitter.h"

namespace hlo::codegen {

using kernel::ConstantStmt;
using kernel::IndexStmt;
using kernel::LoadStmt;
using kernel::LoopStmt;
using kernel::OpStmt;
using kernel::ReduceStmt;
using kernel::Region;
using kernel::Stmt;
using kernel::StoreStmt;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

namespace {

/// The largest stride at which neighbours are loaded and shuffled: a vector for each element of the stride.
int64_t MaxShuffledStride(const Type* element, const CodeTarget& target) {
  const int64_t most = target.facts().code.neighbours;
  return element->getScalarSizeInBits() <= sizeof(float) * CHAR_BIT ? most : most / 2;
}

/// Whether NaNs with other bits are other values to the statement.
bool ReadsBits(const Stmt& stmt) {
  const auto* op = std::get_if<OpStmt>(&stmt);
  if (op == nullptr) return std::holds_alternative<StoreStmt>(stmt);
  const auto* compare = op->attrs.GetIf<CompareAttrs>();
  return op->kind == OpKind::BitcastConvert ||
         (compare != nullptr && compare->type == CompareType::TotalOrder);
}

}  // namespace

namespace {

Status CheckOp(const kernel::Kernel& kernel, const OpStmt& stmt) {
  llvm::SmallVector<ElementType, 3> types;
  for (const kernel::ValueId operand : stmt.operands) types.push_back(kernel.TypeOf(operand));
  if (HasCode(stmt.kind, types, stmt.type)) return {};
  std::string on;
  for (const ElementType type : types) on += (on.empty() ? "" : ", ") + ToString(type).str();
  return Decline({}, "no code for {0} of {1} to {2}", Info(stmt.kind).text, on, ToString(stmt.type));
}

}  // namespace

Status CheckKernel(const kernel::Kernel& kernel, const CodeTarget* target) {
  const ThreadTarget* threads = target == nullptr ? nullptr : target->threads();
  HLO_CHECK_OK(threads == nullptr ? kernel::CheckWithoutThreads(kernel) : CheckThreads(kernel, *threads));
  for (const ElementType type : kernel.value_types)
    if (!IsSupported(type)) return Decline({}, "no code for {0}", ToString(type));
  for (const kernel::Buffer& buffer : kernel.buffers)
    if (!IsSupported(buffer.type)) return Decline({}, "no code for {0}", ToString(buffer.type));
  Status status;
  kernel::ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    if (!status) return;
    if (const auto* op = std::get_if<OpStmt>(&stmt)) status = CheckOp(kernel, *op);
    const auto* reduce = std::get_if<ReduceStmt>(&stmt);
    if (reduce != nullptr && reduce->loops.back().width > 1 &&
        kernel.TypeOf(reduce->inits[0]) == ElementType::F8E8M0FNU)
      status = Decline({}, "f8e8m0fnu has no neutral elements");
  });
  return status;
}

Status EmitKernel(const kernel::Kernel& kernel, llvm::Module& module) {
  HLO_CHECK_OK(CheckKernel(kernel, &CodeTargetOf(module)));
  return KernelEmitter(kernel, module).Run();
}

int64_t ParallelGrain(const kernel::Kernel& kernel) {
  int64_t grain = 1;
  for (const LoopStmt* loop : kernel::OutermostLoops(kernel))
    grain = std::max(grain, static_cast<int64_t>(loop->loop.width) * loop->loop.unroll);
  return grain;
}

Status KernelEmitter::Run() {
  values_.resize(kernel_.value_types.size());
  FindKeptInBits();
  FindOnlyStored();
  loop_values_.resize(static_cast<size_t>(kernel_.loop_count));
  FindExtents();
  threads_ != nullptr ? EnterOnThreads() : EnterCall();
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  HLO_CHECK_OK(EmitRegion(kernel_.body));
  // Other threads learn by ordinary stores that the kernel is done.
  if (streams_) b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  b_.CreateRetVoid();
  return {};
}

void KernelEmitter::EnterCall() {
  Type* pointer = llvm::PointerType::getUnqual(context_);
  Type* i64 = Type::getInt64Ty(context_);
  auto* type = llvm::FunctionType::get(Type::getVoidTy(context_), {pointer, i64, i64}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel_.name, module_);
  b_.SetInsertPoint(Block("entry"));
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const kernel::Buffer& buffer = kernel_.buffers[i];
    if (buffer.IsLocal()) {
      bases_.push_back(LocalBuffer(static_cast<kernel::BufferId>(i)));
      continue;
    }
    bases_.push_back(b_.CreateLoad(pointer, b_.CreateConstInBoundsGEP1_64(pointer, function_->getArg(0), i)));
  }
}

Value* KernelEmitter::LocalBuffer(kernel::BufferId id) {
  const auto count = static_cast<uint64_t>(kernel_.buffers[static_cast<size_t>(id)].count);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.begin());
  auto* memory = b.CreateAlloca(llvm::ArrayType::get(TypeInMemory(id), count));
  memory->setAlignment(llvm::Align(kArrayAlignment));
  return memory;
}

void KernelEmitter::FindKeptInBits() {
  llvm::BitVector from_outside(static_cast<unsigned>(kernel_.value_types.size()));
  llvm::BitVector holds_outside(static_cast<unsigned>(kernel_.buffers.size()));
  std::vector<kernel::BufferId> loaded_from(kernel_.value_types.size(), -1);
  kept_in_bits_.resize(static_cast<unsigned>(kernel_.buffers.size()));
  auto is_from_outside = [&](kernel::ValueId value) { return from_outside[static_cast<unsigned>(value)]; };
  kernel::ForEachStmt(kernel_.body, [&](const Stmt& stmt) {
    if (ReadsBits(stmt))
      kernel::ForEachUse(stmt, [&](kernel::ValueId value) {
        const kernel::BufferId from = loaded_from[static_cast<size_t>(value)];
        if (from >= 0 && holds_outside[static_cast<unsigned>(from)])
          kept_in_bits_.set(static_cast<unsigned>(from));
      });
    if (const auto* load = std::get_if<LoadStmt>(&stmt)) {
      const bool local = kernel_.buffers[static_cast<size_t>(load->buffer)].IsLocal();
      if (local) loaded_from[static_cast<size_t>(load->result)] = load->buffer;
      from_outside[static_cast<unsigned>(load->result)] =
          !local || holds_outside[static_cast<unsigned>(load->buffer)];
    } else if (const auto* store = std::get_if<StoreStmt>(&stmt)) {
      if (is_from_outside(store->value)) holds_outside.set(static_cast<unsigned>(store->buffer));
    }
  });
}

void KernelEmitter::FindOnlyStored() {
  only_stored_.assign(kernel_.value_types.size(), true);
  kernel::ForEachStmt(kernel_.body, [&](const Stmt& stmt) {
    const auto* store = std::get_if<StoreStmt>(&stmt);
    const bool kept = store != nullptr && IsKeptAsComputed(store->buffer);
    kernel::ForEachUse(stmt, [&](kernel::ValueId value) {
      if (store == nullptr || kept || value != store->value) only_stored_[static_cast<size_t>(value)] = false;
    });
  });
}

Status KernelEmitter::EmitRegion(const Region& region) {
  for (const Stmt& stmt : region.stmts)
    HLO_CHECK_OK(std::visit([&](const auto& s) { return Emit(s); }, stmt));
  return {};
}

Status KernelEmitter::Emit(const ConstantStmt& stmt) {
  Type* type = StoredType(context_, stmt.type);
  llvm::Constant* bits = ConstantInt::get(context_, llvm::APInt(type->getScalarSizeInBits(), stmt.bits[0]));
  if (IsComplex(stmt.type)) {
    const unsigned part = type->getScalarSizeInBits() / 2;
    llvm::APInt both(2 * part, stmt.bits[0]);
    both.insertBits(stmt.bits[1], part, part);
    bits = ConstantInt::get(context_, both);
  }
  At(stmt.result) = FromStored(b_, stmt.type, type->isIntegerTy() ? bits : b_.CreateBitCast(bits, type));
  return {};
}

Status KernelEmitter::Emit(const IndexStmt& stmt) {
  const Place place = PlaceOf(stmt.address);
  Value* index = place.stride == 0 && place.lanes == nullptr ? place.scalar : LaneOffsets(place);
  At(stmt.result) = {index, index};
  return {};
}

Status KernelEmitter::Emit(const OpStmt& stmt) {
  llvm::SmallVector<Emitted, 3> operands;
  llvm::SmallVector<ElementType, 3> types;
  bool vector = false;
  for (const kernel::ValueId operand : stmt.operands) {
    operands.push_back(At(operand));
    types.push_back(kernel_.TypeOf(operand));
    vector |= At(operand).IsVector();
  }
  if (DividesByInvariant(stmt)) {
    At(stmt.result) = DivideByInvariant(b_, stmt.type, operands[0].compute, operands[1].compute,
                                        {.only_stored = only_stored_[static_cast<size_t>(stmt.result)],
                                         .bounded = stmt.bounded,
                                         .any_speed = threads_ != nullptr});
    return {};
  }
  if (stmt.kind == OpKind::Subtract && operands[0].IsVector() && !operands[1].IsVector())
    subtracted_[stmt.result] = operands[1].compute;
  if (vector)
    for (Emitted& operand : operands)
      operand = {Splat(b_, operand.compute, vector_.width), Splat(b_, operand.stored, vector_.width)};
  At(stmt.result) = EmitOp({b_, stmt, operands, types, only_stored_[static_cast<size_t>(stmt.result)],
                            stmt.bounded ? subtracted_.lookup(stmt.operands[0]) : nullptr});
  return {};
}

bool KernelEmitter::DividesByInvariant(const OpStmt& stmt) {
  return stmt.kind == OpKind::Divide && IsFloat(stmt.type) && At(stmt.operands[0]).IsVector() &&
         !At(stmt.operands[1]).IsVector() && IsSupported(stmt.type) && stmt.type != ElementType::F8E8M0FNU;
}

Status KernelEmitter::Emit(const LoadStmt& stmt) {
  const ElementType type = kernel_.TypeOf(stmt.result);
  const Place place = PlaceOf(stmt.address);
  const bool scalar =
      place.stride == 0 && place.lanes == nullptr && (stmt.mask < 0 || !At(stmt.mask).IsVector());
  Value* stored = scalar ? LoadScalar(stmt, place.scalar) : LoadVector(stmt, place);
  At(stmt.result) = IsKeptAsComputed(stmt.buffer) ? Emitted{stored, FromCompute(b_, type, stored).stored}
                                                  : FromStored(b_, type, stored);
  return {};
}

bool KernelEmitter::IsKeptAsComputed(kernel::BufferId id) const {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(id)];
  return buffer.IsLocal() && !kept_in_bits_[static_cast<unsigned>(id)] &&
         StoredType(context_, buffer.type)->isIntegerTy() && ComputeType(context_, buffer.type)->isFloatTy();
}

Type* KernelEmitter::TypeInMemory(kernel::BufferId id) const {
  const ElementType type = kernel_.buffers[static_cast<size_t>(id)].type;
  return IsKeptAsComputed(id) ? ComputeType(context_, type) : StoredType(context_, type);
}

Value* KernelEmitter::FormInMemory(kernel::BufferId id, const Emitted& value) const {
  return IsKeptAsComputed(id) ? value.compute : value.stored;
}

Value* KernelEmitter::LoadScalar(const LoadStmt& stmt, Value* element) {
  Type* type = TypeInMemory(stmt.buffer);
  if (stmt.mask < 0) return b_.CreateAlignedLoad(type, Pointer(stmt.buffer, element), AlignOf(type));
  return LoadWhere(stmt, type, element, AlignOf(type), FormInMemory(stmt.buffer, At(stmt.otherwise)));
}

Value* KernelEmitter::LoadWhere(const LoadStmt& stmt, Type* type, Value* element, llvm::Align align,
                                Value* otherwise) {
  llvm::BasicBlock *from = b_.GetInsertBlock(), *read = Block("read"), *next = Block("next");
  b_.CreateCondBr(At(stmt.mask).compute, read, next);
  b_.SetInsertPoint(read);
  Value* value = b_.CreateAlignedLoad(type, Pointer(stmt.buffer, element), align);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  llvm::PHINode* phi = b_.CreatePHI(type, 2);
  phi->addIncoming(value, read);
  phi->addIncoming(otherwise, from);
  return phi;
}

/// Where threads are, lanes that are all there or not are branched around: masks would be taken apart.
bool KernelEmitter::OneForAll(kernel::ValueId mask) {
  return threads_ != nullptr && mask >= 0 && vector_.mask == nullptr && !At(mask).IsVector();
}

Value* KernelEmitter::WithinReach(kernel::BufferId id, kernel::ValueId mask, const kernel::Address& address,
                                  Value* element) {
  if (mask < 0 || At(mask).IsVector() || !MayBeFar(id, address)) return element;
  return b_.CreateSelect(At(mask).compute, element, Int64(0));
}

Value* KernelEmitter::LoadVector(const LoadStmt& stmt, const Place& place) {
  Type* element = TypeInMemory(stmt.buffer);
  auto* type = llvm::FixedVectorType::get(element, vector_.width);
  const llvm::Align align = AlignOf(element);
  const llvm::Align first = AlignAt(stmt.buffer, stmt.address, align);
  Value* otherwise = stmt.otherwise < 0
                         ? llvm::Constant::getNullValue(type)
                         : Splat(b_, FormInMemory(stmt.buffer, At(stmt.otherwise)), vector_.width);
  if (OneForAll(stmt.mask) && place.lanes == nullptr && place.stride == 1)
    return LoadWhere(stmt, type, place.scalar, first, otherwise);
  Value* mask = LaneMask(stmt.mask);
  if (mask == nullptr && place.lanes == nullptr && place.stride == 1 && IsInPieces(stmt.buffer))
    return LoadPieces(stmt.buffer, place.scalar);
  if (place.lanes == nullptr && place.stride == 1) {
    Value* pointer = Pointer(stmt.buffer, WithinReach(stmt.buffer, stmt.mask, stmt.address, place.scalar));
    if (mask == nullptr) {
      FetchNextRow(stmt, pointer);
      return b_.CreateAlignedLoad(type, pointer, first);
    }
    Type* moved = MovedType(type);
    Value* loaded =
        b_.CreateMaskedLoad(moved, pointer, align, MovedMask(mask, type), b_.CreateBitCast(otherwise, moved));
    return b_.CreateBitCast(loaded, type);
  }
  if (place.lanes == nullptr && place.stride == -1) {
    Value* last = Pointer(stmt.buffer, b_.CreateSub(place.scalar, Int64(vector_.width - 1)));
    if (mask == nullptr) return b_.CreateVectorReverse(b_.CreateAlignedLoad(type, last, align));
    return b_.CreateVectorReverse(b_.CreateMaskedLoad(type, last, align, b_.CreateVectorReverse(mask),
                                                      b_.CreateVectorReverse(otherwise)));
  }
  if (mask == nullptr && InTile(stmt, place)) return LoadFromTile(stmt, place, type);
  if (stmt.mask < 0 && place.lanes == nullptr && place.stride > 1 &&
      place.stride <= MaxShuffledStride(element, target_))
    return LoadStrided(stmt, place, type);
  if (mask == nullptr && place.lanes == nullptr && place.stride < -1 &&
      -place.stride <= MaxShuffledStride(element, target_)) {
    Value* last = b_.CreateAdd(place.scalar, Int64(place.stride * (int64_t{vector_.width} - 1)));
    return b_.CreateVectorReverse(LoadStrided(stmt, {last, -place.stride}, type));
  }
  if (mask == nullptr)
    mask = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(vector_.width), b_.getTrue());
  return b_.CreateMaskedGather(type, Pointers(stmt.buffer, place), align, mask, otherwise);
}

Status KernelEmitter::Emit(const StoreStmt& stmt) {
  const Place place = PlaceOf(stmt.address);
  Value* value = FormInMemory(stmt.buffer, At(stmt.value));
  const llvm::Align align = AlignOf(value->getType());
  const bool side_by_side = place.lanes == nullptr && place.stride == 1;
  const bool one_for_all = in_vector() && side_by_side && OneForAll(stmt.mask);
  if (!in_vector() || one_for_all) {
    if (in_vector()) value = Splat(b_, value, vector_.width);
    llvm::BasicBlock* next = nullptr;
    if (stmt.mask >= 0) {
      llvm::BasicBlock* write = Block("write");
      next = Block("next");
      b_.CreateCondBr(At(stmt.mask).compute, write, next);
      b_.SetInsertPoint(write);
    }
    b_.CreateAlignedStore(value, Pointer(stmt.buffer, place.scalar),
                          in_vector() ? AlignAt(stmt.buffer, stmt.address, align) : align);
    if (next != nullptr) {
      b_.CreateBr(next);
      b_.SetInsertPoint(next);
    }
    return {};
  }
  value = Splat(b_, value, vector_.width);
  if (row_stores_ != nullptr) {
    (*row_stores_)[&stmt].push_back(value);
    return {};
  }
  if (StoresByTurns(stmt, value)) return {};
  Value* mask = LaneMask(stmt.mask);
  if (side_by_side) {
    Value* pointer = Pointer(stmt.buffer, WithinReach(stmt.buffer, stmt.mask, stmt.address, place.scalar));
    if (mask == nullptr && stmt.streaming && threads_ == nullptr)
      StreamVector(value, pointer);
    else if (mask == nullptr)
      b_.CreateAlignedStore(value, pointer, AlignAt(stmt.buffer, stmt.address, align));
    else
      b_.CreateMaskedStore(b_.CreateBitCast(value, MovedType(value->getType())), pointer, align,
                           MovedMask(mask, value->getType()));
    return {};
  }
  if (place.lanes == nullptr && place.stride == -1) {
    Value* first = Pointer(stmt.buffer, b_.CreateSub(place.scalar, Int64(vector_.width - 1)));
    value = b_.CreateVectorReverse(value);
    if (mask == nullptr)
      b_.CreateAlignedStore(value, first, align);
    else
      b_.CreateMaskedStore(value, first, align, b_.CreateVectorReverse(mask));
    return {};
  }
  b_.CreateMaskedScatter(value, Pointers(stmt.buffer, place), align, mask);
  return {};
}

void KernelEmitter::StreamVector(Value* value, Value* pointer) {
  const auto line = static_cast<uint64_t>(target_.facts().memory.line);
  const uint64_t bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  auto* store = b_.CreateAlignedStore(value, pointer, llvm::Align(std::min(bytes, line)));
  auto* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, one));
  streams_ = true;
}

KernelEmitter::Range KernelEmitter::NextPart(const kernel::Dimension& dimension) {
  Value *begin = function_->getArg(1), *end = function_->getArg(2);
  const int64_t group = int64_t{dimension.width} * dimension.unroll;
  whole_groups_ = dimension.extent % group == 0 && parallel_before_ % group == 0;
  if (kernel::OutermostLoops(kernel_).size() == 1) return {begin, end};
  Value* before = Int64(parallel_before_);
  parallel_before_ += dimension.extent;
  begin = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(begin, before), Int64(0));
  end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(end, before), Int64(dimension.extent));
  // An empty part ends where it begins.
  return {begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, begin, end)};
}

Status KernelEmitter::EmitOnCondition(const LoopStmt& stmt) {
  if (in_vector()) return Decline({}, "a loop has a condition for each lane of a vector");
  llvm::BasicBlock *run = Block("run"), *next = Block("next");
  b_.CreateCondBr(At(stmt.loop.when).compute, run, next);
  b_.SetInsertPoint(run);
  loop_values_[static_cast<size_t>(stmt.loop.id)] = Int64(0);
  HLO_CHECK_OK(EmitRegion(*stmt.body));
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  return {};
}

Status KernelEmitter::EmitBefore(const LoopStmt& stmt) {
  if (in_vector()) return Decline({}, "a loop has an end for each lane of a vector");
  Value* end =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, Int64(stmt.loop.extent), At(stmt.loop.before).compute);
  return ScalarLoop(stmt.loop.id, {Int64(0), end}, 1, [&]() -> Status {
    around_.push_back({stmt.loop.id, 1, stmt.loop.ordered});
    passes_.clear();
    HLO_CHECK_OK(EmitRegion(*stmt.body));
    around_.pop_back();
    return {};
  });
}

Status KernelEmitter::Emit(const LoopStmt& stmt) {
  if (threads_ != nullptr && !in_section_ && kernel::IsSection(stmt)) return EmitSection(stmt);
  if (stmt.loop.when >= 0) return EmitOnCondition(stmt);
  if (stmt.loop.binding != kernel::Binding::None) return EmitBound(stmt);
  if (stmt.loop.width == 1 && stmt.loop.unroll > 1 && stmt.loop.unroll == stmt.loop.extent && !in_vector() &&
      !stmt.loop.parallel)
    return EmitUnrolled(stmt);
  if (stmt.loop.before >= 0) return EmitBefore(stmt);
  Range range = WholeRange(stmt.loop);
  if (stmt.loop.parallel && threads_ == nullptr) range = NextPart(stmt.loop);
  if (IsShortRow(stmt)) return EmitShortRow(stmt);
  if (IsTiny(stmt.loop, *stmt.body)) {
    for (int64_t i = 0; i < stmt.loop.extent; ++i) {
      loop_values_[static_cast<size_t>(stmt.loop.id)] = Int64(i);
      HLO_CHECK_OK(EmitRegion(*stmt.body));
    }
    return {};
  }
  if (stmt.loop.width == 1 && stmt.loop.unroll > 1 && stmt.loop.parallel) return EmitSideBySide(stmt, range);
  if (stmt.loop.width == 1)
    return ScalarLoop(stmt.loop.id, range, 1, [&]() -> Status {
      if (stmt.loop.ordered && !in_vector()) HLO_CHECK_OK(FetchRowsToCome(stmt, range));
      around_.push_back({stmt.loop.id, 1, stmt.loop.ordered});
      passes_.clear();
      HLO_CHECK_OK(EmitRegion(*stmt.body));
      around_.pop_back();
      return {};
    });
  Accumulators none;
  vector_.loop = stmt.loop.id;
  FindStoresByTurns(*stmt.body);
  vector_ = {};
  return VectorLoops(stmt.loop, range, none, [&](int) { return EmitRegion(*stmt.body); });
}

Type* KernelEmitter::MovedType(Type* type) {
  if (type->getScalarSizeInBits() <= sizeof(double) * CHAR_BIT) return type;
  return llvm::FixedVectorType::get(b_.getDoubleTy(),
                                    2 * llvm::cast<llvm::FixedVectorType>(type)->getNumElements());
}

Value* KernelEmitter::MovedMask(Value* mask, Type* type) {
  if (MovedType(type) == type) return mask;
  llvm::SmallVector<int, 32> twice;
  for (unsigned i = 0; i < vector_.width; ++i) twice.append(2, static_cast<int>(i));
  return b_.CreateShuffleVector(mask, twice);
}

Value* KernelEmitter::LaneMask(kernel::ValueId mask) {
  if (mask < 0) return vector_.mask;
  Value* given = Splat(b_, At(mask).compute, vector_.width);
  return vector_.mask == nullptr ? given : b_.CreateAnd(vector_.mask, given);
}

}  // namespace hlo::codegen
