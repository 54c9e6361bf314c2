// sort (ops-structured §5.1) by one key: radix sort of ordered numbers.
#include <array>
#include <cstring>

#include "backends/structured/plan.h"
#include "ir/eval/sort_keys.h"
#include "ir/numeric/float_format.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Shorter rows are sorted by comparisons.
constexpr int64_t kShort = 128;
/// Longer ones are worth larger digits.
constexpr int64_t kLong = 2048;

/// Rows of so many elements are shared by threads, if there are no more of them.
constexpr int64_t kShared = 1 << 16;

/// The bits of elements as unsigned numbers in the order of the sort.
struct Order {
  int bits = 32;
  bool is_float = false, is_signed = false;
  bool partial = false;  // NaNs are equal and last, zeros are equal
  bool descending = false;
  uint64_t infinity = 0;  // of floats with a partial order

  template <class N>
  [[nodiscard]] N mask() const {
    return static_cast<N>(~N{0} >> (8 * static_cast<int>(sizeof(N)) - bits));
  }
  template <class N>
  [[nodiscard]] N sign() const {
    return static_cast<N>(N{1} << (bits - 1));
  }
  template <class N>
  [[nodiscard]] N Number(N x) const {
    const N top = sign<N>();
    if (partial) {
      if ((x & ~top) > static_cast<N>(infinity)) return mask<N>();
      if (x == top) x = 0;
    }
    N number = is_signed ? x ^ top : x;
    if (is_float) number = (x & top) != 0 ? ~x & mask<N>() : x | top;
    return descending ? number ^ mask<N>() : number;
  }
  /// The element whose number it is, unless some have the same.
  template <class N>
  [[nodiscard]] N Element(N number) const {
    const N top = sign<N>();
    if (descending) number ^= mask<N>();
    if (is_float) return (number & top) != 0 ? number ^ top : ~number & mask<N>();
    return is_signed ? number ^ top : number;
  }
};

/// A number of 64 bits and where it stands.
struct WideEntry {
  uint64_t number, index;
  bool operator<(const WideEntry& o) const {
    return number != o.number ? number < o.number : index < o.index;
  }
};
uint32_t NumberOf(uint32_t e) { return e; }
uint64_t NumberOf(uint64_t e) { return e; }
uint64_t NumberOf(const WideEntry& e) { return e.number; }

struct Sort {
  int64_t rows, size, inner;
  SortKey key;
  Order order;
  llvm::SmallVector<int64_t> widths;  // bytes of elements
  bool alone;                         // numbers are all there is to sort
  bool with_word;                     // each goes with an element of 32 bits
  [[nodiscard]] size_t operands() const { return widths.size(); }
};

/// Calls body(begin, end) for pieces of n elements, one after the other or on all threads.
void InPieces(int64_t n, int64_t piece, bool shared, llvm::function_ref<void(int64_t, int64_t)> body) {
  if (shared) return ParallelFor(0, n, piece, body);
  for (int64_t begin = 0; begin < n; begin += piece) body(begin, std::min(n, begin + piece));
}

/// Sorts by `Passes` digits from bit `Shift` on, stably; returns where the result is.
template <class E, int Shift, int DigitBits, int Passes>
E* SortDigitsAlone(E* from, E* to, int64_t n) {
  constexpr uint32_t kDigits = 1U << DigitBits;
  std::array<std::array<uint32_t, kDigits>, Passes> counts{};
  const auto digit = [](const E& e, int pass) {
    return static_cast<uint32_t>(NumberOf(e) >> (Shift + pass * DigitBits)) % kDigits;
  };
  for (int64_t i = 0; i < n; ++i) {
    const E e = from[i];
#pragma clang loop unroll(full)
    for (int pass = 0; pass < Passes; ++pass) ++counts[static_cast<size_t>(pass)][digit(e, pass)];
  }
  for (int pass = 0; pass < Passes; ++pass) {
    auto& count = counts[static_cast<size_t>(pass)];
    if (count[digit(from[0], pass)] == n) continue;
    uint32_t start = 0;
    for (uint32_t& c : count) start += std::exchange(c, start);
    for (int64_t i = 0; i < n; ++i) {
      const E e = from[i];
      to[count[digit(e, pass)]++] = e;
    }
    std::swap(from, to);
  }
  return from;
}

