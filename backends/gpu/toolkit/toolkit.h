// Programs of NVIDIA's toolkit, and where its libraries are.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/support/result.h"

namespace hlo::gpu {

/// The path of a program of the toolkit (`ptxas`, `nvdisasm`); the README says where it is looked for.
/// Errors: unavailable-toolkit.
Result<std::string> FindToolkitProgram(llvm::StringRef name);

/// Where libraries of the toolkit may be besides where the loader looks, in order; nothing: nowhere, not even
/// there.
std::optional<std::vector<std::string>> LibraryFolders();

/// PTX to an object of machine code (cubin) for an architecture (`sm_90`), by ptxas. Errors:
/// unavailable-toolkit; compile-kernels, with what the assembler says.
Result<std::string> Assemble(llvm::StringRef ptx, llvm::StringRef arch);

/// The instructions of such an object (SASS), by nvdisasm. Errors: as those of Assemble().
Result<std::string> Disassemble(llvm::StringRef cubin);

}  // namespace hlo::gpu
