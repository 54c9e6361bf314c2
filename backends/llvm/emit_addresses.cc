// Where elements lie.
#include "backends/kernel/visit.h"
#include "backends/llvm/kernel_emitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/KnownBits.h"

namespace hlo::codegen {

using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

namespace {

bool IsZero(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  return constant != nullptr && constant->isNullValue();
}

/// An index as what varies and what is known of it, which was added last.
std::pair<Value*, int64_t> KnownApart(Value* index) {
  int64_t known = 0;
  for (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
       sum != nullptr && sum->getOpcode() == llvm::Instruction::Add;
       sum = llvm::dyn_cast<llvm::BinaryOperator>(index)) {
    const auto* number = llvm::dyn_cast<ConstantInt>(sum->getOperand(1));
    if (number == nullptr) break;
    known += number->getSExtValue();
    index = sum->getOperand(0);
  }
  if (const auto* number = llvm::dyn_cast<ConstantInt>(index))
    return {ConstantInt::get(index->getType(), 0), known + number->getSExtValue()};
  return {index, known};
}

}  // namespace

KernelEmitter::Place KernelEmitter::PlaceOf(const kernel::Address& address) {
  // Threads have what is known of the place at its end, for Pointer().
  int64_t known = threads_ == nullptr ? 0 : address.offset;
  Place place{Int64(address.offset - known)};
  auto scaled = [&](Value* value, int64_t factor) {
    if (factor == 1) return value;
    return b_.CreateMul(value, ConstantInt::get(value->getType(), static_cast<uint64_t>(factor), true));
  };
  const auto add = [&](Value* value, int64_t factor) {
    const auto* number = llvm::dyn_cast<ConstantInt>(value);
    if (threads_ != nullptr && number != nullptr)
      known += number->getSExtValue() * factor;
    else if (Value* more = scaled(value, factor); threads_ != nullptr && IsZero(place.scalar))
      place.scalar = more;
    else
      place.scalar = b_.CreateAdd(place.scalar, more);
  };
  for (const auto& term : address.loops) {
    add(loop_values_[static_cast<size_t>(term.id)], term.factor);
    if (term.id == vector_.loop) place.stride = term.factor;
  }
  for (const auto& term : address.values) {
    Value* value = At(term.id).compute;
    if (!value->getType()->isVectorTy()) {
      add(value, term.factor);
    } else {
      Value* more = scaled(value, term.factor);
      place.lanes = place.lanes == nullptr ? more : b_.CreateAdd(place.lanes, more);
    }
  }
  if (known != 0) place.scalar = b_.CreateAdd(place.scalar, Int64(known));
  return place;
}

Value* KernelEmitter::Iota(unsigned width) {
  llvm::SmallVector<llvm::Constant*, 16> lanes;
  for (unsigned i = 0; i < width; ++i) lanes.push_back(b_.getInt64(i));
  return llvm::ConstantVector::get(lanes);
}

Value* KernelEmitter::LaneOffsets(const Place& place) {
  Value* offsets = b_.CreateVectorSplat(vector_.width, place.scalar);
  if (place.stride != 0) {
    Value* steps = Iota(vector_.width);
    steps =
        b_.CreateMul(steps, ConstantInt::get(steps->getType(), static_cast<uint64_t>(place.stride), true));
    offsets = b_.CreateAdd(offsets, steps);
  }
  return place.lanes == nullptr ? offsets : b_.CreateAdd(offsets, place.lanes);
}

Value* KernelEmitter::Pointer(kernel::BufferId buffer, Value* element) {
  const auto i = static_cast<size_t>(buffer);
  if (threads_ == nullptr) return b_.CreateGEP(TypeInMemory(buffer), bases_[i], element);
  const auto [varies, known] = KnownApart(element);
  const kernel::Buffer::Swizzle swizzle = kernel_.buffers[i].swizzle;
  if (swizzle.mask != 0)
    return PlaceInLines(bases_[i], varies, known, Info(kernel_.buffers[i].type).host_bytes(), swizzle);
  return Behind(IsZero(varies) ? bases_[i] : b_.CreateGEP(TypeInMemory(buffer), bases_[i], varies), known,
                TypeInMemory(buffer));
}

Value* KernelEmitter::Behind(Value* pointer, int64_t count, Type* type) {
  if (count == 0) return pointer;
  return b_.CreateGEP(type, pointer, Int64(count));
}

Value* KernelEmitter::PlaceInLines(Value* base, Value* element, int64_t known, int64_t bytes,
                                   kernel::Buffer::Swizzle swizzle) {
  const auto [shift, mask] = swizzle;
  const auto number = [&](int64_t n) {
    return ConstantInt::get(element->getType(), static_cast<uint64_t>(n));
  };
  const auto changed = [&](int64_t byte) { return byte ^ (byte >> shift & mask); };
  // Whole periods change no places, and numbers that share no bits do so apart.
  const auto period = static_cast<int64_t>(llvm::NextPowerOf2(static_cast<uint64_t>(mask) << shift));
  const int64_t apart = known * bytes & (period - 1), behind = known * bytes - apart;
  Value* byte = b_.CreateMul(element, number(bytes));
  llvm::KnownBits bits = llvm::computeKnownBits(byte, module_.getDataLayout());
  const bool disjoint = (apart & ~static_cast<int64_t>(bits.Zero.getZExtValue())) == 0;
  if (!disjoint) {
    byte = b_.CreateAdd(byte, number(apart));
    bits = llvm::KnownBits(bits.getBitWidth());
  }
  int64_t perhaps = ~static_cast<int64_t>(bits.Zero.getZExtValue());
  if ((perhaps >> shift & mask) != 0)
    byte = b_.CreateXor(byte, b_.CreateAnd(b_.CreateLShr(byte, number(shift)), number(mask)));
  perhaps |= perhaps >> shift & mask;
  const int64_t more = disjoint ? changed(apart) : 0;
  if ((more & perhaps) != 0) byte = b_.CreateXor(byte, number(more & perhaps));
  return Behind(b_.CreateGEP(b_.getInt8Ty(), base, byte), behind + (more & ~perhaps), b_.getInt8Ty());
}

Value* KernelEmitter::Pointers(kernel::BufferId buffer, const Place& place) {
  Value* pointers = Pointer(buffer, LaneOffsets(place));
  // Threads have no offsets where all lanes are at the first element.
  return pointers->getType()->isVectorTy() ? pointers : b_.CreateVectorSplat(vector_.width, pointers);
}

void KernelEmitter::FindExtents() {
  extents_.assign(static_cast<size_t>(kernel_.loop_count), 1);
  const auto note = [&](const kernel::Dimension& d) { extents_[static_cast<size_t>(d.id)] = d.extent; };
  kernel::ForEachStmt(kernel_.body, [&](const kernel::Stmt& stmt) {
    if (const auto* loop = std::get_if<kernel::LoopStmt>(&stmt)) note(loop->loop);
    if (const auto* reduce = std::get_if<kernel::ReduceStmt>(&stmt)) llvm::for_each(reduce->loops, note);
  });
}

bool KernelEmitter::MayBeFar(kernel::BufferId id, const kernel::Address& address) const {
  constexpr int64_t kPage = 4096;
  if (!address.values.empty()) return true;
  // Threads branch around what they do not read.
  if (threads_ != nullptr) return false;
  int64_t low = address.offset, high = address.offset;
  for (const auto& term : address.loops) {
    const int64_t most = term.factor * (extents_[static_cast<size_t>(term.id)] - 1);
    (most < 0 ? low : high) += most;
  }
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(id)];
  return std::max(-low, high - buffer.count) * Info(buffer.type).host_bytes() >= kPage;
}

}  // namespace hlo::codegen
