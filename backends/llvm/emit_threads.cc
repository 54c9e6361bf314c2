// Kernels of blocks and threads: loops that are bound, and what only threads do.
#include <climits>
#include <numeric>

#include "backends/kernel/visit.h"
#include "backends/llvm/emit_ops.h"
#include "backends/llvm/kernel_emitter.h"
#include "backends/llvm/thread_target.h"

namespace hlo::codegen {

using kernel::AtomicOp;
using kernel::AtomicStmt;
using kernel::Binding;
using kernel::LaneReduceStmt;
using kernel::LoopStmt;
using kernel::ShuffleMode;
using kernel::ShuffleStmt;
using llvm::AtomicOrdering;
using llvm::AtomicRMWInst;
using llvm::Type;
using llvm::Value;

namespace {

/// Bytes at which arrays of a block begin: any access of vectors is whole there.
constexpr uint64_t kSharedAlignment = 16;
/// Where pieces change places within lines, these lie in all banks.
constexpr uint64_t kLineAlignment = 128;

/// Bits in whole registers of 32.
constexpr unsigned kRegister = 32;

Status CheckLoops(const kernel::Kernel& kernel, const ThreadTarget::Facts& facts) {
  const std::array<int64_t, 3> grid = kernel::ShapeOfGrid(kernel);
  const auto [lanes, x, y, z] = kernel::ShapeOfBlocks(kernel).extents;
  const std::array<int64_t, 3> threads = {x * lanes, y, z};
  for (size_t i = 0; i < grid.size(); ++i) {
    const auto direction = static_cast<size_t>(Binding::BlockX) + i;
    if (grid[i] > facts.most_blocks[i])
      return Decline({}, "{0} blocks of {1}, there are at most {2}", grid[i],
                     kernel::ToString(static_cast<Binding>(direction)), facts.most_blocks[i]);
    if (threads[i] > facts.most_threads[i])
      return Decline({}, "{0} threads of a block in direction {1}, there are at most {2}", threads[i], i,
                     facts.most_threads[i]);
  }
  if (lanes > facts.most_lanes)
    return Decline({}, "{0} lanes of a group, there are at most {1}", lanes, facts.most_lanes);
  return {};
}

/// The operation of an atomic that machines have; nothing where a loop of exchanges has to compute it:
/// extremes of floats are NaN if one of them is.
std::optional<AtomicRMWInst::BinOp> NativeOp(AtomicOp op, ElementType type) {
  if (op == AtomicOp::Exchange && Info(type).bits >= 32) return AtomicRMWInst::Xchg;
  if (op == AtomicOp::Add && (type == ElementType::F32 || type == ElementType::F64))
    return AtomicRMWInst::FAdd;
  if (!IsIntegral(type)) return std::nullopt;
  const bool is_signed = IsSigned(type);
  const std::pair<AtomicOp, AtomicRMWInst::BinOp> of_integers[] = {
      {AtomicOp::Add, AtomicRMWInst::Add},
      {AtomicOp::And, AtomicRMWInst::And},
      {AtomicOp::Or, AtomicRMWInst::Or},
      {AtomicOp::Xor, AtomicRMWInst::Xor},
      {AtomicOp::Maximum, is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax},
      {AtomicOp::Minimum, is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin},
  };
  for (const auto& [known, native] : of_integers)
    if (known == op) return native;
  return std::nullopt;
}

/// Whether neighbours in all lanes are no more than a piece of an array whose pieces change places; loads of
/// all of them are taken apart.
bool StaysTogether(const kernel::Kernel& kernel, const kernel::Stmt& stmt, int32_t width) {
  const kernel::BufferId id = kernel::BufferOf(stmt);
  if (id < 0) return true;
  const kernel::Buffer& buffer = kernel.buffers[static_cast<size_t>(id)];
  const auto* load = std::get_if<kernel::LoadStmt>(&stmt);
  if (buffer.swizzle.mask == 0 || (load != nullptr && load->mask < 0)) return true;
  return int64_t{width} * Info(buffer.type).host_bytes() <= static_cast<int64_t>(kSharedAlignment);
}

}  // namespace

Status CheckThreads(const kernel::Kernel& kernel, const ThreadTarget& target) {
  HLO_CHECK_OK(CheckLoops(kernel, target.facts()));
  Status status;
  kernel::ForEachStmt(kernel.body, [&](const kernel::Stmt& stmt) {
    const auto* loop = std::get_if<LoopStmt>(&stmt);
    if (loop == nullptr || loop->loop.width == 1 || !status) return;
    kernel::ForEachStmt(*loop->body, [&](const kernel::Stmt& inner) {
      if (std::holds_alternative<AtomicStmt>(inner))
        status = Decline({}, "an atomic in i{0}, which is a vector", loop->loop.id);
      if (!StaysTogether(kernel, inner, loop->loop.width))
        status = Decline({}, "i{0} is a vector of more than stays together of what it uses", loop->loop.id);
    });
  });
  return status;
}

void KernelEmitter::EnterOnThreads() {
  shape_ = block_ = kernel::ShapeOfBlocks(kernel_);
  const ThreadTarget::Facts& facts = threads_->facts();
  Type* global = llvm::PointerType::get(context_, facts.global_space);
  std::vector<Type*> arguments;
  for (const kernel::Buffer& buffer : kernel_.buffers)
    if (buffer.space == kernel::Space::Global) arguments.push_back(global);
  auto* type = llvm::FunctionType::get(Type::getVoidTy(context_), arguments, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel_.name, module_);
  const auto [lanes, x, y, z] = shape_.extents;
  threads_->SetKernel(*function_, {x * lanes, y, z});
  b_.SetInsertPoint(Block("entry"));
  unsigned next = 0;
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const kernel::Buffer& buffer = kernel_.buffers[i];
    const auto id = static_cast<kernel::BufferId>(i);
    if (buffer.space == kernel::Space::Local) {
      bases_.push_back(LocalBuffer(id));
    } else if (buffer.space == kernel::Space::Shared) {
      bases_.push_back(buffer.over >= 0 ? bases_[static_cast<size_t>(buffer.over)] : SharedBuffer(id));
    } else {
      SetArray(next, buffer);
      bases_.push_back(function_->getArg(next++));
    }
  }
}

