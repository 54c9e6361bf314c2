// Maxima and minima of floats. That NaNs stay and -0 is less than 0 takes many operations for each element;
// three folds of the bits as integers keep all that is needed to say it once at the end:
//   - the largest as signed numbers: of floats that are not negative the largest; with NaNs, one of them
//   - the smallest as unsigned numbers: of floats that are not negative, or else of all, the one nearest to 0
//   - the largest as unsigned numbers: of the negative floats the one farthest from 0; with NaNs, one of them
#include "backends/llvm/kernel_emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace hlo::codegen {

using kernel::ReduceStmt;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

namespace {

enum : size_t { kSignedMax, kUnsignedMin, kUnsignedMax, kFolds };
constexpr llvm::Intrinsic::ID kFold[kFolds] = {llvm::Intrinsic::smax, llvm::Intrinsic::umin,
                                               llvm::Intrinsic::umax};
constexpr llvm::Intrinsic::ID kFoldLanes[kFolds] = {llvm::Intrinsic::vector_reduce_smax,
                                                    llvm::Intrinsic::vector_reduce_umin,
                                                    llvm::Intrinsic::vector_reduce_umax};

struct Format {
  ElementType type;
  unsigned bits;
  uint64_t infinity;
};
constexpr Format kFormats[] = {{ElementType::F32, 32, 0x7f800000},
                               {ElementType::F64, 64, 0x7ff0000000000000},
                               {ElementType::BF16, 16, 0x7f80},
                               {ElementType::F16, 16, 0x7c00}};

const Format* FindFormat(ElementType type) {
  for (const Format& format : kFormats)
    if (format.type == type) return &format;
  return nullptr;
}

}  // namespace

bool KernelEmitter::FoldsBits(const ReduceStmt& stmt) const {
  const auto op = kernel::ReductionOp(stmt);
  if (op != OpKind::Maximum && op != OpKind::Minimum) return false;
  const ElementType type = kernel_.TypeOf(stmt.inits[0]);
  if (FindFormat(type) == nullptr || (type == ElementType::F32 && target_.facts().maximum)) return false;
  int64_t count = 1;
  for (const kernel::Dimension& d : stmt.loops) count *= d.extent;
  if (stmt.loops.back().width > 1) return count >= target_.facts().code.extremes;
  return in_vector() && count >= target_.facts().code.extremes_columns;
}

void KernelEmitter::FoldBits(const ReduceStmt& stmt, llvm::MutableArrayRef<Value*> accumulators) {
  const Emitted& element = At(stmt.body->yields[0]);
  Value* bits = Splat(b_, element.stored, vector_.width);
  bits = b_.CreateBitCast(bits, accumulators[0]->getType());
  const bool own_lanes = vector_.loop == stmt.loops.back().id;
  for (size_t i = 0; i < kFolds; ++i) {
    Value* folded = b_.CreateBinaryIntrinsic(kFold[i], accumulators[i], bits);
    accumulators[i] = own_lanes && vector_.mask != nullptr
                          ? b_.CreateSelect(vector_.mask, folded, accumulators[i])
                          : folded;
  }
}

Result<Value*> KernelEmitter::ReduceBits(const ReduceStmt& stmt) {
  const ElementType type = kernel_.TypeOf(stmt.inits[0]);
  const Format& format = *FindFormat(type);
  const bool maximum = kernel::ReductionOp(stmt) == OpKind::Maximum;
  const bool in_lanes = stmt.loops.back().width > 1;
  const unsigned width = in_lanes ? static_cast<unsigned>(stmt.loops.back().width) : vector_.width;
  const uint64_t sign = uint64_t{1} << (format.bits - 1);
  const auto constant = [&](const Value* like, uint64_t bits) {
    return ConstantInt::get(like->getType(), bits);
  };
  // The infinity that every other float takes the place of.
  Value* first = b_.CreateVectorSplat(width, b_.getIntN(format.bits, format.infinity | (maximum ? sign : 0)));
  Accumulators folds(kFolds, first);
  HLO_CHECK_OK(ReduceLevel(stmt, 0, folds));
  if (in_lanes)
    for (size_t i = 0; i < kFolds; ++i)
      folds[i] = b_.CreateIntrinsic(kFoldLanes[i], {folds[i]->getType()}, {folds[i]});
  Value *highest = folds[kSignedMax], *nearest = folds[kUnsignedMin], *farthest = folds[kUnsignedMax];
  Value* zero = constant(highest, 0);
  // A float of the wanted sign if there is any: the one farthest from 0; else the one nearest to it.
  Value* any = maximum ? b_.CreateICmpSGE(highest, zero) : b_.CreateICmpSLT(farthest, zero);
  Value* bits = b_.CreateSelect(any, maximum ? highest : farthest, nearest);
  Value* nan = b_.CreateOr(b_.CreateICmpSGT(highest, constant(highest, format.infinity)),
                           b_.CreateICmpUGT(farthest, constant(farthest, format.infinity | sign)));
  const uint64_t quiet = format.infinity | (format.infinity >> 1 & ~format.infinity);
  bits = b_.CreateSelect(nan, constant(bits, quiet), bits);
  Type* stored = SameWidth(StoredType(context_, type), bits->getType());
  return FromStored(b_, type, b_.CreateBitCast(bits, stored)).compute;
}

}  // namespace hlo::codegen
