#include "tools/run/compare.h"

#include <mutex>

#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"
#include "tools/arrays/array_distance.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kWorst = 5;
constexpr int64_t kGrain = 1 << 15;

/// Default bounds by precision; the first row whose type has at least these mantissa bits applies.
struct DefaultRow {
  int mantissa_bits;
  double abs, rel;
};
constexpr DefaultRow kDefaults[] = {{52, 1e-9, 1e-7}, {23, 1e-3, 1e-3}, {7, 1e-2, 1e-2}, {0, 1e-1, 1e-1}};

/// The value of part `part` of an element, and its bits. Complex elements have two parts.
struct Part {
  double value;
  uint64_t bits;
};

/// Access to the parts of an array's elements as real numbers.
class Elements {
 public:
  explicit Elements(const Literal& array)
      : array_(array),
        type_(array.shape().element_type()),
        real_(RealPartType(type_)),
        parts_(IsComplex(type_) ? 2 : 1) {}
  [[nodiscard]] int parts() const { return parts_; }
  [[nodiscard]] ElementType real() const { return real_; }
  [[nodiscard]] Part At(int64_t i, int part) const {
    uint64_t bits = 0;
    if (parts_ == 2) {
      const auto width = static_cast<size_t>(Info(real_).host_bytes());
      std::memcpy(&bits, array_.data() + static_cast<size_t>(2 * i + part) * width, width);
    } else {
      bits = array_.Bits(i);
    }
    return {IsFloat(real_) ? ToDouble(real_, bits) : 0, bits};
  }

 private:
  const Literal& array_;
  ElementType type_, real_;
  int parts_;
};

/// How far apart two parts are.
ElementError ErrorOf(ElementType type, const Part& actual, const Part& expected) {
  ElementError e;
  if (!std::isfinite(actual.value) || !std::isfinite(expected.value)) {
    const bool same = actual.value == expected.value;
    e.abs = e.rel = same ? 0 : HUGE_VAL;
    e.ulp = same ? 0 : -1;
    return e;
  }
  e.abs = std::fabs(actual.value - expected.value);
  e.rel = e.abs == 0 ? 0 : expected.value == 0 ? HUGE_VAL : e.abs / std::fabs(expected.value);
  e.ulp = std::fabs(
      static_cast<double>(static_cast<__int128>(Ordinal(type, actual.bits)) - Ordinal(type, expected.bits)));
  return e;
}

/// The verdict on one element.
struct Verdict {
  bool fails = false, nan = false, infinite = false;
  ElementError error;
};

/// With a bound for each number.
Verdict JudgeWithin(const Elements& actual, const Elements& expected, int64_t i, const Tolerance& t) {
  Verdict v;
  v.error.linear = i;
  for (int part = 0; part < actual.parts(); ++part) {
    const Part a = actual.At(i, part), e = expected.At(i, part);
    const double bound = (*t.each)[static_cast<size_t>(i * actual.parts() + part)];
    const bool floats = IsFloat(actual.real()), nan = std::isnan(a.value) || std::isnan(e.value);
    const bool both_nan = std::isnan(a.value) && std::isnan(e.value);
    if (std::isinf(bound) || (nan && t.nan == NanMode::Ignore)) continue;
    if (both_nan ? t.nan == NanMode::Equal : a.bits == e.bits) continue;
    const ElementError error =
        floats ? ErrorOf(actual.real(), a, e) : ElementError{0, HUGE_VAL, HUGE_VAL, -1};
    v.error.abs = std::max(v.error.abs, error.abs);
    v.error.rel = std::max(v.error.rel, error.rel);
    v.error.ulp = v.error.ulp < 0 || error.ulp < 0 ? -1 : std::max(v.error.ulp, error.ulp);
    if (bound > 0 && error.abs <= bound) continue;
    v.fails = true;
    v.nan |= nan;
    v.infinite |= !nan && std::isinf(error.abs);
  }
  return v;
}

