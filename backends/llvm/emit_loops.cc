// Loops and reductions.
#include "backends/kernel/visit.h"
#include "backends/llvm/emit_ops.h"
#include "backends/llvm/kernel_emitter.h"
#include "ir/numeric/narrow_float.h"
#include "llvm/IR/Intrinsics.h"

namespace hlo::codegen {

using kernel::Dimension;
using kernel::ReduceStmt;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

KernelEmitter::Range KernelEmitter::WholeRange(const Dimension& dimension) {
  if (dimension.outer < 0) return {Int64(0), Int64(dimension.extent)};
  Value* before = b_.CreateMul(loop_values_[static_cast<size_t>(dimension.outer)], Int64(dimension.extent));
  return {Int64(0), b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, Int64(dimension.extent),
                                             b_.CreateSub(Int64(dimension.limit), before))};
}

Status KernelEmitter::CarriedLoop(kernel::LoopId loop, Range range, Value* step, Accumulators& carried,
                                  llvm::function_ref<Status()> body) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = Block("loop"), *inside = Block("body"),
                   *after = Block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(range.begin, before);
  // The body asks what is known of the index: it comes around already, from a block that lasts until then.
  llvm::BasicBlock* around = Block("next");
  llvm::IRBuilder<> next(around);
  index->addIncoming(next.CreateAdd(index, step), around);
  next.CreateBr(head);
  llvm::SmallVector<llvm::PHINode*, 4> phis;
  for (Value*& value : carried) {
    phis.push_back(b_.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    value = phis.back();
  }
  b_.CreateCondBr(b_.CreateICmpSLT(index, range.end), inside, after);
  b_.SetInsertPoint(inside);
  loop_values_[static_cast<size_t>(loop)] = index;
  Tile* tile = tile_.get();
  if (tile != nullptr) ++tile->loops;
  HLO_CHECK_OK(body());
  if (tile != nullptr) --tile->loops;
  llvm::BasicBlock* last = b_.GetInsertBlock();
  last->splice(last->end(), around);
  index->replaceIncomingBlockWith(around, last);
  around->eraseFromParent();
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(carried[i], last);
  b_.SetInsertPoint(after);
  for (size_t i = 0; i < phis.size(); ++i) carried[i] = phis[i];
  loop_values_[static_cast<size_t>(loop)] = index;
  return {};
}

namespace {

/// Null if these are all.
Value* MaskOfFirst(llvm::IRBuilderBase& b, unsigned width, int64_t lanes) {
  if (lanes >= width) return nullptr;
  llvm::SmallVector<llvm::Constant*, 16> exists;
  for (int64_t lane = 0; lane < width; ++lane) exists.push_back(b.getInt1(lane < lanes));
  return llvm::ConstantVector::get(exists);
}

int64_t WrittenStmts(const kernel::Region& region, const CodeTarget::Facts& facts);

/// Whether a loop around so many statements is written out.
bool IsTinyAround(const Dimension& dimension, int64_t stmts, const CodeTarget::Code& code) {
  return dimension.width == 1 && dimension.outer < 0 && !dimension.parallel &&
         dimension.extent <= code.tiny_loop && stmts * dimension.extent <= code.tiny_stmts;
}

int64_t TimesWritten(const Dimension& dimension, int64_t stmts, const CodeTarget::Facts& facts) {
  if (IsTinyAround(dimension, stmts, facts.code)) return dimension.extent;
  return dimension.unroll * std::max<int64_t>(dimension.width / facts.lanes, 1);
}

/// Statements of a region, those of loops that are written out once for each iteration.
int64_t WrittenStmts(const kernel::Region& region, const CodeTarget::Facts& facts) {
  int64_t count = 0;
  for (const kernel::Stmt& stmt : region.stmts) {
    ++count;
    if (const auto* loop = std::get_if<kernel::LoopStmt>(&stmt)) {
      const int64_t inside = WrittenStmts(*loop->body, facts);
      count += inside * TimesWritten(loop->loop, inside, facts);
    }
    if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
      const int64_t inside = WrittenStmts(*reduce->body, facts) + WrittenStmts(*reduce->combiner, facts);
      count += inside * TimesWritten(reduce->loops.back(), inside, facts);
    }
  }
  return count;
}

}  // namespace

