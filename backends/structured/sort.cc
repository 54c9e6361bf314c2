// sort (ops-structured §5.1) by one key: as unsigned numbers, with positions if need be.
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "backends/structured/plan.h"
#include "backends/structured/radix_sort.h"
#include "backends/structured/vector_sort.h"
#include "ir/eval/sort_keys.h"
#include "ir/numeric/float_format.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Shorter rows are sorted by comparisons.
constexpr int64_t kShort = 128;
/// Numbers of so many elements are made at a time.
constexpr int64_t kBlock = 512;

/// Rows of so many elements are shared by threads, if there are no more of them.
constexpr int64_t kShared = 1 << 16;

/// So that elements of neighbouring rows are not in the same set of a cache.
constexpr int64_t kApart = 64;

struct Sort {
  int64_t rows, size, inner;
  int64_t together;  // rows whose elements are neighbours, sorted by one thread one after the other
  SortKey key;
  NumberOrder order;
  int64_t key_bytes;
  const KernelSet* kernels;
  const NumberKernel* numbers;
  llvm::SmallVector<int64_t> widths;  // bytes of elements
  bool alone;                         // numbers are all there is to sort
  bool invertible;                    // numbers tell the elements of an operand
  llvm::SmallVector<bool> positions;  // operands whose elements tell where they stand in their row
  [[nodiscard]] size_t operands() const { return widths.size(); }
  [[nodiscard]] int64_t groups_of_columns() const { return (inner + together - 1) / together; }
  [[nodiscard]] int64_t groups() const { return rows / inner * groups_of_columns(); }
};

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

/// to[i * to_step + c * to_column] = from[i * from_step + c * from_column] for i < n and c < columns.
struct Lines {
  int64_t n, columns;
};
void CopyLines(const Lines& lines, const uint8_t* from, int64_t from_step, int64_t from_column, uint8_t* to,
               int64_t to_step, int64_t to_column, int64_t width) {
  VisitWidth(width, [&]<class T>(T) {
    for (int64_t i = 0; i < lines.n; ++i)
      for (int64_t c = 0; c < lines.columns; ++c)
        reinterpret_cast<T*>(to)[i * to_step + c * to_column] =
            reinterpret_cast<const T*>(from)[i * from_step + c * from_column];
  });
}

/// Sorts rows one after the other; owns the scratch memory of one thread.
class RowSorter {
 public:
  RowSorter(const Sort& s, bool shared) : s_(s), n_(static_cast<size_t>(s.size)), shared_(shared) {
    const bool wide = s.key_bytes == 8;
    entries_ = MakeBuffer<uint8_t>(2 * n_ * (s.alone ? wide ? 8 : 4 : wide ? sizeof(WideEntry) : 8));
    for (const int64_t width : s.widths) {
      const auto bytes = static_cast<size_t>(s.inner == 1 ? 0 : s.together * (s.size + kApart) * width);
      in_.push_back(MakeBuffer<uint8_t>(bytes));
      out_.push_back(MakeBuffer<uint8_t>(bytes));
    }
    if (s.key.function) {
      keys_ = MakeBuffer<uint8_t>(n_ * static_cast<size_t>(Info(s.key.type).host_bytes()));
      runner_.emplace(*s.key.function);
    }
  }

