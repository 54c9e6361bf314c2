#include "tools/testing/call_mutations.h"

namespace hlo::testing {
namespace {

using Values = std::vector<ValueText>;

/// The operands, the results or, if there are any, the layout constraints.
Values& SomeValues(CallText& call, Dice& dice) {
  if (call.has_constraints && dice.OneIn(4)) return call.constraints;
  return dice.OneIn(2) ? call.operands : call.results;
}

/// One of them that is an array; null if the list chosen has none.
ValueText* SomeArray(CallText& call, Dice& dice) {
  Values& values = SomeValues(call, dice);
  if (values.empty()) return nullptr;
  ValueText& value = dice.Pick(values);
  return value.whole.empty() ? &value : nullptr;
}

/// Operands and their constraints change together, or constraints refuse what signatures could.
void FollowOperands(CallText& call, Dice& dice) {
  if (call.has_constraints && !dice.OneIn(4)) call.constraints = call.operands;
}

/// A layout written for another rank would be refused for that.
void FitLayout(ValueText& value, Dice& dice) {
  if (!dice.OneIn(8)) value.layout = MakeLayout(value.sizes.size(), /*as_matrices=*/true, dice);
}

bool OtherType(CallText& call, Dice& dice) {
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr) return false;
  value->type = MakeType(dice);
  FollowOperands(call, dice);
  return true;
}

/// Everywhere.
bool OtherTypes(CallText& call, Dice& dice) {
  if (call.operands.empty()) return false;
  const std::string from = dice.Pick(call.operands).type, to = MakeType(dice);
  for (Values* values : {&call.operands, &call.results, &call.constraints})
    for (ValueText& value : *values)
      if (value.type == from) value.type = to;
  return true;
}

bool ExchangeTypes(CallText& call, Dice& dice) {
  ValueText *a = SomeArray(call, dice), *b = SomeArray(call, dice);
  if (a == nullptr || b == nullptr || a->type == b->type) return false;
  std::swap(a->type, b->type);
  FollowOperands(call, dice);
  return true;
}

bool OtherSize(CallText& call, Dice& dice) {
  ValueText* value = SomeArray(call, dice);
  int64_t size = 0;
  if (value == nullptr || value->sizes.empty()) return false;
  std::string& text = dice.Pick(value->sizes);
  if (llvm::StringRef(text).getAsInteger(10, size)) return false;
  const int64_t others[] = {size == INT64_MAX ? 0 : size + 1, std::max<int64_t>(0, size - 1), 0, 1,
                            MakeSize(dice)};
  text = std::to_string(dice.Pick(others));
  FollowOperands(call, dice);
  return true;
}

/// Of an array that is mostly empty, so that it can be run.
bool LargeSize(CallText& call, Dice& dice) {
  static constexpr int64_t kLarge[] = {int64_t{1} << 31, (int64_t{1} << 31) - 1, int64_t{1} << 33,
                                       int64_t{1} << 40, int64_t{1} << 62,       INT64_MAX};
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr || value->sizes.empty()) return false;
  if (!dice.OneIn(3)) dice.Pick(value->sizes) = "0";
  dice.Pick(value->sizes) = std::to_string(dice.Pick(kLarge));
  FollowOperands(call, dice);
  return true;
}

/// Dimensions of the same number in all values become another size: the call may still fit.
bool SameSizeEverywhere(CallText& call, Dice& dice) {
  static constexpr int64_t kSizes[] = {0, 0, 1, 2, 7, 17, int64_t{1} << 31, int64_t{1} << 40};
  const ValueText* value = SomeArray(call, dice);
  if (value == nullptr || value->sizes.empty()) return false;
  const std::string from = dice.Pick(value->sizes), to = std::to_string(dice.Pick(kSizes));
  for (Values* values : {&call.operands, &call.results, &call.constraints})
    for (ValueText& v : *values)
      for (std::string& size : v.sizes)
        if (size == from) size = to;
  return true;
}

/// Entries without number of matrices without elements.
bool ManyEmptyEntries(CallText& call, Dice& dice) {
  for (Values* values : {&call.operands, &call.results, &call.constraints})
    for (ValueText& value : *values) {
      if (!value.whole.empty() || value.sizes.empty()) continue;
      for (std::string& size : value.sizes) size = "0";
      value.sizes.insert(value.sizes.begin(), "1099511627776");
      value.layout = MakeLayout(value.sizes.size(), /*as_matrices=*/true, dice);
    }
  return true;
}

bool OtherRank(CallText& call, Dice& dice) {
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr) return false;
  const auto at = value->sizes.begin() + dice.Below(static_cast<int64_t>(value->sizes.size()));
  if (value->sizes.empty() || dice.OneIn(2))
    value->sizes.insert(at, std::to_string(dice.OneIn(2) ? 1 : MakeSize(dice)));
  else
    value->sizes.erase(at);
  FitLayout(*value, dice);
  FollowOperands(call, dice);
  return true;
}

