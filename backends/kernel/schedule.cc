#include "backends/kernel/schedule.h"

#include "backends/kernel/row_blocks.h"
#include "backends/kernel/selection.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

/// Of an access: how good it is for lanes if neighbours lie side by side, and how bad if they do not.
constexpr int kNeighbours = 4, kScattered = 3;
constexpr int64_t kManyIterations = int64_t{1} << 40;  // more are not told apart

/// True if all addresses below use the loops only as outer * extent of inner + inner.
bool AreOneLoop(Region& below, const Dimension& outer, const Dimension& inner) {
  bool one = outer.before < 0 && inner.before < 0;
  ForEachAddress(below, [&](Address& address) {
    one &= address.FactorOf(outer.id) == address.FactorOf(inner.id) * inner.extent;
  });
  return one;
}

/// The outer loop disappears; the inner one counts for both.
void Merge(Region& below, const Dimension& outer, Dimension& inner) {
  ForEachAddress(below, [&](Address& address) { address.AddLoop(outer.id, -address.FactorOf(outer.id)); });
  inner.extent *= outer.extent;
}

int64_t MergeIn(Region& region) {
  int64_t merged = 0;
  for (Stmt& stmt : region.stmts) {
    if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
      merged += MergeIn(*loop->body);
      while (loop->body->stmts.size() == 1) {
        auto* inner = std::get_if<LoopStmt>(&loop->body->stmts[0]);
        if (inner == nullptr || loop->loop.binding != Binding::None || inner->loop.binding != Binding::None ||
            !AreOneLoop(*inner->body, loop->loop, inner->loop))
          break;
        Merge(*inner->body, loop->loop, inner->loop);
        LoopStmt replacement = std::move(*inner);
        *loop = std::move(replacement);
        ++merged;
      }
    } else if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
      merged += MergeIn(*reduce->body);
      for (size_t i = reduce->loops.size(); i-- > 1;) {
        if (!AreOneLoop(*reduce->body, reduce->loops[i - 1], reduce->loops[i])) continue;
        Merge(*reduce->body, reduce->loops[i - 1], reduce->loops[i]);
        reduce->loops.erase(reduce->loops.begin() + static_cast<int64_t>(i) - 1);
        ++merged;
      }
    }
  }
  return merged;
}

/// Loads whose element moves by one (or not at all) when `loop` does, less those that jump.
int64_t Contiguity(Region& region, LoopId loop) {
  int64_t score = 0;
  ForEachStmt(region, [&](Stmt& stmt) {
    const Address* address = nullptr;
    if (const auto* load = std::get_if<LoadStmt>(&stmt)) address = &load->address;
    if (const auto* store = std::get_if<StoreStmt>(&stmt)) address = &store->address;
    if (address == nullptr) return;
    const int64_t factor = address->FactorOf(loop);
    if (factor == 1) score += kNeighbours;
    if (factor != 0 && factor != 1) score -= kScattered;
  });
  return score;
}

/// Whether neighbouring iterations of `loop` load what does not lie side by side.
bool Jumps(const Region& region, LoopId loop) {
  bool jumps = false;
  ForEachStmt(region, [&](const Stmt& stmt) {
    const auto* load = std::get_if<LoadStmt>(&stmt);
    if (load == nullptr) return;
    const int64_t factor = load->address.FactorOf(loop);
    jumps |= factor != 0 && factor != 1;
  });
  return jumps;
}

int64_t OpCount(const Region& region, const Target& target) {
  int64_t count = 0;
  ForEachStmt(region, [&](const Stmt& stmt) {
    if (const auto* op = std::get_if<OpStmt>(&stmt)) count += target.CostOf(op->kind).instructions;
  });
  return count;
}

