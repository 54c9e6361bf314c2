#include "tools/testing/conformance.h"

#include <cmath>
#include <complex>

#include "ir/numeric/narrow_float.h"
#include "ir/support/json.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"
#include "tools/arrays/array_file.h"
#include "tools/run/compare.h"
#include "tools/testing/execution.h"

namespace hlo::testing {
namespace {

using Mode = ResultBound::Mode;

/// The manifest, whose members must be there.
class ManifestReader {
 public:
  ManifestReader(llvm::StringRef folder, const JsonDocument& manifest)
      : folder_(folder), manifest_(manifest) {}

  Result<std::vector<ConformanceCase>> Read() const {
    HLO_TRY(const JsonArray* rows, List(manifest_.root, "cases"));
    std::vector<ConformanceCase> cases;
    for (const JsonValue& row : *rows) {
      HLO_TRY(ConformanceCase read, ReadCase(row));
      cases.push_back(std::move(read));
    }
    return cases;
  }

 private:
  /// What is wrong is a member, or that there is none.
  Result<const JsonArray*> List(const JsonValue& object, llvm::StringRef key) const {
    if (const JsonArray* list = object.Array(key)) return list;
    const JsonValue* member = object.Find(key);
    return manifest_.Wrong(member ? *member : object, "expected a list '{0}'", key);
  }

  Result<std::vector<CaseLeaf>> Leaves(const JsonValue& row, llvm::StringRef key) const {
    HLO_TRY(const JsonArray* list, List(row, key));
    std::vector<CaseLeaf> leaves;
    for (const JsonValue& leaf : *list) {
      HLO_TRY(CaseLeaf read, ReadLeaf(leaf));
      leaves.push_back(std::move(read));
    }
    return leaves;
  }

  Result<CaseLeaf> ReadLeaf(const JsonValue& leaf) const {
    CaseLeaf read;
    HLO_TRY(const JsonArray* index, List(leaf, "index"));
    for (const JsonValue& i : *index) {
      const auto number = i.AsInteger();
      if (!number) return manifest_.Wrong(i, "expected an integer");
      read.index.push_back(*number);
    }
    const JsonValue* compare = leaf.Object("compare");
    if (!compare) return read;
    read.bound.mode = llvm::StringSwitch<Mode>(compare->String("mode").value_or(""))
                          .Case("ulp", Mode::Ulp)
                          .Case("close", Mode::Close)
                          .Case("norm", Mode::Norm)
                          .Case("any", Mode::Any)
                          .Default(Mode::Exact);
    read.bound.abs = compare->Number("abs").value_or(0);
    read.bound.rel = compare->Number("rel").value_or(0);
    read.bound.ulp = compare->Number("ulp").value_or(0);
    return read;
  }

  Result<ConformanceCase> ReadCase(const JsonValue& row) const {
    const auto text = [&](llvm::StringRef key) { return row.String(key).value_or("").str(); };
    ConformanceCase read;
    read.name = text("suite") + "/" + text("name");
    read.tier = text("tier");
    read.file = (folder_ + "/" + text("file")).str();
    read.data = (folder_ + "/" + text("data")).str();
    HLO_TRY(read.parameters, Leaves(row, "parameters"));
    HLO_TRY(read.outputs, Leaves(row, "outputs"));
    read.devices = row.Integer("replicas").value_or(1) * row.Integer("partitions").value_or(1);
    return read;
  }