void KernelEmitter::SetArray(unsigned argument, const kernel::Buffer& buffer) {
  const ThreadTarget::Facts& facts = threads_->facts();
  const auto bytes = static_cast<uint64_t>(buffer.count * Info(buffer.type).host_bytes());
  llvm::AttrBuilder attributes(context_);
  attributes.addAttribute(llvm::Attribute::NoAlias);
  attributes.addAttribute(llvm::Attribute::NoUndef);
  if (!buffer.written) attributes.addAttribute(llvm::Attribute::ReadOnly);
  attributes.addAlignmentAttr(llvm::Align(static_cast<uint64_t>(facts.alignment)));
  // Of arrays that are written, reads under a condition stay there: others may be writing what it guards.
  if (bytes > 0 && !buffer.written) attributes.addDereferenceableAttr(bytes);
  function_->addParamAttrs(argument, attributes);
}

Value* KernelEmitter::SharedBuffer(kernel::BufferId id) {
  const auto count = static_cast<uint64_t>(kernel_.buffers[static_cast<size_t>(id)].count);
  auto* type = llvm::ArrayType::get(TypeInMemory(id), count);
  auto* memory =
      new llvm::GlobalVariable(module_, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                               llvm::PoisonValue::get(type), kernel_.name + "_b" + std::to_string(id),
                               nullptr, llvm::GlobalValue::NotThreadLocal, threads_->facts().shared_space);
  const bool in_lines = kernel_.buffers[static_cast<size_t>(id)].swizzle.mask != 0;
  memory->setAlignment(llvm::Align(in_lines ? kLineAlignment : kSharedAlignment));
  return memory;
}

llvm::Align KernelEmitter::AlignAt(kernel::BufferId id, const kernel::Address& address,
                                   llvm::Align of_element) const {
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(id)];
  if (threads_ == nullptr || buffer.IsLocal()) return of_element;
  const int64_t bytes = Info(buffer.type).host_bytes();
  int64_t unit = buffer.space == kernel::Space::Shared ? static_cast<int64_t>(kSharedAlignment)
                                                       : threads_->facts().alignment;
  unit = std::gcd(unit, address.offset * bytes);
  for (const auto& term : address.loops)
    unit = std::gcd(unit, term.factor * bytes * (term.id == vector_.loop ? int64_t{vector_.width} : 1));
  for (const auto& term : address.values) unit = std::gcd(unit, term.factor * bytes);
  return std::max(of_element, llvm::Align(static_cast<uint64_t>(unit)));
}

Value* KernelEmitter::NumberOf(const kernel::Dimension& d) {
  if (kernel::IsBlock(d.binding))
    return threads_->Block(b_, static_cast<unsigned>(d.binding) - static_cast<unsigned>(Binding::BlockX),
                           d.extent);
  if (in_section_) return NumberInSection(kernel::DirectionOf(d.binding));
  const auto [lanes, x, y, z] = shape_.extents;
  if (d.binding == Binding::ThreadY) return threads_->Thread(b_, 1, y);
  if (d.binding == Binding::ThreadZ) return threads_->Thread(b_, 2, z);
  Value* number = threads_->Thread(b_, 0, x * lanes);
  const auto all = static_cast<uint32_t>(lanes);
  return d.binding == Binding::Lane ? b_.CreateAnd(number, b_.getInt32(all - 1))
                                    : b_.CreateUDiv(number, b_.getInt32(all));
}

