// Sorts of rows that the threads of a block have in shared memory.
#include "backends/kernel/lowering.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

/// Of the places that elements have at the beginning.
constexpr ElementType kPlace = ElementType::S32;

/// Elements beyond which rows are no longer sorted in one piece: more stages, each of which all wait for.
constexpr int64_t kLongestRow = 4096;

}  // namespace

int64_t LongestSortedRow(const Instruction& sort, const Target& target, int64_t more) {
  if (target.blocks.lanes == 0) return 0;
  int64_t bytes = Info(kPlace).host_bytes() + more;
  for (const Instruction* operand : sort.operands())
    bytes += Info(operand->shape().element_type()).host_bytes();
  const int64_t most = std::min(kLongestRow, target.blocks.shared / bytes);
  return most < 1 ? 0 : static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(most)));
}

/// A bitonic network, of pairs of places that meet in a stage. All stages order upwards: the first of each
/// merge has places meet that lie mirrored in it, those after it places that differ by one bit. What lies
/// beyond the row would come last, so that it never changes places. Of a merge there are only the stages
/// after those that ordered tiles among each other.
class Lowering::SortNetwork {
 public:
  SortNetwork(Lowering& lowering, const Instruction& root)
      : lowering_(lowering),
        builder_(lowering.builder_),
        root_(root),
        rows_(root.operand(0)->shape().dim(0)),
        length_(root.operand(0)->shape().dim(1)),
        tile_(static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(length_)))),
        threads_(std::min(tile_ / 2, lowering.target_.blocks.most_threads)),
        merges_(root.has_extras() && root.extras().backend_config == kMerge) {
    for (const Instruction* operand : root.operands()) MakeShared(operand->shape().element_type());
    MakeShared(kPlace);
  }

  Status Run() {
    return InLoop(rows_, Binding::BlockX, [&](const Address& row) {
      return InLoop(threads_, Binding::ThreadX, [&](const Address& thread) -> Status {
        HLO_CHECK_OK(ForPlaces(thread, tile_, [&](const Address& place) { return Read(row, place); }));
        builder_.Append(BarrierStmt{});
        HLO_CHECK_OK(InLoop(Stages(), Binding::None, [&](const Address& stage) -> Status {
          const Meeting meeting = MeetingOf(stage);
          HLO_CHECK_OK(
              ForPlaces(thread, tile_ / 2, [&](const Address& pair) { return Exchange(meeting, pair); }));
          builder_.Append(BarrierStmt{});
          return {};
        }));
        return ForPlaces(thread, tile_, [&](const Address& place) { return Write(row, place); });
      });
    });
  }

 private:
  using Body = llvm::function_ref<Status(const Address& index)>;

  void MakeShared(ElementType type) {
    auto& buffers = lowering_.lowered_.kernel.buffers;
    shared_.push_back(static_cast<BufferId>(buffers.size()));
    buffers.push_back({type, tile_, true, Space::Shared});
  }

  Status InLoop(int64_t extent, Binding binding, Body body) {
    const LoopId loop = builder_.NewLoop(extent);
    lowering_.origins_.push_back({NestDimension(lowering_.nests_++, 0), 0});
    auto region = std::make_unique<Region>();
    builder_.Open(*region, loop);
    lowering_.memo_.emplace_back();
    Address index;
    index.AddLoop(loop, 1);
    HLO_CHECK_OK(body(index));
    builder_.Close();
    lowering_.memo_.pop_back();
    Dimension dimension{.id = loop, .extent = extent};
    dimension.binding = binding;
    builder_.Append(LoopStmt{dimension, std::move(region)});
    return {};
  }
  /// Each thread takes one of as many as there are threads.
  Status ForPlaces(const Address& thread, int64_t count, Body body) {
    return InLoop(count / threads_, Binding::None, [&](const Address& round) {
      Address place = thread;
      place.Add(round, threads_);
      return body(place);
    });
  }

  /// Whether a place lies in the row; -1: all do.
  ValueId Exists(const Address& place) {
    if (length_ == tile_) return -1;
    return builder_.Compare(Direction::LT, builder_.Index(place), builder_.Integer(length_));
  }
  ValueId LoadShared(size_t k, const Address& place, ValueId exists) {
    const ElementType type = lowering_.lowered_.kernel.buffers[static_cast<size_t>(shared_[k])].type;
    return builder_.Load(shared_[k], place, exists, exists < 0 ? -1 : lowering_.ZeroOf(type));
  }

  Status Read(const Address& row, const Address& place) {
    const ValueId exists = Exists(place);
    for (size_t k = 0; k + 1 < shared_.size(); ++k) {
      HLO_TRY(const ValueId value,
              lowering_.EmitOne(*root_.operand(static_cast<int64_t>(k)), {row, place}, exists));
      builder_.Store(shared_[k], place, value, exists);
    }
    builder_.Store(shared_.back(), place, builder_.Op(OpKind::Convert, kPlace, {builder_.Index(place)}),
                   exists);
    return {};
  }
  Status Write(const Address& row, const Address& place) {
    const ValueId exists = Exists(place);
    for (size_t k = 0; k + 1 < shared_.size(); ++k)
      lowering_.StoreOutput(static_cast<int64_t>(k), root_.operand(0)->shape(), {row, place},
                            LoadShared(k, place, exists), exists);
    return {};
  }

  [[nodiscard]] int64_t Levels() const { return llvm::Log2_64(static_cast<uint64_t>(tile_)); }
  [[nodiscard]] int64_t Stages() const { return merges_ ? Levels() : Levels() * (Levels() + 1) / 2; }

  ValueId Op(OpKind kind, ValueId x, ValueId y) { return builder_.Op(kind, ElementType::S64, {x, y}); }

  /// Which places meet in a stage.
  struct Meeting {
    ValueId bit;   // of two places that meet the lower one has it not
    ValueId mask;  // by what they differ
  };
  Meeting MeetingOf(const Address& at) {
    const ValueId stage = builder_.Index(at), one = builder_.Integer(1);
    if (merges_) {
      const ValueId bit =
          Op(OpKind::ShiftLeft, one, Op(OpKind::Subtract, builder_.Integer(Levels() - 1), stage));
      return {bit, bit};
    }
    // The stages of a level are one more than those of the level before.
    ValueId level = builder_.Integer(0);
    for (int64_t l = 1; l < Levels(); ++l) {
      const ValueId reached = builder_.Compare(Direction::GE, stage, builder_.Integer(l * (l + 1) / 2));
      level = Op(OpKind::Add, level, builder_.Op(OpKind::Convert, ElementType::S64, {reached}));
    }
    const ValueId before =
        Op(OpKind::Divide, Op(OpKind::Multiply, level, Op(OpKind::Add, level, one)), builder_.Integer(2));
    const ValueId number = Op(OpKind::Subtract, stage, before);
    const ValueId bit = Op(OpKind::ShiftLeft, one, Op(OpKind::Subtract, level, number));
    const ValueId mirror = Op(OpKind::Subtract, Op(OpKind::Add, bit, bit), one);
    const ValueId first = builder_.Compare(Direction::EQ, number, builder_.Integer(0));
    return {bit, builder_.Op(OpKind::Select, ElementType::S64, {first, mirror, bit})};
  }

  Status Exchange(const Meeting& meeting, const Address& pair) {
    const ValueId number = builder_.Index(pair);
    const ValueId below = Op(OpKind::And, number, Op(OpKind::Subtract, meeting.bit, builder_.Integer(1)));
    const ValueId lower = Op(OpKind::Subtract, Op(OpKind::Add, number, number), below);
    Address x, y;
    x.AddValue(lower, 1);
    y.AddValue(Op(OpKind::Xor, lower, meeting.mask), 1);
    const ValueId exists = Exists(y);
    llvm::SmallVector<ValueId, 4> xs, ys;
    llvm::SmallVector<ValueId, 8> forwards, backwards;
    for (size_t k = 0; k < shared_.size(); ++k) {
      xs.push_back(LoadShared(k, x, exists));
      ys.push_back(LoadShared(k, y, exists));
      if (k + 1 == shared_.size()) break;
      forwards.append({xs[k], ys[k]});
      backwards.append({ys[k], xs[k]});
    }
    HLO_TRY(const Values before, lowering_.InlineScalars(*root_.callee(), forwards));
    HLO_TRY(const Values behind, lowering_.InlineScalars(*root_.callee(), backwards));
    // Equal elements, and those that come before each other, stay in their order.
    const ValueId decided = builder_.Compare(Direction::NE, before[0], behind[0]);
    const ValueId later = builder_.Compare(Direction::LT, ys.back(), xs.back());
    const ValueId swap = builder_.Op(OpKind::Select, ElementType::Pred, {decided, behind[0], later});
    const ValueId mask = builder_.And(exists, swap);
    for (size_t k = 0; k < shared_.size(); ++k) {
      builder_.Store(shared_[k], x, ys[k], mask);
      builder_.Store(shared_[k], y, xs[k], mask);
    }
    return {};
  }

  Lowering& lowering_;
  KernelBuilder& builder_;
  const Instruction& root_;
  int64_t rows_, length_, tile_, threads_;
  bool merges_;
  llvm::SmallVector<BufferId, 4> shared_;  // the operands, then the places at the beginning
};

Status Lowering::LowerSort(const Instruction& root) {
  const Shape& shape = root.operand(0)->shape();
  if (shape.rank() != 2 || root.attr<SortAttrs>().dimensions[0] != 1 || shape.dim(1) < 2)
    return Decline(root.loc(), "%{0} has no rows to sort", root.name());
  if (shape.dim(1) > LongestSortedRow(root, target_))
    return Decline(root.loc(), "%{0} has rows that no block of threads sorts", root.name());
  return SortNetwork(*this, root).Run();
}

}  // namespace hlo::kernel
