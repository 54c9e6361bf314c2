#include "backends/tile/compiler.h"

#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"

namespace hlo::tile {

using kernel::ConstantStmt;
using kernel::Dimension;
using kernel::IndexStmt;
using kernel::LoadStmt;
using kernel::LoopStmt;
using kernel::OpStmt;
using kernel::ReduceStmt;
using kernel::Stmt;
using kernel::StoreStmt;

namespace {

constexpr int64_t kAlignment = 64;

bool HasLoops(const kernel::Region& region) {
  return llvm::any_of(region.stmts, [](const Stmt& s) {
    return std::holds_alternative<LoopStmt>(s) || std::holds_alternative<ReduceStmt>(s);
  });
}

bool HasWideLoops(const kernel::Region& region) {
  bool found = false;
  kernel::ForEachStmt(region, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<LoopStmt>(&stmt)) found |= loop->loop.width > 1;
    if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) found |= reduce->loops.back().width > 1;
  });
  return found;
}

}  // namespace

Result<Program> Program::Make(const kernel::Kernel& kernel) {
  HLO_CHECK_OK(kernel::CheckWithoutThreads(kernel));
  return Compiler(kernel).Run();
}

Compiler::Compiler(const kernel::Kernel& kernel)
    : kernel_(kernel),
      lifetimes_(FindLifetimes(kernel)),
      types_(kernel.value_types),
      varies_(types_.size()),
      in_tiles_(types_.size()),
      offsets_(types_.size(), -1) {}

Result<Program> Compiler::Run() && {
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const kernel::Buffer& buffer = kernel_.buffers[i];
    const auto id = static_cast<BufferId>(i);
    if (!buffer.IsLocal()) {
      program_.given_.push_back(id);
      continue;
    }
    program_.locals_.emplace_back(id, program_.frame_bytes_);
    const int64_t bytes = buffer.count * Info(buffer.type).host_bytes();
    program_.frame_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  HLO_CHECK_OK(CompileRegion(kernel_.body, program_.body_));
  EndScope();
  program_.value_count_ = types_.size();
  program_.loop_count_ = static_cast<size_t>(kernel_.loop_count);
  program_.buffer_count_ = kernel_.buffers.size();
  return std::move(program_);
}

Status Compiler::CompileRegion(const Region& region, Block& block) {
  scopes_.emplace_back();
  scopes_.back().region = &region;
  scopes_.back().block = &block;
  for (size_t i = 0; i < region.stmts.size(); ++i) {
    HLO_CHECK_OK(std::visit([&](const auto& s) { return Compile(s, i); }, region.stmts[i]));
    auto& held = scopes_.back().held;
    llvm::erase_if(held, [&](const Held& h) {
      const auto value = static_cast<size_t>(h.value);
      if (value >= lifetimes_.size() || lifetimes_[value].region != &region) return false;
      if (lifetimes_[value].last > static_cast<int32_t>(i)) return false;
      free_[h.bytes].push_back(h.offset);
      return true;
    });
  }
  return {};
}

void Compiler::EndScope() {
  for (const Held& held : scopes_.back().held) free_[held.bytes].push_back(held.offset);
  scopes_.pop_back();
}

// Values.

size_t Compiler::Width(ValueId value) const {
  return static_cast<size_t>(Info(types_[static_cast<size_t>(value)]).host_bytes());
}

bool Compiler::Varies(const kernel::Address& address) const {
  if (tiled_ >= 0 && address.FactorOf(tiled_) != 0) return true;
  return llvm::any_of(address.values, [&](const auto& term) { return Varies(term.id); });
}

ValueId Compiler::NewValue(ElementType type) {
  types_.push_back(type);
  varies_.push_back(false);
  in_tiles_.push_back(tiled_ >= 0);
  offsets_.push_back(-1);
  return static_cast<ValueId>(types_.size()) - 1;
}

void Compiler::Mark(ValueId value, Lanes lanes) {
  varies_[static_cast<size_t>(value)] = lanes == Lanes::All;
  in_tiles_[static_cast<size_t>(value)] = tiled_ >= 0;
}

