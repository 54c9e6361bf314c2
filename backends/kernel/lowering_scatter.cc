// Scatters: windows of the results are changed, row by row.
#include <numeric>

#include "backends/kernel/atomic_updates.h"
#include "backends/kernel/lowering.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

int64_t Product(llvm::ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

int64_t CeilOfQuotient(int64_t n, int64_t by) { return (n + by - 1) / by; }

int64_t FloorOfPower(int64_t n) {
  return static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

}  // namespace

/// Blocks of threads, each of which has windows to itself. It goes through all rows, a chunk at a time: its
/// threads look at the indices of neighbouring rows each and write down, in order, which are the block's;
/// then threads that share a window go through what is written down and change its elements, each one its
/// own, several rows at once: what they read is read before any is written, and those that meet on an element
/// take it from each other. So every element sees its updates in the order of rows, whoever computes it.
/// Where windows overlap, every element of an update is a row of its own.
class Lowering::ScatterByTeams {
 public:
  static bool IsWorthIt(const ScatterWindow& window, const Dims& rows) {
    const int64_t count = Product(rows) * (window.apart ? 1 : Product(window.sizes));
    return (!window.apart || count >= kFewest) && count <= INT32_MAX;
  }

  ScatterByTeams(Lowering& lowering, const Instruction& root, llvm::ArrayRef<int64_t> numbers,
                 const ScatterWindow& window, const Dims& rows)
      : lowering_(lowering),
        builder_(lowering.builder_),
        root_(root),
        numbers_(numbers),
        window_(window),
        rank_(rows.size()),
        dims_(rows) {
    if (!window.apart) dims_.append(window.sizes.begin(), window.sizes.end());
    rows_ = Product(dims_);
    const Target::Blocks& blocks = lowering.target_.blocks;
    lanes_ = blocks.lanes;
    threads_ = std::min(kThreads, blocks.most_threads);
    elements_ = window.apart ? Product(window.sizes) : 1;
    const auto whole = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(elements_)));
    side_ = std::min(whole, threads_);
    pieces_ = CeilOfQuotient(elements_, side_);
    const Shape& operand = root.operand(0)->shape();
    const int64_t windows = operand.ElementCount() / (window.apart ? Product(window.of_operand) : 1);
    parts_ =
        FloorOfPower(std::min({blocks.full / (2 * threads_ * pieces_), windows, rows_ / kFewestOfBlock}));
    each_ = std::min(kMostOfThread, FloorOfPower(rows_ / threads_));
    totals_ = MakeShared(threads_ / lanes_);
    list_ = MakeShared(threads_ * each_);
  }

  Status Run() {
    // There are few parts, and as many pieces as windows are long.
    return Loop(pieces_, Binding::BlockX, [&](const Address& piece) -> Status {
      if (parts_ == 1) return Block({}, piece);
      return Loop(parts_, Binding::BlockY, [&](const Address& part) { return Block(part, piece); });
    });
  }

 private:
  static constexpr ElementType kNumber = ElementType::S32;  // of rows
  static constexpr int64_t kThreads = 256;                  // of a block
  static constexpr int64_t kFewest = 64;        // rows: fewer of them are gone through by every thread
  static constexpr int64_t kFewestOfBlock = 8;  // rows of a block, about
  static constexpr int64_t kMostOfThread = 16;  // rows of a chunk that a thread looks at
  static constexpr int64_t kAtOnce = 8;         // rows that are read before any is written

  Status Loop(int64_t extent, Binding binding, llvm::function_ref<Status(const Address&)> body) {
    return lowering_.InLoop({.id = -1, .extent = extent, .binding = binding}, body);
  }
  BufferId MakeShared(int64_t count) {
    auto& buffers = lowering_.lowered_.kernel.buffers;
    buffers.push_back({kNumber, count, true, Space::Shared});
    return static_cast<BufferId>(buffers.size()) - 1;
  }
  ValueId Op(OpKind kind, ValueId x, ValueId y) {
    return builder_.Op(kind, lowering_.lowered_.kernel.TypeOf(x), {x, y});
  }
  ValueId Wide(ValueId x) { return builder_.Op(OpKind::Convert, ElementType::S64, {x}); }
  ValueId Narrow(ValueId x) { return builder_.Op(OpKind::Convert, kNumber, {x}); }
  /// The last bits of a number.
  ValueId Modulo(ValueId x, int64_t power) { return Op(OpKind::And, x, builder_.Integer(power - 1)); }
  ValueId Divided(ValueId x, int64_t power) {
    const int64_t bits = llvm::Log2_64(static_cast<uint64_t>(power));
    return bits == 0 ? x : Op(OpKind::ShiftRightLogical, x, builder_.Integer(bits));
  }

  Status Block(const Address& part, const Address& piece) {
    return Loop(threads_ / lanes_, Binding::ThreadX, [&](const Address& team) {
      return Loop(lanes_, Binding::Lane, [&](const Address& lane) {
        Address thread = lane;
        thread.Add(team, lanes_);
        part_ = part, lane_ = lane, team_ = team, thread_ = thread;
        FindElement(piece);
        const int64_t chunk = threads_ * each_;
        return lowering_.InLoop({.id = -1, .extent = CeilOfQuotient(rows_, chunk), .ordered = true},
                                [&](const Address& number) -> Status {
                                  HLO_TRY(const ValueId found, Collect(number));
                                  HLO_CHECK_OK(Update(found));
                                  builder_.Append(BarrierStmt{});
                                  return {};
                                });
      });
    });
  }

  /// Which element of windows is the thread's, and which of the block's windows.
  void FindElement(const Address& piece) {
    const ValueId thread = builder_.Index(thread_);
    group_ = Divided(thread, side_);
    Address element;
    element.AddValue(Modulo(thread, side_), 1);
    element.Add(piece, side_);
    if (window_.apart && elements_ > 1)
      offsets_ = lowering_.Delinearize(OfValue(builder_.Index(element)), window_.sizes);
    if (window_.apart && elements_ == 1) offsets_.resize(window_.sizes.size());
    if (pieces_ * side_ != elements_)
      exists_ = builder_.Compare(Direction::LT, builder_.Index(element), builder_.Integer(elements_));
  }

  /// A row, and where in its window: what is known of that from the row's number.
  struct Row {
    Indices row, offsets;
  };
  Row RowAt(const Address& number) {
    const Indices all =
        dims_.size() == 1 ? Indices{number} : lowering_.Delinearize(OfValue(builder_.Index(number)), dims_);
    return {Indices(all.begin(), all.begin() + rank_), Indices(all.begin() + rank_, all.end())};
  }
  static Address OfValue(ValueId value) {
    Address address;
    address.AddValue(value, 1);
    return address;
  }
  /// Different ones are different windows, or elements.
  ValueId NumberOf(const ScatterStart& start, const Row& row) {
    const Shape& operand = root_.operand(0)->shape();
    if (window_.apart) return builder_.Index(NumberOfWindow(window_, start, operand));
    Indices to = start.at;
    for (size_t w = 0; w < row.offsets.size(); ++w) to[window_.operand_dims[w]].Add(row.offsets[w]);
    return builder_.Index(Linearize(to, operand.dims()));
  }
  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(numbers_.size()); }

  /// Writes down which rows of a chunk are the block's; how many.
  Result<ValueId> Collect(const Address& chunk) {
    struct Found {
      ValueId number, mine, before;
    };
    llvm::SmallVector<Found, 16> rows;
    ValueId found = builder_.Constant(kNumber, 0);
    for (int64_t i = 0; i < each_; ++i) {
      Address number;
      number.offset = i;
      number.Add(thread_, each_);
      number.Add(chunk, threads_ * each_);
      ValueId mine = -1;
      if (rows_ % (threads_ * each_) != 0) {
        mine = builder_.Compare(Direction::LT, builder_.Index(number), builder_.Integer(rows_));
        number = OfValue(Op(OpKind::Minimum, builder_.Index(number), builder_.Integer(rows_ - 1)));
      }
      const Row row = RowAt(number);
      HLO_TRY(const ScatterStart start, lowering_.EmitScatterStart(root_, count(), window_, row.row));
      mine = builder_.And(mine, start.inside);
      if (parts_ > 1)
        mine = builder_.And(mine, builder_.Compare(Direction::EQ, Modulo(NumberOf(start, row), parts_),
                                                   builder_.Index(part_)));
      if (mine < 0) mine = builder_.Constant(ElementType::Pred, 1);
      rows.push_back({Narrow(builder_.Index(number)), mine, found});
      found = Op(OpKind::Add, found, Narrow(mine));
    }
    ValueId total = -1;
    const ValueId before = PlacesBefore(found, total);
    for (const Found& row : rows)
      builder_.Store(list_, OfValue(Wide(Op(OpKind::Add, before, row.before))), row.number, row.mine);
    builder_.Append(BarrierStmt{});
    return Wide(total);
  }

  /// How many threads before this one have found, and all have.
  ValueId PlacesBefore(ValueId found, ValueId& total) {
    const ValueId zero = builder_.Constant(kNumber, 0), lane = builder_.Index(lane_),
                  team = builder_.Index(team_);
    ValueId upto = found;
    for (int64_t by = 1; by < lanes_; by *= 2) {
      const ValueId other = builder_.NewValue(kNumber);
      builder_.Append(ShuffleStmt{other, ShuffleMode::Up, upto, Constant(by)});
      const ValueId there = builder_.Compare(Direction::GE, lane, builder_.Integer(by));
      upto = Op(OpKind::Add, upto, builder_.Op(OpKind::Select, kNumber, {there, other, zero}));
    }
    builder_.Store(totals_, team_, upto, builder_.Compare(Direction::EQ, lane, builder_.Integer(lanes_ - 1)));
    builder_.Append(BarrierStmt{});
    ValueId before = Op(OpKind::Subtract, upto, found);
    total = zero;
    for (int64_t t = 0; t < threads_ / lanes_; ++t) {
      const ValueId of_team = lowering_.LoadHere(totals_, Constant(t));
      const ValueId earlier = builder_.Compare(Direction::LT, builder_.Integer(t), team);
      before = Op(OpKind::Add, before, builder_.Op(OpKind::Select, kNumber, {earlier, of_team, zero}));
      total = Op(OpKind::Add, total, of_team);
    }
    return before;
  }
  static Address Constant(int64_t number) {
    Address address;
    address.offset = number;
    return address;
  }

  /// Goes through what is written down.
  Status Update(ValueId found) {
    const ValueId rounds = Divided(Op(OpKind::Add, found, builder_.Integer(kAtOnce - 1)), kAtOnce);
    Dimension loop{.id = -1, .extent = CeilOfQuotient(threads_ * each_, kAtOnce), .ordered = true};
    loop.before = rounds;
    return lowering_.InLoop(loop, [&](const Address& round) -> Status {
      struct One {
        ValueId number, mine;
        ScatterUpdate update;
      };
      llvm::SmallVector<One, 8> all;
      for (int64_t i = 0; i < kAtOnce; ++i) {
        Address place = Constant(i);
        place.Add(round, kAtOnce);
        ValueId mine = builder_.Compare(Direction::LT, builder_.Index(place), found);
        const Row row = RowAt(OfValue(Wide(lowering_.LoadHere(list_, place, mine))));
        HLO_TRY(ScatterStart start, lowering_.EmitScatterStart(root_, count(), window_, row.row));
        const ValueId number = NumberOf(start, row);
        if (threads_ > side_)
          mine = builder_.And(
              mine,
              builder_.Compare(Direction::EQ, Modulo(Divided(number, parts_), threads_ / side_), group_));
        mine = builder_.And(mine, exists_);
        start.inside = start.reads = mine;
        HLO_TRY(ScatterUpdate update, lowering_.EmitScatterUpdate(root_, numbers_, window_, start, row.row,
                                                                  window_.apart ? offsets_ : row.offsets));
        all.push_back({number, mine, std::move(update)});
      }
      llvm::SmallVector<Values, 8> combined;
      for (One& one : all) {
        for (size_t j = 0; j < combined.size(); ++j) {
          const ValueId same =
              builder_.And(all[j].mine, builder_.Compare(Direction::EQ, all[j].number, one.number));
          for (size_t k = 0; k < one.update.current.size(); ++k) {
            ValueId& current = one.update.current[k];
            current = builder_.Op(OpKind::Select, lowering_.lowered_.kernel.TypeOf(current),
                                  {same, combined[j][k], current});
          }
        }
        HLO_TRY(Values values, lowering_.EmitScatterElement(root_, numbers_, one.update, one.mine));
        combined.push_back(std::move(values));
      }
      return {};
    });
  }

  Lowering& lowering_;
  KernelBuilder& builder_;
  const Instruction& root_;
  llvm::ArrayRef<int64_t> numbers_;
  const ScatterWindow& window_;
  size_t rank_;  // dimensions of rows
  Dims dims_;    // of rows, and where windows overlap of these
  int64_t rows_ = 0, elements_ = 1, lanes_ = 0, threads_ = 0;
  int64_t side_ = 1;    // threads that share a window, …
  int64_t pieces_ = 1;  // … and blocks
  int64_t parts_ = 1;   // of the windows
  int64_t each_ = 1;    // rows of a chunk for a thread
  BufferId totals_ = -1, list_ = -1;
  Address part_, team_, lane_, thread_;
  ValueId group_ = -1, exists_ = -1;
  Indices offsets_;
};