  /// Group g of rows of the operands to that of the results.
  void Run(int64_t g, void* const* arrays) {
    if (s_.inner == 1)
      return SortRow(Places<const uint8_t>(arrays, g * s_.size),
                     Places<uint8_t>(arrays + s_.operands(), g * s_.size));
    const int64_t groups = s_.groups_of_columns(), column = g % groups * s_.together;
    const int64_t start = g / groups * s_.size * s_.inner + column, stride = s_.size + kApart;
    const Lines lines{s_.size, std::min(s_.together, s_.inner - column)};
    const auto from = Places<const uint8_t>(arrays, start);
    const auto to = Places<uint8_t>(arrays + s_.operands(), start);
    for (size_t k = 0; k < s_.operands(); ++k)
      CopyLines(lines, from[k], s_.inner, 1, in_[k].get(), 1, stride, s_.widths[k]);
    for (int64_t c = 0; c < lines.columns; ++c) {
      llvm::SmallVector<const uint8_t*> in;
      llvm::SmallVector<uint8_t*> out;
      for (size_t k = 0; k < s_.operands(); ++k) {
        in.push_back(in_[k].get() + c * stride * s_.widths[k]);
        out.push_back(out_[k].get() + c * stride * s_.widths[k]);
      }
      SortRow(in, out);
    }
    for (size_t k = 0; k < s_.operands(); ++k)
      CopyLines(lines, out_[k].get(), 1, stride, to[k], s_.inner, 1, s_.widths[k]);
  }

 private:
  /// Element `at` of all operands, or results.
  template <class B>
  llvm::SmallVector<B*> Places(void* const* arrays, int64_t at) const {
    llvm::SmallVector<B*> places;
    for (size_t k = 0; k < s_.operands(); ++k)
      places.push_back(static_cast<B*>(arrays[k]) + at * s_.widths[k]);
    return places;
  }
  template <class E>
  E* Entries() {
    return reinterpret_cast<E*>(entries_.get());
  }
  /// The elements of the key.
  const uint8_t* Keys(llvm::ArrayRef<const uint8_t*> in) {
    if (!runner_) return in[static_cast<size_t>(s_.key.operand)];
    runner_->Run(llvm::SmallVector<const void*>(in.begin(), in.end()), {keys_.get()}, s_.size);
    return keys_.get();
  }
  /// f(begin, end) for pieces of a row.
  template <class F>
  void InRow(F f) {
    InPieces(s_.size, shared_ ? kShared / 2 : s_.size, shared_, f);
  }
  /// f(i, number) for elements of the key from begin to end; numbers are of type N.
  template <class N, class F>
  void ForEachNumber(const uint8_t* keys, int64_t begin, int64_t end, F f) const {
    std::array<N, kBlock> numbers;
    for (int64_t block = begin; block < end; block += kBlock) {
      const int64_t count = std::min(kBlock, end - block);
      s_.numbers->numbers(s_.order, keys + block * s_.key_bytes, count, numbers.data());
      for (int64_t i = 0; i < count; ++i) f(static_cast<size_t>(block + i), numbers[static_cast<size_t>(i)]);
    }
  }

  /// Sorts what make(begin, end) writes to `from`, piece by piece, by the bits from Shift on, of which there
  /// are 8 * key_bytes; what is below grows along the row. Calls done(entries, begin, end) for pieces of the
  /// result, and returns where it is.
  template <class E, int Shift, class Make, class Done>
  E* SortEntries(E* from, Make make, Done done) {
    E *to = from + n_, *sorted = from;
    const SortKernel<E>* kernel = nullptr;
    if constexpr (!std::is_same_v<E, WideEntry>) kernel = &s_.kernels->sort<E>();
    if (shared_ && kernel && kernel->sort) {
      SortShared(*kernel, from, s_.size, to, make, [&](int64_t begin, int64_t end) { done(to, begin, end); });
      return to;
    }
    InRow(make);
    if (kernel && kernel->sort)
      kernel->sort(from, s_.size, to);
    else if (s_.size < (sizeof(E) > 4 && Shift == 0 ? kLongForRadix : kShort))
      std::sort(from, to);
    else
      sorted = RadixSort<E, Shift>(from, to, s_.size, static_cast<int>(8 * s_.key_bytes), shared_);
    InRow([&](int64_t begin, int64_t end) { done(sorted, begin, end); });
    return sorted;
  }