void Compiler::Hold(ValueId value, int64_t bytes, Scope& scope) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  int64_t offset = program_.frame_bytes_;
  if (auto& places = free_[bytes]; !places.empty())
    offset = places.pop_back_val();
  else
    program_.frame_bytes_ += bytes;
  offsets_[static_cast<size_t>(value)] = offset;
  program_.slots_.push_back({value, offset});
  scope.held.push_back({value, offset, bytes});
}

void Compiler::Share(ValueId value, ValueId owner) {
  offsets_[static_cast<size_t>(value)] = offsets_[static_cast<size_t>(owner)];
  program_.slots_.push_back({value, offsets_[static_cast<size_t>(value)]});
}

ValueId Compiler::InLanes(ValueId value, Lanes lanes) {
  if (lanes == Lanes::One || Varies(value)) return value;
  const bool here = in_tiles_[static_cast<size_t>(value)];
  if (!here) {
    if (const auto it = prologue_splats_.find(value); it != prologue_splats_.end()) return it->second;
    // A place that nothing in the tiles has used before: it is written once.
    const ValueId splat = NewValue(types_[static_cast<size_t>(value)]);
    const int64_t bytes = (Bytes(Width(value), Lanes::All) + kAlignment - 1) / kAlignment * kAlignment;
    offsets_.back() = program_.frame_bytes_;
    program_.slots_.push_back({splat, program_.frame_bytes_});
    in_prologue_.push_back({splat, program_.frame_bytes_, bytes});
    program_.frame_bytes_ += bytes;
    prologue_->push_back(MakeSplat(splat, value, Width(value), lanes_));
    varies_.back() = true;
    prologue_splats_[value] = splat;
    return splat;
  }
  for (const Scope& scope : scopes_)
    if (const auto it = scope.splats.find(value); it != scope.splats.end()) return it->second;
  const ValueId splat = NewValue(types_[static_cast<size_t>(value)]);
  varies_.back() = true;
  Hold(splat, Lanes::All);
  Append(MakeSplat(splat, value, Width(value), 0));
  scopes_.back().splats[value] = splat;
  return splat;
}

Place Compiler::PlaceOf(const kernel::Address& address) const {
  Place place;
  place.offset = address.offset;
  place.loops.assign(address.loops.begin(), address.loops.end());
  if (tiled_ >= 0) place.stride = address.FactorOf(tiled_);
  for (const auto& term : address.values) (Varies(term.id) ? place.lanes : place.values).push_back(term);
  return place;
}

Access Compiler::AccessOf(BufferId buffer, const kernel::Address& address, ValueId mask, Lanes lanes) {
  const ElementType type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  Access access{buffer, static_cast<size_t>(Info(type).host_bytes()), PlaceOf(address), mask};
  access.one_mask = mask >= 0 && !Varies(mask);
  if (lanes == Lanes::All && !access.place.lanes.empty()) {
    access.numbers = NewValue(ElementType::S64);
    Hold(access.numbers, Lanes::All);
  }
  return access;
}

// Statements.

Status Compiler::Compile(const ConstantStmt& stmt, size_t) {
  Mark(stmt.result, Lanes::One);
  Hold(stmt.result, Lanes::One);
  Append(MakeConstant(stmt.result, stmt.type, stmt.bits));
  return {};
}

Status Compiler::Compile(const IndexStmt& stmt, size_t) {
  const Lanes lanes = Varies(stmt.address) ? Lanes::All : Lanes::One;
  Mark(stmt.result, lanes);
  Hold(stmt.result, lanes);
  Append(MakeIndex(stmt.result, PlaceOf(stmt.address), lanes));
  return {};
}