Status Lowering::LowerScatter(const Instruction& root, llvm::ArrayRef<int64_t> numbers) {
  const size_t count = numbers.size();
  const Computation& combiner = *root.callee();
  for (size_t k = 0; k < count; ++k) {
    const auto i = static_cast<int64_t>(k);
    const Instruction &target = *root.operand(i),
                      &updates = *root.operand(static_cast<int64_t>(count) + 1 + i);
    const ElementType type = target.shape().element_type();
    if (target.kind() != OpKind::Parameter || target.users().size() != 1)
      return Decline(root.loc(), "%{0} does not change parameters in place", root.name());
    if (combiner.parameter(i)->shape().element_type() != type ||
        combiner.parameter(i + static_cast<int64_t>(count))->shape().element_type() !=
            updates.shape().element_type())
      return Decline(root.loc(), "%{0} converts its operands", root.name());
    if (updates.shape().ElementCount() == 0) return Decline(root.loc(), "%{0} has no updates", root.name());
    lowered_.in_place.emplace_back(numbers[k], target.attr<ParameterAttrs>().number);
  }
  // One row after the other, as an element may lie in the windows of several.
  const auto& attrs = root.attr<ScatterAttrs>();
  const Shape& indices = root.operand(static_cast<int64_t>(count))->shape();
  Dims rows;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != attrs.index_vector_dim) rows.push_back(indices.dim(d));
  const ScatterWindow window = WindowOf(root, static_cast<int64_t>(count));
  const auto element = [&](const ScatterStart& start, const Indices& row, const Indices& offsets) -> Status {
    HLO_TRY(const ScatterUpdate update, EmitScatterUpdate(root, numbers, window, start, row, offsets));
    HLO_CHECK_OK(EmitScatterElement(root, numbers, update, start.inside));
    return {};
  };
  const bool ordered = !attrs.unique_indices && Product(rows) > 1;
  const bool for_threads = target_.blocks.threads > 0 && ordered && !(count == 1 && AtomicCombiner(combiner));
  if (for_threads && fused_.root() == &root && IsByElements(root, window, rows))
    return LowerScatterByElements(root, numbers, window, rows);
  if (for_threads && fused_.root() == &root && ScatterByTeams::IsWorthIt(window, rows))
    return ScatterByTeams(*this, root, numbers, window, rows).Run();
  if (for_threads && window.apart)
    return LowerScatterApart(root, static_cast<int64_t>(count), window, rows, element);
  return InLoops(
      rows,
      [&](const Indices& row) -> Status {
        HLO_TRY(const ScatterStart start, EmitScatterStart(root, static_cast<int64_t>(count), window, row));
        return InLoops(window.sizes, [&](const Indices& offsets) { return element(start, row, offsets); });
      },
      ordered);
}

