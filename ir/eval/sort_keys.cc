#include "ir/eval/sort_keys.h"

#include "ir/module.h"
#include "ir/numeric/float_format.h"

namespace hlo {
namespace {

/// Whether `a` computes from the even parameters just what `b` computes from the odd ones.
class MirrorMatcher {
 public:
  bool Match(const Instruction* a, const Instruction* b) {
    if (a->kind() == OpKind::Parameter || b->kind() == OpKind::Parameter) {
      if (a->kind() != b->kind()) return false;
      const int64_t left = a->attr<ParameterAttrs>().number;
      return left % 2 == 0 && b->attr<ParameterAttrs>().number == left + 1;
    }
    const auto [it, fresh] = seen_.try_emplace({a, b}, false);
    if (!fresh) return it->second;
    bool equal = a->kind() == b->kind() && a->shape() == b->shape() && a->attrs() == b->attrs() &&
                 a->callees() == b->callees() && a->operand_count() == b->operand_count();
    for (int64_t i = 0; equal && i < a->operand_count(); ++i) equal = Match(a->operand(i), b->operand(i));
    return seen_[{a, b}] = equal;
  }

 private:
  llvm::DenseMap<std::pair<const Instruction*, const Instruction*>, bool> seen_;
};

/// Copies the cone of `root` into `to`; parameter 2i becomes parameter i.
Instruction* CopyCone(const Instruction* root, Computation& to,
                      llvm::DenseMap<const Instruction*, Instruction*>& copies) {
  if (Instruction* done = copies.lookup(root)) return done;
  llvm::SmallVector<Instruction*> operands;
  for (const Instruction* operand : root->operands()) operands.push_back(CopyCone(operand, to, copies));
  return copies[root] =
             to.Add(root->kind(), root->shape(), root->name(), operands, root->attrs(), root->callees());
}

std::shared_ptr<const ScalarFunction> CompileKey(const Instruction* root) {
  Module scratch("key");
  Computation* key = scratch.AddComputation("key");
  const Computation& comparator = *root->parent();
  llvm::DenseMap<const Instruction*, Instruction*> copies;
  const auto count = static_cast<int64_t>(comparator.parameters().size() / 2);
  for (int64_t i = 0; i < count; ++i) {
    const Instruction* left = comparator.parameter(2 * i);
    ParameterAttrs attrs;
    attrs.number = i;
    copies[left] = key->Add(OpKind::Parameter, left->shape(), left->name(), {}, attrs);
  }
  key->set_root(CopyCone(root, *key, copies));
  return ScalarFunction::Compile(*key);
}

/// compare(k(left), k(right)) in one of the given directions, either way round.
struct KeyComparison {
  const Instruction* left;
  Direction direction;
};
std::optional<KeyComparison> MatchComparison(const Instruction* inst) {
  // Matching goes down with operands.
  constexpr int64_t kMostInstructions = 4096;
  if (inst->kind() != OpKind::Compare || inst->parent()->instruction_count() > kMostInstructions)
    return std::nullopt;
  const Direction direction = inst->attr<CompareAttrs>().direction;
  if (MirrorMatcher().Match(inst->operand(0), inst->operand(1)))
    return KeyComparison{inst->operand(0), direction};
  if (!MirrorMatcher().Match(inst->operand(1), inst->operand(0))) return std::nullopt;
  const Direction swapped = direction == Direction::LT   ? Direction::GT
                            : direction == Direction::GT ? Direction::LT
                                                         : direction;
  return KeyComparison{inst->operand(1), swapped};
}

/// The value of a scalar constant as a code.
std::optional<uint64_t> ConstantCode(const Instruction* inst) {
  if (inst->kind() != OpKind::Constant || !inst->attr<ConstantAttrs>().literal) return std::nullopt;
  return inst->attr<ConstantAttrs>().literal->Bits(0);
}

/// y, if `inst` is its bits as a signed integer that is ordered as y is totally: negative ones have the
/// other bits inverted.
const Instruction* MatchTotalOrder(const Instruction* inst) {
  if (inst->kind() != OpKind::Select) return nullptr;
  const Instruction *test = inst->operand(0), *inverted = inst->operand(1), *bits = inst->operand(2);
  const ElementType type = bits->shape().element_type();
  if (bits->kind() != OpKind::BitcastConvert || Info(type).type_class != TypeClass::Signed) return nullptr;
  if (test->kind() != OpKind::Compare || test->attr<CompareAttrs>().direction != Direction::LT ||
      test->operand(0) != bits || ConstantCode(test->operand(1)) != uint64_t{0})
    return nullptr;
  const uint64_t others = (uint64_t{1} << (Info(type).bits - 1)) - 1;
  if (inverted->kind() != OpKind::Xor || inverted->operand(0) != bits ||
      ConstantCode(inverted->operand(1)) != others)
    return nullptr;
  const Instruction* y = bits->operand(0);
  return IsFloat(y->shape().element_type()) && Info(y->shape().element_type()).bits == Info(type).bits
             ? y
             : nullptr;
}

/// Whether subnormals of a type are those of F32 or F64, as which it is compared; other types' are normal
/// there.
bool HasSubnormalsCompared(ElementType type) {
  const ElementType compared = type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  return Format(type).exponent_bits == Format(compared).exponent_bits;
}

/// A parameter; or one whose NaNs have become one and whose zeros +0.
struct MergedParameter {
  const Instruction* parameter;
  bool merged;
};
std::optional<MergedParameter> MatchMerged(const Instruction* inst) {
  const FloatFormat format = Format(inst->shape().element_type());
  if (inst->shape().element_type() == ElementType::F8E8M0FNU) return std::nullopt;  // has no zero
  llvm::SmallVector<const Instruction*> tested;
  bool nans = false, zeros = false;
  while (inst->kind() == OpKind::Select) {
    const Instruction* test = inst->operand(0);
    if (test->kind() != OpKind::Compare) return std::nullopt;
    const auto& attrs = test->attr<CompareAttrs>();
    const bool equal = attrs.direction == Direction::EQ;
    if ((!equal && attrs.direction != Direction::NE) || attrs.type == CompareType::TotalOrder)
      return std::nullopt;
    const Instruction *x = test->operand(0), *y = test->operand(1);
    const bool of_nan = x == y;
    if (!of_nan) {
      const std::optional<uint64_t> code = ConstantCode(y);
      const FloatFormat other = Format(y->shape().element_type());
      if (!code || (*code & ~other.sign_mask()) != 0 || other.is_nan(*code)) return std::nullopt;
    }
    // What the test is true for is taken from the other side if it tests for not being equal.
    const bool constant_first = equal != of_nan;
    const std::optional<uint64_t> constant = ConstantCode(inst->operand(constant_first ? 1 : 2));
    if (!constant ||
        (of_nan ? !format.is_nan(*constant) || (*constant & format.sign_mask()) != 0 : *constant != 0))
      return std::nullopt;
    (of_nan ? nans : zeros) = true;
    // Widening keeps NaNs and zeros; what is subnormal stays so in F32, not in F64.
    const bool widened = x->kind() == OpKind::Convert && x->shape().element_type() == ElementType::F32 &&
                         IsFloat(x->operand(0)->shape().element_type()) && format.bits < 32;
    tested.push_back(widened ? x->operand(0) : x);
    inst = inst->operand(constant_first ? 2 : 1);
  }
  if (inst->kind() != OpKind::Parameter || nans != zeros) return std::nullopt;
  for (const Instruction* x : tested)
    if (x != inst) return std::nullopt;
  return MergedParameter{inst, nans};
}

std::optional<SortKey> MakeKey(const KeyComparison& comparison, const CompareAttrs& attrs) {
  if (comparison.direction != Direction::LT && comparison.direction != Direction::GT) return std::nullopt;
  SortKey key;
  key.type = comparison.left->shape().element_type();
  if (IsComplex(key.type)) return std::nullopt;
  key.total_order = attrs.type == CompareType::TotalOrder;
  key.descending = comparison.direction == Direction::GT;
  const Instruction* ordered = key.total_order ? comparison.left : MatchTotalOrder(comparison.left);
  const auto merged =
      ordered && IsFloat(ordered->shape().element_type()) ? MatchMerged(ordered) : std::nullopt;
  if (merged) {
    key.type = ordered->shape().element_type();
    key.operand = static_cast<int>(merged->parameter->attr<ParameterAttrs>().number / 2);
    key.total_order = true;
    key.merged = merged->merged;
  } else if (comparison.left->kind() == OpKind::Parameter) {
    key.operand = static_cast<int>(comparison.left->attr<ParameterAttrs>().number / 2);
  } else {
    key.function = CompileKey(comparison.left);
    if (!key.function) return std::nullopt;
  }
  return key;
}

/// or(x, and(y, z)) in any operand order, where x and y are comparisons of the same key.
struct Level {
  const Instruction *less, *equal, *rest;
};
std::optional<Level> MatchLevel(const Instruction* inst) {
  if (inst->kind() != OpKind::Or) return std::nullopt;
  for (int64_t i = 0; i < 2; ++i) {
    const Instruction *less = inst->operand(i), *both = inst->operand(1 - i);
    if (both->kind() != OpKind::And) continue;
    for (int64_t j = 0; j < 2; ++j) {
      const Instruction *equal = both->operand(j), *rest = both->operand(1 - j);
      if (less->kind() != OpKind::Compare || equal->kind() != OpKind::Compare) continue;
      if (equal->attr<CompareAttrs>().direction != Direction::EQ) continue;
      if (less->attr<CompareAttrs>().type != equal->attr<CompareAttrs>().type) continue;
      const bool same = less->operand(0) == equal->operand(0) && less->operand(1) == equal->operand(1);
      const bool crossed = less->operand(0) == equal->operand(1) && less->operand(1) == equal->operand(0);
      if (same || crossed) return Level{less, equal, rest};
    }
  }
  return std::nullopt;
}

template <class T>
void NumbersOf(const SortKey& sort, const T* elements, int64_t n, uint64_t* out) {
  const ElementType type = sort.type;
  const uint64_t invert = sort.descending ? ~uint64_t{0} : 0;
  if (!IsFloat(type)) {
    const uint64_t flip = IsSigned(type) ? uint64_t{1} << 63 : 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto value = static_cast<uint64_t>(
          IsSigned(type) ? static_cast<int64_t>(static_cast<std::make_signed_t<T>>(elements[i]))
                         : static_cast<int64_t>(elements[i]));
      out[i] = (value ^ flip) ^ invert;
    }
    return;
  }
  const FloatFormat format = Format(type);
  const uint64_t sign = format.sign_mask(), mask = format.code_mask();
  const uint64_t least = LeastAboveZero(sort);
  // FNUZ types have a NaN for -0; it comes before everything.
  const bool fnuz = Info(type).special == FloatSpecial::Fnuz;
  const auto number = [&](uint64_t code) -> uint64_t {
    if ((code & sign) == 0) return code | sign;
    if (!fnuz) return ~code & mask;
    return code == sign ? 0 : (~code & mask) + 1;
  };
  for (int64_t i = 0; i < n; ++i) {
    uint64_t code = elements[i] & mask;
    if (!sort.total_order || sort.merged) {
      const bool is_nan = format.is_nan(code);
      if (is_nan && !sort.merged) {
        out[i] = ~uint64_t{0};
        continue;
      }
      if (is_nan)
        code = format.nan_code(false);
      else if ((code & ~sign) < least)
        code = 0;
    }
    out[i] = number(code) ^ (sort.descending ? mask : 0);
  }
}

}  // namespace