Value* KernelEmitter::NumberInSection(size_t direction) {
  int64_t within = 1, beyond = 1;
  for (size_t i = 0; i < direction; ++i) within *= shape_.extents[i];
  for (size_t i = direction + 1; i < shape_.extents.size(); ++i) beyond *= shape_.extents[i];
  Value* number = threads_->Thread(b_, 0, block_.count());
  number = b_.CreateUDiv(number, b_.getInt32(static_cast<uint32_t>(within)));
  if (beyond == 1) return number;
  return b_.CreateURem(number, b_.getInt32(static_cast<uint32_t>(shape_.extents[direction])));
}

Status KernelEmitter::EmitBound(const LoopStmt& stmt) {
  const kernel::Dimension& d = stmt.loop;
  Value* number = b_.CreateZExt(NumberOf(d), b_.getInt64Ty(), "", /*IsNonNeg=*/true);
  loop_values_[static_cast<size_t>(d.id)] = number;
  const bool all = kernel::IsBlock(d.binding) || d.extent == shape_.extents[kernel::DirectionOf(d.binding)];
  if (all && d.outer < 0) return EmitRegion(*stmt.body);
  llvm::BasicBlock *run = Block("run"), *next = Block("next");
  b_.CreateCondBr(b_.CreateICmpSLT(number, WholeRange(d).end), run, next);
  b_.SetInsertPoint(run);
  HLO_CHECK_OK(EmitRegion(*stmt.body));
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  return {};
}

/// Threads beyond those of the section have nothing to do.
Status KernelEmitter::EmitSection(const LoopStmt& stmt) {
  llvm::BasicBlock *run = Block("section"), *next = Block("next");
  shape_ = kernel::ShapeOfThreads(*stmt.body);
  Value* mine = At(stmt.loop.when).compute;
  if (shape_.count() < block_.count())
    mine = b_.CreateAnd(mine, b_.CreateICmpULT(threads_->Thread(b_, 0, block_.count()),
                                               b_.getInt32(static_cast<uint32_t>(shape_.count()))));
  b_.CreateCondBr(mine, run, next);
  b_.SetInsertPoint(run);
  loop_values_[static_cast<size_t>(stmt.loop.id)] = Int64(0);
  in_section_ = true;
  HLO_CHECK_OK(EmitRegion(*stmt.body));
  in_section_ = false;
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  shape_ = block_;
  return {};
}

Status KernelEmitter::Emit(const kernel::BarrierStmt&) {
  threads_->Barrier(b_);
  return {};
}

Emitted KernelEmitter::Operate(OpKind kind, ElementType type, const Emitted& x, const Emitted& y) {
  const kernel::OpStmt op{.result = -1, .kind = kind, .type = type, .operands = {}, .attrs = {}};
  const Emitted operands[] = {x, y};
  const ElementType types[] = {type, type};
  return EmitOp({b_, op, operands, types});
}

Value* KernelEmitter::ShuffleBits(ShuffleMode mode, Value* stored, Value* by) {
  Type* type = stored->getType();
  const unsigned bits = type->getScalarSizeInBits();
  const auto lanes = static_cast<unsigned>(shape_.extents[0]);
  const unsigned parts = (bits + kRegister - 1) / kRegister;
  Type* whole = b_.getIntNTy(parts * kRegister);
  Value* number = b_.CreateZExt(b_.CreateBitCast(stored, b_.getIntNTy(bits)), whole);
  Value* result = llvm::ConstantInt::get(whole, 0);
  for (unsigned i = 0; i < parts; ++i) {
    Value* part = b_.CreateTrunc(b_.CreateLShr(number, uint64_t{i} * kRegister), b_.getInt32Ty());
    Value* got = b_.CreateZExt(threads_->Shuffle(b_, mode, part, by, lanes), whole);
    result = b_.CreateOr(result, b_.CreateShl(got, uint64_t{i} * kRegister));
  }
  return b_.CreateBitCast(b_.CreateTrunc(result, b_.getIntNTy(bits)), type);
}