/// Whether the loop's body ends with a loop shorter than a vector, a row of what the results hold side by
/// side: lanes of the outer loop go through the rows together.
bool HoldsShortRows(const LoopStmt& outer, const Target& target) {
  const auto* row = outer.body->stmts.empty() ? nullptr : std::get_if<LoopStmt>(&outer.body->stmts.back());
  if (row == nullptr) return false;
  const int64_t extent = row->loop.extent, least = target.vectors.shortest_loop;
  if (row->loop.ordered || extent < 2 ||
      (extent >= least && (extent >= target.vectors.full_row || extent == least)) || row->loop.outer >= 0 ||
      static_cast<int64_t>(row->body->stmts.size()) * extent > target.code.short_row_stmts)
    return false;
  const auto is_value = [](const Stmt& stmt) { return ResultOf(stmt) >= 0; };
  if (!llvm::all_of(llvm::ArrayRef(outer.body->stmts).drop_back(), is_value)) return false;
  llvm::SmallVector<BufferId, 4> written;
  for (const Stmt& stmt : row->body->stmts) {
    const auto* store = std::get_if<StoreStmt>(&stmt);
    if (store == nullptr && !is_value(stmt)) return false;
    if (store == nullptr) continue;
    written.push_back(store->buffer);
    if (store->mask >= 0 || !store->address.values.empty() || store->address.FactorOf(row->loop.id) != 1 ||
        store->address.FactorOf(outer.loop.id) != row->loop.extent)
      return false;
  }
  bool suits = true;
  ForEachStmt(*outer.body, [&](const Stmt& stmt) {
    const auto* load = std::get_if<LoadStmt>(&stmt);
    if (load == nullptr) return;
    suits &= !llvm::is_contained(written, load->buffer);
  });
  return !written.empty() && suits;
}

/// Iterations of all loops of a region, those of inner loops counted with the outer ones.
int64_t Iterations(const Region& region);
int64_t Iterations(const Stmt& stmt) {
  int64_t count = 1;
  if (const auto* loop = std::get_if<LoopStmt>(&stmt)) count = loop->loop.extent * Iterations(*loop->body);
  if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
    count = Iterations(*reduce->body);
    for (const Dimension& d : reduce->loops) count *= d.extent;
  }
  return std::min<int64_t>(count, kManyIterations);
}
int64_t Iterations(const Region& region) {
  int64_t most = 1;
  for (const Stmt& stmt : region.stmts) most = std::max(most, Iterations(stmt));
  return most;
}

bool IsReduce(const Stmt& stmt) { return std::holds_alternative<ReduceStmt>(stmt); }

/// Walks over a kernel and writes down what to do with its loops.
class Chooser {
 public:
  Chooser(const Kernel& kernel, const Target& target)
      : kernel_(kernel),
        target_(target),
        small_(Iterations(kernel.body) <= target.threads.small_kernel),
        next_loop_(kernel.loop_count) {}

  Schedule Run() {
    // Statements are looked at, not changed.
    Choose(const_cast<Region&>(kernel_.body), false);
    // Pieces would each repeat what is outside of the loop.
    bool repeats = llvm::any_of(kernel_.body.stmts, [&](const Stmt& stmt) {
      return std::holds_alternative<StoreStmt>(stmt) ||
             (IsReduce(stmt) && Iterations(stmt) > target_.threads.most_repeated);
    });
    const auto loops = OutermostLoops(kernel_);
    // What a loop writes another must not read.
    if (loops.size() > 1)
      ForEachStmt(kernel_.body, [&](const Stmt& stmt) {
        if (const auto* load = std::get_if<LoadStmt>(&stmt))
          repeats |= kernel_.buffers[static_cast<size_t>(load->buffer)].written;
      });
    repeats |= llvm::any_of(loops, [](const LoopStmt* loop) { return loop->loop.ordered; });
    if (repeats || (loops.size() == 1 && loops[0]->loop.extent == 1)) return std::move(schedule_);
    if (small_) return std::move(schedule_);
    if (loops.size() == 1 && MayRunSideBySide(kernel_, *loops[0]) && IsPaired(*loops[0]))
      schedule_.push_back({ScheduleStep::Kind::Unroll, {loops[0]->loop.id}, target_.latency.rows});
    for (const LoopStmt* loop : loops) {
      const auto it = outermost_.find(loop->loop.id);
      schedule_.push_back(
          {ScheduleStep::Kind::Parallel, {it == outermost_.end() ? loop->loop.id : it->second}});
    }
    return std::move(schedule_);
  }

