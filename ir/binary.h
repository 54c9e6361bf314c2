// Modules as bytes: exact, and read without parsing, name resolution or verification.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "ir/module.h"

namespace hlo {

/// Literals that the reader has anyway, by number, so that large constants need not be written.
struct BinaryLiterals {
  /// The number of a literal that is not written; nothing: it is.
  std::function<std::optional<uint64_t>(const LiteralPtr&)> number_of;
  /// What has the number; null if nothing has it.
  std::function<LiteralPtr(uint64_t)> by_number;
};

/// The whole module: every instruction in list order with attributes, metadata, extras and schedule, and the
/// configuration. Texts that it was read from are not part of it, positions in them are. The form changes
/// with the program that writes it: it is for files that only the same program reads.
std::string ToBinary(const Module& module, const BinaryLiterals* literals = nullptr);

/// The module that ToBinary() wrote, with the given texts as Module::sources(). Names that were taken by
/// instructions that are gone are free again. Null for bytes that are no such form; what is of that form but
/// no valid module is the verifier's business.
std::unique_ptr<Module> FromBinary(llvm::StringRef bytes, llvm::ArrayRef<SourcePtr> sources,
                                   const BinaryLiterals* literals = nullptr);

}  // namespace hlo
