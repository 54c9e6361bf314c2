// Reductions that select, in lanes: each lane finds its own, and the best of these is what an order finds
// too, but for NaN, which compare with nothing, and results that are zero where there were zeros of both
// signs or subnormals, which compare as zeros. Then all is folded again, one after the other.
#include "backends/kernel/selection.h"
#include "backends/llvm/kernel_emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace hlo::codegen {

using kernel::ReduceStmt;
using kernel::Selection;
using llvm::Value;

namespace {

/// A key of the bits of floats that is less than KeyOfNormal() for -0 and subnormals alone.
Value* TinyKey(llvm::IRBuilderBase& b, Value* x) {
  llvm::Type* words = x->getType()->getWithNewType(b.getIntNTy(x->getType()->getScalarSizeInBits()));
  Value* bits = b.CreateBitCast(x, words);
  Value* one = llvm::ConstantInt::get(words, 1);
  return b.CreateSub(b.CreateIntrinsic(llvm::Intrinsic::fshl, {words}, {bits, bits, one}), one);
}
llvm::APInt KeyOfNormal(const llvm::Type* type) {
  const llvm::APInt bits =
      llvm::APFloat::getSmallestNormalized(type->getScalarType()->getFltSemantics()).bitcastToAPInt();
  return bits.shl(1) - 1;
}

}  // namespace

Value* KernelEmitter::ComesBefore(const ReduceStmt& stmt, const Selection& selection,
                                  llvm::ArrayRef<Value*> x, llvm::ArrayRef<Value*> y) {
  using P = llvm::CmpInst::Predicate;
  const auto integers = [&](size_t slot, bool smallest) {
    const bool is_signed = IsSigned(kernel_.TypeOf(stmt.inits[slot]));
    const P predicate = smallest    ? is_signed ? P::ICMP_SLT : P::ICMP_ULT
                        : is_signed ? P::ICMP_SGT
                                    : P::ICMP_UGT;
    return b_.CreateICmp(predicate, x[slot], y[slot]);
  };
  const bool floats = x[0]->getType()->isFPOrFPVectorTy();
  Value* before = floats ? b_.CreateFCmp(selection.smallest ? P::FCMP_OLT : P::FCMP_OGT, x[0], y[0])
                         : integers(0, selection.smallest);
  Value* equal = floats ? b_.CreateFCmpOEQ(x[0], y[0]) : b_.CreateICmpEQ(x[0], y[0]);
  return b_.CreateOr(before, b_.CreateAnd(equal, integers(1, selection.smallest_index)));
}

Status KernelEmitter::SelectElements(const ReduceStmt& stmt, const Selection& selection,
                                     llvm::MutableArrayRef<Value*> best, llvm::MutableArrayRef<Value*> rare) {
  HLO_CHECK_OK(EmitRegion(*stmt.body));
  llvm::SmallVector<Value*, 2> elements;
  for (const kernel::ValueId yield : stmt.body->yields)
    elements.push_back(Splat(b_, At(yield).compute, vector_.width));
  Value* taken = ComesBefore(stmt, selection, elements, best);
  if (vector_.mask != nullptr) taken = b_.CreateAnd(taken, vector_.mask);
  for (size_t i = 0; i < elements.size(); ++i) best[i] = b_.CreateSelect(taken, elements[i], best[i]);
  if (rare.empty()) return {};
  Value *unordered = b_.CreateFCmpUNO(elements[0], elements[0]), *key = TinyKey(b_, elements[0]);
  if (vector_.mask != nullptr) {
    unordered = b_.CreateAnd(unordered, vector_.mask);
    key = b_.CreateSelect(vector_.mask, key, llvm::Constant::getAllOnesValue(key->getType()));
  }
  rare[0] = b_.CreateOr(rare[0], unordered);
  rare[1] = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rare[1], key);
  return {};
}

Value* KernelEmitter::IsRare(Value* value, llvm::ArrayRef<Value*> rare) {
  const llvm::APInt normal = KeyOfNormal(value->getType());
  Value* least = b_.CreateIntMinReduce(rare[1], false);
  Value* some = b_.CreateICmpULT(least, llvm::ConstantInt::get(least->getType(), normal));
  // Zero is one less than all others.
  Value* key = b_.CreateAdd(TinyKey(b_, value), llvm::ConstantInt::get(least->getType(), 1));
  Value* tiny = b_.CreateICmpULE(key, llvm::ConstantInt::get(least->getType(), normal));
  return b_.CreateOr(b_.CreateOrReduce(rare[0]), b_.CreateAnd(some, tiny));
}

Result<KernelEmitter::Accumulators> KernelEmitter::FoldSelection(const ReduceStmt& stmt,
                                                                 const Selection& selection) {
  const kernel::Dimension& last = stmt.loops.back();
  const size_t count = stmt.inits.size();
  const auto width = static_cast<unsigned>(last.width);
  Accumulators inits, lanes;
  for (const kernel::ValueId init : stmt.inits) inits.push_back(At(init).compute);
  for (int group = 0; group < last.unroll; ++group)
    for (Value* init : inits) lanes.push_back(Splat(b_, init, width));
  const bool floats = inits[0]->getType()->isFloatingPointTy();
  if (floats) {
    lanes.push_back(Splat(b_, b_.CreateFCmpUNO(inits[0], inits[0]), width));
    lanes.push_back(Splat(b_, TinyKey(b_, inits[0]), width));
  }
  HLO_CHECK_OK(ReduceLevel(stmt, 0, lanes));
  const llvm::MutableArrayRef<Value*> all(lanes);
  const auto better = [&](llvm::MutableArrayRef<Value*> x, llvm::ArrayRef<Value*> y) {
    Value* taken = ComesBefore(stmt, selection, y, x);
    for (size_t i = 0; i < count; ++i) x[i] = b_.CreateSelect(taken, y[i], x[i]);
  };
  for (size_t half = static_cast<size_t>(last.unroll) / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      better(all.slice(i * count, count), all.slice((i + half) * count, count));
  Accumulators best(lanes.begin(), lanes.begin() + static_cast<int64_t>(count));
  for (unsigned half = width / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + half));
    }
    Accumulators upper;
    for (Value*& value : best) {
      upper.push_back(b_.CreateShuffleVector(value, high));
      value = b_.CreateShuffleVector(value, low);
    }
    better(best, upper);
  }
  for (Value*& value : best) value = b_.CreateExtractElement(value, uint64_t{0});
  return floats ? FoldRareInOrder(stmt, IsRare(best[0], all.take_back(2)), inits, best) : best;
}

Result<KernelEmitter::Accumulators> KernelEmitter::FoldRareInOrder(const ReduceStmt& stmt, Value* rare,
                                                                   Accumulators folded,
                                                                   llvm::ArrayRef<Value*> best) {
  llvm::BasicBlock *from = b_.GetInsertBlock(), *again = Block("again"), *next = Block("next");
  b_.CreateCondBr(rare, again, next);
  b_.SetInsertPoint(again);
  in_order_ = true;
  HLO_CHECK_OK(ReduceLevel(stmt, 0, folded));
  in_order_ = false;
  llvm::BasicBlock* end = b_.GetInsertBlock();
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  Accumulators results;
  for (size_t i = 0; i < folded.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(best[i]->getType(), 2);
    phi->addIncoming(best[i], from);
    phi->addIncoming(folded[i], end);
    results.push_back(phi);
  }
  return results;
}

}  // namespace hlo::codegen