 private:
  void Choose(Region& region, bool in_vector) {
    for (Stmt& stmt : region.stmts) {
      if (auto* loop = std::get_if<LoopStmt>(&stmt)) ChooseLoop(*loop, in_vector);
      if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) ChooseReduce(*reduce, in_vector);
    }
  }

  static bool HasLoops(const Region& region) {
    return llvm::any_of(region.stmts, [](const Stmt& s) { return std::holds_alternative<LoopStmt>(s); });
  }

  /// Nested loops, one directly in the other but for statements that may move inwards.
  llvm::SmallVector<LoopStmt*, 4> NestOf(LoopStmt& top) const {
    llvm::SmallVector<LoopStmt*, 4> nest = {&top};
    for (;;) {
      if (nest.back()->loop.ordered) return {};
      LoopStmt* inner = nullptr;
      for (Stmt& stmt : nest.back()->body->stmts) {
        auto* loop = std::get_if<LoopStmt>(&stmt);
        if (loop != nullptr && inner != nullptr) return {};
        if (loop != nullptr) inner = loop;
      }
      if (inner == nullptr) return nest;
      for (Stmt& stmt : nest.back()->body->stmts)
        if (std::holds_alternative<StoreStmt>(stmt) || std::holds_alternative<ReduceStmt>(stmt)) return {};
      nest.push_back(inner);
    }
  }

  /// A loop that runs along memory where the innermost one does not, for loads without masks; null if there
  /// is none. `tile`: how many of the elements are moved together.
  const Dimension* FindTransposed(llvm::ArrayRef<LoopStmt*> nest, int64_t& tile) const {
    const LoopStmt& inner = *nest.back();
    const Dimension* found = nullptr;
    bool reads_output = false;
    ForEachStmt(*nest.front()->body, [&](Stmt& stmt) {
      const auto* load = std::get_if<LoadStmt>(&stmt);
      if (load == nullptr) return;
      const Buffer& buffer = kernel_.buffers[static_cast<size_t>(load->buffer)];
      reads_output |= buffer.written;
      if (load->mask >= 0 || load->address.FactorOf(inner.loop.id) <= 1) return;
      for (const LoopStmt* loop : nest.drop_back())
        if (load->address.FactorOf(loop->loop.id) == 1) {
          found = &loop->loop;
          // The lines of the cache are moved whole, as far as the code stays short: larger tiles are for
          // arrays that no cache holds and elements that are moved only.
          const int64_t bytes = Info(buffer.type).host_bytes();
          const bool large = buffer.count * bytes >= target_.caches.large_tiles &&
                             OpCount(*inner.body, target_) == 0 &&
                             std::min(loop->loop.extent, inner.loop.extent) >= target_.vectors.large_tiles;
          tile = std::clamp<int64_t>(target_.vectors.tile * static_cast<int64_t>(sizeof(float)) / bytes, 2,
                                     large && bytes == 2 ? 2 * target_.vectors.tile : target_.vectors.tile);
        }
    });
    return reads_output ? nullptr : found;
  }

  /// Cuts two loops into tiles that are loaded along one and stored along the other.
  bool ChooseTiles(LoopStmt& top) {
    const auto nest = NestOf(top);
    if (nest.size() < 2 || PrefersReduction(*nest.back()->body, nest.back()->loop.id)) return false;
    const Dimension& along = nest.back()->loop;
    int64_t tile = 0;
    const Dimension* across = FindTransposed(nest, tile);
    if (across == nullptr || across->extent < tile || along.extent < tile ||
        OpCount(*nest.back()->body, target_) > target_.code.tiled)
      return false;
    llvm::SmallVector<LoopId, 4> outside, blocks, inside;
    for (const LoopStmt* loop : nest) {
      const Dimension& d = loop->loop;
      if (&d != across && &d != &along) {
        outside.push_back(d.id);
        continue;
      }
      LoopId block = d.id, rest = d.id;
      if (d.extent > tile) {
        block = Cut(d.id, tile, rest);
        // Several tiles side by side use what was loaded of a page before it is left. Where the last tile is
        // not whole, its size hangs on the block's number, which then stays one loop.
        LoopId near = block;
        if (d.extent % tile == 0 && d.extent / tile > target_.vectors.near_tiles)
          block = Cut(block, target_.vectors.near_tiles, near);
        outside.push_back(block);
        if (near != block) blocks.push_back(near);
      }
      inside.push_back(rest);
    }
    if (!outside.empty()) outermost_[top.loop.id] = outside[0];
    ScheduleStep order{ScheduleStep::Kind::Reorder, {}};
    for (const auto* loops : {&outside, &blocks, &inside}) order.loops.append(loops->begin(), loops->end());
    schedule_.push_back(order);
    schedule_.push_back({ScheduleStep::Kind::Unroll, {inside[0]}, tile});
    schedule_.push_back({ScheduleStep::Kind::Vector, {inside[1]}, tile});
    return true;
  }

  /// Cuts a loop into blocks of `by`; returns the loop over blocks.
  LoopId Cut(LoopId loop, int64_t by, LoopId& rest) {
    const LoopId block = next_loop_++;
    rest = next_loop_++;
    schedule_.push_back({ScheduleStep::Kind::Split, {loop, block, rest}, by});
    return block;
  }

  void ChooseLoop(LoopStmt& stmt, bool in_vector) {
    if (!in_vector && ChooseTiles(stmt)) return;
    const bool flat = !HasLoops(*stmt.body) || HoldsShortRows(stmt, target_);
    const bool vector = !in_vector && !stmt.loop.ordered && flat && IsLong(stmt.loop, *stmt.body) &&
                        !PrefersReduction(*stmt.body, stmt.loop.id);
    if (vector) MakeVector(stmt.loop, *stmt.body);
    Choose(*stmt.body, in_vector || vector);
  }

  /// Whether a reduction in the body of a loop runs along memory better than the loop does.
  [[nodiscard]] bool PrefersReduction(Region& body, LoopId loop) const {
    bool prefers = false;
    ForEachStmt(body, [&](Stmt& inner) {
      auto* reduce = std::get_if<ReduceStmt>(&inner);
      if (reduce == nullptr || !HasPartialResults(*reduce, kernel_)) return;
      const Dimension& last = reduce->loops.back();
      prefers |= last.extent > target_.code.pairwise &&
                 Contiguity(*reduce->body, last.id) > Contiguity(*reduce->body, loop);
    });
    return prefers;
  }

  void ChooseReduce(ReduceStmt& stmt, bool in_vector) {
    const Dimension& last = stmt.loops.back();
    const bool vector = !in_vector && HasPartialResults(stmt, kernel_) && IsLong(last, *stmt.body) &&
                        Contiguity(*stmt.body, last.id) >= 0 && !PrefersReduction(*stmt.body, last.id);
    if (vector)
      MakeVector(last, *stmt.body);
    else if (IsPairwise(stmt))
      schedule_.push_back({ScheduleStep::Kind::Unroll, {last.id}, last.extent});
    Choose(*stmt.body, in_vector || vector);
  }

  /// Whether the loop goes from row to row, folding each: what comes next waits for the fold to end, which
  /// the next row hides.
  [[nodiscard]] bool IsPaired(const LoopStmt& rows) const {
    if (rows.loop.extent % target_.latency.rows != 0) return false;
    const auto is_vector = [&](const ScheduleStep& step) {
      return step.kind == ScheduleStep::Kind::Vector && step.loops[0] == rows.loop.id;
    };
    if (llvm::any_of(schedule_, is_vector)) return false;
    bool folds = false, fits = true;
    int64_t longest = 0;
    for (const Stmt& stmt : rows.body->stmts) {
      const auto* reduce = std::get_if<ReduceStmt>(&stmt);
      const auto* loop = std::get_if<LoopStmt>(&stmt);
      if (reduce != nullptr) {
        folds |= HasPartialResults(*reduce, kernel_) && IsLong(reduce->loops.back(), *reduce->body);
        fits &= reduce->loops.size() == 1;
        longest = std::max(longest, reduce->loops.back().extent);
      }
      if (loop != nullptr) {
        fits &= !HasLoops(*loop->body);
        longest = std::max(longest, loop->loop.extent);
      }
    }
    return folds && fits && longest <= target_.latency.longest_row &&
           longest * rows.loop.extent >= target_.latency.least_rows &&
           OpCount(*rows.body, target_) <= target_.code.side_by_side;
  }

  /// Few elements: one addition after the other would wait longer than it takes to make them all.
  [[nodiscard]] bool IsPairwise(const ReduceStmt& stmt) const {
    const Dimension& last = stmt.loops.back();
    const auto has_loops = [](const Stmt& s) {
      return std::holds_alternative<LoopStmt>(s) || std::holds_alternative<ReduceStmt>(s);
    };
    return stmt.loops.size() == 1 && last.extent > 2 && last.extent <= target_.code.pairwise &&
           last.outer < 0 && ReductionOp(stmt) &&
           static_cast<int64_t>(stmt.body->stmts.size()) * last.extent <= target_.code.pairwise_stmts &&
           !llvm::any_of(stmt.body->stmts, has_loops);
  }

  /// Whether a vector of each result is half a line of memory.
  [[nodiscard]] bool StoresHalfLines(const Region& body) const {
    bool stores = false, half = true;
    ForEachStmt(body, [&](const Stmt& stmt) {
      const auto* store = std::get_if<StoreStmt>(&stmt);
      if (store == nullptr) return;
      stores = true;
      half &= kernel_.buffers[static_cast<size_t>(store->buffer)].type == ElementType::BF16;
    });
    return stores && half;
  }

  [[nodiscard]] bool IsLong(const Dimension& loop, const Region& body) const {
    const bool short_scalars =
        small_ && loop.extent < target_.code.short_loop && OpCount(body, target_) <= target_.code.short_ops;
    return loop.extent >= target_.vectors.shortest_loop && !short_scalars;
  }

  void MakeVector(const Dimension& loop, const Region& body) {
    // A short row is written out.
    const auto* row = body.stmts.empty() ? nullptr : std::get_if<LoopStmt>(&body.stmts.back());
    const int64_t times = row != nullptr ? row->loop.extent : 1;
    const int64_t ops = row != nullptr ? OpCount(*row->body, target_) * times + OpCount(body, target_)
                                       : OpCount(body, target_);
    int64_t unroll = ops > target_.code.one_vector    ? 1
                     : ops > target_.code.two_vectors ? 2
                                                      : target_.vectors.interleaved;
    // Short loops get short vectors: what fills them needs no masks.
    int64_t width = std::min(target_.vectors.lanes,
                             static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(loop.extent))));
    // Groups of lanes would each walk through a reduction of their own; wider vectors go through it once, and
    // read more of each line of memory. What is written out needs all registers for its elements.
    const auto walks = [&](const Stmt& s) {
      const auto* reduce = std::get_if<ReduceStmt>(&s);
      return reduce != nullptr &&
             !(IsPairwise(*reduce) && (Jumps(*reduce->body, loop.id) || FoldsRowBlock(*reduce, body)));
    };
    if (llvm::any_of(body.stmts, walks)) {
      const bool strip = ops <= target_.code.strip && !Jumps(body, loop.id);
      width *= strip ? target_.vectors.strip : unroll;
      unroll = 1;
      while (width / 2 >= loop.extent || (width > target_.vectors.lanes && width > loop.extent)) width /= 2;
    }
    // What is left of a loop over short rows has no shuffles.
    const auto leaves = [&](int64_t group) {
      return group > loop.extent ||
             (row != nullptr && loop.extent % group != 0 && loop.extent < target_.vectors.few * group);
    };
    if (row != nullptr && width > target_.vectors.full_row && leaves(width) &&
        loop.extent % target_.vectors.full_row == 0)
      width = target_.vectors.full_row;
    while (unroll > 1 && leaves(unroll * width)) unroll /= 2;
    if (unroll > 1 && width == target_.vectors.lanes && StoresHalfLines(body)) width *= 2, unroll /= 2;
    schedule_.push_back({ScheduleStep::Kind::Vector, {loop.id}, width, unroll});
  }

  const Kernel& kernel_;
  const Target& target_;
  bool small_;
  LoopId next_loop_;                          // the first that is free
  llvm::DenseMap<LoopId, LoopId> outermost_;  // of tiled nests: before and after
  Schedule schedule_;
};

}  // namespace

int64_t MergeLoops(Kernel& kernel) { return MergeIn(kernel.body); }

Schedule ChooseSchedule(const Kernel& kernel, const Target& target) {
  // What is bound to blocks and threads has its schedule.
  if (UsesThreads(kernel)) return {};
  if (target.blocks.threads > 0) return ChooseThreads(kernel, target);
  return Chooser(kernel, target).Run();
}

Status ScheduleLoops(Kernel& kernel, const Target& target) {
  return ApplySchedule(kernel, ChooseSchedule(kernel, target));
}

}  // namespace hlo::kernel
