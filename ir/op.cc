#include "ir/op.h"

#include "ir/support/name_hash.h"

namespace hlo {
namespace {

constexpr uint8_t Bit(TypeClass c) { return static_cast<uint8_t>(1u << static_cast<int>(c)); }
constexpr int V = OpInfo::kVariadic;  // NOLINT(readability-identifier-naming): short in the rows
constexpr uint8_t kP = Bit(TypeClass::Pred), kS = Bit(TypeClass::Signed), kU = Bit(TypeClass::Unsigned),
                  kF = Bit(TypeClass::Float), kC = Bit(TypeClass::Complex), kI = kS | kU;

}  // namespace

constinit const OpInfo internal::op_table[] = {
#define HLO_OP(Kind, text, min, max, Attrs, Category, Traits, Types, Rounding, Shape, Eval) \
  {OpKind::Kind, text, min, max, &Attrs::kInfo, OpCategory::Category, Traits, Types, OpRounding::Rounding},
#include "ir/ops.def"
};

llvm::ArrayRef<OpInfo> AllOps() { return internal::op_table; }

namespace {

/// Opcodes by the hashes of their words.
class OpWords {
 public:
  OpWords() {
    for (const OpInfo& info : AllOps()) {
      size_t i = HashName(info.text) % kSlots;
      while (slots_[i] != kFree) i = (i + 1) % kSlots;
      slots_[i] = static_cast<uint8_t>(info.kind);
    }
  }
  [[nodiscard]] std::optional<OpKind> Find(llvm::StringRef word) const {
    for (size_t i = HashName(word) % kSlots; slots_[i] != kFree; i = (i + 1) % kSlots) {
      const auto kind = static_cast<OpKind>(slots_[i]);
      if (SameName(Info(kind).text, word)) return kind;
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kSlots = 512;
  static constexpr uint8_t kFree = 0xff;
  static_assert(std::size(internal::op_table) < kFree);
  std::array<uint8_t, kSlots> slots_ = [] {
    std::array<uint8_t, kSlots> slots{};
    slots.fill(kFree);
    return slots;
  }();
};

}  // namespace

std::optional<OpKind> ParseOpKind(llvm::StringRef text) {
  static const OpWords words;
  return words.Find(text);
}

bool OpInfo::MayCall() const {
  return llvm::any_of(attrs->fields, [](const FieldInfo& f) {
    return f.kind == FieldKind::Callee || f.kind == FieldKind::Callees;
  });
}

llvm::StringRef ToString(OpCategory category) {
  static constexpr llvm::StringRef kNames[] = {
      "arithmetic", "transcendental", "comparison", "conversion",  "source",         "movement",
      "indexing",   "dynamic",        "tuple",      "contraction", "linear-algebra", "normalisation",
      "reduction",  "random",         "control",    "custom",      "async",          "communication"};
  return kNames[static_cast<size_t>(category)];
}

llvm::StringRef ToString(OpRounding rounding) {
  static constexpr llvm::StringRef kNames[] = {"moves", "exact", "rounds", "approximate", "body"};
  return kNames[static_cast<size_t>(rounding)];
}

}  // namespace hlo
