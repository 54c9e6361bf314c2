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

std::optional<Direction> NumberOrder(const Instruction& sort) {
  if (sort.kind() != OpKind::Sort || sort.operand_count() != 1 ||
      !IsIntegral(sort.operand(0)->shape().element_type()) ||
      Info(sort.operand(0)->shape().element_type()).bits < 8)
    return {};
  const Instruction& root = *sort.callee()->root();
  if (root.kind() != OpKind::Compare || root.operand(0)->kind() != OpKind::Parameter ||
      root.operand(1)->kind() != OpKind::Parameter || root.operand(0) == root.operand(1))
    return {};
  const Direction direction = root.attr<CompareAttrs>().direction;
  if (direction != Direction::LT && direction != Direction::GT) return {};
  const bool swapped = root.operand(0)->attr<ParameterAttrs>().number == 1;
  return swapped == (direction == Direction::LT) ? Direction::GT : Direction::LT;
}

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
    return lowering_.InLoop({.id = -1, .extent = extent, .binding = binding}, body);
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

/// The same network of numbers, which need no places: those that are equal are the same. A thread takes as
/// many stages at once as there are elements in its registers: those that meet in them, directly or by way of
/// others, are all `x ^ m` of some sums m of the masks of the stages, where x has none of their leading bits.
class Lowering::NumberNetwork {
 public:
  NumberNetwork(Lowering& lowering, const Instruction& root, Direction direction)
      : lowering_(lowering),
        builder_(lowering.builder_),
        root_(root),
        type_(root.operand(0)->shape().element_type()),
        first_(direction == Direction::LT ? OpKind::Minimum : OpKind::Maximum),
        last_(direction == Direction::LT ? OpKind::Maximum : OpKind::Minimum),
        rows_(root.operand(0)->shape().dim(0)),
        length_(root.operand(0)->shape().dim(1)) {
    tile_ = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(length_)));
    const int64_t levels = llvm::Log2_64(static_cast<uint64_t>(tile_)),
                  lanes = llvm::Log2_64(static_cast<uint64_t>(lowering.target_.blocks.lanes));
    at_once_ = std::clamp<int64_t>(levels - lanes, 1, kMostAtOnce);
    threads_ = tile_ >> at_once_;
    for (int64_t level = 0; level < levels; ++level) {
      const bool merges = root.has_extras() && root.extras().backend_config == kMerge;
      if (merges && level + 1 < levels) continue;
      const int64_t half = int64_t{1} << level;
      masks_.push_back(merges ? half : 2 * half - 1);
      for (int64_t bit = half / 2; bit > 0; bit /= 2) masks_.push_back(bit);
    }
    auto& buffers = lowering_.lowered_.kernel.buffers;
    shared_ = static_cast<BufferId>(buffers.size());
    buffers.push_back({type_, Place(tile_ - 1) + 1, true, Space::Shared});
  }

  Status Run() {
    const auto loop = [&](int64_t extent, Binding binding, llvm::function_ref<Status(const Address&)> body) {
      return lowering_.InLoop({.id = -1, .extent = extent, .binding = binding}, body);
    };
    return loop(rows_, Binding::BlockX, [&](const Address& row) {
      return loop(threads_, Binding::ThreadX, [&](const Address& thread) -> Status {
        for (int64_t place = 0; place < tile_; place += threads_) HLO_CHECK_OK(Read(row, thread, place));
        builder_.Append(BarrierStmt{});
        for (llvm::ArrayRef<int64_t> rest = masks_; !rest.empty();) {
          const int64_t stages = StagesAtOnce(rest);
          Exchange(builder_.Index(thread), rest.take_front(static_cast<size_t>(stages)));
          builder_.Append(BarrierStmt{});
          rest = rest.drop_front(static_cast<size_t>(stages));
        }
        for (int64_t place = 0; place < tile_; place += threads_) Write(row, thread, place);
        return {};
      });
    });
  }

 private:
  static constexpr int64_t kMostAtOnce = 3;  // masks that are no sums of others
  /// A word is left out behind so many, so that elements a power of two apart lie in different banks.
  static constexpr int64_t kLine = 32;

  static int64_t Place(int64_t element) { return element + element / kLine; }
  ValueId Op(OpKind kind, ValueId x, int64_t y) {
    return builder_.Op(kind, ElementType::S64, {x, builder_.Integer(y)});
  }
  Address PlaceOf(ValueId element) {
    Address place;
    place.AddValue(element, 1);
    place.AddValue(Op(OpKind::ShiftRightLogical, element, llvm::Log2_64(kLine)), 1);
    return place;
  }

  Status Read(const Address& row, const Address& thread, int64_t first) {
    Address place = thread;
    place.offset += first;
    const ValueId exists = Exists(place);
    HLO_TRY(ValueId value, lowering_.EmitOne(*root_.operand(0), {row, place}, exists));
    if (exists >= 0) value = builder_.Op(OpKind::Select, type_, {exists, value, Last()});
    builder_.Store(shared_, PlaceOf(builder_.Index(place)), value);
    return {};
  }
  void Write(const Address& row, const Address& thread, int64_t first) {
    Address place = thread;
    place.offset += first;
    const ValueId exists = Exists(place);
    const ValueId value = lowering_.LoadHere(shared_, PlaceOf(builder_.Index(place)));
    lowering_.StoreOutput(0, root_.operand(0)->shape(), {row, place}, value, exists);
  }
  /// Whether a place lies in the row; -1: all do.
  ValueId Exists(const Address& place) {
    if (length_ == tile_) return -1;
    return builder_.Compare(Direction::LT, builder_.Index(place), builder_.Integer(length_));
  }
  /// What no number comes after.
  ValueId Last() {
    const auto bits = static_cast<unsigned>(Info(type_).bits);
    const llvm::APInt greatest =
        IsSigned(type_) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    const llvm::APInt least =
        IsSigned(type_) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits);
    const llvm::APInt& last = last_ == OpKind::Maximum ? greatest : least;
    return builder_.Constant(type_, last.getZExtValue());
  }

  static int64_t LeadingBit(int64_t mask) { return int64_t{1} << llvm::Log2_64(static_cast<uint64_t>(mask)); }
  /// The mask without what sums of the basis have of it.
  static int64_t Rest(int64_t mask, llvm::ArrayRef<int64_t> basis) {
    for (const int64_t other : basis)
      if ((mask & LeadingBit(other)) != 0) mask ^= other;
    return mask;
  }
  /// Masks no two of which have the same leading bit, greater ones first, of which all are sums.
  static llvm::SmallVector<int64_t, 4> BasisOf(llvm::ArrayRef<int64_t> masks) {
    llvm::SmallVector<int64_t, 4> basis;
    for (const int64_t mask : masks) {
      const int64_t rest = Rest(mask, basis);
      if (rest != 0) basis.push_back(rest);
      llvm::sort(basis, std::greater<>());
    }
    return basis;
  }
  [[nodiscard]] int64_t StagesAtOnce(llvm::ArrayRef<int64_t> masks) const {
    size_t count = 1;
    while (count < masks.size() &&
           BasisOf(masks.take_front(count + 1)).size() <= static_cast<size_t>(at_once_))
      ++count;
    return static_cast<int64_t>(count);
  }

  /// Stages of a thread. Where there are fewer masks than it has registers for, it does so several times.
  void Exchange(ValueId thread, llvm::ArrayRef<int64_t> masks) {
    const llvm::SmallVector<int64_t, 4> basis = BasisOf(masks);
    const int64_t count = int64_t{1} << basis.size(), times = tile_ / threads_ / count;
    for (int64_t time = 0; time < times; ++time) {
      ValueId first = time == 0 ? thread : Op(OpKind::Add, thread, time * threads_);
      // Zeros become its leading bits, lowest first.
      for (const int64_t mask : llvm::reverse(basis)) {
        const ValueId below = Op(OpKind::And, first, LeadingBit(mask) - 1);
        first = builder_.Op(OpKind::Subtract, ElementType::S64, {Op(OpKind::ShiftLeft, first, 1), below});
      }
      ExchangeFrom(first, masks, basis);
    }
  }
  void ExchangeFrom(ValueId first, llvm::ArrayRef<int64_t> masks, llvm::ArrayRef<int64_t> basis) {
    struct Element {
      int64_t sum;
      Address place;
      ValueId value;
    };
    llvm::SmallVector<Element, 16> elements;
    for (int64_t number = 0; number < int64_t{1} << basis.size(); ++number) {
      int64_t sum = 0;
      for (size_t i = 0; i < basis.size(); ++i) sum ^= (number >> i & 1) != 0 ? basis[i] : 0;
      const Address place = PlaceOf(sum == 0 ? first : Op(OpKind::Xor, first, sum));
      elements.push_back({sum, place, lowering_.LoadHere(shared_, place)});
    }
    for (const int64_t mask : masks)
      for (Element& low : elements) {
        if ((low.sum & LeadingBit(mask)) != 0) continue;
        auto* high = llvm::find_if(elements, [&](const Element& e) { return e.sum == (low.sum ^ mask); });
        const ValueId x = low.value, y = high->value;
        low.value = builder_.Op(first_, type_, {x, y});
        high->value = builder_.Op(last_, type_, {x, y});
      }
    for (const Element& element : elements) builder_.Store(shared_, element.place, element.value);
  }

  Lowering& lowering_;
  KernelBuilder& builder_;
  const Instruction& root_;
  ElementType type_;
  OpKind first_, last_;  // of two elements
  int64_t rows_, length_;
  int64_t tile_ = 1, threads_ = 1, at_once_ = 1;
  std::vector<int64_t> masks_;  // by what places differ that meet, stage by stage
  BufferId shared_ = -1;
};

Status Lowering::LowerSort(const Instruction& root) {
  const Shape& shape = root.operand(0)->shape();
  if (shape.rank() != 2 || root.attr<SortAttrs>().dimensions[0] != 1 || shape.dim(1) < 2)
    return Decline(root.loc(), "%{0} has no rows to sort", root.name());
  if (shape.dim(1) > LongestSortedRow(root, target_))
    return Decline(root.loc(), "%{0} has rows that no block of threads sorts", root.name());
  if (const auto direction = NumberOrder(root)) return NumberNetwork(*this, root, *direction).Run();
  return SortNetwork(*this, root).Run();
}

}  // namespace hlo::kernel
