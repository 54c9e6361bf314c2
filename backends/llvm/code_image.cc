#include "backends/llvm/code_image.h"

#include <sys/mman.h>

#include <cstring>
#include <map>

#include "llvm/Object/ELF.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/MathExtras.h"

// Of the compiler's library: what LLVM calls for halves where processors cannot convert them (no F16C). Only
// their addresses are wanted here.
extern "C" {
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}

namespace hlo::codegen {
namespace {

using Elf = llvm::object::ELF64LE;
using llvm::ELF::SHF_ALLOC;

Diagnostic LinkError(const std::string& why) { return MakeError("compile-kernels", {}, "LLVM: {0}", why); }

template <class T>
Result<T> Checked(llvm::Expected<T> value) {
  if (!value) return Error(LinkError(llvm::toString(value.takeError())));
  return std::move(*value);
}

class Linker {
 public:
  explicit Linker(llvm::StringMap<uint64_t>& functions) : functions_(functions) {}

  Status Add(llvm::StringRef object) {
    HLO_TRY(file_, Checked(llvm::object::ELFFile<Elf>::create(object)));
    HLO_TRY(sections_, Checked(file_->sections()));
    HLO_CHECK_OK(Place());
    for (const auto& section : sections_)
      if (section.sh_type == llvm::ELF::SHT_SYMTAB) HLO_CHECK_OK(ReadSymbols(section));
    for (const auto& section : sections_)
      if (section.sh_type == llvm::ELF::SHT_RELA) HLO_CHECK_OK(Relocate(section));
    return {};
  }

  CodeImage Finish() && { return std::move(image_); }

 private:
  static constexpr uint64_t kNowhere = ~uint64_t{0};
  struct Symbol {
    uint64_t place = kNowhere;
    std::string name;
  };

  void Align(uint64_t to) { image_.bytes.resize(llvm::alignTo(image_.bytes.size(), to)); }

  /// Nobody unwinds through kernels.
  Status Place() {
    places_.assign(sections_.size(), kNowhere);
    for (size_t i = 0; i < sections_.size(); ++i) {
      const auto& section = sections_[i];
      HLO_TRY(const llvm::StringRef name, Checked(file_->getSectionName(section)));
      if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0 || name == ".eh_frame") continue;
      Align(std::max<uint64_t>(section.sh_addralign, 1));
      places_[i] = image_.bytes.size();
      if (section.sh_type == llvm::ELF::SHT_NOBITS) {
        image_.bytes.resize(image_.bytes.size() + section.sh_size);
        continue;
      }
      HLO_TRY(const llvm::ArrayRef<uint8_t> contents, Checked(file_->getSectionContents(section)));
      image_.bytes.append(reinterpret_cast<const char*>(contents.data()), contents.size());
    }
    return {};
  }

  Status ReadSymbols(const Elf::Shdr& table) {
    HLO_TRY(const auto symbols, Checked(file_->symbols(&table)));
    HLO_TRY(const llvm::StringRef names, Checked(file_->getStringTableForSymtab(table)));
    symbols_.clear();
    for (const auto& symbol : symbols) {
      HLO_TRY(const llvm::StringRef name, Checked(symbol.getName(names)));
      Symbol& known = symbols_.emplace_back();
      known.name = name.str();
      if (symbol.st_shndx == llvm::ELF::SHN_UNDEF || symbol.st_shndx >= places_.size()) continue;
      if (places_[symbol.st_shndx] == kNowhere) continue;
      known.place = places_[symbol.st_shndx] + symbol.st_value;
      if (symbol.getType() == llvm::ELF::STT_FUNC && symbol.getBinding() == llvm::ELF::STB_GLOBAL)
        functions_[name] = known.place;
    }
    slots_.clear();
    stubs_.clear();
    return {};
  }

  Status Relocate(const Elf::Shdr& table) {
    const uint64_t base = places_[table.sh_info];
    if (base == kNowhere) return {};
    HLO_TRY(const auto relocations, Checked(file_->relas(table)));
    for (const auto& r : relocations) {
      const uint64_t at = base + r.r_offset;
      const uint32_t symbol = r.getSymbol(/*isMips64EL=*/false);
      uint64_t place = symbols_[symbol].place;
      switch (r.getType(/*isMips64EL=*/false)) {
        case llvm::ELF::R_X86_64_64:
          if (place == kNowhere)
            image_.imports.push_back({at, symbols_[symbol].name});
          else
            image_.pointers.push_back({at, place + static_cast<uint64_t>(r.r_addend)});
          continue;
        case llvm::ELF::R_X86_64_PC32:
        case llvm::ELF::R_X86_64_PLT32:
          if (place == kNowhere) place = StubOf(symbol);
          break;
        case llvm::ELF::R_X86_64_GOTPCREL:
        case llvm::ELF::R_X86_64_GOTPCRELX:
        case llvm::ELF::R_X86_64_REX_GOTPCRELX: place = SlotOf(symbol); break;
        default:
          return Error(LinkError("relocation of type " + std::to_string(r.getType(false)) + " is not known"));
      }
      const auto distance =
          static_cast<int32_t>(static_cast<int64_t>(place) + r.r_addend - static_cast<int64_t>(at));
      std::memcpy(image_.bytes.data() + at, &distance, sizeof distance);
    }
    return {};
  }