Verdict Judge(const Elements& actual, const Elements& expected, int64_t i, const Tolerance& t) {
  if (t.each) return JudgeWithin(actual, expected, i, t);
  Verdict v;
  const bool is_float = IsFloat(actual.real());
  for (int part = 0; part < actual.parts(); ++part) {
    const Part a = actual.At(i, part), e = expected.At(i, part);
    if (t.exact || !is_float) {
      if (a.bits == e.bits) continue;
      v.fails = true;
      if (!is_float) {
        const bool negative = IsSigned(actual.real());
        const int unused = 64 - Info(actual.real()).bits;
        auto number = [&](uint64_t bits) {
          return negative ? static_cast<double>(static_cast<int64_t>(bits << unused) >> unused)
                          : static_cast<double>(bits);
        };
        const double difference = std::fabs(number(a.bits) - number(e.bits));
        v.error.abs = std::max(v.error.abs, difference);
        v.error.rel =
            std::max(v.error.rel, number(e.bits) == 0 ? HUGE_VAL : difference / std::fabs(number(e.bits)));
        v.infinite = true;  // no bound lets integers pass
        continue;
      }
    }
    const bool a_nan = std::isnan(a.value), e_nan = std::isnan(e.value);
    if (!t.exact && (a_nan || e_nan)) {
      if (t.nan == NanMode::Ignore || (t.nan == NanMode::Equal && a_nan && e_nan)) continue;
    }
    const ElementError error = ErrorOf(actual.real(), a, e);
    const bool both_nan = a_nan && e_nan;
    v.error.abs = std::max(v.error.abs, both_nan && t.exact ? 0 : error.abs);
    v.error.rel = std::max(v.error.rel, both_nan && t.exact ? 0 : error.rel);
    v.error.ulp = v.error.ulp < 0 || error.ulp < 0 ? -1 : std::max(v.error.ulp, error.ulp);
    if (t.exact) {
      v.infinite = true;
      continue;
    }
    const bool within =
        error.abs <= t.abs || error.rel <= t.rel || (t.ulp && error.ulp >= 0 && error.ulp <= *t.ulp);
    const bool fails = a_nan || e_nan || !within;
    v.fails |= fails;
    v.nan |= fails && (a_nan || e_nan);
    v.infinite |= fails && !a_nan && !e_nan && std::isinf(error.abs);
  }
  v.error.linear = i;
  return v;
}

/// Worse first: infinite errors, then the larger relative and absolute one, then the earlier element.
bool Worse(const ElementError& a, const ElementError& b) {
  return std::tie(b.rel, b.abs, a.linear) < std::tie(a.rel, a.abs, b.linear);
}

void AddWorst(std::vector<ElementError>& worst, const ElementError& error) {
  const auto at = std::lower_bound(worst.begin(), worst.end(), error, Worse);
  if (at == worst.end() && worst.size() == kWorst) return;
  worst.insert(at, error);
  if (worst.size() > kWorst) worst.pop_back();
}

void Tally(const Verdict& v, Comparison& c) {
  c.max_abs = std::max(c.max_abs, v.error.abs);
  c.max_rel = std::max(c.max_rel, v.error.rel);
  c.max_ulp = v.error.ulp < 0 ? HUGE_VAL : std::max(c.max_ulp, v.error.ulp);
  if (!v.fails) return;
  ++c.mismatches;
  c.nan_mismatches += v.nan;
  c.infinite_mismatches += v.infinite;
  if (!v.nan && !v.infinite) {
    c.pass_abs = std::max(c.pass_abs, v.error.abs);
    c.pass_rel = std::max(c.pass_rel, v.error.rel);
  }
  AddWorst(c.worst, v.error);
}

/// Both operands as the comparison works on them.
struct Pair {
  Literal actual, expected;
};
Pair Prepare(const Literal& actual, const Literal& expected) {
  return {actual.ToStatic().Unpack(), expected.ToStatic().Unpack()};
}

/// Element by element; `others`: integers, infinities and NaN, too.
Comparison CompareElements(const Pair& pair, const Tolerance& tolerance, bool others) {
  Comparison total;
  total.tolerance = tolerance;
  total.elements = pair.actual.shape().ElementCount();
  const bool same_bits =
      pair.actual.byte_size() == pair.expected.byte_size() &&
      (pair.actual.byte_size() == 0 ||
       std::memcmp(pair.actual.data(), pair.expected.data(), pair.actual.byte_size()) == 0);
  if (same_bits && (tolerance.exact || tolerance.nan != NanMode::Never ||
                    !(IsFloat(RealPartType(pair.actual.shape().element_type())))))
    return total;
  const Elements a(pair.actual), e(pair.expected);
  std::mutex mutex;
  // Sums and maxima over pieces do not depend on their order.
  ParallelFor(0, total.elements, kGrain, [&](int64_t from, int64_t to) {
    Comparison own;
    for (int64_t i = from; i < to; ++i) {
      Verdict verdict = Judge(a, e, i, tolerance);
      if (!others && (verdict.nan || verdict.infinite)) continue;
      Tally(verdict, own);
    }
    const std::lock_guard lock(mutex);
    total.mismatches += own.mismatches;
    total.nan_mismatches += own.nan_mismatches;
    total.infinite_mismatches += own.infinite_mismatches;
    for (auto member : {&Comparison::max_abs, &Comparison::max_rel, &Comparison::max_ulp,
                        &Comparison::pass_abs, &Comparison::pass_rel})
      total.*member = std::max(total.*member, own.*member);
    for (const ElementError& error : own.worst) AddWorst(total.worst, error);
  });
  llvm::sort(total.worst, [](const ElementError& x, const ElementError& y) { return x.linear < y.linear; });
  return total;
}

}  // namespace

int64_t Ordinal(ElementType type, uint64_t bits) {
  const int width = Info(type).bits;
  if (!SignBit(type, bits)) return static_cast<int64_t>(bits);
  return -static_cast<int64_t>(bits & ~(uint64_t{1} << (width - 1)));
}

