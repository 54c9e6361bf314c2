#include "tools/run/arguments.h"

#include <ctime>

namespace hlo {
namespace {

using llvm::StringRef;

struct FakeWord {
  llvm::StringLiteral text;
  ValueKind kind;
  bool shared;
};
// Modes of --fake besides the generators, and XLA's names for them.
constexpr FakeWord kFakeWords[] = {
    {"random", ValueKind::Random, false},
    {"random-shared", ValueKind::Random, true},
    {"edge", ValueKind::Edge, true},
    {"use_random_inputs", ValueKind::Random, false},
    {"use_shared_random_inputs", ValueKind::Random, true},
    {"use_zeros_as_input", ValueKind::Zeros, true},
    {"use_random_normal_inputs", ValueKind::Normal, true},
    {"use_device_id_as_input", ValueKind::DeviceId, true},
    {"uninitialized", ValueKind::Uninit, true},
};

std::vector<ShapeIndex> ArrayLeaves(const Shape& shape) {
  std::vector<ShapeIndex> leaves;
  ForEachLeaf(shape, [&](const ShapeIndex& index, const Shape& leaf) {
    if (leaf.IsArray()) leaves.push_back(index);
  });
  return leaves;
}

/// The part of `value` at `index`, to be written.
Literal& MutableAt(Literal& value, llvm::ArrayRef<int64_t> index) {
  Literal* at = &value;
  for (const int64_t i : index) at = &at->MutableElements()[static_cast<size_t>(i)];
  return *at;
}

/// Splits `0{1,0}@r1` off `SELECTOR:VALUE`; empty if there is no selector.
StringRef TakeSelector(StringRef& text) {
  auto is_name = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; };
  StringRef rest = text;
  rest.consume_front("%");
  const StringRef name = rest.take_while(is_name);
  if (name.empty()) return {};
  rest = rest.drop_front(name.size());
  if (rest.starts_with("{")) {
    const StringRef index = rest.drop_front().take_while([](char c) { return llvm::isDigit(c) || c == ','; });
    rest = rest.drop_front(1 + index.size());
    if (!rest.consume_front("}")) return {};
  }
  while (rest.starts_with("@r") || rest.starts_with("@p") || rest.starts_with("@d")) {
    const StringRef digits = rest.drop_front(2).take_while(llvm::isDigit);
    if (digits.empty()) return {};
    rest = rest.drop_front(2 + digits.size());
  }
  if (!rest.starts_with(":")) return {};
  const StringRef selector = text.drop_back(rest.size());
  text = rest.drop_front();
  return selector;
}

}  // namespace

bool NamesDevice(const std::string& input) {
  StringRef value = input;
  return TakeSelector(value).contains('@');
}

namespace {

/// Takes a number off the front; nothing if there is none.
std::optional<int64_t> TakeNumber(StringRef& text) {
  const StringRef digits = text.take_while(llvm::isDigit);
  int64_t value = 0;
  if (digits.empty() || digits.getAsInteger(10, value)) return std::nullopt;
  text = text.drop_front(digits.size());
  return value;
}

}  // namespace

std::string DeviceSuffix(const DeviceCount& devices, int64_t device, bool per_device) {
  if (!per_device) return "";
  return llvm::formatv("_r{0}_p{1}", device / devices.partitions, device % devices.partitions).str();
}

const Shape& ArgumentSource::ParameterShape(int64_t number) const {
  return forms_[static_cast<size_t>(number)].shape;
}

std::string ArgumentSource::Describe(int64_t parameter, const ShapeIndex& index) const {
  const StringRef name = module_.entry()->parameter(parameter)->name();
  if (index.empty()) return llvm::formatv("argument {0}: parameter %{1}", parameter, name).str();
  return llvm::formatv("argument {0}{1}: parameter %{2} at {1}", parameter, ToString(index), name).str();
}

const Value* ArgumentSource::Keep(std::unique_ptr<Value> value) {
  value->narrow = options_.npy_widen;
  values_.push_back(std::move(value));
  return values_.back().get();
}

Result<int64_t> ArgumentSource::FindParameter(StringRef name) const {
  name.consume_front("%");
  std::vector<StringRef> names;
  const auto count = static_cast<int64_t>(module_.entry()->parameters().size());
  for (const Instruction* parameter : module_.entry()->parameters()) {
    if (parameter->name() == name) return parameter->attr<ParameterAttrs>().number;
    names.push_back(parameter->name());
  }
  int64_t number = 0;
  if (!name.getAsInteger(10, number)) {
    if (number < count) return number;
    return Error("usage-name", {}, "no parameter {0}; the entry computation has {1}", number, count);
  }
  const std::string hint = DidYouMeanText(name, names);
  return Error("usage-name", {}, "no parameter '{0}'{1}{2}", name, hint.empty() ? "" : "; ", hint);
}