bool ExchangeSizes(CallText& call, Dice& dice) {
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr || value->sizes.size() < 2) return false;
  std::swap(dice.Pick(value->sizes), dice.Pick(value->sizes));
  FollowOperands(call, dice);
  return true;
}

bool DropValue(CallText& call, Dice& dice) {
  Values& values = SomeValues(call, dice);
  if (values.empty()) return false;
  values.erase(values.begin() + dice.Below(static_cast<int64_t>(values.size())));
  FollowOperands(call, dice);
  return true;
}

bool AddValue(CallText& call, Dice& dice) {
  Values& values = SomeValues(call, dice);
  ValueText value = values.empty() || dice.OneIn(3) ? MakeArray(dice) : dice.Pick(values);
  values.insert(values.begin() + dice.Below(static_cast<int64_t>(values.size()) + 1), std::move(value));
  call.tuple |= call.results.size() > 1;
  FollowOperands(call, dice);
  return true;
}

bool ExchangeValues(CallText& call, Dice& dice) {
  Values& values = SomeValues(call, dice);
  if (values.size() < 2) return false;
  std::swap(dice.Pick(values), dice.Pick(values));
  FollowOperands(call, dice);
  return true;
}

bool NoArray(CallText& call, Dice& dice) {
  static constexpr const char* kOthers[] = {
      "token[]", "opaque[]", "()", "(f32[2])", "(f32[2], s32[])", "b(f32[2])", "((f32[2]), s32[])"};
  Values& values = SomeValues(call, dice);
  if (values.empty()) return false;
  dice.Pick(values).whole = dice.Pick(kOthers);
  FollowOperands(call, dice);
  return true;
}

bool TupleOrNot(CallText& call, Dice&) {
  call.tuple = !call.tuple;
  if (!call.tuple && call.results.size() > 1) call.results.resize(1);
  return true;
}

bool PermutedLayout(CallText& call, Dice& dice) {
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr || value->sizes.size() < 2) return false;
  std::vector<int64_t> order;
  for (size_t d = 0; d < value->sizes.size(); ++d) order.push_back(static_cast<int64_t>(d));
  dice.Shuffle(order);
  value->layout = llvm::formatv("{{{0:$[,]}}", llvm::make_range(order.begin(), order.end())).str();
  FollowOperands(call, dice);
  return true;
}

/// With properties, of another rank, with dimensions twice or of none.
bool OtherLayout(CallText& call, Dice& dice) {
  static constexpr const char* kProperties[] = {
      ":T(2,128)", ":T(8,128)(2,1)", ":E(4)",   ":E(32)", ":E(8)",    ":E(64)", ":S(1)",  ":S(5)",
      ":L(8)",     ":#(u32)",        ":*(u32)", ":M(16)", ":SC(0:1)", ":T(0)",  ":T(*,2)"};
  static constexpr const char* kOrders[] = {
      "{}", "{0}", "{0,0}", "{1,2}", "{-1,0}", "{3,2,1,0}", "{99999999999999999999}", "{0,1", "[0,1]"};
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr) return false;
  if (dice.OneIn(3)) {
    value->layout = dice.Pick(kOrders);
  } else {
    std::string layout = value->sizes.empty() ? "{}" : value->layout;
    while (layout.empty()) layout = MakeLayout(value->sizes.size(), /*as_matrices=*/true, dice);
    layout.insert(layout.size() - 1, dice.Pick(kProperties));
    value->layout = layout;
  }
  FollowOperands(call, dice);
  return true;
}

bool NoLayout(CallText& call, Dice& dice) {
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr || value->layout.empty()) return false;
  value->layout.clear();
  return true;
}

bool DynamicSize(CallText& call, Dice& dice) {
  ValueText* value = SomeArray(call, dice);
  if (value == nullptr || value->sizes.empty()) return false;
  std::string& size = dice.Pick(value->sizes);
  if (size.size() > 9) return false;  // sizes of the run are numbers of 32 bits
  if (llvm::StringRef(size).starts_with("<="))
    size = size.substr(2);
  else
    size = dice.OneIn(6) ? "?" : "<=" + size;
  if (dice.OneIn(2)) FollowOperands(call, dice);
  return true;
}

bool OtherConstraints(CallText& call, Dice& dice) {
  if (!call.has_constraints || dice.OneIn(3)) {
    call.has_constraints = !call.has_constraints;
    call.constraints = call.operands;
    return true;
  }
  if (dice.OneIn(2))
    call.constraints.push_back(MakeArray(dice));
  else if (!call.constraints.empty())
    call.constraints.pop_back();
  return true;
}

