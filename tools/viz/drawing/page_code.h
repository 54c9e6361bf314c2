// The code of pages: the files of tools/viz/page, embedded in the program.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// The policy of every page, by which the browser itself holds it to its promise to load nothing.
inline constexpr llvm::StringLiteral kPagePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/// The scripts in the order of tools/viz/page/files.txt; together they are one classic script.
llvm::ArrayRef<llvm::StringRef> PageScripts();
llvm::ArrayRef<llvm::StringRef> PageStyles();

}  // namespace hlo
