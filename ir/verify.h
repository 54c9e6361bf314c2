// The verifier: is a module valid HLO? (rules: ops-structured §1.2, errata-text part 2)
#pragma once
#include <vector>

#include "ir/module.h"
#include "ir/support/diagnostic.h"

namespace hlo {

struct VerifyOptions {
  bool layout_sensitive = false;
  bool dynamic_flags = true;  // with layout_sensitive: which dimensions are dynamic has to agree, too
  bool allow_mixed_precision = false;
  bool allow_unbounded_dynamism = false;
  bool verify_replica_groups = true;
  unsigned max_errors = 0;  // 0 = all
  /// What made the instructions stamped 1, 2, … (Instruction::stamp()), for notes: `pass 'dce' (execution
  /// 3)`.
  llvm::ArrayRef<std::string> makers = {};
};

/// All violations found, in module order; empty = valid. Never aborts, whatever the module holds, as
/// long as the IR's own invariants (parents, use lists) are intact. Incomplete once Interrupted().
std::vector<Diagnostic> Verify(const Module& module, const VerifyOptions& options = {});

/// What Diagnostic::context is of errors about an instruction that has no place in a text.
std::string ContextOf(const Instruction& inst);

/// The shape of a valid instruction also follows from its operands and callees with layouts taken into
/// account.
bool LayoutFits(const Instruction& inst);

}  // namespace hlo
