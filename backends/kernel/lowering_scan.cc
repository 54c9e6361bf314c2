// Scans of rows: cumulative sums and the like, each row by a block of threads.
#include "backends/kernel/lowering.h"
#include "ir/prefix_reduction.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

Address Fixed(int64_t number) {
  Address address;
  address.offset = number;
  return address;
}

}  // namespace

/// A block goes through its row in rounds. In each a thread has some neighbours: it folds them one after the
/// other, lanes hand each other what they have, warps do so through shared memory, and what the rounds before
/// came to is kept by every thread. So an element is folded of what comes before its round, its warp, its
/// thread and itself, in this order. What does not exist comes last, where nothing that does is made of it.
class Lowering::RowScan {
 public:
  RowScan(Lowering& lowering, const Instruction& root, int64_t number)
      : lowering_(lowering),
        builder_(lowering.builder_),
        root_(root),
        number_(number),
        type_(root.shape().element_type()),
        prefix_(*MatchPrefix(root)),
        length_(root.shape().dims().back()),
        lanes_(lowering.target_.blocks.lanes) {
    const int64_t in_access = lowering.target_.blocks.access / Info(type_).host_bytes();
    each_ = std::clamp(in_access, kLeast, kMost);
    const auto warps = static_cast<uint64_t>(llvm::divideCeil(length_, lanes_ * each_));
    warps_ = std::min(static_cast<int64_t>(llvm::PowerOf2Ceil(warps)), kWarps);
    rounds_ = llvm::divideCeil(length_, threads() * each_);
    mine_ = MakeArray(Space::Local, each_);
    before_rounds_ = MakeArray(Space::Local, 1);
    if (warps_ > 1) of_warps_ = MakeArray(Space::Shared, warps_);
  }

  Status Run() {
    const int64_t rows = root_.shape().ElementCount() / length_;
    return Loop(rows, Binding::BlockX, [&](const Address& row) {
      outer_ = IndicesOf(row);
      if (warps_ == 1) return Loop(lanes_, Binding::Lane, [&](const Address& lane) { return Row({}, lane); });
      return Loop(warps_, Binding::ThreadX, [&](const Address& warp) {
        return Loop(lanes_, Binding::Lane, [&](const Address& lane) { return Row(warp, lane); });
      });
    });
  }

 private:
  static constexpr int64_t kLeast = 4, kMost = 8;  // elements of a thread in a round
  static constexpr int64_t kWarps = 8;             // of a block, at most

  [[nodiscard]] int64_t threads() const { return warps_ * lanes_; }

  Status Loop(int64_t extent, Binding binding, llvm::function_ref<Status(const Address&)> body) {
    return lowering_.InLoop({.id = -1, .extent = extent, .binding = binding}, body);
  }
  BufferId MakeArray(Space space, int64_t count) {
    auto& buffers = lowering_.lowered_.kernel.buffers;
    buffers.push_back({type_, count, true, space});
    return static_cast<BufferId>(buffers.size()) - 1;
  }
  Result<ValueId> Fold(ValueId x, ValueId y) {
    HLO_TRY(const Values folded, lowering_.InlineScalars(*root_.callee(), {x, y}));
    return folded[0];
  }
  ValueId Select(ValueId condition, ValueId x, ValueId y) {
    return builder_.Op(OpKind::Select, type_, {condition, x, y});
  }

  /// Of the dimensions before the last.
  Indices IndicesOf(const Address& row) {
    const llvm::ArrayRef<int64_t> dims = root_.shape().dims().drop_back();
    if (dims.size() < 2) return Indices(dims.size(), row);
    Address number;
    number.AddValue(builder_.Index(row), 1);
    return lowering_.Delinearize(number, dims);
  }

  Status Row(const Address& warp, const Address& lane) {
    warp_ = warp, lane_ = lane;
    HLO_TRY(const ValueId init, lowering_.EmitOne(*root_.operand(1), {}, -1));
    builder_.Store(before_rounds_, {}, init);
    return lowering_.InLoop({.id = -1, .extent = rounds_, .ordered = true}, [&](const Address& round) {
      first_ = {};
      first_.Add(lane_, each_);
      first_.Add(warp_, lanes_ * each_);
      first_.Add(round, threads() * each_);
      return Round();
    });
  }

  /// Calls `body` with the number of each of the thread's neighbours, their indices, and whether they exist.
  Status ForMine(llvm::function_ref<Status(const Address& i, const Indices& at, ValueId exists)> body) {
    const auto width = static_cast<int32_t>(each_);
    return lowering_.InLoop({.id = -1, .extent = each_, .width = width}, [&](const Address& i) {
      Address place = first_, at;
      place.Add(i);
      // Where rows have whole neighbours all of a thread's exist or none.
      const Address& asked = length_ % each_ == 0 ? first_ : place;
      ValueId exists = -1;
      if (length_ % (threads() * each_) != 0)
        exists = builder_.Compare(Direction::LT, builder_.Index(asked), builder_.Integer(length_));
      at.offset = prefix_.reverse ? length_ - 1 : 0;
      at.Add(place, prefix_.reverse ? -1 : 1);
      Indices indices = outer_;
      indices.push_back(at);
      return body(i, indices, exists);
    });
  }