  using In = llvm::ArrayRef<const uint8_t*>;
  using Out = llvm::ArrayRef<uint8_t*>;
  void SortRow(In in, Out out) {
    const uint8_t* keys = Keys(in);
    if (s_.alone)
      return s_.key_bytes == 8 ? SortNumbers<uint64_t>(in[0], out[0]) : SortNumbers<uint32_t>(in[0], out[0]);
    if (s_.key_bytes == 8)
      return s_.kernels->sort_u64.sort ? SortHalves(keys, in, out) : SortWide(keys, in, out);
    if (s_.key_bytes <= 2 && s_.size <= 1 << 16) return SortPairs<uint32_t, 16>(keys, in, out);
    SortPairs<uint64_t, 32>(keys, in, out);
  }
  void SortWide(const uint8_t* keys, In in, Out out) {
    auto* entries = Entries<WideEntry>();
    const auto make = [=, this](int64_t begin, int64_t end) {
      ForEachNumber<uint64_t>(keys, begin, end, [=](size_t i, uint64_t number) { entries[i] = {number, i}; });
    };
    SortEntries<WideEntry, 0>(entries, make, [&](const WideEntry* sorted, int64_t begin, int64_t end) {
      const auto number = [=](size_t i) { return sorted[i].number; };
      Put(in, out, begin, end, number, [=](size_t i) { return sorted[i].index; });
    });
  }
  /// With numbers above `Shift` bits for positions.
  template <class E, int Shift>
  void SortPairs(const uint8_t* keys, In in, Out out) {
    E* entries = Entries<E>();
    const auto make = [=, this](int64_t begin, int64_t end) {
      ForEachNumber<uint32_t>(keys, begin, end, [=](size_t i, uint32_t number) {
        entries[i] = E{number} << Shift | static_cast<E>(i);
      });
    };
    SortEntries<E, Shift>(entries, make, [&](const E* sorted, int64_t begin, int64_t end) {
      const auto number = [=](size_t i) { return static_cast<uint32_t>(sorted[i] >> Shift); };
      Put(in, out, begin, end, number, [=](size_t i) { return sorted[i] & ((E{1} << Shift) - 1); });
    });
  }

  /// Numbers of 64 bits: by their upper half, then runs of equal ones by the lower half.
  void SortHalves(const uint8_t* keys, In in, Out out) {
    uint64_t *numbers = Entries<uint64_t>(), *room = numbers + n_;
    const auto make = [=, this](int64_t begin, int64_t end) {
      ForEachNumber<uint64_t>(keys, begin, end, [=](size_t i, uint64_t number) {
        numbers[i] = number;
        room[i] = number >> 32 << 32 | i;
      });
    };
    uint64_t* entries = SortEntries<uint64_t, 32>(room, make, [](const uint64_t*, int64_t, int64_t) {});
    uint64_t* scratch = entries == room ? room + n_ : room;
    // Pieces end where runs do.
    const int64_t piece = shared_ ? kShared / 2 : s_.size;
    std::vector<int64_t> ends = {0};
    while (ends.back() < s_.size) {
      int64_t end = std::min(s_.size, ends.back() + piece);
      while (end < s_.size && entries[end] >> 32 == entries[end - 1] >> 32) ++end;
      ends.push_back(end);
    }
    ParallelFor(0, static_cast<int64_t>(ends.size()) - 1, 1, [&](int64_t first, int64_t last) {
      const int64_t begin = ends[static_cast<size_t>(first)], end = ends[static_cast<size_t>(last)];
      SortRuns(numbers, entries, scratch, begin, end);
      const auto source = [=](size_t i) { return entries[i] & 0xffffffff; };
      Put(in, out, begin, end, [=](size_t i) { return numbers[source(i)]; }, source);
    });
  }
  /// Entries from begin to end: those with the same upper half are sorted by the lower half.
  void SortRuns(const uint64_t* numbers, uint64_t* entries, uint64_t* scratch, int64_t begin,
                int64_t end) const {
    for (int64_t run = begin; run < end;) {
      const uint64_t upper = entries[run] >> 32;
      int64_t next = run + 1;
      while (next < end && entries[next] >> 32 == upper) ++next;
      if (next - run > 1) {
        for (int64_t i = run; i < next; ++i) {
          const uint64_t position = entries[i] & 0xffffffff;
          entries[i] = numbers[position] << 32 | position;
        }
        s_.kernels->sort_u64.sort(entries + run, next - run, scratch + run);
      }
      run = next;
    }
  }

