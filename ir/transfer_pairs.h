// The devices between which send and recv move values (ops-structured §11).
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "ir/instruction.h"

namespace hlo {

/// (source, target) devices.
using TransferPairs = std::vector<std::pair<int64_t, int64_t>>;

/// The frontend attribute `_xla_send_recv_source_target_pairs` of a send or recv; null if it has none.
const FrontendAttribute* TransferPairsAttribute(const Instruction& inst);

/// pairs = '{' [pair {',' pair}] '}', pair = '{' source ',' target '}', with blanks anywhere between and
/// quotes around it allowed; nothing if the text is another.
std::optional<TransferPairs> ParseTransferPairs(llvm::StringRef text);

}  // namespace hlo