  Status Round() {
    HLO_CHECK_OK(ForMine([&](const Address& i, const Indices& at, ValueId exists) -> Status {
      HLO_TRY(const ValueId element, lowering_.EmitOne(*root_.operand(0), at, exists));
      builder_.Store(mine_, i, element);
      return {};
    }));
    HLO_TRY(const ValueId mine, FoldMine());
    HLO_TRY(const ValueId upto, FoldLanes(mine));
    HLO_TRY(const ValueId before, FoldBefore(upto));
    HLO_CHECK_OK(ForMine([&](const Address& i, const Indices& at, ValueId exists) -> Status {
      HLO_TRY(ValueId folded, Fold(before, lowering_.LoadHere(mine_, i)));
      if (prefix_.exclusive) folded = Select(IsZero(i), before, folded);
      lowering_.StoreOutput(number_, root_.shape(), at, folded, exists);
      return {};
    }));
    if (warps_ > 1 && rounds_ > 1) builder_.Append(BarrierStmt{});
    return {};
  }

  /// Puts in place of each of the thread's elements the fold up to it, or before it if there is one; all of
  /// them.
  Result<ValueId> FoldMine() {
    ValueId all = lowering_.LoadHere(mine_, Fixed(0));
    for (int64_t i = 1; i < each_; ++i) {
      const ValueId before = all;
      HLO_TRY(all, Fold(before, lowering_.LoadHere(mine_, Fixed(i))));
      builder_.Store(mine_, Fixed(i), prefix_.exclusive ? before : all);
    }
    return all;
  }

  /// The fold of what this lane and those before it have.
  Result<ValueId> FoldLanes(ValueId mine) {
    const ValueId lane = builder_.Index(lane_);
    ValueId upto = mine;
    for (int64_t by = 1; by < lanes_; by *= 2) {
      const ValueId there = builder_.Compare(Direction::GE, lane, builder_.Integer(by));
      HLO_TRY(const ValueId both, Fold(Shuffled(ShuffleMode::Up, upto, by), upto));
      upto = Select(there, both, upto);
    }
    return upto;
  }
  ValueId Shuffled(ShuffleMode mode, ValueId value, int64_t by) {
    const ValueId result = builder_.NewValue(type_);
    builder_.Append(ShuffleStmt{result, mode, value, Fixed(by)});
    return result;
  }

  /// The fold of all before the thread's elements, of the rounds before, too; keeps that of this round.
  Result<ValueId> FoldBefore(ValueId upto) {
    const ValueId lane = builder_.Index(lane_), last = builder_.Integer(lanes_ - 1);
    const ValueId of_lanes = Shuffled(ShuffleMode::Up, upto, 1);
    ValueId before = lowering_.LoadHere(before_rounds_, {}), all = before;
    if (warps_ == 1) {
      HLO_TRY(all, Fold(all, Shuffled(ShuffleMode::Index, upto, lanes_ - 1)));
    } else {
      builder_.Store(of_warps_, warp_, upto, builder_.Compare(Direction::EQ, lane, last));
      builder_.Append(BarrierStmt{});
      const ValueId warp = builder_.Index(warp_);
      for (int64_t w = 0; w < warps_; ++w) {
        HLO_TRY(all, Fold(all, lowering_.LoadHere(of_warps_, Fixed(w))));
        before = Select(builder_.Compare(Direction::LT, builder_.Integer(w), warp), all, before);
      }
    }
    if (rounds_ > 1) builder_.Store(before_rounds_, {}, all);
    HLO_TRY(const ValueId both, Fold(before, of_lanes));
    return Select(IsZero(lane_), before, both);
  }
  ValueId IsZero(const Address& index) {
    return builder_.Compare(Direction::EQ, builder_.Index(index), builder_.Integer(0));
  }

  Lowering& lowering_;
  KernelBuilder& builder_;
  const Instruction& root_;
  const int64_t number_;  // of the output
  const ElementType type_;
  const Prefix prefix_;
  const int64_t length_, lanes_;
  int64_t each_ = 0, warps_ = 0, rounds_ = 0;
  BufferId mine_ = -1, before_rounds_ = -1, of_warps_ = -1;
  Indices outer_;
  Address warp_, lane_, first_;
};

Status Lowering::LowerRowScan(const Instruction& root, int64_t number) {
  return RowScan(*this, root, number).Run();
}

}  // namespace hlo::kernel