Comparison Compare(const Literal& actual, const Literal& expected, const Tolerance& tolerance) {
  const Pair pair = Prepare(actual, expected);
  Comparison total = CompareElements(pair, tolerance, /*others=*/true);
  const bool others_pass =
      tolerance.others > 0 && total.nan_mismatches + total.infinite_mismatches <= tolerance.others;
  if (others_pass && total.mismatches > 0) total = CompareElements(pair, tolerance, /*others=*/false);
  if (!tolerance.rms || !total.matched() || total.max_abs == 0) return total;
  total.rms = DistanceOf(pair.actual, pair.expected).size.mean;
  if (total.rms <= *tolerance.rms) return total;
  // No element is far away, but too many are too far: these are shown.
  Tolerance closer = tolerance;
  closer.abs = *tolerance.rms;
  const double rms = total.rms;
  total = CompareElements(pair, closer, !others_pass);
  total.rms = rms;
  return total;
}

Literal MismatchMask(const Literal& actual, const Literal& expected, const Tolerance& tolerance) {
  const Pair pair = Prepare(actual, expected);
  const Elements a(pair.actual), e(pair.expected);
  Literal mask = Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::Pred, pair.actual.shape().dims()));
  uint8_t* data = mask.MutableData();
  ParallelFor(0, mask.shape().ElementCount(), kGrain, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) data[i] = Judge(a, e, i, tolerance).fails;
  });
  return mask;
}

Result<Tolerances::Rule> Tolerances::ParseRule(StringRef text) {
  Rule rule;
  auto bad = [&] {
    return Error(
        "usage-option", {},
        "option '--tolerance': found '{0}', expected exact, elements, arrays or TYPE|%NAME:abs=X,rel=X,ulp=N",
        text);
  };
  if (text == "exact") {
    rule.exact = true;
    return rule;
  }
  auto [key, bounds] = text.rsplit(':');
  if (bounds.empty() || bounds.data() == nullptr) return bad();
  rule.key = key.trim().str();
  if (!key.starts_with("%") && !ParseElementType(key.trim())) return bad();
  for (const StringRef item : llvm::split(bounds, ',')) {
    auto [name, value] = item.split('=');
    name = name.trim();
    if (name == "exact") {
      rule.exact = true;
      continue;
    }
    std::optional<double>* bound = name == "abs"   ? &rule.abs
                                   : name == "rel" ? &rule.rel
                                   : name == "ulp" ? &rule.ulp
                                                   : nullptr;
    double number = 0;
    if (bound == nullptr || value.trim().getAsDouble(number) || !(number >= 0)) return bad();
    *bound = number;
  }
  return rule;
}

Result<Tolerances> Tolerances::Parse(const RunOptions& options) {
  Tolerances result;
  result.nan_ = options.nan;
  Rule all;
  all.abs = options.abs_error;
  all.rel = options.rel_error;
  all.ulp = options.ulp_error;
  result.rules_.push_back(all);
  for (const std::string& text : options.tolerance)
    for (const StringRef item : llvm::split(text, ';')) {
      if (item.trim().empty()) continue;
      if (item.trim() == "elements" || item.trim() == "arrays") {
        result.by_element_ = item.trim() == "elements";
        continue;
      }
      HLO_TRY(Rule rule, ParseRule(item.trim()));
      result.rules_.push_back(std::move(rule));
    }
  return result;
}

std::vector<StringRef> Tolerances::Names() const {
  std::vector<StringRef> names;
  for (const Rule& rule : rules_)
    if (StringRef key = rule.key; key.consume_front("%")) names.push_back(key);
  return names;
}

std::vector<const Tolerances::Rule*> Tolerances::About(ElementType type, StringRef name) const {
  // Names before types only by their order on the command line.
  std::vector<const Rule*> found;
  for (const Rule& rule : rules_) {
    StringRef key = rule.key;
    const bool named = key.consume_front("%");
    if (key.empty() || (named ? key == name : key == ToString(type))) found.push_back(&rule);
  }
  return found;
}

bool Tolerances::Given(ElementType type, StringRef name) const {
  return llvm::any_of(About(type, name),
                      [](const Rule* rule) { return rule->abs || rule->rel || rule->ulp || rule->exact; });
}

Tolerance Tolerances::For(ElementType type, StringRef name) const {
  Tolerance t;
  t.nan = nan_;
  const ElementType real = RealPartType(type);
  if (IsFloat(real))
    for (const DefaultRow& row : kDefaults)
      if (Info(real).mantissa_bits >= row.mantissa_bits) {
        t.abs = row.abs;
        t.rel = row.rel;
        break;
      }
  for (const Rule* rule : About(type, name)) {
    if (rule->abs) t.abs = *rule->abs;
    if (rule->rel) t.rel = *rule->rel;
    if (rule->ulp) t.ulp = rule->ulp;
    t.exact = rule->exact || (t.exact && !rule->abs && !rule->rel && !rule->ulp);
  }
  return t;
}

}  // namespace hlo