/// The same, by all threads if `shared`.
template <class E, int Shift, int DigitBits, int Passes>
E* SortDigits(E* from, E* to, int64_t n, bool shared) {
  if (!shared) return SortDigitsAlone<E, Shift, DigitBits, Passes>(from, to, n);
  constexpr uint32_t kDigits = 1U << DigitBits;
  using Counts = std::array<uint32_t, kDigits>;
  const auto digit = [](const E& e, int pass) {
    return static_cast<uint32_t>(NumberOf(e) >> (Shift + pass * DigitBits)) % kDigits;
  };
  // Each piece has places of its own among the elements with a digit.
  const int64_t pieces = ThreadCount(), piece = (n + pieces - 1) / pieces;
  std::vector<std::array<Counts, Passes>> counts(static_cast<size_t>(pieces));
  std::vector<Counts> places(static_cast<size_t>(pieces));
  const auto count_pass = [&](int pass) {
    InPieces(n, piece, /*shared=*/true, [&](int64_t begin, int64_t end) {
      auto& mine = counts[static_cast<size_t>(begin / piece)][static_cast<size_t>(pass)];
      const E* source = from;
      for (int64_t i = begin; i < end; ++i) ++mine[digit(source[i], pass)];
    });
  };
  for (int pass = 0; pass < Passes; ++pass) {
    // What is in a piece changes with every pass.
    count_pass(pass);
    uint32_t start = 0;
    bool sorted = false;
    for (uint32_t d = 0; d < kDigits; ++d) {
      const uint32_t before = start;
      for (size_t p = 0; p < places.size(); ++p) {
        places[p][d] = start;
        start += counts[p][static_cast<size_t>(pass)][d];
      }
      sorted |= start - before == n;
    }
    if (sorted) continue;
    InPieces(n, piece, /*shared=*/true, [&](int64_t begin, int64_t end) {
      Counts& place = places[static_cast<size_t>(begin / piece)];
      const E* source = from;
      E* target = to;
      for (int64_t i = begin; i < end; ++i) {
        const E e = source[i];
        target[place[digit(e, pass)]++] = e;
      }
    });
    std::swap(from, to);
  }
  return from;
}

/// By the `bits` bits from Shift on, above which there are none.
template <class E, int Shift>
E* RadixSort(E* from, E* to, int64_t n, int bits, bool shared) {
  if (bits == 8) return SortDigits<E, Shift, 8, 1>(from, to, n, shared);
  if (bits == 16) return SortDigits<E, Shift, 8, 2>(from, to, n, shared);
  if constexpr (sizeof(E) > 4 && Shift == 0) return SortDigits<E, 0, 11, 6>(from, to, n, shared);
  return n < kLong ? SortDigits<E, Shift, 8, 4>(from, to, n, shared)
                   : SortDigits<E, Shift, 11, 3>(from, to, n, shared);
}

/// Calls f with a zero of the unsigned type of so many bytes.
template <class F>
void VisitWidth(int64_t width, F f) {
  switch (width) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(std::array<uint64_t, 2>{});
  }
}

/// to[i * to_step] = from[i * from_step].
void CopyStrided(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, int64_t n,
                 int64_t width) {
  VisitWidth(width, [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i)
      reinterpret_cast<T*>(to)[i * to_step] = reinterpret_cast<const T*>(from)[i * from_step];
  });
}

/// Sorts rows one after the other; owns the scratch memory of one thread.
class RowSorter {
 public:
  RowSorter(const Sort& s, bool shared) : s_(s), n_(static_cast<size_t>(s.size)), shared_(shared) {
    const bool wide = s.order.bits == 64;
    entry_bytes_ = s.alone ? static_cast<size_t>(wide ? 8 : 4) : static_cast<size_t>(wide ? 16 : 8);
    entries_ = MakeBuffer<uint8_t>(2 * n_ * entry_bytes_);
    for (const int64_t width : s.widths) {
      const size_t bytes = s.inner == 1 ? 0 : n_ * static_cast<size_t>(width);
      in_.push_back(MakeBuffer<uint8_t>(bytes));
      out_.push_back(MakeBuffer<uint8_t>(bytes));
    }
    if (s.key.function) {
      keys_ = MakeBuffer<uint8_t>(n_ * static_cast<size_t>(Info(s.key.type).host_bytes()));
      runner_.emplace(*s.key.function);
    }
  }