Result<ArgumentSource::Assignment> ArgumentSource::ParseSelector(StringRef selector) const {
  Assignment a;
  const size_t name_end = selector.find_first_of("{@");
  HLO_TRY(a.parameter, FindParameter(selector.take_front(name_end)));
  StringRef rest = name_end == StringRef::npos ? "" : selector.drop_front(name_end);
  if (rest.consume_front("{")) {
    while (auto i = TakeNumber(rest)) {
      a.index.push_back(*i);
      rest.consume_front(",");
    }
    rest.consume_front("}");
  }
  if (ParameterShape(a.parameter).Subshape(a.index) == nullptr)
    return Error("usage-option", {}, "option '--input': parameter {0} has no element {1}", a.parameter,
                 ToString(a.index));
  while (rest.consume_front("@")) {
    const char kind = rest.front();
    rest = rest.drop_front();
    const auto number = TakeNumber(rest);
    const int64_t bound = kind == 'r'   ? devices_.replicas
                          : kind == 'p' ? devices_.partitions
                                        : devices_.total();
    if (!number || *number >= bound)
      return Error("usage-option", {}, "option '--input': '{0}' names a device beyond the {1} there are",
                   selector, bound);
    (kind == 'r' ? a.replica : kind == 'p' ? a.partition : a.device) = number;
  }
  return a;
}

Status ArgumentSource::AddPositional(const Value& value, bool leaf_wise, Cursor& cursor, StringRef text) {
  const auto count = static_cast<int64_t>(module_.entry()->parameters().size());
  if (cursor.parameter >= count)
    return Error("usage-option", {},
                 "option '--input': no parameter left for '{0}'; the entry computation has {1}", text, count);
  Assignment a;
  a.value = &value;
  a.parameter = cursor.parameter;
  const std::vector<ShapeIndex> leaves = ArrayLeaves(ParameterShape(cursor.parameter));
  if (leaf_wise && cursor.leaf < leaves.size()) {
    a.index = leaves[cursor.leaf++];
  } else {
    cursor.leaf = leaves.size();
  }
  if (cursor.leaf >= leaves.size()) cursor = {cursor.parameter + 1, 0};
  assignments_.push_back(std::move(a));
  return {};
}

/// Given ones come after: of several values for a place the last counts.
Status ArgumentSource::AddStored() {
  Cursor cursor;
  const auto count = static_cast<int64_t>(module_.entry()->parameters().size());
  if (static_cast<int64_t>(stored_.size()) > count)
    return Error("input-shape", {}, "the snapshot stores {0} arguments; the entry computation has {1}",
                 stored_.size(), count);
  for (const Literal& literal : stored_) {
    auto value = std::make_unique<Value>();
    value->text = "an argument of the snapshot";
    value->file = "snapshot";
    value->what = literal.Unpack();
    HLO_CHECK_OK(AddPositional(*Keep(std::move(value)), /*leaf_wise=*/false, cursor, "the snapshot"));
  }
  return {};
}

Status ArgumentSource::AddInput(StringRef text, Cursor& cursor) {
  StringRef value_text = text;
  const StringRef selector = TakeSelector(value_text);
  if (selector.empty() && !text.starts_with("@") && text.contains(':'))
    return Error("usage-option", {},
                 "option '--input': found '{0}', expected [NUMBER|NAME[{{INDEX}][@rR][@pP][@dD]:]VALUE",
                 text);
  HLO_TRY(auto values, ReadValue(value_text, "--input"));
  if (!selector.empty()) {
    HLO_TRY(Assignment a, ParseSelector(selector));
    if (values.size() != 1)
      return Error("usage-option", {}, "option '--input': '{0}' holds {1} arrays, expected one for '{2}'",
                   value_text, values.size(), selector);
    a.value = Keep(std::move(values.front()));
    assignments_.push_back(std::move(a));
    return {};
  }
  for (auto& value : values) {
    const Value* kept = Keep(std::move(value));
    const auto* file = std::get_if<ArrayFile>(&kept->what);
    if (file != nullptr && file->kind == ArrayFile::Kind::Npz) {
      HLO_CHECK_OK(AddArchive(*file, /*all=*/false));
      continue;
    }
    HLO_CHECK_OK(AddPositional(*kept, std::holds_alternative<NpyArray>(kept->what), cursor, text));
  }
  return {};
}

