// Loads and stores whose lanes do not lie side by side: tiles that are transposed in registers, and strides.
#include "backends/kernel/visit.h"
#include "backends/llvm/kernel_emitter.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::codegen {

using kernel::LoadStmt;
using kernel::LoopStmt;
using llvm::Value;

Status KernelEmitter::EmitUnrolled(const LoopStmt& stmt) {
  const auto plain = [&] {
    return ScalarLoop(stmt.loop.id, WholeRange(stmt.loop), 1, [&] { return EmitRegion(*stmt.body); });
  };
  const auto* inner = stmt.body->stmts.empty() ? nullptr : std::get_if<LoopStmt>(&stmt.body->stmts.back());
  if (tile_ != nullptr || inner == nullptr ||
      inner->loop.extent != int64_t{inner->loop.width} * inner->loop.unroll)
    return plain();
  // Only whole tiles are written out; what is left over at the edges goes through the plain loops.
  Value* whole = nullptr;
  for (const kernel::Dimension* d : {&stmt.loop, &inner->loop}) {
    if (d->outer < 0) continue;
    Value* full = b_.CreateICmpEQ(WholeRange(*d).end, Int64(d->extent));
    whole = whole == nullptr ? full : b_.CreateAnd(whole, full);
  }
  llvm::BasicBlock* next = nullptr;
  if (whole != nullptr) {
    llvm::BasicBlock *tile = Block("tile"), *edge = Block("edge");
    next = Block("next");
    b_.CreateCondBr(whole, tile, edge);
    b_.SetInsertPoint(edge);
    HLO_CHECK_OK(plain());
    b_.CreateBr(next);
    b_.SetInsertPoint(tile);
  }
  tile_ = std::make_unique<Tile>();
  tile_->loop = stmt.loop.id;
  tile_->iterations = static_cast<size_t>(stmt.loop.extent);
  for (size_t u = 0; u < tile_->iterations; ++u) {
    tile_->Begin(u);
    loop_values_[static_cast<size_t>(stmt.loop.id)] = Int64(static_cast<int64_t>(u));
    HLO_CHECK_OK(EmitRegion(*stmt.body));
  }
  tile_.reset();
  if (next != nullptr) {
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }
  return {};
}

bool KernelEmitter::IsShortRow(const LoopStmt& stmt) const {
  const CodeTarget::Code& code = target_.facts().code;
  if (!in_vector() || vector_.mask != nullptr || tile_ != nullptr || row_stores_ != nullptr) return false;
  if (stmt.loop.extent > code.short_row || stmt.loop.outer >= 0 || stmt.loop.ordered ||
      static_cast<int64_t>(stmt.body->stmts.size()) * stmt.loop.extent > code.short_stmts)
    return false;
  llvm::SmallVector<kernel::BufferId, 4> written;
  for (const kernel::Stmt& inner : stmt.body->stmts) {
    if (std::holds_alternative<LoopStmt>(inner) || std::holds_alternative<kernel::ReduceStmt>(inner))
      return false;
    const auto* store = std::get_if<kernel::StoreStmt>(&inner);
    if (store == nullptr) continue;
    if (store->mask >= 0 || store->streaming || !store->address.values.empty() ||
        store->address.FactorOf(stmt.loop.id) != 1 ||
        store->address.FactorOf(vector_.loop) != stmt.loop.extent)
      return false;
    written.push_back(store->buffer);
  }
  const bool reads_written = llvm::any_of(stmt.body->stmts, [&](const kernel::Stmt& inner) {
    const auto* load = std::get_if<LoadStmt>(&inner);
    return load != nullptr && llvm::is_contained(written, load->buffer);
  });
  return !written.empty() && !reads_written;
}

Status KernelEmitter::EmitShortRow(const LoopStmt& stmt) {
  Value*& number = loop_values_[static_cast<size_t>(stmt.loop.id)];
  row_stores_ = std::make_unique<std::remove_reference_t<decltype(*row_stores_)>>();
  if (llvm::isPowerOf2_64(static_cast<uint64_t>(stmt.loop.extent))) {
    tile_ = std::make_unique<Tile>();
    tile_->loop = stmt.loop.id;
    tile_->iterations = static_cast<size_t>(stmt.loop.extent);
  }
  for (int64_t i = 0; i < stmt.loop.extent; ++i) {
    if (tile_ != nullptr) tile_->Begin(static_cast<size_t>(i));
    number = Int64(i);
    HLO_CHECK_OK(EmitRegion(*stmt.body));
  }
  tile_.reset();
  number = Int64(0);
  const auto stores = std::move(row_stores_);
  for (const auto& [store, rows] : *stores) {
    const llvm::Align align = AlignOf(rows[0]->getType());
    StoreByTurns(rows, Pointer(store->buffer, PlaceOf(store->address).scalar), align);
  }
  return {};
}