Status Lowering::LowerOneScatter(const Instruction& root, int64_t number) {
  return LowerScatter(root, number);
}

Lowering::ScatterWindow Lowering::WindowOf(const Instruction& root, int64_t count) {
  const auto& attrs = root.attr<ScatterAttrs>();
  const Shape &operand = root.operand(0)->shape(), &updates = root.operand(count + 1)->shape();
  ScatterWindow window;
  window.of_operand.assign(static_cast<size_t>(operand.rank()), 1);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (llvm::is_contained(attrs.inserted_window_dims, d) || llvm::is_contained(attrs.input_batching_dims, d))
      continue;
    const int64_t size = updates.dim(attrs.update_window_dims[window.sizes.size()]);
    window.sizes.push_back(size);
    window.of_operand[static_cast<size_t>(d)] = size;
    window.operand_dims.push_back(static_cast<size_t>(d));
  }
  window.apart = llvm::all_of(attrs.scatter_dims_to_operand_dims,
                              [&](int64_t d) { return window.of_operand[static_cast<size_t>(d)] == 1; });
  return window;
}

Address Lowering::NumberOfWindow(const ScatterWindow& window, const ScatterStart& start,
                                 const Shape& operand) {
  Address number;
  int64_t factor = 1;
  for (size_t d = start.at.size(); d-- > 0;) {
    if (start.at[d].IsConstant()) continue;
    number.Add(start.at[d], factor);
    factor *= operand.dims()[d] / window.of_operand[d];
  }
  return number;
}

