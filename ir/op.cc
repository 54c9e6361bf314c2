#include "ir/op.h"

#include "llvm/ADT/StringMap.h"

namespace hlo {
namespace {

constexpr uint8_t Bit(TypeClass c) { return static_cast<uint8_t>(1u << static_cast<int>(c)); }

llvm::ArrayRef<OpInfo> Table() {
  constexpr int V = OpInfo::kVariadic;
  constexpr uint8_t kP = Bit(TypeClass::Pred), kS = Bit(TypeClass::Signed), kU = Bit(TypeClass::Unsigned),
                    kF = Bit(TypeClass::Float), kC = Bit(TypeClass::Complex), kI = kS | kU;
  static const OpInfo table[] = {
#define HLO_OP(Kind, text, min, max, Attrs, Category, Traits, Types, Shape, Eval) \
  {OpKind::Kind, text, min, max, &Attrs::kInfo, OpCategory::Category, Traits, Types},
#include "ir/ops.def"
  };
  return table;
}

}  // namespace

const OpInfo& Info(OpKind kind) {
  static const OpInfo* const table = Table().data();
  return table[static_cast<size_t>(kind)];
}

llvm::ArrayRef<OpInfo> AllOps() { return Table(); }

std::optional<OpKind> ParseOpKind(llvm::StringRef text) {
  static const llvm::StringMap<OpKind> by_text = [] {
    llvm::StringMap<OpKind> map(512);
    for (const OpInfo& info : Table()) map[info.text] = info.kind;
    return map;
  }();
  auto it = by_text.find(text);
  if (it == by_text.end()) return std::nullopt;
  return it->second;
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

}  // namespace hlo