void KernelEmitter::StoreByTurns(llvm::ArrayRef<Value*> rows, Value* pointer, llvm::Align align) {
  llvm::SmallVector<Value*, 8> vectors;
  Interleave(rows, 1, vectors);
  for (size_t i = 0; i < vectors.size(); ++i)
    b_.CreateAlignedStore(vectors[i], b_.CreateConstGEP1_64(rows[0]->getType(), pointer, i), align);
}

void KernelEmitter::Interleave(llvm::ArrayRef<Value*> rows, unsigned unit,
                               llvm::SmallVectorImpl<Value*>& vectors) {
  const unsigned width = vector_.width;
  const auto count = static_cast<unsigned>(rows.size());
  if (count == 1) return vectors.push_back(rows[0]);
  if (count % 2 == 0 && width >= 2 * unit) {
    // Pairs of neighbours are rows of twice the unit: first those of the lower halves, then the others.
    for (const unsigned half : {0U, width / 2}) {
      llvm::SmallVector<int, 64> lanes;
      for (unsigned i = 0; i < width; ++i)
        lanes.push_back(static_cast<int>(half + i / (2 * unit) * unit + i % unit + (i / unit % 2) * width));
      llvm::SmallVector<Value*, 4> pairs;
      for (unsigned r = 0; r < count; r += 2)
        pairs.push_back(b_.CreateShuffleVector(rows[r], rows[r + 1], lanes));
      Interleave(pairs, 2 * unit, vectors);
    }
    return;
  }
  for (unsigned v = 0; v < count; ++v) {
    Value* vector = llvm::PoisonValue::get(rows[0]->getType());
    for (unsigned r = 0; r < count; ++r) {
      llvm::SmallVector<int, 64> lanes;
      bool any = false;
      for (unsigned i = 0; i < width; ++i) {
        const unsigned at = (v * width + i) / unit;
        const bool here = at % count == r;
        any |= here;
        lanes.push_back(static_cast<int>(here ? width + at / count * unit + i % unit : i));
      }
      if (any) vector = b_.CreateShuffleVector(vector, rows[r], lanes);
    }
    vectors.push_back(vector);
  }
}

void KernelEmitter::FindStoresByTurns(const kernel::Region& region) {
  llvm::MapVector<kernel::BufferId, llvm::SmallVector<const kernel::StoreStmt*, 4>> stores;
  for (const kernel::Stmt& stmt : region.stmts)
    if (const auto* store = std::get_if<kernel::StoreStmt>(&stmt)) stores[store->buffer].push_back(store);
  for (auto& [buffer, all] : stores) {
    const int64_t turns = all[0]->address.FactorOf(vector_.loop);
    if (turns < 2 || turns > target_.facts().code.turns || static_cast<int64_t>(all.size()) != turns)
      continue;
    llvm::sort(all, [](const auto* a, const auto* b) { return a->address.offset < b->address.offset; });
    bool complete = true;
    for (size_t i = 0; i < all.size(); ++i) {
      kernel::Address next = all[0]->address;
      next.offset += static_cast<int64_t>(i);
      complete &=
          all[i]->mask < 0 && !all[i]->streaming && all[i]->address.values.empty() && all[i]->address == next;
    }
    kernel::ForEachStmt(region, [&](const kernel::Stmt& stmt) {
      const auto* load = std::get_if<LoadStmt>(&stmt);
      complete &= load == nullptr || load->buffer != buffer;
    });
    if (!complete) continue;
    auto together = std::make_shared<Turns>();
    together->first = all[0];
    together->values.resize(all.size());
    for (size_t i = 0; i < all.size(); ++i) turns_[all[i]] = {together, i};
  }
}

bool KernelEmitter::StoresByTurns(const kernel::StoreStmt& stmt, Value* value) {
  const auto found = turns_.find(&stmt);
  if (found == turns_.end() || vector_.mask != nullptr) return false;
  const auto& [turns, number] = found->second;
  turns->values[number] = value;
  if (++turns->stored < turns->values.size()) return true;
  turns->stored = 0;
  const llvm::Align align = AlignOf(value->getType());
  StoreByTurns(turns->values, Pointer(stmt.buffer, PlaceOf(turns->first->address).scalar), align);
  return true;
}

bool KernelEmitter::InTile(const LoadStmt& stmt, const Place& place) const {
  return tile_ != nullptr && tile_->loops == 0 && place.lanes == nullptr && place.stride > 1 &&
         stmt.address.FactorOf(tile_->loop) == 1 &&
         (tile_->iterations == vector_.width || place.stride == static_cast<int64_t>(tile_->iterations)) &&
         llvm::isPowerOf2_64(tile_->iterations) && llvm::isPowerOf2_64(vector_.width);
}

