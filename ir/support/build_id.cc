#include "ir/support/build_id.h"

#include <link.h>

#include "llvm/Support/MathExtras.h"

namespace hlo {
namespace {

/// The build id among the notes, which lie one behind the other.
llvm::StringRef FindBuildId(llvm::StringRef notes) {
  constexpr uint64_t kAlignment = 4;
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    memcpy(&header, notes.data(), sizeof header);
    notes = notes.drop_front(sizeof header);
    const uint64_t name = llvm::alignTo(header.n_namesz, kAlignment),
                   bytes = llvm::alignTo(header.n_descsz, kAlignment);
    if (name + bytes > notes.size()) return "";
    if (header.n_type == NT_GNU_BUILD_ID && notes.take_front(header.n_namesz) == llvm::StringRef("GNU", 4))
      return notes.substr(name, header.n_descsz);
    notes = notes.drop_front(name + bytes);
  }
  return "";
}

/// Of the object that this code is in, the program or a library: ends the iteration there.
int OfThisObject(dl_phdr_info* info, size_t /*size*/, void* id) {
  const llvm::ArrayRef segments(info->dlpi_phdr, info->dlpi_phnum);
  const auto here = reinterpret_cast<ElfW(Addr)>(&BuildId);
  if (llvm::none_of(segments, [&](const ElfW(Phdr) & segment) {
        const ElfW(Addr) begin = info->dlpi_addr + segment.p_vaddr;
        return segment.p_type == PT_LOAD && here >= begin && here - begin < segment.p_memsz;
      }))
    return 0;
  for (const ElfW(Phdr) & segment : segments)
    if (segment.p_type == PT_NOTE) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what the loader tells.
      const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      const llvm::StringRef found = FindBuildId({notes, segment.p_memsz});
      if (!found.empty()) *static_cast<llvm::StringRef*>(id) = found;
    }
  return 1;
}

}  // namespace

llvm::StringRef BuildId() {
  static const llvm::StringRef id = [] {
    llvm::StringRef found;
    dl_iterate_phdr(OfThisObject, &found);
    return found;
  }();
  return id;
}

}  // namespace hlo