  llvm::StringRef folder_;
  const JsonDocument& manifest_;
};

/// The subshape of a result with that index; a root that is no tuple has the index {0}.
const Shape& OutputShape(const Shape& root, llvm::ArrayRef<int64_t> index) {
  const Shape* shape = &root;
  if (root.IsTuple())
    for (const int64_t i : index) shape = &shape->tuple_shape(i);
  return *shape;
}

const Literal& OutputValue(const Literal& root, llvm::ArrayRef<int64_t> index) {
  const Literal* value = &root;
  if (root.shape().IsTuple())
    for (const int64_t i : index) value = &value->element(i);
  return *value;
}

/// A value of that shape whose arrays are the next of `leaves`.
Literal Assemble(const Shape& shape, std::vector<Literal>::const_iterator& leaves) {
  if (!shape.IsTuple()) return *leaves++;
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Assemble(element, leaves));
  return Literal::MakeTuple(std::move(elements));
}

Result<Literal> Member(const ArrayFile& file, const std::string& name, const Shape& shape) {
  for (const auto& [have, array] : file.arrays) {
    if (have != name) continue;
    if (!Fits(array, shape))
      return Error("input-array", {}, "'{0}' is {1}, not {2}", name, Describe(array), shape);
    return ToLiteral(array, shape);
  }
  return Error("input-array", {}, "no member '{0}'", name);
}

bool Passes(ElementType type, uint64_t actual_bits, uint64_t expected_bits, const ResultBound& bound) {
  const double a = ToDouble(type, actual_bits), e = ToDouble(type, expected_bits);
  if (std::isnan(a) || std::isnan(e)) return std::isnan(a) && std::isnan(e);
  if (std::isinf(a) || std::isinf(e)) return a == e;
  const double difference = std::fabs(a - e);
  switch (bound.mode) {
    case Mode::Any: return true;
    case Mode::Exact: return a == e && std::signbit(a) == std::signbit(e);
    case Mode::Ulp: {
      const __int128 steps = static_cast<__int128>(Ordinal(type, actual_bits)) - Ordinal(type, expected_bits);
      return std::fabs(static_cast<double>(steps)) <= bound.ulp || difference <= bound.abs;
    }
    case Mode::Close:
    case Mode::Norm: return difference <= bound.abs + bound.rel * std::fabs(e);
  }
  llvm_unreachable("a mode without a rule");
}

/// Complex numbers as vectors.
bool PassesNorm(std::complex<double> a, std::complex<double> e, int mantissa_bits, const ResultBound& bound) {
  const auto is_nan = [](std::complex<double> c) { return std::isnan(c.real()) || std::isnan(c.imag()); };
  if (is_nan(a) || is_nan(e)) return is_nan(a) && is_nan(e);
  return a == e || std::abs(a - e) <= bound.ulp * std::ldexp(1.0, -mantissa_bits) * std::abs(e);
}

bool ElementPasses(const Literal& actual, const Literal& expected, int64_t i, const ResultBound& bound) {
  const ElementType type = expected.shape().element_type(), part_type = RealPartType(type);
  if (!IsFloat(part_type)) {
    const int unused = 64 - Info(type).bits;
    return (actual.Bits(i) ^ expected.Bits(i)) << unused == 0;
  }
  if (!IsComplex(type)) return Passes(type, actual.Bits(i), expected.Bits(i), bound);
  const auto number = [&](const Literal& l) {
    return std::complex<double>(ToDouble(part_type, PartBits(l, i, 0)),
                                ToDouble(part_type, PartBits(l, i, 1)));
  };
  if (bound.mode == Mode::Norm)
    return PassesNorm(number(actual), number(expected), Info(part_type).mantissa_bits, bound);
  return Passes(part_type, PartBits(actual, i, 0), PartBits(expected, i, 0), bound) &&
         Passes(part_type, PartBits(actual, i, 1), PartBits(expected, i, 1), bound);
}

std::string JudgeOutput(const Literal& value, const Literal& expected, const ResultBound& bound) {
  const Literal actual = value.ToStatic().Unpack();
  if (!Same(actual.shape(), expected.shape(), {.layout = false, .dynamic = false}))
    return llvm::formatv("{0} instead of {1}", actual.shape(), expected.shape()).str();
  if (bound.mode == Mode::Any || actual == expected) return "";
  const Literal wanted = expected.Unpack();
  const int64_t count = expected.shape().ElementCount();
  int64_t wrong = 0, first = 0;
  for (int64_t i = count; i-- > 0;)
    if (!ElementPasses(actual, wanted, i, bound)) {
      ++wrong;
      first = i;
    }
  if (wrong == 0) return "";
  const ElementType part_type = RealPartType(expected.shape().element_type());
  return llvm::formatv("{0} of {1} elements wrong, the first is number {2}: {3} instead of {4}", wrong, count,
                       first, PartText(part_type, PartBits(actual, first, 0)),
                       PartText(part_type, PartBits(wanted, first, 0)))
      .str();
}

}  // namespace

Result<std::vector<ConformanceCase>> ReadConformanceCases(llvm::StringRef folder) {
  const std::string path = (folder + "/manifest.json").str();
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) return Error("input-open", {}, "cannot open '{0}': {1}", path, buffer.getError().message());
  HLO_TRY(const JsonDocument manifest,
          ReadJson(std::make_shared<SourceBuffer>(path, (*buffer)->getBuffer().str())));
  return ManifestReader(folder, manifest).Read();
}

Result<LoadedCase> LoadCase(const ConformanceCase& conformance_case) {
  const auto buffer = llvm::MemoryBuffer::getFile(conformance_case.file);
  if (!buffer) return Error("input-open", {}, "cannot open '{0}'", conformance_case.file);
  LoadedCase loaded;
  ParseResult parsed =
      ParseModule(std::make_shared<SourceBuffer>(conformance_case.file, (*buffer)->getBuffer().str()));
  if (!parsed.module) return Error(parsed.diagnostics.front());
  loaded.module = std::move(parsed.module);
  HLO_TRY(const ArrayFile file, OpenArrayFile(conformance_case.data));
  const Computation& entry = *loaded.module->entry();
  for (int64_t d = 0; d < conformance_case.devices; ++d) {
    const std::string suffix = conformance_case.devices > 1 ? "@" + std::to_string(d) : "";
    std::vector<Literal> leaves;
    for (size_t k = 0; k < conformance_case.parameters.size(); ++k) {
      const llvm::ArrayRef<int64_t> index = conformance_case.parameters[k].index;
      const Shape& parameter = entry.parameter(index.front())->shape();
      HLO_TRY(Literal leaf,
              Member(file, "in" + std::to_string(k) + suffix, OutputShape(parameter, index.drop_front())));
      leaves.push_back(std::move(leaf));
    }
    auto next = leaves.cbegin();
    loaded.arguments.emplace_back();
    for (const Instruction* p : entry.parameters())
      loaded.arguments.back().push_back(Assemble(p->shape(), next));
    loaded.expected.emplace_back();
    for (size_t k = 0; k < conformance_case.outputs.size(); ++k) {
      HLO_TRY(Literal leaf, Member(file, "out" + std::to_string(k) + suffix,
                                   OutputShape(entry.root()->shape(), conformance_case.outputs[k].index)));
      loaded.expected.back().push_back(std::move(leaf));
    }
  }
  return loaded;
}

std::string JudgeResults(const ConformanceCase& conformance_case, const LoadedCase& loaded,
                         llvm::ArrayRef<Literal> results) {
  for (size_t d = 0; d < results.size(); ++d)
    for (size_t k = 0; k < conformance_case.outputs.size(); ++k) {
      const CaseLeaf& leaf = conformance_case.outputs[k];
      const std::string wrong =
          JudgeOutput(OutputValue(results[d], leaf.index), loaded.expected[d][k], leaf.bound);
      if (!wrong.empty()) return llvm::formatv("output {0} on device {1}: {2}", k, d, wrong).str();
    }
  return "";
}

}  // namespace hlo::testing
