// Which build of the program this is.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// The hash of the contents of the running program, or of the library that this is in, that the linker left
/// there (the ELF note NT_GNU_BUILD_ID), as bytes; empty if there is none. Read where the loader has put it:
/// no file is asked.
llvm::StringRef BuildId();

}  // namespace hlo
