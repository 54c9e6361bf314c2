// Calls that fit signatures.
#include "llvm/ADT/StringMap.h"
#include "tools/testing/call_text.h"

namespace hlo::testing {

int64_t MakeSize(Dice& dice) {
  if (dice.OneIn(12)) return 0;
  if (dice.OneIn(6)) return dice.Between(6, 12);
  // Beyond 16 routines of the library are called even where small matrices have loops of their own.
  if (dice.OneIn(30)) return dice.Between(17, 20);
  return dice.Between(1, 5);
}

std::string MakeType(Dice& dice) {
  while (true) {
    const TypeInfo& info = dice.Pick(kTypeTable);
    if (IsArrayType(info.type)) return info.text.str();
  }
}

std::string MakeLayout(size_t rank, bool as_matrices, Dice& dice) {
  std::vector<int64_t> order;
  for (size_t d = rank; d-- > 0;) order.push_back(static_cast<int64_t>(d));
  if (as_matrices && rank >= 2 && !dice.OneIn(4))
    std::swap(order[0], order[1]);
  else if (dice.OneIn(3))
    dice.Shuffle(order);
  else if (dice.OneIn(2))
    return "";
  if (rank == 0) return "";
  std::string text;
  for (const int64_t d : order) text += (text.empty() ? "" : ",") + std::to_string(d);
  return "{" + text + "}";
}

ValueText MakeArray(Dice& dice) {
  ValueText value{MakeType(dice), {}, "", ""};
  for (int64_t d = dice.Below(4); d > 0; --d) value.sizes.push_back(std::to_string(MakeSize(dice)));
  value.layout = MakeLayout(value.sizes.size(), /*as_matrices=*/false, dice);
  return value;
}

namespace {

/// Makes one call.
class CallMaker {
 public:
  CallMaker(const CustomCallSignature& signature, Dice& dice) : signature_(signature), dice_(dice) {}

  CallText Make() {
    llvm::StringRef target = signature_.target;
    call_.target = target.consume_back("*") ? (target + "GlobalToLocalShape").str() : target.str();
    call_.has_dictionary = signature_.has_dictionary && !dice_.OneIn(8);
    ChooseLetters();
    ChooseSizes();
    ChooseNumbers();
    if (!signature_.elements.empty()) element_ = dice_.Pick(signature_.elements);
    if (signature_.element) element_ = signature_.element;
    for (const ValueSpec& spec : signature_.operands) Add(spec, call_.operands);
    for (const ValueSpec& spec : signature_.results) Add(spec, call_.results);
    call_.tuple = signature_.results.size() > 1 || (signature_.has_dictionary && dice_.OneIn(8));
    if (signature_.rule == "identity" || signature_.rule == "partitioned")
      MakeIdentity();
    else if (signature_.rule == "approx_top_k")
      MakeApproxTopK();
    else if (signature_.rule == "csr_product")
      MakeCsrProduct();
    else if (signature_.rule == "unscaled_fft")
      MakeUnscaledFft();
    else if (signature_.free_results)
      MakeAnything();
    if (signature_.rule != "approx_top_k" && dice_.OneIn(2)) Constrain();
    if (signature_.has_dictionary && dice_.OneIn(2))
      call_.more.emplace_back("api_version=API_VERSION_TYPED_FFI");
    return std::move(call_);
  }

 private:
  [[nodiscard]] std::optional<int64_t> ValueOf(const SizeExpr& size) const {
    return size.Evaluate([this](llvm::StringRef name) -> std::optional<int64_t> {
      const auto it = values_.find(name);
      return it == values_.end() ? std::nullopt : std::optional(it->second);
    });
  }

  /// Letters and flags, written or left out.
  void ChooseLetters() {
    for (const AttributeSpec& attribute : signature_.attributes) {
      const bool flag = attribute.type == "bool";
      if (!flag && attribute.letters.empty()) continue;
      int64_t value = *ValueOf(attribute.otherwise);
      if (call_.has_dictionary && !dice_.OneIn(4)) {
        value = flag ? dice_.Below(2)
                     : attribute.letters[static_cast<size_t>(
                           dice_.Below(static_cast<int64_t>(attribute.letters.size())))];
        const std::string text = !flag ? std::to_string(value) : value != 0 ? "true" : "false";
        call_.dictionary.push_back({attribute.name, text, flag ? "" : attribute.type});
      }
      values_[attribute.name] = value;
    }
  }

  /// Sizes of all letters, so that the relations hold.
  void ChooseSizes() {
    for (const auto* specs : {&signature_.operands, &signature_.results})
      for (const ValueSpec& spec : *specs) {
        for (const SizeExpr& size : spec.sizes)
          if (size.kind == SizeExpr::Kind::Name) values_.try_emplace(size.name, MakeSize(dice_));
        if (spec.leading.empty() || leading_.contains(spec.leading)) continue;
        std::vector<int64_t>& sizes = leading_[spec.leading];
        for (int64_t d = dice_.OneIn(2) ? 0 : dice_.Between(1, 2); d > 0; --d)
          sizes.push_back(dice_.OneIn(10) ? 0 : dice_.Between(1, 3));
      }
    for (const Relation& relation : signature_.relations) {
      const int64_t limit = *ValueOf(relation.right);
      int64_t& size = values_[relation.left.name];
      if (relation.equal)
        size = limit;
      else if (size > limit)
        size = dice_.Between(0, limit);
    }
  }

