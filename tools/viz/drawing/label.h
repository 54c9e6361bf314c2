// What stands inside the node of an instruction (tools.md §5.2).
#pragma once
#include "ir/module.h"

namespace hlo {

/// Parts of nodes that may be shown or hidden.
struct LabelOptions {
  bool shape = true, layout = true, metadata = false, backend_config = false, sharding = false;
  bool constants = true;
};

/// True for constants and tuple elements that are written into their users instead of having nodes.
bool IsWrittenIntoUsers(const Instruction& instruction);

/// A computation that is one operation on its two parameters: `add`; empty for others.
llvm::StringRef NamedReducer(const Computation& computation);

/// The lines of a node: name, attributes, shape, operands without nodes. Computations that `drawn` confirms
/// are not mentioned; operands that `written` confirms have no nodes.
std::string NodeLabel(const Instruction& instruction, const LabelOptions& options,
                      llvm::function_ref<bool(const Computation&)> drawn,
                      llvm::function_ref<bool(const Instruction&)> written = IsWrittenIntoUsers);

/// Metadata and stack frames, as lines; empty if there are none.
std::string NodeTooltip(const Instruction& instruction);

/// A shape cut at 64 characters; layouts of arrays of rank above 1 only.
std::string ShapeLabel(const Shape& shape, bool layout);

}  // namespace hlo
