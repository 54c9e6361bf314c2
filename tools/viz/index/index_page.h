// The page that leads through a dump directory: its frame, style and script.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// The texts of index.html, index.css and index.js.
llvm::ArrayRef<llvm::StringRef> IndexPageTexts();

/// Writes what comes before the data: an array of JSON objects, one per compilation (README.md). `title` is
/// any text. The data must be fit for scripts (JsonWriter::Place::Script).
void BeginIndexPage(llvm::raw_ostream& os, llvm::StringRef title);
/// The data of a page; empty if it is another page.
llvm::StringRef IndexDataOf(llvm::StringRef page);
/// Writes what comes after the data.
void EndIndexPage(llvm::raw_ostream& os);

}  // namespace hlo