  /// Attributes whose range depends on sizes.
  void ChooseNumbers() {
    for (const AttributeSpec& attribute : signature_.attributes) {
      if (attribute.type == "bool" || !attribute.letters.empty()) continue;
      if (attribute.type == "string") {
        if (call_.has_dictionary && !dice_.OneIn(4))
          call_.dictionary.push_back({attribute.name, "\"auto\"", ""});
        continue;
      }
      values_[attribute.name] = *ValueOf(attribute.otherwise);
      const int64_t low = *ValueOf(attribute.low), high = *ValueOf(attribute.high);
      const bool fits = low <= values_[attribute.name] && values_[attribute.name] <= high;
      if (!call_.has_dictionary || (fits && dice_.OneIn(4))) continue;
      const int64_t value = values_[attribute.name] = dice_.Between(low, high);
      call_.dictionary.push_back({attribute.name, std::to_string(value), attribute.type});
    }
  }

  std::string TypeOf(const ValueSpec& spec) {
    const auto any = [&](auto fits) {
      while (true) {
        const TypeInfo& info = dice_.Pick(kTypeTable);
        if (IsArrayType(info.type) && fits(info)) return info.type;
      }
    };
    ElementType type = spec.element;
    if (spec.type == ValueSpec::Type::Bits)
      type = any([&](const TypeInfo& info) { return info.bits == spec.bits; });
    if (spec.type == ValueSpec::Type::Target || spec.type == ValueSpec::Type::Real ||
        spec.type == ValueSpec::Type::Complex) {
      if (!element_) element_ = any([](const TypeInfo&) { return true; });
      type = *element_;
    }
    if (spec.type == ValueSpec::Type::Real) type = RealPartType(type);
    if (spec.type == ValueSpec::Type::Complex) type = ComplexType(type).value_or(type);
    return ToString(type).str();
  }

  void Add(const ValueSpec& spec, std::vector<ValueText>& values) {
    const size_t count = spec.repeated.empty() ? 1 : leading_[spec.repeated].size();
    for (size_t i = 0; i < count; ++i) {
      ValueText value{TypeOf(spec), {}, "", ""};
      const bool scalar = !spec.flag.empty() && values_[spec.flag] == 0;
      if (!spec.leading.empty() && !scalar)
        for (const int64_t d : leading_[spec.leading]) value.sizes.push_back(std::to_string(d));
      for (const SizeExpr& size : scalar ? std::vector<SizeExpr>() : spec.sizes) {
        const auto known = ValueOf(size);
        value.sizes.push_back(std::to_string(known ? *known : MakeSize(dice_)));
      }
      if (spec.may_be_dynamic && !spec.leading.empty()) MakeDynamic(spec, value);
      value.layout = MakeLayout(value.sizes.size(), signature_.has_dictionary, dice_);
      values.push_back(std::move(value));
    }
  }

  /// Leading sizes of all values that may be of the run are, or are not.
  void MakeDynamic(const ValueSpec& spec, ValueText& value) {
    const size_t count = leading_[spec.leading].size();
    if (!dynamic_) {
      dynamic_.emplace();
      for (size_t d = 0; d < count; ++d) dynamic_->push_back(dice_.OneIn(4));
    }
    for (size_t d = 0; d < count; ++d)
      if ((*dynamic_)[d]) value.sizes[d] = "<=" + value.sizes[d];
  }

  /// The result is the first operand, the tuple of all, or nothing.
  void MakeIdentity() {
    for (int64_t i = dice_.OneIn(3) ? 2 : 1; i > 0; --i) call_.operands.push_back(MakeArray(dice_));
    if (dice_.OneIn(12)) call_.operands = {ValueText{"", {}, "", "(f32[2], (s32[3], pred[]))"}};
    call_.results = {call_.operands[0]};
    if (dice_.OneIn(4)) {
      call_.results = call_.operands;
      call_.tuple = true;
    } else if (dice_.OneIn(10)) {
      call_.results = {ValueText{"", {}, "", dice_.OneIn(2) ? "token[]" : "()"}};
    }
    if (call_.tuple && !call_.operands[0].whole.empty()) call_.tuple = false;
  }

