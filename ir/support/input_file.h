// Reading what users name: files, pipes, devices.
#pragma once
#include <memory>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo {

/// The bytes of a file, or of what a pipe or device has until it ends; `-`: of the standard input. Files stay
/// where they are. Errors: those of the system; file_too_large for what is no file and has more than `most`
/// bytes (0: half of the machine's memory), as devices without end have; operation_canceled once the work of
/// the thread is to stop.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> ReadInputFile(llvm::StringRef path, uint64_t most = 0);

}  // namespace hlo