bool KernelEmitter::CountsRegisters(const Dimension& dimension, const kernel::Region& body) const {
  if (threads_ == nullptr || dimension.width > 1 || dimension.outer >= 0 ||
      dimension.extent > target_.facts().code.tiny_loop)
    return false;
  bool counts = false;
  kernel::ForEachStmt(body, [&](const kernel::Stmt& stmt) {
    const kernel::BufferId buffer = kernel::BufferOf(stmt);
    const auto look = [&](kernel::BufferId id, const kernel::Address& place) {
      counts |= kernel_.buffers[static_cast<size_t>(id)].IsLocal() && place.FactorOf(dimension.id) != 0;
    };
    if (buffer >= 0) look(buffer, *kernel::PlaceOf(stmt));
    kernel::ForEachMatrixPlace(const_cast<kernel::Stmt&>(stmt), look);
  });
  return counts;
}

bool KernelEmitter::IsTiny(const Dimension& dimension, const kernel::Region& body) const {
  if (CountsRegisters(dimension, body)) return true;
  const CodeTarget::Facts& facts = target_.facts();
  const int64_t stmts = WrittenStmts(body, facts) * std::max<int64_t>(vector_.width / facts.lanes, 1);
  return IsTinyAround(dimension, stmts, facts.code);
}

Status KernelEmitter::ScalarLoop(kernel::LoopId loop, Range range, int64_t step,
                                 llvm::function_ref<Status()> body) {
  Accumulators none;
  return CarriedLoop(loop, range, Int64(step), none, body);
}

Status KernelEmitter::EmitSideBySide(const kernel::LoopStmt& stmt, Range range) {
  struct Iteration {
    Value* number;
    std::vector<Emitted> values;
    std::vector<Value*> bases;
  };
  return ScalarLoop(stmt.loop.id, range, stmt.loop.unroll, [&]() -> Status {
    Value*& number = loop_values_[static_cast<size_t>(stmt.loop.id)];
    std::vector<Iteration> iterations;
    for (int64_t u = 0; u < stmt.loop.unroll; ++u) {
      iterations.push_back({b_.CreateAdd(number, Int64(u)), values_, bases_});
      for (size_t i = 0; u > 0 && i < bases_.size(); ++i)
        if (kernel_.buffers[i].IsLocal())
          iterations.back().bases[i] = LocalBuffer(static_cast<kernel::BufferId>(i));
    }
    around_.push_back({stmt.loop.id, stmt.loop.unroll});
    passes_.clear();
    for (const kernel::Stmt& one : stmt.body->stmts)
      for (Iteration& iteration : iterations) {
        number = iteration.number;
        values_.swap(iteration.values);
        bases_.swap(iteration.bases);
        HLO_CHECK_OK(std::visit([&](const auto& s) { return Emit(s); }, one));
        values_.swap(iteration.values);
        bases_.swap(iteration.bases);
      }
    around_.pop_back();
    return {};
  });
}