/// The parameter that member `name` begins with, as `arg0_1_0_r0_p1`, `arr_0` or `weights_r0` do, and what
/// follows it.
std::optional<int64_t> ArgumentSource::TakeParameter(StringRef name,
                                                     const llvm::StringMap<int64_t>& parameters,
                                                     StringRef& rest) const {
  rest = "";
  if (const auto it = parameters.find(name); it != parameters.end()) return it->second;
  rest = name;
  if (rest.consume_front("arg") || rest.consume_front("arr_")) {
    const auto number = TakeNumber(rest);
    if (number && *number < static_cast<int64_t>(module_.entry()->parameters().size())) return number;
  }
  const size_t suffix = name.rfind("_r");
  if (suffix == StringRef::npos) return std::nullopt;
  rest = name.drop_front(suffix);
  const auto named = parameters.find(name.take_front(suffix));
  return named == parameters.end() ? std::nullopt : std::optional<int64_t>(named->second);
}

/// What member `name` cannot be assigned for, `rest` of whose name is left; empty if it can.
std::string ArgumentSource::MemberError(StringRef name, StringRef rest, const Assignment& a,
                                        size_t first) const {
  for (const Assignment& other : llvm::ArrayRef(assignments_).drop_front(first))
    if (other.parameter == a.parameter && other.index == a.index && other.replica == a.replica &&
        other.partition == a.partition)
      return llvm::formatv("members '{0}' and '{1}' are for the same argument", other.value->text, name);
  if (!rest.empty() || ParameterShape(a.parameter).Subshape(a.index) == nullptr)
    return llvm::formatv("member '{0}': parameter {1} is {2} and has no such part", name, a.parameter,
                         ParameterShape(a.parameter));
  if ((a.replica && *a.replica >= devices_.replicas) || (a.partition && *a.partition >= devices_.partitions))
    return llvm::formatv("member '{0}' names a device beyond {1} replicas and {2} partitions", name,
                         devices_.replicas, devices_.partitions);
  return "";
}

/// Assigns a member named after a parameter. The archive's assignments begin at number `first`.
Status ArgumentSource::AddMember(StringRef name, const NpyArray& array, StringRef path, size_t first,
                                 const llvm::StringMap<int64_t>& parameters) {
  Diagnostic error;
  error.file = path.str();
  error.id = "input-array";
  StringRef rest;
  const auto parameter = TakeParameter(name, parameters, rest);
  if (!parameter) {
    error.message = parameters.empty()
                        ? llvm::formatv("member '{0}' is no parameter: the module has none", name).str()
                        : llvm::formatv(
                              "member '{0}' is no parameter: the module has {1}; expected a name such as "
                              "arg0, arr_0 or %{2}",
                              name, parameters.size(), module_.entry()->parameter(0)->name())
                              .str();
    return Error(std::move(error));
  }
  Assignment a;
  a.parameter = *parameter;
  while (!rest.empty()) {
    if (!rest.consume_front("_")) break;
    if (rest.consume_front("r"))
      a.replica = TakeNumber(rest);
    else if (rest.consume_front("p"))
      a.partition = TakeNumber(rest);
    else if (auto i = TakeNumber(rest))
      a.index.push_back(*i);
    else
      break;
  }
  error.message = MemberError(name, rest, a, first);
  if (!error.message.empty()) return Error(std::move(error));
  auto value = std::make_unique<Value>();
  value->text = name.str();
  value->file = (path + "#" + name).str();
  value->what = array;
  a.value = Keep(std::move(value));
  assignments_.push_back(std::move(a));
  return {};
}