  /// Element i of the results, from begin to end, is element source(i) of the operands, whose key has
  /// number(i).
  template <class Number, class F>
  void Put(In in, Out out, int64_t begin, int64_t end, Number number, F source) const {
    const auto first = static_cast<size_t>(begin), last = static_cast<size_t>(end);
    for (size_t k = 0; k < s_.operands(); ++k) {
      if (s_.invertible && static_cast<int>(k) == s_.key.operand) {
        PutElements(number, begin, end, out[k]);
        continue;
      }
      VisitWidth(s_.widths[k], [&]<class T>(T) {
        const auto* from = reinterpret_cast<const T*>(in[k]);
        auto* to = reinterpret_cast<T*>(out[k]);
        const F mine = source;  // no store can change a part of it
        if constexpr (std::is_integral_v<T>)
          if (s_.positions[k]) {
            for (size_t i = first; i < last; ++i) to[i] = static_cast<T>(mine(i));
            return;
          }
        for (size_t i = first; i < last; ++i) to[i] = from[mine(i)];
      });
    }
  }
  template <class Number>
  void PutElements(Number number, int64_t begin, int64_t end, uint8_t* out) const {
    std::array<decltype(number(0)), kBlock> numbers;
    for (int64_t block = begin; block < end; block += kBlock) {
      const int64_t count = std::min(kBlock, end - block);
      for (int64_t i = 0; i < count; ++i)
        numbers[static_cast<size_t>(i)] = number(static_cast<size_t>(block + i));
      s_.numbers->elements(s_.order, numbers.data(), count, out + block * s_.key_bytes);
    }
  }

  /// A row whose numbers tell the elements, but for what order.merged makes equal.
  template <class N>
  void SortNumbers(const uint8_t* in, uint8_t* out) {
    N* numbers = Entries<N>();
    std::atomic<bool> differ = false;
    const auto make = [&, numbers](int64_t begin, int64_t end) {
      if (s_.numbers->numbers(s_.order, in + begin * s_.key_bytes, end - begin, numbers + begin))
        differ = true;
    };
    numbers = SortEntries<N, 0>(numbers, make, [&](const N* sorted, int64_t begin, int64_t end) {
      s_.numbers->elements(s_.order, sorted + begin, end - begin, out + begin * s_.key_bytes);
    });
    if (!differ) return;
    VisitWidth(s_.key_bytes, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>)
        PutMerged(numbers, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out));
    });
  }
  /// Writes the elements with the number of NaN or zero once more, in the order of the row.
  template <class N, class T>
  void PutMerged(const N* numbers, const T* in, T* out) {
    const auto first = [&](uint64_t number) {
      return out + (std::lower_bound(numbers, numbers + n_, static_cast<N>(number)) - numbers);
    };
    T *nan = first(s_.order.nan), *zero = first(s_.order.flip);
    const auto others = static_cast<T>(~s_.order.top), infinity = static_cast<T>(s_.order.infinity),
               least = static_cast<T>(s_.order.least);
    for (size_t i = 0; i < n_; ++i) {
      const auto magnitude = static_cast<T>(in[i] & others);
      if (magnitude > infinity)
        *nan++ = in[i];
      else if (magnitude < least)
        *zero++ = in[i];
    }
  }

  const Sort& s_;
  size_t n_;
  bool shared_;                                     // a row is sorted by all threads
  Buffer<uint8_t> entries_;                         // or numbers alone, twice
  llvm::SmallVector<Buffer<uint8_t>, 2> in_, out_;  // of rows that do not lie in one piece
  Buffer<uint8_t> keys_;
  std::optional<ScalarRunner> runner_;
};

