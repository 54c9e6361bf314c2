// A module as one HTML file without outside references.
#pragma once
#include "ir/print.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

struct PageOptions {
  PrintOptions print;
  bool fusion_bodies = true;  // false: only what runs as steps of the program
};

/// The listing: computations that fold, operands and callees linked to their definitions, colours by opcode,
/// search. Every instruction has the fragment `#computation::name`, every computation `#name`.
void WritePage(llvm::raw_ostream& os, const Module& module, const PageOptions& options = {});

}  // namespace hlo