Status KernelEmitter::VectorLoops(const Dimension& dimension, Range range, Accumulators& carried,
                                  llvm::function_ref<Status(int)> body) {
  const auto width = static_cast<unsigned>(dimension.width);
  const int64_t group = static_cast<int64_t>(dimension.width) * dimension.unroll;
  const auto slot = static_cast<size_t>(dimension.id);
  const bool in_tile = tile_ != nullptr && dimension.extent == group;
  const bool whole = !dimension.parallel && (dimension.outer < 0 || in_tile);
  auto one = [&](int number, Value* base, Value* mask) -> Status {
    loop_values_[slot] = base;
    group_ = number;
    vector_ = {dimension.id, width, mask};
    HLO_CHECK_OK(body(number));
    vector_ = {};
    return {};
  };
  if (whole && dimension.extent == group) {
    for (int u = 0; u < dimension.unroll; ++u)
      HLO_CHECK_OK(one(u, Int64(static_cast<int64_t>(u) * width), nullptr));
    return {};
  }
  const auto groups = [&](Range part) {
    return CarriedLoop(dimension.id, part, Int64(group), carried, [&]() -> Status {
      Value* base = loop_values_[slot];
      for (int u = 0; u < dimension.unroll; ++u)
        HLO_CHECK_OK(one(u, b_.CreateAdd(base, Int64(static_cast<int64_t>(u) * width)), nullptr));
      return {};
    });
  };
  if (dimension.parallel && whole_groups_) return groups(range);
  Value* rest = range.begin;
  if (!whole || dimension.extent >= group) {
    // The last place at which a whole group fits, counted from the beginning.
    Value* length = b_.CreateSub(range.end, range.begin);
    Value* covered = b_.CreateSub(length, b_.CreateURem(length, Int64(group)));
    Value* end = b_.CreateAdd(range.begin, covered);
    HLO_CHECK_OK(groups({range.begin, end}));
    rest = end;
  }
  const int64_t left = dimension.extent % group;
  if (whole && left == 0) return {};
  if (whole && left <= target_.facts().code.last_vectors * int64_t{width}) {
    for (int64_t base = dimension.extent - left; base < dimension.extent; base += width)
      HLO_CHECK_OK(one(0, Int64(base), MaskOfFirst(b_, width, dimension.extent - base)));
    return {};
  }
  return CarriedLoop(dimension.id, {rest, range.end}, Int64(width), carried, [&]() -> Status {
    Value* base = loop_values_[slot];
    Value* left = b_.CreateVectorSplat(width, b_.CreateSub(range.end, base));
    return one(0, base, b_.CreateICmpSLT(Iota(width), left));
  });
}

// Reductions.

Value* KernelEmitter::Neutral(OpKind kind, ElementType type) {
  if (IsComplex(type)) {
    Value* part = Neutral(kind, RealPartType(type));
    return MakeComplex(b_, part, part);
  }
  Type* t = ComputeType(context_, type);
  if (t->isFloatingPointTy()) {
    if (kind == OpKind::Add) return ConstantFP::getNegativeZero(t);
    if (kind == OpKind::Multiply) return ConstantFP::get(t, 1);
    // The first in order; types without infinities would make NaN of one.
    const bool negative = kind == OpKind::Maximum;
    if (HasInfinity(type)) return ConstantFP::getInfinity(t, negative);
    return ConstantFP::get(t, negative ? -MaxFinite(type) : MaxFinite(type));
  }
  const auto bits = static_cast<unsigned>(Info(type).bits);
  const bool is_signed = IsSigned(type);
  llvm::APInt value(bits, 0);
  if (kind == OpKind::Multiply) value = IsPred(type) ? llvm::APInt::getAllOnes(bits) : llvm::APInt(bits, 1);
  if (kind == OpKind::And) value = llvm::APInt::getAllOnes(bits);
  if (kind == OpKind::Minimum)
    value = is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  if (kind == OpKind::Maximum && is_signed) value = llvm::APInt::getSignedMinValue(bits);
  return ConstantInt::get(
      context_, is_signed ? value.sext(t->getScalarSizeInBits()) : value.zext(t->getScalarSizeInBits()));
}

Result<KernelEmitter::Accumulators> KernelEmitter::Combine(const ReduceStmt& stmt, llvm::ArrayRef<Value*> x,
                                                           llvm::ArrayRef<Value*> y) {
  const size_t count = stmt.inits.size();
  for (size_t i = 0; i < count; ++i) {
    const ElementType type = kernel_.TypeOf(stmt.inits[i]);
    At(stmt.parameters[i]) = FromCompute(b_, type, x[i]);
    At(stmt.parameters[count + i]) = FromCompute(b_, type, y[i]);
  }
  HLO_CHECK_OK(EmitRegion(*stmt.combiner));
  Accumulators results;
  for (size_t i = 0; i < count; ++i) {
    Value* value = At(stmt.combiner->yields[i]).compute;
    // A combiner that hands on a constant.
    if (PartType(x[i]->getType())->isVectorTy()) value = Splat(b_, value, vector_.width);
    results.push_back(value);
  }
  return results;
}

