#include "backends/gpu/ptx/types.h"

namespace hlo::ptx {
namespace {

constexpr TypeInfo kTypes[] = {
    {"", 0, TypeClass::None, 0},
#define PTX_TYPE(Kind, text, bits, class, lanes) {text, bits, TypeClass::class, lanes},
#include "backends/gpu/ptx/types.def"
};

}  // namespace

const TypeInfo& InfoOf(Type type) { return kTypes[static_cast<size_t>(type)]; }

std::optional<Type> FindType(llvm::StringRef text) {
  for (size_t i = 1; i < std::size(kTypes); ++i)
    if (kTypes[i].text == text) return static_cast<Type>(i);
  return std::nullopt;
}

Type Widened(Type type) {
  static constexpr std::pair<Type, Type> kWider[] = {
      {Type::S16, Type::S32}, {Type::U16, Type::U32}, {Type::S32, Type::S64}, {Type::U32, Type::U64}};
  for (const auto& [narrow, wide] : kWider)
    if (narrow == type) return wide;
  return Type::None;
}

bool RegisterFits(Type wanted, Type held, bool may_be_wider) {
  const TypeInfo& want = InfoOf(wanted);
  const TypeInfo& has = InfoOf(held);
  if (want.kind == TypeClass::Predicate || has.kind == TypeClass::Predicate) return want.kind == has.kind;
  if (want.kind == TypeClass::Float) {
    if (want.bits != has.bits) return false;
    // These lie in registers of bits only.
    if (wanted == Type::TF32 || wanted == Type::E4M3x2 || wanted == Type::E5M2x2 || wanted == Type::BF16 ||
        wanted == Type::BF16x2)
      return has.kind == TypeClass::Bits;
    if (want.bits == 16 || want.lanes == 2)
      return has.kind == TypeClass::Bits || held == (want.lanes == 2 ? Type::F16x2 : Type::F16);
    return has.kind == TypeClass::Bits || held == wanted;
  }
  if (want.bits != has.bits && !(may_be_wider && has.bits > want.bits)) return false;
  return want.kind == TypeClass::Bits || has.kind != TypeClass::Float;
}

}  // namespace hlo::ptx
