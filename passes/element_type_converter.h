// element_type_converter: computes in another element type (passes.md §2.2).
//
// Requires nothing. Preserves layouts, fusions, canonical dots and flat calls.
// Changes: operations on or to `eliminate_type` run on `replace_with_type`, with converts before and after.
// Left alone: parameters, constants, tuples, conversions, random numbers, whatever calls computations,
// communicates or is a custom-call.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct ElementTypeConverterOptions {
  std::string eliminate_type = "bf16";
  std::string replace_with_type = "f32";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunElementTypeConverter(Module& module, const ElementTypeConverterOptions& options,
                                     PassContext& context);

}  // namespace hlo
