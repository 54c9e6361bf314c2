#include "backends/structured/bins.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Numbers of a part; so many parts at most.
constexpr int64_t kPart = 1 << 15, kMostParts = 16;
/// Tables of so few numbers are several, which take turns: no update waits for the one before.
constexpr int64_t kFewNumbers = 1 << 12;
constexpr int kTurns = 4;
/// Updates that are written side by side. What is out of bounds joins a row of its own for each, which nobody
/// reads: no branch that processors do not foresee, and again no waiting.
constexpr int kSideBySide = 8;
/// Updates per row of a table that is worth filling and adding up: of several tables, of one.
constexpr int64_t kWorthTurns = 16, kWorthTable = 4;

/// How numbers, or vectors of them, join. Neutral numbers leave what they join as it is.
struct Add {
  template <class N>
  static N Of(N a, N b) {
    return static_cast<N>(a + b);
  }
  template <class N>
  static constexpr N kNeutral = std::is_floating_point_v<N> ? N(-0.0) : N(0);
};
struct Multiply {
  template <class N>
  static N Of(N a, N b) {
    return static_cast<N>(a * b);
  }
  template <class N>
  static constexpr N kNeutral = N(1);
};
struct And {
  template <class N>
  static N Of(N a, N b) {
    return a & b;
  }
  template <class N>
  static constexpr N kNeutral = static_cast<N>(~N(0));
};
struct Or {
  template <class N>
  static N Of(N a, N b) {
    return a | b;
  }
  template <class N>
  static constexpr N kNeutral = N(0);
};
struct Xor {
  template <class N>
  static N Of(N a, N b) {
    return a ^ b;
  }
  template <class N>
  static constexpr N kNeutral = N(0);
};

/// NaN stays, and -0 comes before +0.
template <bool kLargest>
struct Extreme {
  template <class N>
  static N Of(N a, N b) {
    return kLargest ? (a > b ? a : b) : (a < b ? a : b);
  }
  /// Instructions for floats take the second one where both are zero or either is NaN.
  template <class V, class Bits>
  static void OfFloats(V& a, const V& b) {
    const Bits one = __builtin_bit_cast(Bits, kLargest ? (a > b ? a : b) : (a < b ? a : b)),
               other = __builtin_bit_cast(Bits, kLargest ? (b > a ? b : a) : (b < a ? b : a));
    const Bits unordered = (a != a) | (b != b);
    a = __builtin_bit_cast(V, (kLargest ? one & other : one | other) | unordered);
  }
  template <class N>
  static constexpr N kNeutral =
      std::is_floating_point_v<N> ? (kLargest ? -1 : 1) * std::numeric_limits<N>::infinity()
      : kLargest                  ? std::numeric_limits<N>::lowest()
                                  : std::numeric_limits<N>::max();
};
using Maximum = Extreme<true>;
using Minimum = Extreme<false>;
template <class Op>
inline constexpr bool kIsExtreme = std::is_same_v<Op, Maximum> || std::is_same_v<Op, Minimum>;

/// update joins to, both rows of kWidth numbers, in vectors that every instruction set has.
template <class Op, int kWidth, class N>
void JoinRow(N* to, const N* update) {
  constexpr int kLanes = 16 / sizeof(N), kStep = std::min(kLanes, kWidth);
  constexpr bool kFloats = kIsExtreme<Op> && std::is_floating_point_v<N>;
  if constexpr (kWidth == 1 && !kFloats) {
    *to = Op::Of(*to, *update);
  } else {
    using V = N __attribute__((ext_vector_type(kLanes)));
    using Bits =
        std::conditional_t<sizeof(N) == 4, int32_t, int64_t> __attribute__((ext_vector_type(kLanes)));
#pragma clang loop unroll(full)
    for (int c = 0; c < kWidth; c += kStep) {
      V a = N(0), b = N(0);
      std::memcpy(&a, to + c, kStep * sizeof(N));
      std::memcpy(&b, update + c, kStep * sizeof(N));
      if constexpr (kFloats)
        Op::template OfFloats<V, Bits>(a, b);
      else
        a = Op::Of(a, b);
      std::memcpy(to + c, &a, kStep * sizeof(N));
    }
  }
}