Status ArgumentSource::AddArchive(const ArrayFile& file, bool all) {
  llvm::StringMap<int64_t> parameters;
  for (const Instruction* parameter : module_.entry()->parameters())
    parameters[parameter->name()] = parameter->attr<ParameterAttrs>().number;
  const size_t first = assignments_.size();
  for (const auto& [name, array] : file.arrays) {
    // Files saved at a mismatch hold results beside the arguments.
    const StringRef member = name;
    const bool result =
        member.starts_with("actual") || member.starts_with("expected") || member.starts_with("mask");
    if (!result || parameters.contains(member))
      HLO_CHECK_OK(AddMember(member, array, file.path, first, parameters));
  }
  if (!all) return {};
  // --inputs promises all arguments.
  std::vector<bool> given(parameters.size());
  for (const Assignment& a : assignments_) given[static_cast<size_t>(a.parameter)] = true;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] || ArrayLeaves(ParameterShape(static_cast<int64_t>(i))).empty()) continue;
    Diagnostic error = MakeError("input-array", {}, "no member for parameter {0} (%{1}); expected 'arg{0}'",
                                 i, module_.entry()->parameter(static_cast<int64_t>(i))->name());
    error.file = file.path;
    error.Note("members are " + MembersOf(file));
    return Error(std::move(error));
  }
  return {};
}

Result<ValueRule> ArgumentSource::FakeRule() const {
  ValueRule rule;
  rule.large_float_range = options_.large_float_range;
  if (auto generator = ParseGenerator(options_.fake)) return *generator;
  std::vector<StringRef> words;
  for (const FakeWord& word : kFakeWords) {
    words.push_back(word.text);
    if (word.text != options_.fake) continue;
    rule.kind = word.kind;
    if (rule.kind == ValueKind::Normal) rule.b = 1;
    return rule;
  }
  llvm::append_range(words, GeneratorNames());
  const std::string hint = DidYouMeanText(options_.fake, words);
  return Error("usage-option", {},
               "option '--fake': found '{0}', expected random, random-shared, edge or a generator such as "
               "uniform(0,1){1}{2}",
               options_.fake, hint.empty() ? "" : "; ", hint);
}

Status ArgumentSource::Read() {
  for (const Instruction* parameter : module_.entry()->parameters())
    forms_.push_back(GlobalFormOf(parameter->shape(), parameter->extras().sharding.get(),
                                  options_.input_scope == InputScope::Global ? devices_.partitions : 1));
  if (options_.seed == "time")
    seed_ = static_cast<uint64_t>(std::time(nullptr));
  else
    StringRef(options_.seed).getAsInteger(0, seed_);
  HLO_TRY(fake_, FakeRule());
  for (const FakeWord& word : kFakeWords)
    if (word.text == options_.fake) fake_shared_ = word.shared;
  if (!options_.force_fake_data) HLO_CHECK_OK(AddStored());
  if (!options_.inputs.empty()) {
    StringRef path = options_.inputs;
    path.consume_front("@");
    HLO_TRY(auto values, ReadValue(("@" + path).str(), "--inputs"));
    Cursor cursor;
    for (auto& value : values) {
      const Value* kept = Keep(std::move(value));
      const auto* file = std::get_if<ArrayFile>(&kept->what);
      if (file != nullptr && file->kind == ArrayFile::Kind::Npz)
        HLO_CHECK_OK(AddArchive(*file, /*all=*/true));
      else
        HLO_CHECK_OK(
            AddPositional(*kept, std::holds_alternative<NpyArray>(kept->what), cursor, options_.inputs));
    }
  }
  Cursor cursor;
  for (const std::string& text : options_.input) HLO_CHECK_OK(AddInput(text, cursor));
  if (fake_.kind == ValueKind::Random) leaf_rules_ = TraceConstraints(module_, fake_);
  return {};
}