  /// Complex numbers to such, real numbers to the first half of them, or back.
  void MakeUnscaledFft() {
    const bool wide = dice_.OneIn(2), from_real = dice_.OneIn(3), to_real = !from_real && dice_.OneIn(3);
    const bool inverse = to_real || (!from_real && dice_.OneIn(2));
    const std::string real = wide ? "f64" : "f32", complex = wide ? "c128" : "c64";
    const int64_t rank = dice_.Between(1, 4);
    ValueText in{from_real ? real : complex, {}, "", ""};
    for (int64_t d = 0; d < rank; ++d) in.sizes.push_back(std::to_string(dice_.Between(1, 6)));
    in.layout = MakeLayout(static_cast<size_t>(rank), /*as_matrices=*/false, dice_);
    ValueText out = in;
    out.type = to_real ? real : complex;
    const int64_t last = dice_.Between(1, 9);
    (to_real ? out : in).sizes.back() = std::to_string(last);
    (to_real ? in : out).sizes.back() = std::to_string(from_real || to_real ? last / 2 + 1 : last);
    call_.operands = {in};
    call_.results = {out};
    call_.config = "{\"fft_rank\":" + std::to_string(dice_.Between(1, std::min<int64_t>(rank, 3))) +
                   ",\"inverse\":" + (inverse ? "1" : "0") + "}";
  }

  /// Numbers of a sparse matrix, starts of rows, columns, a dense matrix or vector.
  void MakeCsrProduct() {
    static constexpr const char* kTypes[] = {"s32", "s64", "f32", "f64", "c64", "c128"};
    const std::string type = dice_.Pick(kTypes), index = dice_.OneIn(2) ? "s32" : "s64";
    const std::string count = std::to_string(MakeSize(dice_));
    const int64_t rows = MakeSize(dice_);
    std::vector<std::string> more;
    if (dice_.OneIn(2)) more.push_back(std::to_string(MakeSize(dice_)));
    ValueText dense{type, {std::to_string(MakeSize(dice_))}, "", ""},
        product{type, {std::to_string(rows)}, "", ""};
    for (ValueText* value : {&dense, &product})
      value->sizes.insert(value->sizes.end(), more.begin(), more.end());
    call_.operands = {ValueText{type, {count}, "", ""}, ValueText{index, {std::to_string(rows + 1)}, "", ""},
                      ValueText{index, {count}, "", ""}, dense};
    call_.results = {product};
  }

  void MakeApproxTopK() {
    const int64_t count = dice_.Between(1, 2);
    std::vector<int64_t> sizes;
    for (int64_t d = dice_.Between(1, 3); d > 0; --d) sizes.push_back(MakeSize(dice_));
    const int64_t dimension = dice_.Below(static_cast<int64_t>(sizes.size()));
    const int64_t kept = dice_.Between(0, sizes[static_cast<size_t>(dimension)]);
    std::vector<ValueText> initial;
    std::string parameters;
    for (int64_t i = 0; i < count; ++i) {
      ValueText in{MakeType(dice_), {}, "", ""}, out;
      for (const int64_t size : sizes) in.sizes.push_back(std::to_string(size));
      in.layout = MakeLayout(sizes.size(), /*as_matrices=*/false, dice_);
      out = in;
      out.sizes[static_cast<size_t>(dimension)] = std::to_string(kept);
      initial.push_back({in.type, {}, "", ""});
      for (int64_t p = 2 * i; p < 2 * i + 2; ++p)
        parameters +=
            "  x" + std::to_string(p) + " = " + in.type + "[] parameter(" + std::to_string(p) + ")\n";
      call_.operands.push_back(in);
      call_.results.push_back(out);
    }
    const bool complex = llvm::StringRef(call_.operands[0].type).starts_with("c");
    call_.computations = "order {\n" + parameters + "  ROOT less = pred[] compare(x0, x1), direction=" +
                         (complex          ? "NE"
                          : dice_.OneIn(2) ? "GT"
                                           : "LT") +
                         "\n}\n";
    call_.operands.insert(call_.operands.end(), initial.begin(), initial.end());
    call_.tuple = count > 1 || dice_.OneIn(3);
    call_.more.emplace_back("called_computations={order}");
    const int64_t from = dice_.OneIn(3) ? -static_cast<int64_t>(sizes.size()) : 0;
    if (kept == sizes[static_cast<size_t>(dimension)] || !dice_.OneIn(3))
      call_.config = "{\"reduction_dim\": " + std::to_string(dimension + from) + "}";
  }

  void MakeAnything() {
    for (int64_t i = dice_.Below(3); i > 0; --i) call_.operands.push_back(MakeArray(dice_));
    for (int64_t i = dice_.Between(1, 3); i > 0; --i) call_.results.push_back(MakeArray(dice_));
    call_.tuple = signature_.results.size() > 1 || dice_.OneIn(4);
  }

  void Constrain() {
    call_.has_constraints = true;
    call_.constraints = call_.operands;
    for (ValueText& value : call_.constraints)
      if (dice_.OneIn(8) && value.whole.empty())
        value.layout = MakeLayout(value.sizes.size(), signature_.has_dictionary, dice_);
  }

  const CustomCallSignature& signature_;
  Dice& dice_;
  CallText call_;
  llvm::StringMap<int64_t> values_;
  llvm::StringMap<std::vector<int64_t>> leading_;
  std::optional<std::vector<bool>> dynamic_;
  std::optional<ElementType> element_;
};

}  // namespace

CallText MakeCall(const CustomCallSignature& signature, Dice& dice) {
  return CallMaker(signature, dice).Make();
}

}  // namespace hlo::testing
