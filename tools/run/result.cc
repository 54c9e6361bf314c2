#include "tools/run/result.h"

#include "ir/numeric/narrow_float.h"
#include "ir/print.h"
#include "ir/support/json.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

namespace hlo {
namespace {

constexpr int64_t kFullElements = 64;  // --print=auto
constexpr int64_t kFirstElements = 8;

std::string ElementText(const Literal& array, int64_t i) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  PrintElement(stream, array, i);
  return text;
}

/// An element of a real type as a number.
double Number(const Literal& array, int64_t i) {
  const ElementType type = array.shape().element_type();
  const uint64_t bits = array.Bits(i);
  if (IsFloat(type)) return ToDouble(type, bits);
  if (!IsSigned(type)) return static_cast<double>(bits);
  const int unused = 64 - Info(type).bits;
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

std::string Short(double value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format("%g", value);
  return text;
}

/// `2.5e-01`, `inf`.
std::string Scientific(double value) {
  if (std::isinf(value)) return "inf";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format("%.1e", value);
  return text;
}

/// `1e-3`: the shortest form of a bound.
std::string BoundText(double value) {
  if (value == 0) return "0";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format("%.3g", value);
  if (!(value >= 1e-2 && value < 1e4)) {
    text.clear();
    stream << llvm::format("%.2e", value);
    // 1.00e-03 -> 1e-3
    auto [mantissa, exponent] = llvm::StringRef(text).split('e');
    mantissa = mantissa.rtrim('0').rtrim('.');
    int power = 0;
    exponent.consume_front("+");
    exponent.getAsInteger(10, power);
    return mantissa.str() + "e" + std::to_string(power);
  }
  return text;
}

/// The next number with one significant digit above `value`: 0.25 -> 3e-1, 0.5 -> 6e-1.
std::string RoundedUp(double value) {
  int power = static_cast<int>(std::floor(std::log10(value)));
  double digit = std::floor(value / std::pow(10.0, power)) + 1;
  if (digit >= 10) digit = 1, ++power;
  return std::to_string(static_cast<int>(digit)) + "e" + std::to_string(power);
}

std::string UlpText(double ulp) {
  return ulp < 0 || std::isinf(ulp) ? "-" : llvm::formatv("{0:F0}", ulp).str();
}

/// The options that would have let the mismatching elements pass; empty if none would.
std::string WouldPass(const Comparison& c) {
  if (c.infinite_mismatches > 0 || c.tolerance.exact || c.tolerance.each) return "";
  std::string nan = c.nan_mismatches > 0 ? "--nan=ignore" : "";
  if (c.pass_abs == 0) return nan;
  const std::string prefix = nan.empty() ? "" : nan + " ";
  std::string text = prefix + "--abs-error=" + RoundedUp(c.pass_abs);
  if (!std::isinf(c.pass_rel)) text += ", or " + prefix + "--rel-error=" + RoundedUp(c.pass_rel);
  return text;
}

/// Rows of text with their columns aligned.
void PrintColumns(llvm::raw_ostream& out, llvm::ArrayRef<std::vector<std::string>> rows,
                  llvm::StringRef indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  for (const auto& row : rows) {
    std::string line = indent.str();
    for (size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    out << llvm::StringRef(line).rtrim() << '\n';
  }
}

}  // namespace

std::string BoundsText(const Tolerance& t, ElementType type) {
  if (t.each) return "what rounding does to each element";
  if (t.exact) return "exact";
  if (!IsFloat(RealPartType(type))) return "exact (integers)";
  // Measured bounds; where no single element is far away, they all are the root mean square's.
  if (t.rms) return (t.abs == *t.rms ? "" : "abs " + Scientific(t.abs) + ' ') + "rms " + Scientific(*t.rms);
  std::string text = "abs " + BoundText(t.abs) + " rel " + BoundText(t.rel);
  if (t.ulp) text += " ulp " + BoundText(*t.ulp);
  return text;
}

std::string IndexText(const Shape& shape, int64_t linear) {
  Dims index(static_cast<size_t>(shape.rank()), 0);
  for (size_t d = index.size(); d-- > 0;) {
    const int64_t size = std::max<int64_t>(shape.dim(static_cast<int64_t>(d)), 1);
    index[d] = linear % size;
    linear /= size;
  }
  return "[" + llvm::join(llvm::map_range(index, [](int64_t i) { return std::to_string(i); }), ",") + "]";
}

ArraySummary Summarize(const Literal& array) {
  const Literal plain = array.ToStatic().Unpack();
  ArraySummary s;
  s.checksum = llvm::xxh3_64bits(llvm::ArrayRef(plain.data(), plain.byte_size()));
  const ElementType type = plain.shape().element_type();
  const int64_t count = plain.shape().ElementCount();
  double sum = 0;
  int64_t finite = 0;
  if (IsComplex(type)) {
    // Counts and the mean only; complex numbers have no order.
    const Shape parts = Shape::ArrayWithDefaultLayout(RealPartType(type), {2 * count});
    ArraySummary real = Summarize(Literal::Borrow(parts, plain.data(), std::make_shared<Literal>(plain)));
    s.nan = real.nan;
    s.inf = real.inf;
    s.mean = real.mean;
    return s;
  }
  for (int64_t i = 0; i < count; ++i) {
    const double v = Number(plain, i);
    if (std::isnan(v)) {
      ++s.nan;
      continue;
    }
    if (s.min_at < 0 || v < s.min) s.min = v, s.min_at = i;
    if (s.max_at < 0 || v > s.max) s.max = v, s.max_at = i;
    if (std::isinf(v)) {
      ++s.inf;
      continue;
    }
    sum += v;
    ++finite;
  }
  s.mean = finite == 0 ? 0 : sum / static_cast<double>(finite);
  return s;
}

void PrintOutput(llvm::raw_ostream& out, llvm::StringRef label, const Literal& array, PrintMode mode) {
  const Literal plain = array.ToStatic();
  out << label << ' ' << ToString(plain.shape(), /*with_layout=*/false);
  if (mode == PrintMode::Full || (mode == PrintMode::Auto && plain.shape().ElementCount() <= kFullElements)) {
    out << " = ";
    PrintLiteral(out, plain);
    out << '\n';
    return;
  }
  const ArraySummary s = Summarize(plain);
  out << ':';
  if (s.min_at >= 0)
    out << " min " << ElementText(plain, s.min_at) << " max " << ElementText(plain, s.max_at);
  if (s.min_at >= 0 || IsComplex(plain.shape().element_type())) out << " mean " << Short(s.mean);
  out << " nan " << s.nan << " inf " << s.inf << " checksum " << llvm::format_hex_no_prefix(s.checksum, 16)
      << " first {";
  const int64_t shown = std::min(plain.shape().ElementCount(), kFirstElements);
  for (int64_t i = 0; i < shown; ++i) out << (i > 0 ? ", " : "") << ElementText(plain, i);
  out << (shown < plain.shape().ElementCount() ? ", ...}\n" : "}\n");
}

void PrintMismatch(llvm::raw_ostream& out, llvm::StringRef file, llvm::StringRef actual_name,
                   llvm::StringRef expected_name, const OutputComparison& c, bool brief) {
  const Comparison& r = c.result;
  const Literal actual = c.actual.ToStatic(), expected = c.expected.ToStatic();
  const ElementType type = actual.shape().element_type();
  out << file << ": MISMATCH " << actual_name << " vs " << expected_name << ", " << c.label << ' '
      << ToString(actual.shape(), /*with_layout=*/false) << ": " << r.mismatches << " of " << r.elements
      << " ("
      << llvm::format("%.2f", 100.0 * static_cast<double>(r.mismatches) /
                                  static_cast<double>(std::max<int64_t>(r.elements, 1)))
      << "%), bounds " << BoundsText(r.tolerance, type) << '\n';
  if (brief) return;
  std::vector<std::vector<std::string>> rows = {
      {"index", actual_name.str(), expected_name.str(), "abs", "rel", "ulp"}};
  for (const ElementError& e : r.worst)
    rows.push_back({IndexText(actual.shape(), e.linear), ElementText(actual, e.linear),
                    ElementText(expected, e.linear), Scientific(e.abs), Scientific(e.rel),
                    IsFloat(RealPartType(type)) ? UlpText(e.ulp) : "-"});
  PrintColumns(out, rows, "  ");
  if (const std::string options = WouldPass(r); !options.empty())
    out << "  would pass with " << options << '\n';
}

void PrintMatchLine(llvm::raw_ostream& out, llvm::StringRef file, llvm::StringRef sides, size_t count,
                    llvm::StringRef noun, double max_abs, double max_rel) {
  out << file << ": MATCH " << sides << ", " << count << ' ' << noun << (count == 1 ? ": " : "s: ");
  if (max_abs == 0)
    out << "no error\n";
  else
    out << "largest error abs " << Scientific(max_abs) << " rel " << Scientific(max_rel) << '\n';
}

void PrintTable(llvm::raw_ostream& out, llvm::ArrayRef<ModuleResult> results) {
  const bool reference =
      llvm::any_of(results, [](const ModuleResult& r) { return !r.reference_status.empty(); });
  std::vector<std::vector<std::string>> rows = {{"module", "status", "worst error", "time"}};
  if (reference) rows[0].insert(rows[0].begin() + 2, "reference");
  for (const ModuleResult& r : results) {
    double worst = 0;
    for (const OutputComparison& c : r.comparisons) worst = std::max(worst, c.result.max_abs);
    int64_t least = 0;
    for (const int64_t ns : r.execute_ns) least = least == 0 ? ns : std::min(least, ns);
    rows.push_back(
        {r.module.empty() ? r.file : r.module, r.status, r.compared ? Scientific(worst) : "-",
         r.execute_ns.empty() ? "-" : llvm::formatv("{0:F3} ms", static_cast<double>(least) * 1e-6).str()});
    if (reference)
      rows.back().insert(rows.back().begin() + 2, r.reference_status.empty() ? "-" : r.reference_status);
  }
  PrintColumns(out, rows, "");
}

namespace {

void WriteOutput(JsonWriter& json, const ModuleResult::Output& output) {
  json.Object([&] {
    json.List("index", output.index);
    json.Member("shape", ToString(output.shape));
    json.Member("checksum", llvm::utohexstr(output.summary.checksum, /*LowerCase=*/true, /*Width=*/16));
    json.Member("nan", output.summary.nan);
    json.Member("inf", output.summary.inf);
    for (const auto& [key, value] : {std::pair("min", output.summary.min), {"max", output.summary.max}}) {
      if (output.summary.min_at >= 0)
        json.Member(key, value);
      else
        json.Member(key, nullptr);  // of complex numbers, of no numbers
    }
    json.Member("mean", output.summary.mean);
  });
}

void WriteComparison(JsonWriter& json, llvm::ArrayRef<OutputComparison> comparisons) {
  Comparison total;
  for (const OutputComparison& c : comparisons) {
    total.elements += c.result.elements;
    total.mismatches += c.result.mismatches;
    for (auto member : {&Comparison::max_abs, &Comparison::max_rel, &Comparison::max_ulp})
      total.*member = std::max(total.*member, c.result.*member);
  }
  json.Member("matched", total.matched());
  json.Member("mismatches", total.mismatches);
  json.Member("elements", total.elements);
  json.Member("max_abs", total.max_abs);
  json.Member("max_rel", total.max_rel);
  json.Member("max_ulp", total.max_ulp);
  json.Array("worst", [&] {
    for (const OutputComparison& c : comparisons)
      for (const ElementError& e : c.result.worst)
        json.Object([&] {
          const Literal actual = c.actual.ToStatic();
          json.Member("index", c.label + IndexText(actual.shape(), e.linear));
          json.Member("actual", ElementText(actual, e.linear));
          json.Member("expected", ElementText(c.expected.ToStatic(), e.linear));
        });
  });
  // An output has several where it was compared with expected values and with the reference.
  llvm::MapVector<llvm::StringRef, std::string> bounds;
  for (const OutputComparison& c : comparisons) {
    const std::string text = BoundsText(c.result.tolerance, c.actual.shape().element_type());
    std::string& all = bounds[c.label];
    if (all.empty())
      all = text;
    else if (all != text)
      all += "; " + text;
  }
  json.Object("bounds", [&] {
    for (const auto& [label, text] : bounds) json.Member(label, text);
  });
}

void WriteModule(JsonWriter& json, const ModuleResult& r) {
  json.Member("file", r.file);
  json.Member("module", r.module);
  json.Member("status", r.status);
  json.Member("exit_code", r.exit_code);
  json.Member("platform", r.platform);
  if (r.reference_status.empty())
    json.Member("reference", nullptr);
  else
    json.Member("reference", r.reference);
  json.Member("seed", static_cast<int64_t>(r.seed));
  json.Member("compile_ns", r.compile_ns);
  json.List("execute_ns", r.execute_ns);
  json.Array("outputs", [&] {
    for (const ModuleResult::Output& output : r.outputs) WriteOutput(json, output);
  });
  if (r.compared)
    json.Object("comparison", [&] { WriteComparison(json, r.comparisons); });
  else
    json.Member("comparison", nullptr);
  json.Member("divergence", nullptr);
  json.Object("memory", [&] {
    json.Member("argument_bytes", r.argument_bytes);
    json.Member("result_bytes", r.result_bytes);
    for (const auto& [key, bytes] : {std::pair("temp_bytes", r.temp_bytes), {"peak_bytes", r.peak_bytes}}) {
      if (bytes)
        json.Member(key, *bytes);
      else
        json.Member(key, nullptr);
    }
  });
  json.Array("diagnostics", [&] {
    for (const std::string& text : r.diagnostics) json.Raw(text);
  });
}

}  // namespace

std::string ResultJson(llvm::ArrayRef<ModuleResult> results, int64_t indent) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  JsonWriter json(stream, static_cast<unsigned>(indent));
  json.Object([&] {
    json.Member("schema", "hlo.run/1");
    json.Member("tool", "hlo-run");
    json.Member("version", HLO_VERSION);
    json.Array("modules", [&] {
      for (const ModuleResult& r : results) json.Object([&] { WriteModule(json, r); });
    });
  });
  return text + "\n";
}

llvm::StringRef StatusOf(int exit_code, bool failed) {
  switch (exit_code) {
    case ExitCode::Success: return "RAN";
    case ExitCode::Negative: return failed ? "RUNTIME-ERROR" : "MISMATCH";
    case ExitCode::RunTime:
    case ExitCode::Limit: return "RUNTIME-ERROR";
    case ExitCode::Unavailable: return "SKIPPED";
    case ExitCode::Verification:
    case ExitCode::Compilation: return "COMPILE-ERROR";
    default: return "NOT-RUN";
  }
}

}  // namespace hlo