/// Indices of 64 bits are brought to 32 so many at a time; what does not fit is out of bounds as kMostBins
/// is.
constexpr int64_t kRowsAtOnce = 512;
static_assert(kMostBins + kSideBySide <= UINT32_MAX);
void NarrowRows(const uint64_t* indices, int64_t count, uint32_t* rows) {
  for (int64_t i = 0; i < count; ++i)
    rows[i] = indices[i] < kMostBins ? static_cast<uint32_t>(indices[i]) : static_cast<uint32_t>(kMostBins);
}

template <class N, class Op, int kWidth, bool kUniform>
class Joiner {
 public:
  Joiner(const BinUpdates& b, const void* indices, const void* updates, void* out)
      : b_(b),
        indices_(indices),
        updates_(static_cast<const N*>(updates)),
        out_(static_cast<N*>(out)),
        numbers_(b.bins * kWidth),
        table_(numbers_ + int64_t{kSideBySide} * kWidth) {
    const bool few = numbers_ <= kFewNumbers;
    turns_ = few ? kTurns : 1;
    parts_ = std::min(b.count * kWidth / kPart, b.count / (b.bins * (few ? kWorthTurns : kWorthTable)));
    parts_ = std::min(parts_, kMostParts);
  }

  void Run() {
    if (parts_ == 0 || (turns_ == 1 && parts_ == 1)) return JoinInPlace();
    const auto tables = MakeBuffer<N>(static_cast<size_t>(parts_ * turns_ * table_));
    ParallelFor(0, parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end && !Interrupted(); ++p)
        FillTables(p, tables.get() + p * turns_ * table_);
    });
    if (Interrupted()) return;
    ParallelFor(0, numbers_, kPart, [&](int64_t begin, int64_t end) {
      constexpr int kLanes = 16 / sizeof(N);
      for (int64_t t = 0; t < parts_ * turns_; ++t) {
        const N* table = tables.get() + t * table_;
        int64_t i = begin;
        for (; i + kLanes <= end; i += kLanes) JoinRow<Op, kLanes>(out_ + i, table + i);
        for (; i < end; ++i) JoinRow<Op, 1>(out_ + i, table + i);
      }
    });
  }

 private:
  /// body(rows, begin, count) for updates [begin, end), some at a time. Negative rows are out of bounds, too.
  template <class F>
  void EachPiece(int64_t begin, int64_t end, F&& body) const {
    constexpr int64_t kPiece = 1 << 20;
    const bool wide = b_.index_type == ElementType::S64;
    for (const int64_t step = wide ? kRowsAtOnce : kPiece; begin < end && !Interrupted(); begin += step) {
      const int64_t count = std::min(step, end - begin);
      uint32_t narrowed[kRowsAtOnce];
      if (wide) NarrowRows(static_cast<const uint64_t*>(indices_) + begin, count, narrowed);
      body(wide ? narrowed : static_cast<const uint32_t*>(indices_) + begin, begin, count);
    }
  }

  void JoinInPlace() const {
    EachPiece(0, b_.count, [this](const uint32_t* rows, int64_t begin, int64_t count) {
      const N* update = updates_ + (kUniform ? 0 : begin * kWidth);
      for (int64_t i = 0; i < count; ++i)
        if (rows[i] < b_.bins)
          JoinRow<Op, kWidth>(out_ + int64_t{rows[i]} * kWidth, update + (kUniform ? 0 : i * kWidth));
    });
  }

  void FillTables(int64_t part, N* tables) const {
    std::fill_n(tables, turns_ * table_, Op::template kNeutral<N>);
    // In registers: what is stored could be a member, as far as compilers know.
    N* table[kTurns];
    for (int t = 0; t < kTurns; ++t) table[t] = tables + t % turns_ * table_;
    EachPiece(b_.count * part / parts_, b_.count * (part + 1) / parts_,
              [table, bins = static_cast<uint32_t>(b_.bins), updates = updates_](
                  const uint32_t* rows, int64_t begin, int64_t count) {
                const N* update = updates + (kUniform ? 0 : begin * kWidth);
                const auto join = [=](int place, int64_t i) {
                  const uint32_t row = rows[i], spare = bins + static_cast<uint32_t>(place);
                  JoinRow<Op, kWidth>(table[place % kTurns] + int64_t{row < bins ? row : spare} * kWidth,
                                      update + (kUniform ? 0 : i * kWidth));
                };
                int64_t i = 0;
                for (; i + kSideBySide <= count; i += kSideBySide)
#pragma clang loop unroll(full)
                  for (int place = 0; place < kSideBySide; ++place) join(place, i + place);
                for (; i < count; ++i) join(0, i);
              });
  }

  const BinUpdates& b_;
  const void* indices_;
  const N* updates_;
  N* out_;
  int64_t numbers_, table_;  // of the array; of a table, with spare rows
  int64_t parts_;            // 0: tables are not worth it
  int turns_;                // tables of a part
};