/// Nothing for formats whose codes are not ordered as those of IEEE are.
std::optional<NumberOrder> OrderOf(const SortKey& key) {
  const TypeInfo& info = Info(key.type);
  const bool is_float = info.type_class == TypeClass::Float;
  if (info.type_class == TypeClass::Complex) return std::nullopt;
  const int bits = 8 * info.host_bytes();
  if (is_float && (info.bits != bits || info.special != FloatSpecial::Ieee)) return std::nullopt;
  const uint64_t all = ~uint64_t{0} >> (64 - bits), top = all / 2 + 1;
  NumberOrder order{};
  order.top = top;
  order.inverted = is_float ? all / 2 : 0;
  order.flip = (is_float || info.type_class == TypeClass::Signed ? top : 0) ^ (key.descending ? all : 0);
  if (!is_float) return order;
  order.merged = !key.total_order || key.merged;
  const FloatFormat format = Format(key.type);
  order.infinity = format.exponent_mask();
  order.least = LeastAboveZero(key);
  order.nan = key.merged ? format.nan_code(false) ^ order.flip : all;
  return order;
}

}  // namespace

Result<Plan> PlanSort(const Instruction& inst, gemm::Isa isa) {
  std::vector<SortKey> keys = FindSortKeys(*inst.callee());
  if (keys.size() != 1) return Unsupported(inst, "a comparator that is not by one key");
  const auto order = OrderOf(keys[0]);
  if (!order) return Unsupported(inst, "a key of a rare format");
  Sort s{};
  s.key = std::move(keys[0]);
  s.order = *order;
  s.key_bytes = Info(s.key.type).host_bytes();
  s.kernels = &KernelsFor(isa);
  s.numbers = &s.kernels->numbers[std::countr_zero(static_cast<uint64_t>(s.key_bytes))];
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
    const Instruction* operand = inst.operand(k);
    s.positions.push_back(operand->kind() == OpKind::Iota && IsIntegral(type) &&
                          s.widths[static_cast<size_t>(k)] >= 4 &&
                          operand->attr<IotaAttrs>().iota_dimension == static_cast<int64_t>(dim));
  }
  s.alone = !s.key.function && s.operands() == 1;
  s.invertible = !s.key.function && !s.order.merged;
  // Neighbouring columns share lines of memory, as long as the caches hold them and all threads have some.
  constexpr int64_t kMostTogether = 16, kTogetherPoints = 1 << 17, kWorthThread = 1 << 12;
  s.together = s.inner == 1 ? 1
                            : std::clamp(std::min(kTogetherPoints / s.size, s.rows / ThreadCount()),
                                         int64_t{1}, std::min(kMostTogether, s.inner));
  const int64_t grain = std::max<int64_t>(1, kWorthThread / (s.size * s.together));
  const auto sort = std::make_shared<const Sort>(std::move(s));
  const std::string how = sort->kernels->sort_u32.sort ? "vector" : "radix";
  return Plan{how + " sort of " + std::to_string(8 * sort->key_bytes) + " bits",
              [sort, grain](void* const* arrays) {
                if (sort->rows < ThreadCount() && sort->size >= kShared) {
                  RowSorter sorter(*sort, /*shared=*/true);
                  for (int64_t r = 0; r < sort->groups() && !Interrupted(); ++r) sorter.Run(r, arrays);
                  return;
                }
                ParallelFor(0, sort->groups(), grain, [&](int64_t begin, int64_t end) {
                  RowSorter sorter(*sort, /*shared=*/false);
                  for (int64_t g = begin; g < end && !Interrupted(); ++g) sorter.Run(g, arrays);
                });
              }};
}

}  // namespace hlo::structured
