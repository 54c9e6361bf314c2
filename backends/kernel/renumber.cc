#include "backends/kernel/renumber.h"

#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

/// Gives what a kernel defines the numbers that it has in another one.
class Renumberer {
 public:
  Renumberer(ValueId values, LoopId loops, llvm::ArrayRef<BufferId> buffers, const TakenLoop& taken)
      : values_(values), loops_(loops), buffers_(buffers), taken_(taken) {}

  void Run(Region& region) const {
    ForEachStmt(region, [&](Stmt& stmt) { std::visit([&](auto& s) { Move(s); }, stmt); });
    ForEachAddress(region, [&](Address& address) { Move(address); });
  }

 private:
  void Move(ValueId& value) const {
    if (value >= 0) value += values_;
  }
  template <class List>
  void MoveAll(List& values) const {
    for (ValueId& value : values) Move(value);
  }
  void MoveBuffer(BufferId& buffer) const { buffer = buffers_[static_cast<size_t>(buffer)]; }
  void Move(Address& address) const {
    Address moved;
    moved.offset = address.offset;
    for (const auto& term : address.loops) {
      const bool counts = term.id == taken_.loop;
      moved.AddLoop(counts ? taken_.into : term.id + loops_, term.factor);
      if (counts) moved.offset -= taken_.begin * term.factor;
    }
    for (const auto& term : address.values) moved.AddValue(term.id + values_, term.factor);
    address = std::move(moved);
  }
  void Move(Dimension& d) const {
    d.id += loops_;
    Move(d.when), Move(d.before);
    if (d.outer >= 0 && d.outer == taken_.loop) {
      d.outer = taken_.into;
      d.limit += taken_.begin * d.extent;
    } else if (d.outer >= 0) {
      d.outer += loops_;
    }
  }
  void Move(ConstantStmt& s) const { Move(s.result); }
  void Move(IndexStmt& s) const { Move(s.result); }
  void Move(OpStmt& s) const { Move(s.result), MoveAll(s.operands); }
  void Move(LoadStmt& s) const { Move(s.result), MoveBuffer(s.buffer), Move(s.mask), Move(s.otherwise); }
  void Move(StoreStmt& s) const { MoveBuffer(s.buffer), Move(s.value), Move(s.mask); }
  void Move(LoopStmt& s) const { Move(s.loop), MoveAll(s.body->yields); }
  void Move(ReduceStmt& s) const {
    for (Dimension& d : s.loops) Move(d);
    for (auto* values : {&s.results, &s.inits, &s.body->yields, &s.combiner->yields}) MoveAll(*values);
    MoveAll(s.parameters);
  }
  static void Move(BarrierStmt&) {}
  void Move(AtomicStmt& s) const {
    MoveBuffer(s.buffer);
    for (ValueId* value : {&s.result, &s.value, &s.expected, &s.mask, &s.otherwise}) Move(*value);
  }
  void Move(ShuffleStmt& s) const { Move(s.result), Move(s.value); }
  void Move(LaneReduceStmt& s) const { Move(s.result), Move(s.value); }
  void Move(LoadMatrixStmt& s) const { MoveBuffer(s.into), MoveBuffer(s.from); }
  void Move(MultiplyMatrixStmt& s) const {
    for (auto* words : {&s.sums, &s.left, &s.right}) MoveBuffer(words->buffer);
  }
  void Move(CopyStmt& s) const { MoveBuffer(s.into), MoveBuffer(s.from), Move(s.mask); }
  static void Move(CommitCopiesStmt&) {}
  static void Move(WaitForCopiesStmt&) {}

  ValueId values_;
  LoopId loops_;
  llvm::ArrayRef<BufferId> buffers_;
  TakenLoop taken_;
};

}  // namespace

std::vector<BufferId> PlacesIn(Kernel& whole, const Kernel& part, llvm::ArrayRef<BufferId> arrays) {
  std::vector<BufferId> places(arrays.begin(), arrays.end());
  for (size_t i = places.size(); i < part.buffers.size(); ++i) {
    Buffer buffer = part.buffers[i];
    if (buffer.over >= 0) buffer.over = places[static_cast<size_t>(buffer.over)];
    places.push_back(static_cast<BufferId>(whole.buffers.size()));
    whole.buffers.push_back(buffer);
  }
  return places;
}

void TakeNumbers(Kernel& whole, Kernel& part, llvm::ArrayRef<BufferId> places, const TakenLoop& taken) {
  const Renumberer renumber(static_cast<ValueId>(whole.value_types.size()), whole.loop_count, places, taken);
  renumber.Run(part.body);
  whole.value_types.insert(whole.value_types.end(), part.value_types.begin(), part.value_types.end());
  whole.loop_count += part.loop_count;
}

}  // namespace hlo::kernel