Status Lowering::LowerScatterApart(
    const Instruction& root, int64_t count, const ScatterWindow& window, const Dims& rows,
    llvm::function_ref<Status(const ScatterStart&, const Indices&, const Indices&)> element) {
  const Shape& operand = root.operand(0)->shape();
  // Enough threads to be worth it, each of which goes through all rows.
  constexpr int64_t kFewer = 8;
  const int64_t parts =
      FloorOfPower(std::min(Product(rows), std::max<int64_t>(target_.blocks.full / kFewer, 1) /
                                               std::max<int64_t>(Product(window.sizes), 1)));
  return InLoops({parts}, [&](const Indices& part) -> Status {
    return InLoops(window.sizes, [&](const Indices& offsets) -> Status {
      return InLoops(
          rows,
          [&](const Indices& row) -> Status {
            HLO_TRY(ScatterStart start, EmitScatterStart(root, count, window, row));
            if (parts > 1) {
              const ValueId number = builder_.Index(NumberOfWindow(window, start, operand));
              const ValueId mine =
                  builder_.Op(OpKind::And, ElementType::S64, {number, builder_.Integer(parts - 1)});
              start.inside =
                  builder_.And(start.inside, builder_.Compare(Direction::EQ, mine, builder_.Index(part[0])));
            }
            start.reads = start.inside;
            return element(start, row, offsets);
          },
          /*ordered=*/true);
    });
  });
}