  /// Row r of the operands to row r of the results.
  void Run(int64_t r, void* const* arrays) {
    const int64_t start = r / s_.inner * s_.size * s_.inner + r % s_.inner;
    llvm::SmallVector<const uint8_t*> in;
    llvm::SmallVector<uint8_t*> out;
    for (size_t k = 0; k < s_.operands(); ++k) {
      const auto* from = static_cast<const uint8_t*>(arrays[k]) + start * s_.widths[k];
      auto* to = static_cast<uint8_t*>(arrays[s_.operands() + k]) + start * s_.widths[k];
      if (s_.inner != 1) CopyStrided(from, s_.inner, in_[k].get(), 1, s_.size, s_.widths[k]);
      in.push_back(s_.inner == 1 ? from : in_[k].get());
      out.push_back(s_.inner == 1 ? to : out_[k].get());
    }
    SortRow(in, out);
    if (s_.inner == 1) return;
    for (size_t k = 0; k < s_.operands(); ++k)
      CopyStrided(out_[k].get(), 1, static_cast<uint8_t*>(arrays[s_.operands() + k]) + start * s_.widths[k],
                  s_.inner, s_.size, s_.widths[k]);
  }

 private:
  template <class E>
  E* Entries() {
    return reinterpret_cast<E*>(entries_.get());
  }
  /// f(i, number) for all elements of the key; numbers are of type N.
  template <class N, class F>
  void ForEachNumber(llvm::ArrayRef<const uint8_t*> in, F f) {
    const uint8_t* keys = keys_.get();
    if (runner_)
      runner_->Run(llvm::SmallVector<const void*>(in.begin(), in.end()), {keys_.get()}, s_.size);
    else
      keys = in[static_cast<size_t>(s_.key.operand)];
    const Order order = s_.order;
    VisitWidth(order.bits / 8, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(N))
        ForAll([=](size_t i) { f(i, order.Number(static_cast<N>(reinterpret_cast<const T*>(keys)[i]))); });
    });
  }
  template <class F>
  void ForAll(F f) {
    InPieces(s_.size, shared_ ? kShared / 2 : s_.size, shared_, [&f](int64_t begin, int64_t end) {
      const F mine = f;  // no store can change a part of it
      for (int64_t i = begin; i < end; ++i) mine(static_cast<size_t>(i));
    });
  }

  void SortRow(llvm::ArrayRef<const uint8_t*> in, llvm::ArrayRef<uint8_t*> out) {
    if (s_.order.bits == 64) return s_.alone ? SortNumbers<uint64_t>(in, out) : SortWide(in, out);
    if (s_.alone) return SortNumbers<uint32_t>(in, out);
    auto* entries = Entries<uint64_t>();
    if (s_.with_word && s_.size >= kShort) {
      const auto* words = reinterpret_cast<const uint32_t*>(in[1]);
      ForEachNumber<uint32_t>(
          in, [=](size_t i, uint32_t number) { entries[i] = uint64_t{number} << 32 | words[i]; });
      entries = RadixSort<uint64_t, 32>(entries, entries + n_, s_.size, s_.order.bits, shared_);
      const Order order = s_.order;
      auto *numbers = reinterpret_cast<uint32_t*>(out[0]), *others = reinterpret_cast<uint32_t*>(out[1]);
      ForAll([=](size_t i) {
        numbers[i] = order.Element(static_cast<uint32_t>(entries[i] >> 32));
        others[i] = static_cast<uint32_t>(entries[i]);
      });
      return;
    }
    ForEachNumber<uint32_t>(in, [=](size_t i, uint32_t number) { entries[i] = uint64_t{number} << 32 | i; });
    if (s_.size < kShort)
      std::sort(entries, entries + n_);
    else
      entries = RadixSort<uint64_t, 32>(entries, entries + n_, s_.size, s_.order.bits, shared_);
    Permute(in, out, [=](size_t i) { return static_cast<uint32_t>(entries[i]); });
  }

  void SortWide(llvm::ArrayRef<const uint8_t*> in, llvm::ArrayRef<uint8_t*> out) {
    auto* entries = Entries<WideEntry>();
    ForEachNumber<uint64_t>(in, [=](size_t i, uint64_t number) { entries[i] = {number, i}; });
    if (s_.size < kLong)
      std::sort(entries, entries + n_);
    else
      entries = RadixSort<WideEntry, 0>(entries, entries + n_, s_.size, 64, shared_);
    Permute(in, out, [=](size_t i) { return entries[i].index; });
  }

  /// Element i of the results is element source(i) of the operands.
  template <class F>
  void Permute(llvm::ArrayRef<const uint8_t*> in, llvm::ArrayRef<uint8_t*> out, F source) {
    for (size_t k = 0; k < s_.operands(); ++k)
      VisitWidth(s_.widths[k], [&]<class T>(T) {
        const auto* from = reinterpret_cast<const T*>(in[k]);
        auto* to = reinterpret_cast<T*>(out[k]);
        ForAll([=](size_t i) { to[i] = from[source(i)]; });
      });
  }

  template <class N>
  void SortNumbers(llvm::ArrayRef<const uint8_t*> in, llvm::ArrayRef<uint8_t*> out) {
    auto* numbers = Entries<N>();
    ForEachNumber<N>(in, [=](size_t i, N number) { numbers[i] = number; });
    if (s_.size < (sizeof(N) == 8 ? kLong : kShort))
      std::sort(numbers, numbers + n_);
    else
      numbers = RadixSort<N, 0>(numbers, numbers + n_, s_.size, s_.order.bits, shared_);
    const Order order = s_.order;
    VisitWidth(s_.widths[0], [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>) {
        auto* to = reinterpret_cast<T*>(out[0]);
        ForAll([=](size_t i) { to[i] = static_cast<T>(order.Element(numbers[i])); });
      }
    });
  }

  const Sort& s_;
  size_t n_;
  bool shared_;  // a row is sorted by all threads
  size_t entry_bytes_ = 0;
  Buffer<uint8_t> entries_;                         // or numbers alone, twice
  llvm::SmallVector<Buffer<uint8_t>, 2> in_, out_;  // of rows that do not lie in one piece
  Buffer<uint8_t> keys_;
  std::optional<ScalarRunner> runner_;
};