/// Of neighbours in memory those that are `step` apart, from `first` on: by halves, so that each vector is
/// made of two.
void KernelEmitter::Deinterleave(llvm::ArrayRef<Value*> neighbours, size_t first, size_t step,
                                 llvm::MutableArrayRef<Value*> rows) {
  if (neighbours.size() == 1) {
    rows[first] = neighbours[0];
    return;
  }
  for (const unsigned odd : {0U, 1U}) {
    llvm::SmallVector<int, 64> lanes;
    for (unsigned i = 0; i < vector_.width; ++i) lanes.push_back(static_cast<int>(2 * i + odd));
    llvm::SmallVector<Value*, 8> half;
    for (size_t i = 0; i < neighbours.size(); i += 2)
      half.push_back(b_.CreateShuffleVector(neighbours[i], neighbours[i + 1], lanes));
    Deinterleave(half, first + odd * step, 2 * step, rows);
  }
}

Value* KernelEmitter::LoadFromTile(const LoadStmt& stmt, const Place& place, llvm::FixedVectorType* type) {
  auto& tiles = tile_->loaded[&stmt];
  const size_t number = tile_->met[&stmt]++;
  if (number < tiles.size()) return tiles[number][tile_->iteration];
  assert(tile_->iteration == 0 && "each iteration loads the same");
  auto& rows = tiles.emplace_back();
  const unsigned width = vector_.width;
  const llvm::Align align = AlignOf(type);
  if (place.stride == static_cast<int64_t>(tile_->iterations)) {
    llvm::SmallVector<Value*, 16> neighbours;
    for (int64_t i = 0; i < place.stride; ++i) {
      Value* element = b_.CreateAdd(place.scalar, Int64(i * width));
      neighbours.push_back(b_.CreateAlignedLoad(type, Pointer(stmt.buffer, element), align));
    }
    rows.resize(neighbours.size());
    Deinterleave(neighbours, 0, 1, rows);
    return rows[0];
  }
  for (unsigned r = 0; r < width; ++r) {
    Value* element = b_.CreateAdd(place.scalar, Int64(place.stride * r));
    rows.push_back(b_.CreateAlignedLoad(type, Pointer(stmt.buffer, element), align));
  }
  // Blocks of d by d change places, for d = 1, 2, 4, ….
  for (unsigned d = 1; d < width; d *= 2) {
    llvm::SmallVector<int, 64> upper, lower;
    for (unsigned i = 0; i < width; ++i) {
      upper.push_back(static_cast<int>((i & d) == 0 ? i : width + i - d));
      lower.push_back(static_cast<int>((i & d) == 0 ? i + d : width + i));
    }
    for (unsigned r = 0; r < width; ++r) {
      if ((r & d) != 0) continue;
      Value *x = rows[r], *y = rows[r + d];
      rows[r] = b_.CreateShuffleVector(x, y, upper);
      rows[r + d] = b_.CreateShuffleVector(x, y, lower);
    }
  }
  return rows[0];
}

Value* KernelEmitter::LoadStrided(const LoadStmt& stmt, const Place& place, llvm::FixedVectorType* type) {
  const auto width = static_cast<int64_t>(vector_.width);
  const llvm::Align align = AlignOf(type);
  const int64_t last = (width - 1) * place.stride;
  Value* result = nullptr;
  for (int64_t begin = 0; begin <= last; begin += width) {
    // Nothing behind the last element that is wanted is read.
    const int64_t from = std::min(begin, last - (width - 1));
    Value* pointer = Pointer(stmt.buffer, b_.CreateAdd(place.scalar, Int64(from)));
    Value* chunk = nullptr;
    if (vector_.mask == nullptr) {
      chunk = b_.CreateAlignedLoad(type, pointer, align);
    } else {
      // What lies between the lanes that exist belongs to the next: behind the last of them memory may end.
      llvm::SmallVector<int, 64> owners;
      for (int64_t j = 0; j < width; ++j)
        owners.push_back(static_cast<int>((from + j + place.stride - 1) / place.stride));
      Value* mask = b_.CreateShuffleVector(vector_.mask, owners);
      chunk = b_.CreateMaskedLoad(type, pointer, align, mask, llvm::Constant::getNullValue(type));
    }
    llvm::SmallVector<int, 64> lanes;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t at = i * place.stride;
      const bool here = at >= begin && at < begin + width;
      lanes.push_back(static_cast<int>(here ? width + at - from : at < begin ? i : -1));
    }
    if (result == nullptr) result = llvm::PoisonValue::get(type);
    result = b_.CreateShuffleVector(result, chunk, lanes);
  }
  return result;
}

}  // namespace hlo::codegen