Status KernelEmitter::FoldElements(const ReduceStmt& stmt, llvm::MutableArrayRef<Value*> accumulators) {
  HLO_CHECK_OK(EmitRegion(*stmt.body));
  if (FoldsBits(stmt)) return FoldBits(stmt, accumulators), Status();
  llvm::SmallVector<Value*, 2> elements;
  for (size_t i = 0; i < stmt.inits.size(); ++i) {
    Value* element = At(stmt.body->yields[i]).compute;
    if (in_vector()) element = Splat(b_, element, vector_.width);
    elements.push_back(element);
  }
  HLO_TRY(const Accumulators folded, Combine(stmt, accumulators, elements));
  const bool own_lanes = in_vector() && vector_.loop == stmt.loops.back().id;
  for (size_t i = 0; i < folded.size(); ++i)
    accumulators[i] = own_lanes && vector_.mask != nullptr
                          ? ForEachPart(b_, {folded[i], accumulators[i]},
                                        [&](llvm::ArrayRef<Value*> part) {
                                          return b_.CreateSelect(vector_.mask, part[0], part[1]);
                                        })
                          : folded[i];
  return {};
}

Status KernelEmitter::ReduceLevel(const ReduceStmt& stmt, size_t level, Accumulators& accumulators) {
  const Dimension& dimension = stmt.loops[level];
  const bool last = level + 1 == stmt.loops.size();
  if (last && dimension.width > 1 && !in_order_) {
    const size_t count = stmt.inits.size();
    const auto selection = kernel::FindSelection(stmt, kernel_);
    return VectorLoops(dimension, WholeRange(dimension), accumulators, [&](int group) {
      if (FoldsBits(stmt)) return FoldElements(stmt, accumulators);
      const llvm::MutableArrayRef<Value*> all(accumulators);
      const auto of_group = all.slice(static_cast<size_t>(group) * count, count);
      if (!selection) return FoldElements(stmt, of_group);
      return SelectElements(stmt, *selection, of_group,
                            all.drop_front(static_cast<size_t>(dimension.unroll) * count));
    });
  }
  const auto iteration = [&]() -> Status {
    if (!last) return ReduceLevel(stmt, level + 1, accumulators);
    return FoldElements(stmt, accumulators);
  };
  if (last && level > 0) FetchWindowsToCome(stmt);
  if (last ? kernel::IsWrittenInOrder(stmt) || IsTiny(dimension, *stmt.body)
           : CountsRegisters(dimension, *stmt.body)) {
    for (int64_t i = 0; i < dimension.extent; ++i) {
      loop_values_[static_cast<size_t>(dimension.id)] = Int64(i);
      HLO_CHECK_OK(iteration());
    }
    return {};
  }
  return CarriedLoop(dimension.id, WholeRange(dimension), Int64(1), accumulators, iteration);
}

Result<Value*> KernelEmitter::FoldPairwise(const ReduceStmt& stmt) {
  const auto in_lanes = [&](Value* value) { return in_vector() ? Splat(b_, value, vector_.width) : value; };
  llvm::SmallVector<Value*, 9> list = {in_lanes(At(stmt.inits[0]).compute)};
  const bool tiles = in_vector() && tile_ == nullptr;
  if (tiles) {
    tile_ = std::make_unique<Tile>();
    tile_->loop = stmt.loops[0].id;
    tile_->iterations = static_cast<size_t>(stmt.loops[0].extent);
  }
  for (int64_t i = 0; i < stmt.loops[0].extent; ++i) {
    if (tiles) tile_->Begin(static_cast<size_t>(i));
    loop_values_[static_cast<size_t>(stmt.loops[0].id)] = Int64(i);
    HLO_CHECK_OK(EmitRegion(*stmt.body));
    list.push_back(in_lanes(At(stmt.body->yields[0]).compute));
  }
  if (tiles) tile_.reset();
  while (list.size() > 1) {
    const size_t half = (list.size() + 1) / 2;
    for (size_t i = 0; i + half < list.size(); ++i) {
      HLO_TRY(const Accumulators sum, Combine(stmt, list[i], list[i + half]));
      list[i] = sum[0];
    }
    list.resize(half);
  }
  return list[0];
}