  /// With the address of a symbol.
  uint64_t SlotOf(uint32_t symbol) {
    const auto [it, added] = slots_.try_emplace(symbol, 0);
    if (!added) return it->second;
    Align(sizeof(uint64_t));
    it->second = image_.bytes.size();
    image_.bytes.resize(it->second + sizeof(uint64_t));
    if (const Symbol& s = symbols_[symbol]; s.place == kNowhere)
      image_.imports.push_back({it->second, s.name});
    else
      image_.pointers.push_back({it->second, s.place});
    return it->second;
  }

  /// A jump to a function that lies anywhere.
  uint64_t StubOf(uint32_t symbol) {
    const auto [it, added] = stubs_.try_emplace(symbol, 0);
    if (!added) return it->second;
    const uint64_t slot = SlotOf(symbol);
    it->second = image_.bytes.size();
    constexpr char kJump[] = {'\xff', '\x25'};  // jmp *distance(%rip)
    image_.bytes.append(kJump, sizeof kJump);
    const uint64_t end = it->second + sizeof kJump + sizeof(int32_t);  // from where it counts
    const auto distance = static_cast<int32_t>(slot - end);
    image_.bytes.append(reinterpret_cast<const char*>(&distance), sizeof distance);
    return it->second;
  }

  llvm::StringMap<uint64_t>& functions_;
  CodeImage image_;
  // Of the object that is being added.
  std::optional<llvm::object::ELFFile<Elf>> file_;
  Elf::ShdrRange sections_;
  std::vector<uint64_t> places_;  // by section
  std::vector<Symbol> symbols_;
  std::map<uint32_t, uint64_t> slots_, stubs_;  // by symbol
};

/// A function that code calls; null if there is none.
void* AddressOf(const std::string& function) {
  static constexpr std::pair<llvm::StringRef, void (*)()> kOwn[] = {
      {"__extendhfsf2", &__extendhfsf2}, {"__truncsfhf2", &__truncsfhf2}, {"__truncdfhf2", &__truncdfhf2}};
  for (const auto& [name, address] : kOwn)
    if (name == function) return reinterpret_cast<void*>(address);
  return llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(function);
}

}  // namespace

Result<CodeImage> LinkObjects(llvm::ArrayRef<std::string> objects, llvm::StringMap<uint64_t>& functions) {
  Linker linker(functions);
  for (const std::string& object : objects) HLO_CHECK_OK(linker.Add(object));
  return std::move(linker).Finish();
}

void LoadedCode::Unmap::operator()(uint8_t* memory) const { ::munmap(memory, size); }

Result<LoadedCode> LoadedCode::Load(const CodeImage& image) {
  const size_t size = std::max<size_t>(image.bytes.size(), 1);
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return Error(LinkError("there is no memory for code"));
  LoadedCode code;
  auto* memory = static_cast<uint8_t*>(mapped);
  code.memory_ = {memory, Unmap{size}};
  std::copy(image.bytes.begin(), image.bytes.end(), memory);
  const auto put = [&](uint64_t at, uint64_t value) { std::memcpy(memory + at, &value, sizeof value); };
  for (const CodeImage::Pointer& pointer : image.pointers)
    put(pointer.at, reinterpret_cast<uint64_t>(memory) + pointer.target);
  if (!image.imports.empty()) llvm::sys::DynamicLibrary::LoadLibraryPermanently(nullptr);
  for (const CodeImage::Import& import : image.imports) {
    void* address = AddressOf(import.function);
    if (address == nullptr) return Error(LinkError("function '" + import.function + "' is missing"));
    put(import.at, reinterpret_cast<uint64_t>(address));
  }
  if (::mprotect(mapped, size, PROT_READ | PROT_EXEC) != 0)
    return Error(LinkError("memory cannot be made executable"));
  return code;
}

}  // namespace hlo::codegen