bool OtherValueOfAttribute(CallText& call, Dice& dice) {
  static constexpr const char* kValues[] = {"-1",
                                            "0",
                                            "1",
                                            "2",
                                            "13",
                                            "65",
                                            "76",
                                            "78",
                                            "83",
                                            "85",
                                            "86",
                                            "127",
                                            "128",
                                            "200",
                                            "255",
                                            "256",
                                            "332",
                                            "4294967297",
                                            "2147483647",
                                            "2147483648",
                                            "-2147483649",
                                            "9223372036854775807",
                                            "9223372036854775808",
                                            "-9223372036854775808",
                                            "100000000000000000000000000000",
                                            "true",
                                            "false",
                                            "True",
                                            "1.5",
                                            "nan",
                                            "\"L\"",
                                            "L",
                                            "",
                                            "[1]",
                                            "{1}",
                                            "1 : i32",
                                            "0x4c",
                                            "+76",
                                            "0076"};
  if (call.dictionary.empty()) return false;
  dice.Pick(call.dictionary).value = dice.Pick(kValues);
  call.has_dictionary = true;
  return true;
}

bool OtherTypeOfAttribute(CallText& call, Dice& dice) {
  static constexpr const char* kTypes[] = {"",    "i8", "ui8",   "i32", "ui32",      "i64",         "bool",
                                           "f32", "i1", "index", "UI8", "ui8 : ui8", "tensor<2xi8>"};
  if (call.dictionary.empty()) return false;
  dice.Pick(call.dictionary).type = dice.Pick(kTypes);
  call.has_dictionary = true;
  return true;
}

bool OtherAttributes(CallText& call, Dice& dice) {
  static constexpr const char* kNames[] = {"uplo", "mode", "side", "low", "high", "left",
                                           "n",    "m",    "b",    "",    "Uplo", "unknown"};
  call.has_dictionary = true;
  const auto count = static_cast<int64_t>(call.dictionary.size());
  if (count > 0 && dice.OneIn(3))
    call.dictionary.erase(call.dictionary.begin() + dice.Below(count));
  else if (count > 0 && dice.OneIn(2))
    call.dictionary.push_back(dice.Pick(call.dictionary));
  else
    call.dictionary.push_back(
        {dice.Pick(kNames), std::to_string(dice.Below(100)), dice.OneIn(2) ? "ui8" : "i32"});
  return true;
}

/// No dictionary at all, or none that can be read.
bool MalformedConfig(CallText& call, Dice& dice) {
  static constexpr const char* kConfigs[] = {"{}",
                                             "{ }",
                                             "{,}",
                                             "{mode}",
                                             "{= 1}",
                                             "{mode = }",
                                             "{mode = 83 : }",
                                             "{mode = 83 : ui8,}",
                                             "{mode = 83 : ui8;}",
                                             "{{}}",
                                             "{{mode = 83 : ui8}}",
                                             "{",
                                             "}",
                                             "\"\"",
                                             "\"{}\"",
                                             "\"{mode = 83 : ui8\"",
                                             "\"mode = 83 : ui8\"",
                                             "\"}{\"",
                                             "\"{\"",
                                             "\"}\"",
                                             "\"{:}\"",
                                             "\"{=:=:}\"",
                                             "{\"mode\": 83}",
                                             "{\"reduction_dim\": 0}",
                                             "{\"reduction_dim\": -1}",
                                             "{\"reduction_dim\": 7}",
                                             "{\"reduction_dim\": 9223372036854775807}",
                                             "{\"reduction_dim\": -9223372036854775808}",
                                             "{\"reduction_dim\": 1e300}",
                                             "{\"reduction_dim\": \"0\"}",
                                             "{\"reduction_dim\": [0]}",
                                             "\"{\\\"reduction_dim\\\": \"",
                                             "\"[1]\"",
                                             "\"null\"",
                                             "\"1,1,100,1e-6\"",
                                             "\"0\"",
                                             "\"\\000\\001\\377\"",
                                             "\"lower\""};
  call.config = dice.Pick(kConfigs);
  return true;
}

bool OtherVersion(CallText& call, Dice& dice) {
  static constexpr const char* kVersions[] = {"API_VERSION_ORIGINAL",
                                              "API_VERSION_STATUS_RETURNING",
                                              "API_VERSION_STATUS_RETURNING_UNIFIED",
                                              "API_VERSION_TYPED_FFI",
                                              "API_VERSION_UNSPECIFIED",
                                              "API_VERSION_9",
                                              "1"};
  llvm::erase_if(call.more, [](llvm::StringRef text) { return text.starts_with("api_version"); });
  call.more.push_back(std::string("api_version=") + dice.Pick(kVersions));
  return true;
}