using JoinFn = void(const BinUpdates& b, const void* indices, const void* updates, void* out);

template <class N, class Op, int kWidth>
void RunJoiner(const BinUpdates& b, const void* indices, const void* updates, void* out) {
  // Counts are sums of ones.
  if constexpr (kWidth == 1 && std::is_same_v<Op, Add>)
    if (b.uniform) return Joiner<N, Op, 1, true>(b, indices, updates, out).Run();
  Joiner<N, Op, kWidth, false>(b, indices, updates, out).Run();
}

constexpr int64_t kWidths[] = {1, 2, 4, 8};
template <class N, class Op>
JoinFn* ForWidth(int64_t width) {
  static constexpr JoinFn* kJoins[] = {&RunJoiner<N, Op, 1>, &RunJoiner<N, Op, 2>, &RunJoiner<N, Op, 4>,
                                       &RunJoiner<N, Op, 8>};
  for (size_t i = 0; i < std::size(kWidths); ++i)
    if (kWidths[i] == width) return kJoins[i];
  return nullptr;
}

/// For floats, signed and unsigned integers of one size.
template <class Float, class Signed, class Unsigned, class Op>
JoinFn* ForOrder(const BinUpdates& b) {
  return IsFloat(b.type)    ? ForWidth<Float, Op>(b.width)
         : IsSigned(b.type) ? ForWidth<Signed, Op>(b.width)
                            : ForWidth<Unsigned, Op>(b.width);
}
template <class Float, class Unsigned, class Op>
JoinFn* ForSum(const BinUpdates& b) {
  return IsFloat(b.type) ? ForWidth<Float, Op>(b.width) : ForWidth<Unsigned, Op>(b.width);
}

template <class Float, class Signed, class Unsigned>
JoinFn* Find(const BinUpdates& b) {
  switch (b.op) {
    case OpKind::Add: return ForSum<Float, Unsigned, Add>(b);
    case OpKind::Multiply: return ForSum<Float, Unsigned, Multiply>(b);
    case OpKind::Maximum: return ForOrder<Float, Signed, Unsigned, Maximum>(b);
    case OpKind::Minimum: return ForOrder<Float, Signed, Unsigned, Minimum>(b);
    case OpKind::And: return ForWidth<Unsigned, And>(b.width);
    case OpKind::Or: return ForWidth<Unsigned, Or>(b.width);
    default: return ForWidth<Unsigned, Xor>(b.width);
  }
}

}  // namespace

bool HasBinLoops(int64_t width) { return llvm::is_contained(kWidths, width); }

void JoinBins(const BinUpdates& b, const void* indices, const void* updates, void* out) {
  JoinFn* join =
      Info(b.type).host_bytes() == 4 ? Find<float, int32_t, uint32_t>(b) : Find<double, int64_t, uint64_t>(b);
  join(b, indices, updates, out);
}

}  // namespace hlo::structured
