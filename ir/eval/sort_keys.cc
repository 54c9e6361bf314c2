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
  if (inst->kind() != OpKind::Compare) return std::nullopt;
  const Direction direction = inst->attr<CompareAttrs>().direction;
  if (MirrorMatcher().Match(inst->operand(0), inst->operand(1)))
    return KeyComparison{inst->operand(0), direction};
  if (!MirrorMatcher().Match(inst->operand(1), inst->operand(0))) return std::nullopt;
  const Direction swapped = direction == Direction::LT   ? Direction::GT
                            : direction == Direction::GT ? Direction::LT
                                                         : direction;
  return KeyComparison{inst->operand(1), swapped};
}

std::optional<SortKey> MakeKey(const KeyComparison& comparison, const CompareAttrs& attrs) {
  if (comparison.direction != Direction::LT && comparison.direction != Direction::GT) return std::nullopt;
  SortKey key;
  key.type = comparison.left->shape().element_type();
  if (IsComplex(key.type)) return std::nullopt;
  key.total_order = attrs.type == CompareType::TotalOrder;
  key.descending = comparison.direction == Direction::GT;
  if (comparison.left->kind() == OpKind::Parameter) {
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
void NumbersOf(ElementType type, const T* elements, int64_t n, bool total_order, bool descending,
               uint64_t* out) {
  const uint64_t invert = descending ? ~uint64_t{0} : 0;
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
  for (int64_t i = 0; i < n; ++i) {
    uint64_t code = elements[i] & mask;
    if (!total_order) {
      if (format.is_nan(code)) {
        out[i] = ~uint64_t{0};
        continue;
      }
      if (code == sign) code = 0;
    }
    const uint64_t key = (code & sign) != 0 ? ~code & mask : code | sign;
    out[i] = key ^ (descending ? mask : 0);
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

void OrderedNumbers(ElementType type, const void* elements, int64_t n, bool total_order, bool descending,
                    uint64_t* out) {
  switch (Info(type).host_bytes()) {
    case 1: return NumbersOf(type, static_cast<const uint8_t*>(elements), n, total_order, descending, out);
    case 2: return NumbersOf(type, static_cast<const uint16_t*>(elements), n, total_order, descending, out);
    case 4: return NumbersOf(type, static_cast<const uint32_t*>(elements), n, total_order, descending, out);
    default: return NumbersOf(type, static_cast<const uint64_t*>(elements), n, total_order, descending, out);
  }
}

}  // namespace hlo