bool Aliasing(CallText& call, Dice& dice) {
  const auto part = [&] {
    return std::to_string(dice.Between(-1, static_cast<int64_t>(call.results.size())));
  };
  const std::string output = call.tuple && !dice.OneIn(8) ? "{" + part() + "}" : "{}";
  const std::string operand = std::to_string(dice.Between(
      dice.OneIn(8) ? -1 : 0, static_cast<int64_t>(call.operands.size()) - (dice.OneIn(8) ? 0 : 1)));
  const std::string index = dice.OneIn(8) ? "{0}" : "{}";
  call.more.push_back("output_to_operand_aliasing={" + output + ": (" + operand + ", " + index + ")}");
  return true;
}

bool Callee(CallText& call, Dice& dice) {
  static constexpr const char* kCallees[] = {
      "square { x = f32[] parameter(0)  ROOT r = f32[] multiply(x, x) }\n",
      "square { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=LT "
      "}\n",
      "square { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=GT "
      "}\n",
      "square { x = f32[2] parameter(0)  y = f32[2] parameter(1)  ROOT r = pred[2] compare(x, y), "
      "direction=GT }\n",
      "square { ROOT r = pred[] constant(true) }\n"};
  if (dice.OneIn(3)) {
    llvm::erase_if(call.more, [](llvm::StringRef text) { return text.starts_with("called_computations"); });
    return true;
  }
  if (llvm::StringRef(call.computations).contains("square {")) return false;
  call.computations += dice.Pick(kCallees);
  llvm::erase_if(call.more, [](llvm::StringRef text) { return text.starts_with("called_computations"); });
  call.more.emplace_back(dice.OneIn(2)   ? "to_apply=square"
                         : dice.OneIn(2) ? "called_computations={square}"
                                         : "called_computations={square, square}");
  return true;
}

bool OtherTarget(CallText& call, Dice& dice) {
  const auto all = AllCustomCallSignatures();
  if (dice.OneIn(2)) {
    call.target = dice.Pick(all).target;
    return true;
  }
  const auto at = static_cast<size_t>(dice.Below(static_cast<int64_t>(call.target.size())));
  if (dice.OneIn(2))
    call.target.erase(at, 1);
  else
    call.target[at] = "lapck_sdzLU*."[dice.Below(13)];
  return true;
}

bool MoreAttributes(CallText& call, Dice& dice) {
  static constexpr const char* kMore[] = {"custom_call_has_side_effect=true",
                                          "schedule=SCHEDULE_EARLIEST",
                                          "custom_call_schedule=LATEST",
                                          "literal=f32[2] {1, 2}",
                                          "window={size=2x2}",
                                          "dim_labels=bf_io->bf",
                                          "feature_group_count=2",
                                          "batch_group_count=0",
                                          "padding_type=PADDING_SAME",
                                          "operand_precision={highest}",
                                          "sharding={replicated}",
                                          "sharding={devices=[2,1]0,1}",
                                          "sharding={manual}",
                                          "frontend_attributes={a=\"b\"}",
                                          "metadata={op_name=\"x\"}",
                                          "dimensions={0}",
                                          "unknown=1"};
  call.more.emplace_back(dice.Pick(kMore));
  return true;
}

constexpr CallMutation kMutations[] = {
    {"other-type", OtherType},
    {"other-types", OtherTypes},
    {"exchange-types", ExchangeTypes},
    {"other-size", OtherSize},
    {"large-size", LargeSize},
    {"same-size-everywhere", SameSizeEverywhere},
    {"many-empty-entries", ManyEmptyEntries},
    {"other-rank", OtherRank},
    {"exchange-sizes", ExchangeSizes},
    {"drop-value", DropValue},
    {"add-value", AddValue},
    {"exchange-values", ExchangeValues},
    {"no-array", NoArray},
    {"tuple-or-not", TupleOrNot},
    {"permuted-layout", PermutedLayout},
    {"other-layout", OtherLayout},
    {"no-layout", NoLayout},
    {"dynamic-size", DynamicSize},
    {"other-constraints", OtherConstraints},
    {"value-of-attribute", OtherValueOfAttribute},
    {"type-of-attribute", OtherTypeOfAttribute},
    {"other-attributes", OtherAttributes},
    {"malformed-config", MalformedConfig},
    {"other-version", OtherVersion},
    {"aliasing", Aliasing},
    {"callee", Callee},
    {"other-target", OtherTarget},
    {"more-attributes", MoreAttributes},
};

}  // namespace

llvm::ArrayRef<CallMutation> AllCallMutations() { return kMutations; }

}  // namespace hlo::testing
