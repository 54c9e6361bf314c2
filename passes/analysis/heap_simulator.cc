#include "passes/analysis/heap_simulator.h"

#include <map>
#include <set>

#include "llvm/Support/MathExtras.h"

namespace hlo {
namespace {

constexpr int64_t kMaxHeap = INT64_MAX / 4;

int64_t Aligned(int64_t size, int64_t alignment) {
  return size > kMaxHeap ? kMaxHeap : (size + alignment - 1) / alignment * alignment;
}

/// Finds the placed buffers that overlap a range: the buffers lie in a fixed tree by start, whose nodes know
/// the latest end of what has been placed below them.
class OverlapTree {
 public:
  explicit OverlapTree(llvm::ArrayRef<HeapBuffer> buffers) : buffers_(buffers), order_(buffers.size()) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    llvm::sort(order_, [&](size_t a, size_t b) {
      return std::pair(buffers_[a].live.start, a) < std::pair(buffers_[b].live.start, b);
    });
    position_.resize(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
    while (leaves_ < order_.size()) leaves_ *= 2;
    latest_.assign(2 * leaves_, -1);
  }
  void Place(size_t buffer) {
    for (size_t node = leaves_ + position_[buffer]; node > 0; node /= 2)
      latest_[node] = std::max(latest_[node], buffers_[buffer].live.end);
  }
  /// Calls f(buffer) for each placed buffer that lives at some time of `range`; false: f returned false.
  template <class F>
  bool ForEachOverlap(const LiveRange& range, F f) const {
    llvm::SmallVector<size_t, 64> todo = {1};
    while (!todo.empty()) {
      const size_t node = todo.pop_back_val();
      if (latest_[node] < range.start || FirstStart(node) > range.end) continue;
      if (node < leaves_) {
        todo.push_back(2 * node + 1);
        todo.push_back(2 * node);
      } else if (!f(order_[node - leaves_])) {
        return false;
      }
    }
    return true;
  }

 private:
  /// The earliest start below a node.
  [[nodiscard]] int64_t FirstStart(size_t node) const {
    while (node < leaves_) node *= 2;
    const size_t leaf = node - leaves_;
    return leaf < order_.size() ? buffers_[order_[leaf]].live.start : INT64_MAX;
  }
  llvm::ArrayRef<HeapBuffer> buffers_;
  std::vector<size_t> order_, position_;
  std::vector<int64_t> latest_;
  size_t leaves_ = 1;
};

struct Chunk {
  int64_t begin, end;
};

/// Start of the smallest gap between the chunks that holds `size`; the end of the last chunk if none does.
int64_t BestFit(llvm::SmallVectorImpl<Chunk>& chunks, int64_t size) {
  llvm::sort(chunks, [](const Chunk& a, const Chunk& b) { return a.begin < b.begin; });
  int64_t top = 0, best = -1, best_size = INT64_MAX;
  for (const Chunk& chunk : chunks) {
    const int64_t gap = chunk.begin - top;
    if (gap >= size && gap < best_size) {
      best = top;
      best_size = gap;
    }
    top = std::max(top, chunk.end);
  }
  return best >= 0 ? best : top;
}

std::optional<HeapResult> PlaceDecreasing(llvm::ArrayRef<HeapBuffer> buffers, int64_t alignment,
                                          HeapOrder order, int64_t budget) {
  std::vector<size_t> sorted(buffers.size());
  for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  const auto key = [&](size_t i) {
    const HeapBuffer& b = buffers[i];
    const int64_t length = b.live.end - b.live.start;
    return order == HeapOrder::Spatial ? std::tuple(-b.size, -length, i) : std::tuple(-length, -b.size, i);
  };
  llvm::sort(sorted, [&](size_t a, size_t b) { return key(a) < key(b); });
  HeapResult result;
  result.order = order;
  result.offsets.resize(buffers.size());
  OverlapTree tree(buffers);
  llvm::SmallVector<Chunk, 64> chunks;
  for (const size_t i : sorted) {
    const int64_t size = Aligned(buffers[i].size, alignment);
    if (size == 0) continue;
    chunks.clear();
    const bool complete = tree.ForEachOverlap(buffers[i].live, [&](size_t other) {
      const int64_t at = result.offsets[other];
      chunks.push_back({at, at + Aligned(buffers[other].size, alignment)});
      return --budget >= 0;
    });
    if (!complete) return std::nullopt;
    const int64_t offset = BestFit(chunks, size);
    result.offsets[i] = offset;
    result.size = std::max(result.size, offset + size);
    if (result.size > kMaxHeap) return std::nullopt;
    tree.Place(i);
  }
  return result;
}

/// Free blocks by place and by size; neighbours are joined.
class FreeList {
 public:
  int64_t Take(int64_t size) {
    const auto it = by_size_.lower_bound({size, 0});
    int64_t offset = 0;
    if (it != by_size_.end()) {
      offset = it->second;
      const int64_t rest = it->first - size;
      Erase(offset);
      if (rest > 0) Insert(offset + size, rest);
      return offset;
    }
    // On top, beginning in the last free block if that reaches the top.
    offset = top_;
    if (!by_offset_.empty()) {
      const auto last = std::prev(by_offset_.end());
      if (last->first + last->second == top_) {
        offset = last->first;
        Erase(offset);
      }
    }
    top_ = offset + size;
    return offset;
  }
  void Give(int64_t offset, int64_t size) {
    const auto after = by_offset_.find(offset + size);
    if (after != by_offset_.end()) {
      size += after->second;
      Erase(after->first);
    }
    auto before = by_offset_.lower_bound(offset);
    if (before != by_offset_.begin() && (--before, before->first + before->second == offset)) {
      offset = before->first;
      size += before->second;
      Erase(offset);
    }
    Insert(offset, size);
  }
  [[nodiscard]] int64_t top() const { return top_; }