/// Assigned values where there are any, made-up ones elsewhere.
Result<Literal> ArgumentSource::MakeParameter(int64_t parameter, int64_t device, uint64_t seed) const {
  const Shape& shape = ParameterShape(parameter);
  const int64_t replica = device / devices_.partitions, partition = device % devices_.partitions;
  ValueSeed value_seed{seed, parameter, 0, device};
  const Assignment* whole = nullptr;
  std::vector<const Assignment*> parts;
  for (const Assignment& a : assignments_) {
    if (a.parameter != parameter || !a.Covers(replica, partition, device) || IsPart(a)) continue;
    if (a.index.empty()) {
      whole = &a;
      parts.clear();
    } else {
      parts.push_back(&a);
    }
  }
  Literal value;
  if (whole != nullptr) {
    auto made = MakeLiteral(*whole->value, shape, Describe(parameter, {}), value_seed);
    if (!made && forms_[static_cast<size_t>(parameter)].cut()) {
      Diagnostic error = std::move(made).error();
      error.message += llvm::formatv(
          " (all partitions together; {0}@pP: or --input-scope=per-device for a part)", parameter);
      return Error(std::move(error));
    }
    HLO_TRY(value, std::move(made));
  } else {
    HLO_CHECK_OK(CheckRule(fake_, shape, Describe(parameter, {}), options_.fake));
    // With data per device, devices get different random arguments.
    if (!fake_shared_ && options_.input_scope == InputScope::PerDevice)
      value_seed.seed += static_cast<uint64_t>(device) << 32;
    const std::vector<ValueRule>* rules =
        leaf_rules_.empty() ? nullptr : &leaf_rules_[static_cast<size_t>(parameter)];
    value = shape.IsTuple() ? Literal::Make(Shape::MakeTuple({})) : Literal();
    size_t leaf = 0;
    std::function<Literal(const Shape&)> make = [&](const Shape& s) -> Literal {
      if (s.IsTuple()) {
        std::vector<Literal> elements;
        for (const Shape& e : s.tuple_shapes()) elements.push_back(make(e));
        return Literal::MakeTuple(std::move(elements));
      }
      value_seed.leaf = static_cast<int64_t>(leaf);
      const ValueRule& rule = rules == nullptr ? fake_ : (*rules)[leaf];
      ++leaf;
      return MakeValue(s, rule, value_seed);
    };
    value = make(shape);
  }
  for (const Assignment* a : parts) {
    HLO_TRY(Literal part,
            MakeLiteral(*a->value, *shape.Subshape(a->index), Describe(parameter, a->index), value_seed));
    MutableAt(value, a->index) = std::move(part);
  }
  return value;
}

bool ArgumentSource::SameOnAllDevices(int64_t parameter) const {
  if (!fake_shared_ && options_.input_scope == InputScope::PerDevice) return false;
  if (fake_.kind == ValueKind::DeviceId || forms_[static_cast<size_t>(parameter)].cut()) return false;
  return llvm::none_of(assignments_, [&](const Assignment& a) {
    const auto* rule = std::get_if<ValueRule>(&a.value->what);
    return a.parameter == parameter &&
           (a.replica || a.partition || a.device || (rule != nullptr && rule->kind == ValueKind::DeviceId));
  });
}

Literal ArgumentSource::Uncut(const Arguments& arguments, int64_t device, size_t parameter) const {
  if (!forms_[parameter].cut()) return arguments[static_cast<size_t>(device)][parameter];
  std::vector<Literal> parts;
  const int64_t first = device / devices_.partitions * devices_.partitions;
  for (int64_t p = 0; p < devices_.partitions; ++p)
    parts.push_back(arguments[static_cast<size_t>(first + p)][parameter]);
  return AssembleParts(parts, forms_[parameter]);
}

bool ArgumentSource::IsPart(const Assignment& a) const {
  return forms_[static_cast<size_t>(a.parameter)].cut() && (a.partition || a.device);
}

Status ArgumentSource::SetParts(Literal& value, int64_t parameter, int64_t device, uint64_t seed) const {
  const Shape& shape = module_.entry()->parameter(parameter)->shape();
  for (const Assignment& a : assignments_) {
    if (a.parameter != parameter || !IsPart(a)) continue;
    if (!a.Covers(device / devices_.partitions, device % devices_.partitions, device)) continue;
    HLO_TRY(Literal part, MakeLiteral(*a.value, *shape.Subshape(a.index), Describe(parameter, a.index),
                                      {seed, parameter, 0, device}));
    MutableAt(value, a.index) = std::move(part);
  }
  return {};
}

Result<Arguments> ArgumentSource::Make(int64_t iteration) const {
  Arguments arguments(static_cast<size_t>(devices_.total()));
  for (int64_t d = 0; d < devices_.total(); ++d)
    for (int64_t p = 0; p < static_cast<int64_t>(module_.entry()->parameters().size()); ++p) {
      // Where nothing depends on the device, devices share the first one's memory.
      if (d > 0 && SameOnAllDevices(p)) {
        arguments[static_cast<size_t>(d)].push_back(arguments[0][static_cast<size_t>(p)]);
        continue;
      }
      HLO_TRY(Literal value, MakeParameter(p, d, seed_ + static_cast<uint64_t>(iteration)));
      if (const GlobalForm& form = forms_[static_cast<size_t>(p)]; form.cut())
        value = CutForPartition(value, module_.entry()->parameter(p)->shape(), form, d % devices_.partitions);
      HLO_CHECK_OK(SetParts(value, p, d, seed_ + static_cast<uint64_t>(iteration)));
      arguments[static_cast<size_t>(d)].push_back(std::move(value));
    }
  return arguments;
}

}  // namespace hlo
