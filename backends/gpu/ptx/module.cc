#include "backends/gpu/ptx/module.h"

#include "llvm/ADT/StringMap.h"

namespace hlo::ptx {
namespace {

constexpr llvm::StringRef kSpaces[] = {"generic", "global", "shared", "local", "const", "param"};

std::vector<SpecialInfo> MakeSpecials() {
  std::vector<SpecialInfo> specials;
#define PTX_SPECIAL3(Kind, text, sm)                \
  for (const char* part : {".x", ".y", ".z", ".w"}) \
    specials.push_back({std::string(text) + part, Type::U32, sm});
#define PTX_SPECIAL(Kind, text, type, sm) specials.push_back({text, Type::type, sm});
#include "backends/gpu/ptx/special_registers.def"
  return specials;
}

const std::vector<SpecialInfo>& Specials() {
  static const std::vector<SpecialInfo> specials = MakeSpecials();
  return specials;
}

constexpr std::pair<Mod, Space> kSpaceMods[] = {
    {Mod::Global, Space::Global},        {Mod::Shared, Space::Shared},    {Mod::SharedCta, Space::Shared},
    {Mod::SharedCluster, Space::Shared}, {Mod::Local, Space::Local},      {Mod::Const, Space::Const},
    {Mod::Param, Space::Param},          {Mod::ParamEntry, Space::Param}, {Mod::ParamFunc, Space::Param}};

}  // namespace

llvm::StringRef ToString(Space space) { return kSpaces[static_cast<size_t>(space)]; }

const SpecialInfo& InfoOf(Special special) { return Specials()[static_cast<size_t>(special)]; }

std::optional<Special> FindSpecial(llvm::StringRef text) {
  static const llvm::StringMap<Special> by_text = [] {
    llvm::StringMap<Special> map;
    for (size_t i = 0; i < Specials().size(); ++i) map[Specials()[i].text] = static_cast<Special>(i);
    return map;
  }();
  const auto it = by_text.find(text);
  if (it == by_text.end()) return std::nullopt;
  return it->second;
}

unsigned Instruction::vector() const { return Has(Mod::V2) ? 2 : Has(Mod::V4) ? 4 : Has(Mod::V8) ? 8 : 1; }

Space Instruction::space() const {
  for (const auto& [mod, space] : kSpaceMods)
    if (Has(mod)) return space;
  return Space::Generic;
}

const Function* Module::FindEntry(llvm::StringRef name) const {
  for (const Function& function : functions)
    if (function.entry && function.defined && function.name == name) return &function;
  return nullptr;
}

}  // namespace hlo::ptx