const StoreStmt* Compiler::StoredNext(const OpStmt& stmt, size_t index) const {
  const Region& region = *scopes_.back().region;
  if (lifetimes_[static_cast<size_t>(stmt.result)].uses != 1 || index + 1 >= region.stmts.size())
    return nullptr;
  const auto* store = std::get_if<StoreStmt>(&region.stmts[index + 1]);
  if (store == nullptr || store->value != stmt.result || store->mask >= 0) return nullptr;
  return PlaceOf(store->address).IsRun() ? store : nullptr;
}

Status Compiler::Compile(const OpStmt& stmt, size_t index) {
  llvm::SmallVector<ElementType, 3> types;
  llvm::SmallVector<ValueId, 3> operands;
  const bool varies = llvm::any_of(stmt.operands, [&](ValueId operand) { return Varies(operand); });
  const Lanes lanes = varies ? Lanes::All : Lanes::One;
  for (const ValueId operand : stmt.operands) {
    types.push_back(types_[static_cast<size_t>(operand)]);
    operands.push_back(InLanes(operand, lanes));
  }
  const auto function = FindFunction(stmt.kind, types, stmt.type, stmt.attrs);
  if (!function) {
    std::string on;
    for (const ElementType type : types) on += (on.empty() ? "" : ", ") + ToString(type).str();
    return Decline({}, "no code for {0} of {1} to {2}", Info(stmt.kind).text, on, ToString(stmt.type));
  }
  Mark(stmt.result, lanes);
  if (const StoreStmt* store = varies ? StoredNext(stmt, index) : nullptr)
    Append(MakeView(stmt.result, AccessOf(store->buffer, store->address, -1, lanes)));
  else if (offsets_[static_cast<size_t>(stmt.result)] < 0)
    Hold(stmt.result, lanes);
  Append(MakeOp(stmt.result, *function, operands, lanes));
  return {};
}

bool Compiler::StaysInMemory(const LoadStmt& stmt, size_t index) const {
  const Region& region = *scopes_.back().region;
  const Lifetime& lifetime = lifetimes_[static_cast<size_t>(stmt.result)];
  const bool local = kernel_.buffers[static_cast<size_t>(stmt.buffer)].IsLocal();
  const auto last = static_cast<size_t>(lifetime.last);
  for (size_t i = index + 1; i <= last && i < region.stmts.size(); ++i) {
    const auto* user = std::get_if<StoreStmt>(&region.stmts[i]);
    if (i == last && user != nullptr && user->value == stmt.result) continue;
    const auto touches = [&](const StoreStmt& store) {
      return kernel_.buffers[static_cast<size_t>(store.buffer)].IsLocal() == local;
    };
    if (Stores(region.stmts[i], touches)) return false;
  }
  return true;
}

Status Compiler::Compile(const LoadStmt& stmt, size_t index) {
  const bool varies = Varies(stmt.address) || (stmt.mask >= 0 && Varies(stmt.mask)) ||
                      (stmt.otherwise >= 0 && Varies(stmt.otherwise));
  const Lanes lanes = varies ? Lanes::All : Lanes::One;
  const ValueId otherwise = stmt.otherwise < 0 ? -1 : InLanes(stmt.otherwise, lanes);
  Access access = AccessOf(stmt.buffer, stmt.address, stmt.mask, lanes);
  Mark(stmt.result, lanes);
  if (varies && stmt.mask < 0 && access.place.IsRun() && StaysInMemory(stmt, index)) {
    Append(MakeView(stmt.result, std::move(access)));
    return {};
  }
  Hold(stmt.result, lanes);
  Append(MakeLoad(stmt.result, std::move(access), otherwise, lanes));
  return {};
}

Status Compiler::Compile(const StoreStmt& stmt, size_t index) {
  const auto& stmts = scopes_.back().region->stmts;
  // The operation before has written it.
  if (const auto* op = index > 0 ? std::get_if<OpStmt>(&stmts[index - 1]) : nullptr)
    if (tiled_ >= 0 && op->result == stmt.value && Varies(stmt.value) && StoredNext(*op, index - 1) == &stmt)
      return {};
  const Lanes lanes = tiled_ >= 0 ? Lanes::All : Lanes::One;
  const ValueId value = InLanes(stmt.value, lanes);
  Append(MakeStore(AccessOf(stmt.buffer, stmt.address, stmt.mask, lanes), value, lanes));
  return {};
}