 private:
  void Insert(int64_t offset, int64_t size) {
    by_offset_[offset] = size;
    by_size_.insert({size, offset});
  }
  void Erase(int64_t offset) {
    const auto it = by_offset_.find(offset);
    by_size_.erase({it->second, offset});
    by_offset_.erase(it);
  }
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t top_ = 0;
};

std::optional<HeapResult> PlaceRunning(llvm::ArrayRef<HeapBuffer> buffers, int64_t alignment) {
  struct Event {
    int64_t time;
    bool end;  // ends come after the beginnings of the same time
    size_t buffer;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size == 0) continue;
    events.push_back({buffers[i].live.start, false, i});
    events.push_back({buffers[i].live.end, true, i});
  }
  llvm::sort(events);
  HeapResult result;
  result.offsets.resize(buffers.size());
  FreeList free;
  int64_t highest = 0;
  for (const Event& event : events) {
    const int64_t size = Aligned(buffers[event.buffer].size, alignment);
    if (event.end) {
      free.Give(result.offsets[event.buffer], size);
      continue;
    }
    result.offsets[event.buffer] = free.Take(size);
    highest = std::max(highest, free.top());
    if (highest > kMaxHeap) return std::nullopt;
  }
  result.size = highest;
  return result;
}

}  // namespace

llvm::StringRef ToString(HeapOrder order) {
  constexpr llvm::StringLiteral kNames[] = {"spatial", "temporal", "running"};
  return kNames[static_cast<size_t>(order)];
}

HeapPeak LiveBytesPeak(llvm::ArrayRef<HeapBuffer> buffers) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // time, bytes
  for (const HeapBuffer& buffer : buffers) {
    if (buffer.size == 0 || buffer.live.empty()) continue;
    changes.push_back({buffer.live.start, buffer.size});
    changes.push_back({buffer.live.end + 1, -buffer.size});
  }
  llvm::sort(changes);
  HeapPeak peak;
  int64_t bytes = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (llvm::AddOverflow(bytes, changes[i].second, bytes)) bytes = INT64_MAX;
    if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
    if (bytes > peak.bytes) peak = {bytes, changes[i].first};
  }
  return peak;
}

std::optional<HeapResult> PlaceBuffers(llvm::ArrayRef<HeapBuffer> buffers, int64_t alignment, HeapOrder order,
                                       int64_t budget) {
  return order == HeapOrder::Running ? PlaceRunning(buffers, alignment)
                                     : PlaceDecreasing(buffers, alignment, order, budget);
}

std::optional<HeapResult> PlaceBuffers(llvm::ArrayRef<HeapBuffer> buffers, int64_t alignment) {
  constexpr int64_t kBudget = 1 << 23;
  std::optional<HeapResult> best;
  for (const HeapOrder order : {HeapOrder::Spatial, HeapOrder::Temporal, HeapOrder::Running}) {
    auto result = PlaceBuffers(buffers, alignment, order, kBudget);
    if (result && (!best || result->size < best->size)) best = std::move(result);
  }
  return best;
}

}  // namespace hlo