Result<Value*> KernelEmitter::FoldLanes(const ReduceStmt& stmt, llvm::ArrayRef<Value*> groups) {
  llvm::SmallVector<Value*, 4> values(groups);
  const auto width = static_cast<unsigned>(stmt.loops.back().width);
  vector_ = {stmt.loops.back().id, width, nullptr};
  for (size_t half = values.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) {
      HLO_TRY(const Accumulators sum, Combine(stmt, values[i], values[i + half]));
      values[i] = sum[0];
    }
  Value* value = values[0];
  // LLVM recognises sums of products of bytes and takes halves of halves for all of them; not so its own
  // form.
  if (kernel::ReductionOp(stmt) == OpKind::Add && value->getType()->isIntOrIntVectorTy() &&
      !IsPred(kernel_.TypeOf(stmt.results[0]))) {
    vector_ = {};
    return b_.CreateAddReduce(value);
  }
  for (unsigned half = width / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + half));
    }
    const auto half_of = [&](llvm::ArrayRef<int> lanes) {
      return ForEachPart(b_, {value},
                         [&](llvm::ArrayRef<Value*> part) { return b_.CreateShuffleVector(part[0], lanes); });
    };
    Value *upper = half_of(high), *lower = half_of(low);
    vector_.width = half;
    HLO_TRY(const Accumulators sum, Combine(stmt, lower, upper));
    value = sum[0];
  }
  vector_ = {};
  return ForEachPart(b_, {value}, [&](llvm::ArrayRef<Value*> part) {
    return b_.CreateExtractElement(part[0], uint64_t{0});
  });
}

Status KernelEmitter::Emit(const ReduceStmt& stmt) {
  const size_t count = stmt.inits.size();
  const Dimension& last = stmt.loops.back();
  Accumulators accumulators;
  if (kernel::FoldsPairwise(stmt)) {
    HLO_TRY(Value * folded, FoldPairwise(stmt));
    accumulators.push_back(folded);
  } else if (FoldsBits(stmt)) {
    HLO_TRY(Value * folded, ReduceBits(stmt));
    Value* init = At(stmt.inits[0]).compute;
    if (in_vector()) init = Splat(b_, init, vector_.width);
    HLO_TRY(accumulators, Combine(stmt, init, folded));
  } else if (const auto selection = kernel::FindSelection(stmt, kernel_); selection && last.width > 1) {
    HLO_TRY(accumulators, FoldSelection(stmt, *selection));
  } else if (last.width > 1) {
    // Partial results in lanes; the init joins at the end.
    const OpKind op = *kernel::ReductionOp(stmt);
    Value* neutral = Neutral(op, kernel_.TypeOf(stmt.inits[0]));
    accumulators.assign(static_cast<size_t>(last.unroll),
                        Splat(b_, neutral, static_cast<unsigned>(last.width)));
    HLO_CHECK_OK(ReduceLevel(stmt, 0, accumulators));
    HLO_TRY(Value * folded, FoldLanes(stmt, accumulators));
    HLO_TRY(accumulators, Combine(stmt, At(stmt.inits[0]).compute, folded));
  } else {
    for (const kernel::ValueId init : stmt.inits) {
      Value* value = At(init).compute;
      accumulators.push_back(in_vector() ? Splat(b_, value, vector_.width) : value);
    }
    HLO_CHECK_OK(ReduceLevel(stmt, 0, accumulators));
  }
  for (size_t i = 0; i < count; ++i)
    At(stmt.results[i]) = FromCompute(b_, kernel_.TypeOf(stmt.results[i]), accumulators[i]);
  return {};
}

}  // namespace hlo::codegen
