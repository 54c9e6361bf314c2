// sort (ops-structured §5.1) by one key of at most 32 bits: radix sort of ordered numbers.
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

/// The bits of elements as unsigned numbers in the order of the sort.
struct Order {
  int bits = 32;
  bool is_float = false, is_signed = false;
  bool partial = false;  // NaNs are equal and last, zeros are equal
  bool descending = false;
  uint32_t infinity = 0;  // of floats with a partial order

  [[nodiscard]] uint32_t mask() const { return bits == 32 ? ~0U : (1U << bits) - 1; }
  [[nodiscard]] uint32_t sign() const { return 1U << (bits - 1); }
  [[nodiscard]] uint32_t Number(uint32_t x) const {
    if (partial) {
      if ((x & ~sign()) > infinity) return mask();
      if (x == sign()) x = 0;
    }
    uint32_t number = is_signed ? x ^ sign() : x;
    if (is_float) number = (x & sign()) != 0 ? ~x & mask() : x | sign();
    return descending ? number ^ mask() : number;
  }
  /// The element whose number it is, unless some have the same.
  [[nodiscard]] uint32_t Element(uint32_t number) const {
    if (descending) number ^= mask();
    if (is_float) return (number & sign()) != 0 ? number ^ sign() : ~number & mask();
    return is_signed ? number ^ sign() : number;
  }
};

struct Sort {
  int64_t rows, size, inner;
  SortKey key;
  Order order;
  llvm::SmallVector<int64_t> widths;  // bytes of elements
  bool alone;                         // numbers are all there is to sort
  bool with_word;                     // each goes with an element of 32 bits
  [[nodiscard]] size_t operands() const { return widths.size(); }
};

/// Sorts by `Passes` digits from bit `Shift` on, stably; returns where the result is.
template <class E, int Shift, int DigitBits, int Passes>
E* SortDigits(E* from, E* to, int64_t n) {
  constexpr uint32_t kDigits = 1U << DigitBits;
  std::array<std::array<uint32_t, kDigits>, Passes> counts{};
  const auto digit = [](E e, int pass) {
    return static_cast<uint32_t>(e >> (Shift + pass * DigitBits)) % kDigits;
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

/// By the `bits` bits from Shift on, above which there are none.
template <class E, int Shift>
E* RadixSort(E* from, E* to, int64_t n, int bits) {
  if (bits == 8) return SortDigits<E, Shift, 8, 1>(from, to, n);
  if (bits == 16) return SortDigits<E, Shift, 8, 2>(from, to, n);
  return n < kLong ? SortDigits<E, Shift, 8, 4>(from, to, n) : SortDigits<E, Shift, 11, 3>(from, to, n);
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
  explicit RowSorter(const Sort& s) : s_(s), n_(static_cast<size_t>(s.size)) {
    if (s.alone)
      numbers_ = MakeBuffer<uint32_t>(2 * n_);
    else
      entries_ = MakeBuffer<uint64_t>(2 * n_);
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
  /// f(i, number) for all elements of the key.
  template <class F>
  void ForEachNumber(llvm::ArrayRef<const uint8_t*> in, F f) {
    const uint8_t* keys = keys_.get();
    if (runner_)
      runner_->Run(llvm::SmallVector<const void*>(in.begin(), in.end()), {keys_.get()}, s_.size);
    else
      keys = in[static_cast<size_t>(s_.key.operand)];
    const Order order = s_.order;
    VisitWidth(order.bits / 8, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>)
        for (size_t i = 0; i < n_; ++i)
          f(i, order.Number(static_cast<uint32_t>(reinterpret_cast<const T*>(keys)[i])));
    });
  }

  void SortRow(llvm::ArrayRef<const uint8_t*> in, llvm::ArrayRef<uint8_t*> out) {
    if (s_.alone) return SortNumbers(in, out);
    uint64_t* entries = entries_.get();
    if (s_.with_word && s_.size >= kShort) {
      const auto* words = reinterpret_cast<const uint32_t*>(in[1]);
      ForEachNumber(in, [&](size_t i, uint32_t number) { entries[i] = uint64_t{number} << 32 | words[i]; });
      entries = RadixSort<uint64_t, 32>(entries, entries + n_, s_.size, s_.order.bits);
      const Order order = s_.order;
      for (size_t i = 0; i < n_; ++i) {
        reinterpret_cast<uint32_t*>(out[0])[i] = order.Element(static_cast<uint32_t>(entries[i] >> 32));
        reinterpret_cast<uint32_t*>(out[1])[i] = static_cast<uint32_t>(entries[i]);
      }
      return;
    }
    ForEachNumber(in, [&](size_t i, uint32_t number) { entries[i] = uint64_t{number} << 32 | i; });
    if (s_.size < kShort)
      std::sort(entries, entries + n_);
    else
      entries = RadixSort<uint64_t, 32>(entries, entries + n_, s_.size, s_.order.bits);
    for (size_t k = 0; k < s_.operands(); ++k)
      VisitWidth(s_.widths[k], [&]<class T>(T) {
        for (size_t i = 0; i < n_; ++i)
          reinterpret_cast<T*>(out[k])[i] =
              reinterpret_cast<const T*>(in[k])[static_cast<uint32_t>(entries[i])];
      });
  }

  void SortNumbers(llvm::ArrayRef<const uint8_t*> in, llvm::ArrayRef<uint8_t*> out) {
    uint32_t* numbers = numbers_.get();
    ForEachNumber(in, [&](size_t i, uint32_t number) { numbers[i] = number; });
    if (s_.size < kShort)
      std::sort(numbers, numbers + n_);
    else
      numbers = RadixSort<uint32_t, 0>(numbers, numbers + n_, s_.size, s_.order.bits);
    const Order order = s_.order;
    VisitWidth(s_.widths[0], [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>)
        for (size_t i = 0; i < n_; ++i)
          reinterpret_cast<T*>(out[0])[i] = static_cast<T>(order.Element(numbers[i]));
    });
  }

  const Sort& s_;
  size_t n_;
  Buffer<uint32_t> numbers_;
  Buffer<uint64_t> entries_;
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
  if (order.bits > 32 || info.type_class == TypeClass::Complex) return std::nullopt;
  if (!order.is_float) return order;
  if (info.bits != order.bits || info.special != FloatSpecial::Ieee) return std::nullopt;
  order.partial = !key.total_order;
  order.infinity = static_cast<uint32_t>(Format(key.type).exponent_mask());
  return order;
}

}  // namespace

Result<Plan> PlanSort(const Instruction& inst, gemm::Isa) {
  std::vector<SortKey> keys = FindSortKeys(*inst.callee());
  if (keys.size() != 1) return Unsupported(inst, "a comparator that is not by one key");
  const auto order = OrderOf(keys[0]);
  if (!order) return Unsupported(inst, "a key of more than 32 bits, or of a rare format");
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
                ParallelFor(0, sort->rows, grain, [&](int64_t begin, int64_t end) {
                  RowSorter sorter(*sort);
                  for (int64_t r = begin; r < end && !Interrupted(); ++r) sorter.Run(r, arrays);
                });
              }};
}

}  // namespace hlo::structured