std::vector<SortKey> FindSortKeys(const Computation& comparator) {
  std::vector<SortKey> keys;
  for (const Instruction* at = comparator.root();;) {
    const auto level = MatchLevel(at);
    const Instruction* less = level ? level->less : at;
    const auto comparison = MatchComparison(less);
    auto key = comparison ? MakeKey(*comparison, less->attr<CompareAttrs>()) : std::nullopt;
    if (!key) return {};
    keys.push_back(std::move(*key));
    if (!level) return keys;
    at = level->rest;
  }
}

uint64_t LeastAboveZero(const SortKey& key) {
  const bool compared = !key.total_order || key.merged;
  return compared && HasSubnormalsCompared(key.type) ? uint64_t{1} << Format(key.type).mantissa_bits : 1;
}

void OrderedNumbers(const SortKey& key, const void* elements, int64_t n, uint64_t* out) {
  switch (Info(key.type).host_bytes()) {
    case 1: return NumbersOf(key, static_cast<const uint8_t*>(elements), n, out);
    case 2: return NumbersOf(key, static_cast<const uint16_t*>(elements), n, out);
    case 4: return NumbersOf(key, static_cast<const uint32_t*>(elements), n, out);
    default: return NumbersOf(key, static_cast<const uint64_t*>(elements), n, out);
  }
}

}  // namespace hlo