Result<Lowering::ScatterStart> Lowering::EmitScatterStart(const Instruction& root, int64_t count,
                                                          const ScatterWindow& window, const Indices& row) {
  const auto& attrs = root.attr<ScatterAttrs>();
  const Shape& operand = root.operand(0)->shape();
  ScatterStart start;
  start.at.resize(static_cast<size_t>(operand.rank()));
  for (size_t i = 0; i < attrs.input_batching_dims.size(); ++i) {
    const int64_t d = attrs.scatter_indices_batching_dims[i];
    start.at[static_cast<size_t>(attrs.input_batching_dims[i])].Add(
        row[static_cast<size_t>(d > attrs.index_vector_dim ? d - 1 : d)]);
  }
  for (size_t i = 0; i < attrs.scatter_dims_to_operand_dims.size(); ++i) {
    const auto d = static_cast<size_t>(attrs.scatter_dims_to_operand_dims[i]);
    HLO_TRY(const ValueId index,
            IndexComponent(*root.operand(count), row, attrs.index_vector_dim, static_cast<int64_t>(i), -1));
    start.at[d].AddValue(index, 1);
    const int64_t limit = std::max<int64_t>(operand.dims()[d] - window.of_operand[d], 0);
    start.inside = builder_.And(start.inside, builder_.Compare(Direction::GE, index, builder_.Integer(0)));
    start.inside =
        builder_.And(start.inside, builder_.Compare(Direction::LE, index, builder_.Integer(limit)));
  }
  return start;
}

Result<Lowering::ScatterUpdate> Lowering::EmitScatterUpdate(const Instruction& root,
                                                            llvm::ArrayRef<int64_t> numbers,
                                                            const ScatterWindow& window,
                                                            const ScatterStart& start, const Indices& row,
                                                            const Indices& offsets) {
  const auto& attrs = root.attr<ScatterAttrs>();
  const auto count = static_cast<int64_t>(numbers.size());
  const Shape &operand = root.operand(0)->shape(), &updates = root.operand(count + 1)->shape();
  ScatterUpdate update{.to = start.at, .current = {}, .arriving = {}};
  Indices from(static_cast<size_t>(updates.rank()));
  for (size_t w = 0; w < offsets.size(); ++w) {
    update.to[window.operand_dims[w]].Add(offsets[w]);
    from[static_cast<size_t>(attrs.update_window_dims[w])] = offsets[w];
  }
  for (size_t d = 0, next = 0; d < from.size(); ++d)
    if (!llvm::is_contained(attrs.update_window_dims, static_cast<int64_t>(d))) from[d] = row[next++];
  const auto first = static_cast<int64_t>(fused_.parameters().size());
  for (int64_t k = 0; k < count; ++k) {
    HLO_TRY(const ValueId arriving, EmitOne(*root.operand(count + 1 + k), from, start.reads));
    update.arriving.push_back(arriving);
    // Read here and now: rows before may have changed it, wherever its address is known.
    update.current.push_back(LoadHere(static_cast<BufferId>(first + numbers[static_cast<size_t>(k)]),
                                      Linearize(update.to, operand.dims()), start.inside));
  }
  return update;
}

Result<Lowering::Values> Lowering::EmitScatterElement(const Instruction& root,
                                                      llvm::ArrayRef<int64_t> numbers,
                                                      const ScatterUpdate& update, ValueId inside) {
  Values both = update.current;
  both.append(update.arriving.begin(), update.arriving.end());
  HLO_TRY(Values combined, InlineScalars(*root.callee(), both));
  for (size_t k = 0; k < numbers.size(); ++k)
    StoreOutput(numbers[k], root.operand(0)->shape(), update.to, combined[k], inside);
  return combined;
}

}  // namespace hlo::kernel
