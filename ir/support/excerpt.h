// The source line under a diagnostic, with caret and tildes.
#pragma once
#include "ir/support/diagnostic.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// The text of a valid range as far as it lies on the line it starts on.
llvm::StringRef FirstLineOf(const Loc& loc);

/// Writes the line of `loc` (valid) behind a gutter with its number, and below it a caret at the first
/// character of the range and tildes under the rest. Lines that do not fit into `options.width`
/// characters are cut on either side with `...`.
void RenderExcerpt(const Loc& loc, const RenderOptions& options, llvm::raw_ostream& os);

}  // namespace hlo