// Loops.

bool Compiler::BecomesTiles(const Dimension& loop, const Region& body) const {
  if (tiled_ >= 0 || loop.ordered || HasWideLoops(body)) return false;
  if (loop.width > 1) return true;
  constexpr int64_t kShort = 4;
  if (loop.extent < kShort || HasLoops(body)) return false;
  // Memory of the kernel's own may be what one iteration hands on to itself.
  return llvm::none_of(body.stmts, [&](const Stmt& stmt) {
    return Stores(stmt, [&](const StoreStmt& store) {
      return kernel_.buffers[static_cast<size_t>(store.buffer)].IsLocal() &&
             store.address.FactorOf(loop.id) == 0;
    });
  });
}

void Compiler::BeginTiles(const Dimension& loop, Block& prologue) {
  tiled_ = loop.id;
  lanes_ = std::min(Program::kLanes, loop.extent);
  prologue_ = &prologue;
}

void Compiler::EndTiles() {
  for (const Held& held : in_prologue_) free_[held.bytes].push_back(held.offset);
  in_prologue_.clear();
  prologue_splats_.clear();
  tiled_ = -1;
  lanes_ = 1;
}

std::unique_ptr<Node> Compiler::MoveOf(const LoopStmt& stmt) {
  const Region& outer = *stmt.body;
  if (tiled_ >= 0 || stmt.loop.parallel || HasEnd(stmt.loop) || outer.stmts.size() != 1) return nullptr;
  const auto* inner = std::get_if<LoopStmt>(&outer.stmts[0]);
  if (inner == nullptr || HasEnd(inner->loop) || inner->body->stmts.size() != 2) return nullptr;
  const auto* load = std::get_if<LoadStmt>(&inner->body->stmts[0]);
  const auto* store = std::get_if<StoreStmt>(&inner->body->stmts[1]);
  if (load == nullptr || store == nullptr || store->value != load->result || load->mask >= 0 ||
      store->mask >= 0 || load->buffer == store->buffer || !load->address.values.empty() ||
      !store->address.values.empty())
    return nullptr;
  llvm::SmallVector<CopyDim, 2> dims;
  for (const Dimension* loop : {&stmt.loop, &inner->loop})
    dims.push_back({loop->extent, store->address.FactorOf(loop->id), load->address.FactorOf(loop->id)});
  if (dims[0].to_stride == 0 || dims[1].to_stride == 0) return nullptr;
  const auto access = [&](BufferId buffer, const kernel::Address& address) {
    Access made = AccessOf(buffer, address, -1, Lanes::One);
    llvm::erase_if(made.place.loops,
                   [&](const auto& term) { return term.id == stmt.loop.id || term.id == inner->loop.id; });
    return made;
  };
  return MakeMove(access(store->buffer, store->address), access(load->buffer, load->address), dims);
}

Status Compiler::Compile(const LoopStmt& stmt, size_t) {
  if (stmt.loop.before >= 0 || stmt.loop.when >= 0)
    return Decline({}, "i{0} has an end or a condition", stmt.loop.id);
  if (auto move = MoveOf(stmt)) {
    Append(std::move(move));
    return {};
  }
  LoopPlan plan;
  plan.loop = stmt.loop.id;
  plan.extent = ExtentOf(stmt.loop);
  if (stmt.loop.parallel) {
    plan.before_this = parallel_before_;
    parallel_before_ += stmt.loop.extent;
  }
  plan.tiles = BecomesTiles(stmt.loop, *stmt.body);
  if (plan.tiles) BeginTiles(stmt.loop, *scopes_.back().block);
  HLO_CHECK_OK(CompileRegion(*stmt.body, plan.body));
  EndScope();
  if (plan.tiles) EndTiles();
  Append(MakeLoop(std::move(plan)));
  return {};
}

}  // namespace hlo::tile
