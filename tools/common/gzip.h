// gzip streams (RFC 1952), as compressed dumps have them.
#pragma once
#include <string>

#include "ir/support/result.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Whether bytes begin as a gzip stream does.
bool LooksLikeGzip(llvm::StringRef bytes);
/// The contents of all members, one after another, up to 4 GB. Errors: input-format.
Result<std::string> Gunzip(llvm::StringRef bytes);
/// One member.
std::string Gzipped(llvm::StringRef bytes);

}  // namespace hlo