Status KernelEmitter::Emit(const ShuffleStmt& stmt) {
  const ElementType type = kernel_.TypeOf(stmt.result);
  Value* own = At(stmt.value).stored;
  const int64_t lanes = shape_.extents[0];
  if (stmt.by.IsConstant() && stmt.by.offset >= 0 && stmt.by.offset < lanes) {
    Value* by = b_.getInt32(static_cast<uint32_t>(stmt.by.offset));
    At(stmt.result) = FromStored(b_, type, ShuffleBits(stmt.mode, own, by));
    return {};
  }
  // The number of the other lane, if there is such a lane.
  Value* by = PlaceOf(stmt.by).scalar;
  kernel::Dimension lane{.id = -1, .extent = lanes, .binding = Binding::Lane};
  Value* mine = b_.CreateZExt(NumberOf(lane), b_.getInt64Ty());
  Value* other = stmt.mode == ShuffleMode::Up     ? b_.CreateSub(mine, by)
                 : stmt.mode == ShuffleMode::Down ? b_.CreateAdd(mine, by)
                 : stmt.mode == ShuffleMode::Xor  ? b_.CreateXor(mine, by)
                                                  : by;
  Value* exists = b_.CreateICmpULT(other, Int64(lanes));
  Value* number = b_.CreateTrunc(b_.CreateSelect(exists, other, mine), b_.getInt32Ty());
  At(stmt.result) = FromStored(b_, type, ShuffleBits(ShuffleMode::Index, own, number));
  return {};
}

Status KernelEmitter::Emit(const LaneReduceStmt& stmt) {
  const ElementType type = kernel_.TypeOf(stmt.result);
  Emitted value = At(stmt.value);
  // As the partial results of a wide reduce are folded: pairwise, neighbours last. Operations commute.
  for (int64_t half = shape_.extents[0] / 2; half > 0; half /= 2) {
    Value* by = b_.getInt32(static_cast<uint32_t>(half));
    const Emitted other = FromStored(b_, type, ShuffleBits(ShuffleMode::Xor, value.stored, by));
    value = Operate(stmt.kind, type, value, other);
  }
  At(stmt.result) = value;
  return {};
}

Status KernelEmitter::Emit(const AtomicStmt& stmt) {
  Value* pointer = Pointer(stmt.buffer, PlaceOf(stmt.address).scalar);
  llvm::BasicBlock *from = b_.GetInsertBlock(), *next = nullptr;
  if (stmt.mask >= 0) {
    llvm::BasicBlock* write = Block("write");
    next = Block("next");
    b_.CreateCondBr(At(stmt.mask).compute, write, next);
    b_.SetInsertPoint(write);
  }
  Value* before = EmitAtomic(stmt, pointer);
  if (next != nullptr) {
    llvm::BasicBlock* done = b_.GetInsertBlock();
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    if (stmt.result >= 0) {
      llvm::PHINode* phi = b_.CreatePHI(before->getType(), 2);
      phi->addIncoming(before, done);
      phi->addIncoming(At(stmt.otherwise).stored, from);
      before = phi;
    }
  }
  if (stmt.result >= 0) At(stmt.result) = FromStored(b_, kernel_.TypeOf(stmt.result), before);
  return {};
}

Value* KernelEmitter::EmitAtomic(const AtomicStmt& stmt, Value* pointer) {
  const ElementType type = kernel_.buffers[static_cast<size_t>(stmt.buffer)].type;
  Value* value = At(stmt.value).stored;
  Type* stored = value->getType();
  const llvm::Align align(stored->getScalarSizeInBits() / CHAR_BIT);
  Type* bits = b_.getIntNTy(stored->getScalarSizeInBits());
  const auto as_bits = [&](Value* v) { return b_.CreateBitCast(v, bits); };
  const auto exchange = [&](Value* expected, Value* wanted) {
    return b_.CreateAtomicCmpXchg(pointer, expected, wanted, align, AtomicOrdering::Monotonic,
                                  AtomicOrdering::Monotonic);
  };
  if (stmt.op == AtomicOp::CompareExchange) {
    Value* pair = exchange(as_bits(At(stmt.expected).stored), as_bits(value));
    return b_.CreateBitCast(b_.CreateExtractValue(pair, 0), stored);
  }
  if (const auto native = NativeOp(stmt.op, type)) {
    Value* operand = *native == AtomicRMWInst::Xchg ? as_bits(value) : value;
    return b_.CreateBitCast(b_.CreateAtomicRMW(*native, pointer, operand, align, AtomicOrdering::Monotonic),
                            stored);
  }
  llvm::BasicBlock *before = b_.GetInsertBlock(), *again = Block("again"), *done = Block("done");
  Value* first = b_.CreateAlignedLoad(bits, pointer, align);
  b_.CreateBr(again);
  b_.SetInsertPoint(again);
  llvm::PHINode* seen = b_.CreatePHI(bits, 2);
  seen->addIncoming(first, before);
  const std::optional<OpKind> kind = kernel::OperationOf(stmt.op);
  Value* wanted =
      kind ? Operate(*kind, type, FromStored(b_, type, b_.CreateBitCast(seen, stored)), At(stmt.value)).stored
           : value;
  Value* pair = exchange(seen, as_bits(wanted));
  Value* found = b_.CreateExtractValue(pair, 0);
  seen->addIncoming(found, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(pair, 1), done, again);
  b_.SetInsertPoint(done);
  return b_.CreateBitCast(found, stored);
}

}  // namespace hlo::codegen
