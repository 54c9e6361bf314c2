#include "tools/testing/accuracy.h"

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "backends/cpu/compiled_function.h"
#include "ir/numeric/narrow_float.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "tools/testing/accuracy_functions.h"

namespace hlo::testing {
namespace {

using cpu::CompiledFunction;
using cpu::HostMachine;
using cpu::Machine;

constexpr int64_t kBatch = CompiledFunction::kBatch;

/// What is known of one function and type.
struct Finding {
  uint64_t seen = 0, wrong = 0, other_bits = 0;
  double ulps = 0;
  std::array<double, 2> at{};  // the operands of the largest error
  double got = 0;
  std::array<double, 2> wrong_at{}, other_at{};
  double wrong_got = 0;

  void See(double error, std::array<double, 2> operands, double result) {
    if (error >= kWrong) {
      if (wrong++ == 0) wrong_at = operands, wrong_got = result;
    } else if (error > ulps) {
      ulps = error, at = operands, got = result;
    }
  }
  void Join(const Finding& other) {
    if (other.ulps > ulps) ulps = other.ulps, at = other.at, got = other.got;
    if (wrong == 0) wrong_at = other.wrong_at, wrong_got = other.wrong_got;
    if (other_bits == 0) other_at = other.other_at;
    seen += other.seen, wrong += other.wrong, other_bits += other.other_bits;
  }
};

/// Calls `block(i, finding)` for all i < count on several threads.
Finding InBlocks(unsigned threads, uint64_t count, llvm::function_ref<void(uint64_t, Finding&)> block) {
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  Finding all;
  auto work = [&] {
    Finding mine;
    for (uint64_t i = next++; i < count; i = next++) block(i, mine);
    const std::lock_guard lock(mutex);
    all.Join(mine);
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  return all;
}

/// One function in code for this machine and, where that runs here, for Haswell.
struct Functions {
  Functions(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType type, bool both) {
    native = std::make_unique<CompiledFunction>(kind, operands, type);
    if (both && *native && cpu::HasFeatures(HostMachine(), "+avx2,+fma"))
      haswell = std::make_unique<CompiledFunction>(kind, operands, type, Attrs{}, Machine{"haswell", ""});
  }
  std::unique_ptr<CompiledFunction> native, haswell;
};

/// Counts results whose bits differ; any NaN is any NaN.
template <class T>
void CompareBits(llvm::ArrayRef<T> native, llvm::ArrayRef<T> haswell, Finding& finding,
                 llvm::function_ref<std::array<double, 2>(size_t)> operands) {
  if (std::memcmp(native.data(), haswell.data(), native.size() * sizeof(T)) == 0) return;
  using Code = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  for (size_t i = 0; i < native.size(); ++i)
    if (std::bit_cast<Code>(native[i]) != std::bit_cast<Code>(haswell[i]) &&
        !(std::isnan(native[i]) && std::isnan(haswell[i])))
      if (finding.other_bits++ == 0) finding.other_at = operands(i);
}

/// Ulps() of f32 for the most part of all values, fast.
double FastUlps(float got, double want) {
  const auto bits = std::bit_cast<uint64_t>(want) & 0x7ff0000000000000;
  const bool ordinary = bits >= uint64_t{1023 - 126} << 52 && bits < uint64_t{1023 + 127} << 52;
  if (!ordinary || !std::isfinite(got)) return Ulps<float, double>(got, want);
  const auto scale = std::bit_cast<double>((uint64_t{2046 + 23} << 52) - bits);  // 2^(23 - exponent)
  return std::fabs(got - want) * scale;
}
double UlpsOf(float got, double want) { return FastUlps(got, want); }
double UlpsOf(double got, long double want) { return Ulps<double, long double>(got, want); }

template <class T>
std::vector<T> Specials() {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {0,
                      L::denorm_min(),
                      L::min() / 2,
                      L::min(),
                      L::epsilon(),
                      L::epsilon() / 2,
                      T(.25),
                      T(0.5),
                      1,
                      T(1.5),
                      2,
                      3,
                      4,
                      5,
                      T(1e6),
                      16777215,
                      16777216,
                      T(1e20),
                      L::max(),
                      L::infinity(),
                      L::quiet_NaN()};
  for (const T x : {T(0.5), T(1), T(2)})
    v.insert(v.end(), {std::nextafter(x, T(0)), std::nextafter(x, T(9))});
  // Where rounding in steps moves atanh, acos and acosh of f64 by more than two units.
  for (const double x : {0x1.6283dfa7e4f9ep-3, 0x1.d3524c0bdc9f4p-1, 0x1.00790ae6573dp+0})
    v.push_back(static_cast<T>(x));
  for (size_t i = v.size(); i-- > 0;) v.push_back(-v[i]);
  return v;
}

/// Results for the operands that `fill` writes, against `want`.
template <class T, size_t kOperands, class Want>
void CheckBatch(const Functions& f, std::array<std::vector<T>, kOperands>& x, const Want& want,
                Finding& finding) {
  const auto count = static_cast<int64_t>(x[0].size());
  std::vector<T> out(x[0].size()), other(f.haswell ? x[0].size() : 0);
  auto run = [&](const CompiledFunction& function, std::vector<T>& results) {
    if constexpr (kOperands == 1)
      function.Run({x[0].data(), results.data()}, count);
    else
      function.Run({x[0].data(), x[1].data(), results.data()}, count);
  };
  auto operands = [&](size_t i) -> std::array<double, 2> {
    return {static_cast<double>(x[0][i]), kOperands == 1 ? 0 : static_cast<double>(x[kOperands - 1][i])};
  };
  run(*f.native, out);
  if (f.haswell) {
    run(*f.haswell, other);
    CompareBits<T>(out, other, finding, operands);
  }
  finding.seen += x[0].size();
  for (size_t i = 0; i < out.size(); ++i) {
    const double error = UlpsOf(out[i], want(i));
    if (error > finding.ulps) finding.See(error, operands(i), static_cast<double>(out[i]));
  }
}

Finding CheckF32(const Functions& f, const UnaryReference& row, const AccuracyOptions& options) {
  const uint64_t values = (uint64_t{1} << 32) / options.stride;
  auto check = [&](std::array<std::vector<float>, 1>& x, Finding& finding) {
    CheckBatch(f, x, [&](size_t i) { return row.in_double(x[0][i]); }, finding);
  };
  Finding all =
      InBlocks(options.threads, (values + kBatch - 1) / kBatch, [&](uint64_t block, Finding& finding) {
        std::array<std::vector<float>, 1> x;
        for (uint64_t i = block * kBatch; i < std::min<uint64_t>((block + 1) * kBatch, values); ++i)
          x[0].push_back(std::bit_cast<float>(static_cast<uint32_t>(i * options.stride)));
        check(x, finding);
      });
  std::array<std::vector<float>, 1> special = {Specials<float>()};
  check(special, all);
  return all;
}

/// Any number, and in turn one of moderate size or near a multiple of pi/2.
double Draw64(uint64_t bits) {
  const double any = std::bit_cast<double>(bits);
  if (bits % 4 == 0) return any;
  const double mantissa = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
  const double moderate = std::ldexp(std::copysign(mantissa, any), static_cast<int>(bits >> 2 & 31) - 20);
  if (bits % 4 != 1) return moderate;
  return static_cast<double>(bits >> 7 & 1023) * 0x1.921fb54442d18p+0 * (1 + std::ldexp(moderate, -30));
}

Finding CheckF64(const Functions& f, const UnaryReference& row, const AccuracyOptions& options) {
  auto check = [&](std::array<std::vector<double>, 1>& x, Finding& finding) {
    CheckBatch(f, x, [&](size_t i) { return row.in_long_double(x[0][i]); }, finding);
  };
  const uint64_t blocks = std::max<uint64_t>(1, options.samples * (1 << 20) / kBatch);
  Finding all = InBlocks(options.threads, blocks, [&](uint64_t block, Finding& finding) {
    std::mt19937_64 random(block);
    std::array<std::vector<double>, 1> x;
    while (static_cast<int64_t>(x[0].size()) < kBatch) x[0].push_back(Draw64(random()));
    check(x, finding);
  });
  std::array<std::vector<double>, 1> special = {Specials<double>()};
  check(special, all);
  return all;
}

/// Any bits, and pairs whose powers are of moderate size.
template <class T>
std::pair<T, T> DrawPair(std::mt19937_64& random) {
  using Code = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const uint64_t how = random();
  T x = std::bit_cast<T>(static_cast<Code>(random())), y = std::bit_cast<T>(static_cast<Code>(random()));
  std::uniform_real_distribution<T> exponent(-20, 20);
  if (how % 4 != 0) x = std::exp2(exponent(random) * (how % 4 == 2 ? T(0x1p-10) : T(1)));
  if (how % 4 != 0) y = exponent(random) * (how % 4 == 1 ? T(8) : how % 4 == 2 ? T(2000) : T(1));
  if (how >> 2 & 1 && how % 4 == 3) x = -x, y = std::round(y);
  return {x, y};
}

template <class T, class Wide>
Finding CheckPairs(const Functions& f, Wide (*reference)(Wide, Wide), const AccuracyOptions& options) {
  auto check = [&](std::array<std::vector<T>, 2>& x, Finding& finding) {
    CheckBatch(f, x, [&](size_t i) { return reference(x[0][i], x[1][i]); }, finding);
  };
  const uint64_t blocks = std::max<uint64_t>(1, options.samples * (1 << 20) / kBatch);
  Finding all = InBlocks(options.threads, blocks, [&](uint64_t block, Finding& finding) {
    std::mt19937_64 random(block);
    std::array<std::vector<T>, 2> x;
    while (static_cast<int64_t>(x[0].size()) < kBatch) {
      const auto [a, b] = DrawPair<T>(random);
      x[0].push_back(a);
      x[1].push_back(b);
    }
    check(x, finding);
  });
  std::array<std::vector<T>, 2> special;
  for (const T a : Specials<T>())
    for (const T b : Specials<T>()) special[0].push_back(a), special[1].push_back(b);
  check(special, all);
  return all;
}

// Types narrower than f32.

/// The code nearest to `value`, which is rounded once.
uint64_t Nearest(ElementType type, long double value) {
  auto rounded = static_cast<float>(value);
  if (std::isfinite(value) && static_cast<long double>(rounded) != value) {
    // To the odd one of its neighbours: rounding that again is rounding once.
    const bool away = std::fabs(static_cast<long double>(rounded)) > std::fabs(value);
    rounded = std::bit_cast<float>((std::bit_cast<uint32_t>(rounded) - (away ? 1 : 0)) | 1);
  }
  return FromFloat(type, rounded);
}

/// 0 if `got` is what `want`, known to 2^-60, rounds to; else the difference in units of the last place.
double NarrowError(ElementType type, uint64_t got, long double want) {
  const FloatFormat format = Format(type);
  const uint64_t near = Nearest(type, want);
  if (got == near || (format.is_nan(got) && format.is_nan(near))) return 0;
  for (const long double factor : {1 - 0x1p-60L, 1 + 0x1p-60L})
    if (got == Nearest(type, want * factor)) return 0;
  const bool special = format.is_nan(got) || format.is_nan(near) || std::isinf(ToFloat(type, got)) ||
                       std::isinf(ToFloat(type, near));
  if (special || ((got ^ near) & format.sign_mask()) != 0 || ToFloat(type, near) == 0) return kWrong;
  return std::fabs(static_cast<double>(got) - static_cast<double>(near));
}

/// Batches of codes in the places that they take in memory.
class NarrowCodes {
 public:
  NarrowCodes(ElementType type, size_t count)
      : wide_(Info(type).host_bytes() == 2), bytes_(count * (wide_ ? 2 : 1)) {}
  void* data() { return bytes_.data(); }
  [[nodiscard]] llvm::ArrayRef<uint8_t> bytes() const { return bytes_; }
  [[nodiscard]] uint64_t At(size_t i) const {
    return wide_ ? bytes_[2 * i] | static_cast<uint64_t>(bytes_[2 * i + 1]) << 8 : bytes_[i];
  }
  void Set(size_t i, uint64_t code) {
    if (!wide_) return void(bytes_[i] = static_cast<uint8_t>(code));
    bytes_[2 * i] = static_cast<uint8_t>(code);
    bytes_[2 * i + 1] = static_cast<uint8_t>(code >> 8);
  }

 private:
  bool wide_;
  std::vector<uint8_t> bytes_;
};

struct NarrowBatch {
  NarrowCodes x, y, out, other;
  NarrowBatch(ElementType type, size_t count)
      : x(type, count), y(type, count), out(type, count), other(type, count) {}
};

/// The first `count` pairs of a batch; `reference(x, y)` does without y if there is one operand.
void CheckNarrow(const Functions& f, ElementType type, NarrowBatch& batch, size_t count, bool pairs,
                 llvm::function_ref<long double(long double, long double)> reference, Finding& finding) {
  auto run = [&](const CompiledFunction& function, NarrowCodes& out) {
    if (pairs)
      function.Run({batch.x.data(), batch.y.data(), out.data()}, static_cast<int64_t>(count));
    else
      function.Run({batch.x.data(), out.data()}, static_cast<int64_t>(count));
  };
  run(*f.native, batch.out);
  if (f.haswell) run(*f.haswell, batch.other);
  finding.seen += count;
  const uint64_t mask = Format(type).code_mask();
  for (size_t i = 0; i < count; ++i) {
    const std::array<double, 2> at = {ToDouble(type, batch.x.At(i)),
                                      pairs ? ToDouble(type, batch.y.At(i)) : 0};
    const uint64_t got = batch.out.At(i) & mask;
    if (f.haswell) {
      const uint64_t other = batch.other.At(i) & mask;
      if (other != got && !(IsNanCode(type, other) && IsNanCode(type, got)) && finding.other_bits++ == 0)
        finding.other_at = at;
    }
    finding.See(NarrowError(type, got, reference(at[0], at[1])), at, ToDouble(type, got));
  }
}

Finding CheckNarrowUnary(const Functions& f, ElementType type, const UnaryReference& row) {
  Finding finding;
  const auto count = size_t{1} << Info(type).bits;
  NarrowBatch batch(type, kBatch);
  const auto reference = NarrowReference(row);
  for (size_t from = 0; from < count; from += kBatch) {
    const size_t here = std::min<size_t>(kBatch, count - from);
    for (size_t i = 0; i < here; ++i) batch.x.Set(i, from + i);
    CheckNarrow(
        f, type, batch, here, false, [&](long double x, long double) { return reference(x); }, finding);
  }
  return finding;
}

/// All pairs of types of a byte or less, samples of others.
Finding CheckNarrowPairs(const Functions& f, ElementType type, const BinaryReference& row,
                         const AccuracyOptions& options) {
  const bool all = Info(type).bits <= 8;
  const uint64_t count = uint64_t{1} << Info(type).bits;
  const uint64_t total = all ? count * count : std::max<uint64_t>(options.samples, 1) << 16;
  return InBlocks(options.threads, (total + kBatch - 1) / kBatch, [&](uint64_t block, Finding& finding) {
    NarrowBatch batch(type, kBatch);
    std::mt19937_64 random(block);
    const uint64_t from = block * kBatch;
    const auto here = static_cast<size_t>(std::min<uint64_t>(kBatch, total - from));
    for (size_t i = 0; i < here; ++i) {
      const uint64_t drawn = random();
      batch.x.Set(i, all ? (from + i) % count : drawn);
      // Every other exponent is small.
      const uint64_t y =
          drawn & 1 ? FromDouble(type, std::ldexp(static_cast<double>(drawn >> 32), -29)) : drawn >> 32;
      batch.y.Set(i, all ? (from + i) / count : y);
    }
    CheckNarrow(f, type, batch, here, true, row.in_long_double, finding);
  });
}

constexpr ElementType kNarrow[] = {
    ElementType::F16,           ElementType::BF16,       ElementType::F8E5M2,
    ElementType::F8E4M3,        ElementType::F8E4M3FN,   ElementType::F8E3M4,
    ElementType::F8E4M3B11FNUZ, ElementType::F8E5M2FNUZ, ElementType::F8E4M3FNUZ};

bool Wanted(llvm::ArrayRef<std::string> names, llvm::StringRef name) {
  return names.empty() || llvm::is_contained(names, name);
}

/// The table.
class Table {
 public:
  Table(const AccuracyOptions& options, llvm::raw_ostream& os) : options_(options), os_(os) {
    os_ << llvm::formatv("{0,-22} {1,-14} {2,11} {3,8} {4,6}  {5,-50} {6,6} {7,6}\n", "function", "type",
                         "operands", "max ULP", "bound", "at", "wrong", "bits");
  }
  void Add(OpKind kind, ElementType type, size_t operands, double bound,
           llvm::function_ref<Finding(const Functions&)> check) {
    if (!Wanted(options_.functions, Info(kind).text) || !Wanted(options_.types, ToString(type))) return;
    const llvm::SmallVector<ElementType, 2> types(operands, type);
    const Functions f(kind, types, type, options_.compare_isas);
    if (!*f.native) return;
    const Finding finding = check(f);
    const bool ok = finding.ulps <= bound && finding.wrong == 0 && finding.other_bits == 0;
    if (!ok) ++short_;
    auto place = [&](const std::array<double, 2>& at) {
      return operands == 1 ? Hex(at[0]) : Hex(at[0]) + ", " + Hex(at[1]);
    };
    std::string at = finding.ulps == 0 ? "" : place(finding.at) + ": " + Hex(finding.got);
    os_ << llvm::formatv("{0,-22} {1,-14} {2,11} {3,8:F3} {4,6:F1}  {5,-50} {6,6} {7,6} {8}\n",
                         Info(kind).text, ToString(type), finding.seen, finding.ulps, bound, at,
                         finding.wrong, finding.other_bits, ok ? "ok" : "SHORT");
    if (finding.wrong > 0)
      os_ << "  wrong at " << place(finding.wrong_at) << ": " << Hex(finding.wrong_got) << '\n';
    if (finding.other_bits > 0) os_ << "  other bits for haswell at " << place(finding.other_at) << '\n';
    os_.flush();
  }
  [[nodiscard]] int64_t short_rows() const { return short_; }

 private:
  static std::string Hex(double value) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%a", value);
    return text;
  }
  const AccuracyOptions& options_;
  llvm::raw_ostream& os_;
  int64_t short_ = 0;
};

}  // namespace

int64_t CheckAccuracy(const AccuracyOptions& options, llvm::raw_ostream& os) {
  Table table(options, os);
  for (const UnaryReference& row : UnaryReferences())
    table.Add(row.kind, ElementType::F32, 1, row.bound32,
              [&](const Functions& f) { return CheckF32(f, row, options); });
  for (const UnaryReference& row : UnaryReferences())
    table.Add(row.kind, ElementType::F64, 1, row.bound64,
              [&](const Functions& f) { return CheckF64(f, row, options); });
  for (const BinaryReference& row : BinaryReferences()) {
    table.Add(row.kind, ElementType::F32, 2, row.bound32,
              [&](const Functions& f) { return CheckPairs<float, double>(f, row.in_double, options); });
    table.Add(row.kind, ElementType::F64, 2, row.bound64, [&](const Functions& f) {
      return CheckPairs<double, long double>(f, row.in_long_double, options);
    });
  }
  for (const ElementType type : kNarrow) {
    for (const UnaryReference& row : UnaryReferences())
      table.Add(row.kind, type, 1, 0, [&](const Functions& f) { return CheckNarrowUnary(f, type, row); });
    for (const BinaryReference& row : BinaryReferences())
      table.Add(row.kind, type, 2, 0,
                [&](const Functions& f) { return CheckNarrowPairs(f, type, row, options); });
  }
  return table.short_rows();
}

void PrintSpeed(const AccuracyOptions& options, llvm::raw_ostream& os) {
  constexpr int64_t kCount = 2048;
  std::vector<float> x(kCount), y(kCount), out(kCount);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  auto time = [&](const CompiledFunction& f, bool pairs) {
    auto once = [&] {
      if (pairs)
        f.Run({x.data(), y.data(), out.data()}, kCount);
      else
        f.Run({x.data(), out.data()}, kCount);
    };
    double best = 1e9;
    for (int round = 0; round < 30; ++round) {
      constexpr int kTimes = 64;
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kTimes; ++i) once();
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      best = std::min(best, took.count() / (kTimes * kCount));
    }
    return best;
  };
  auto print = [&](OpKind kind, size_t operands) {
    if (!Wanted(options.functions, Info(kind).text)) return;
    for (int64_t i = 0; i < kCount; ++i) {
      const auto n = static_cast<size_t>(i);
      // Within the domains of all functions but for acosh.
      x[n] = operands == 2 || kind == OpKind::Log || kind == OpKind::Sqrt || kind == OpKind::Rsqrt
                 ? std::fabs(normal(random)) + 0.01F
                 : normal(random);
      y[n] = normal(random);
    }
    const llvm::SmallVector<ElementType, 2> types(operands, ElementType::F32);
    const Functions f(kind, types, ElementType::F32, options.compare_isas);
    os << llvm::formatv("{0,-22} {1,7:F3} ns", Info(kind).text, time(*f.native, operands == 2));
    if (f.haswell) os << llvm::formatv(" {0,7:F3} ns for haswell", time(*f.haswell, operands == 2));
    os << '\n';
    os.flush();
  };
  for (const UnaryReference& row : UnaryReferences()) print(row.kind, 1);
  for (const BinaryReference& row : BinaryReferences()) print(row.kind, 2);
}

}  // namespace hlo::testing