std::optional<Order> OrderOf(const SortKey& key) {
  const TypeInfo& info = Info(key.type);
  Order order;
  order.bits = 8 * info.host_bytes();
  order.descending = key.descending;
  order.is_signed = info.type_class == TypeClass::Signed;
  order.is_float = info.type_class == TypeClass::Float;
  if (info.type_class == TypeClass::Complex) return std::nullopt;
  if (!order.is_float) return order;
  if (info.bits != order.bits || info.special != FloatSpecial::Ieee) return std::nullopt;
  order.partial = !key.total_order;
  order.infinity = Format(key.type).exponent_mask();
  return order;
}

}  // namespace

Result<Plan> PlanSort(const Instruction& inst, gemm::Isa) {
  std::vector<SortKey> keys = FindSortKeys(*inst.callee());
  if (keys.size() != 1) return Unsupported(inst, "a comparator that is not by one key");
  const auto order = OrderOf(keys[0]);
  if (!order) return Unsupported(inst, "a key of a rare format");
  Sort s{};
  s.key = std::move(keys[0]);
  s.order = *order;
  const Shape& shape = inst.operand(0)->shape();
  const auto dim = static_cast<size_t>(inst.attr<SortAttrs>().dimensions[0]);
  s.size = shape.dims()[dim];
  s.inner = 1;
  for (const int64_t d : shape.dims().drop_front(dim + 1)) s.inner *= d;
  if (shape.ElementCount() == 0 || s.size > INT32_MAX) return Unsupported(inst, "sizes of rows");
  s.rows = shape.ElementCount() / s.size;
  for (int64_t k = 0; k < inst.operand_count(); ++k) {
    const ElementType type = inst.operand(k)->shape().element_type();
    if (inst.callee()->parameter(2 * k)->shape().element_type() != type)
      return Unsupported(inst, "a comparator of other types");
    s.widths.push_back(Info(type).host_bytes());
  }
  const bool invertible = !s.key.function && !s.order.partial;
  s.alone = invertible && s.operands() == 1;
  s.with_word = invertible && s.operands() == 2 && s.key.operand == 0 && s.widths[0] == 4 && s.widths[1] == 4;
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 12) / s.size);
  const auto sort = std::make_shared<const Sort>(std::move(s));
  return Plan{"radix sort of " + std::to_string(order->bits) + " bits", [sort, grain](void* const* arrays) {
                if (sort->rows < ThreadCount() && sort->size >= kShared) {
                  RowSorter sorter(*sort, /*shared=*/true);
                  for (int64_t r = 0; r < sort->rows && !Interrupted(); ++r) sorter.Run(r, arrays);
                  return;
                }
                ParallelFor(0, sort->rows, grain, [&](int64_t begin, int64_t end) {
                  RowSorter sorter(*sort, /*shared=*/false);
                  for (int64_t r = begin; r < end && !Interrupted(); ++r) sorter.Run(r, arrays);
                });
              }};
}

}  // namespace hlo::structured
