#include "ir/transfer_pairs.h"

namespace hlo {

const FrontendAttribute* TransferPairsAttribute(const Instruction& inst) {
  if (!inst.has_extras()) return nullptr;
  const auto& attributes = inst.extras().frontend_attributes;
  const auto found = llvm::find_if(
      attributes, [](const FrontendAttribute& a) { return a.key == "_xla_send_recv_source_target_pairs"; });
  return found == attributes.end() ? nullptr : &*found;
}

std::optional<TransferPairs> ParseTransferPairs(llvm::StringRef text) {
  text = text.trim();
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.drop_front().drop_back();
  const auto consume = [&](llvm::StringRef word) {
    text = text.ltrim();
    return text.consume_front(word);
  };
  const auto number = [&](int64_t& value) {
    text = text.ltrim();
    return !text.consumeInteger(10, value) && value >= 0;
  };
  TransferPairs pairs;
  if (!consume("{")) return std::nullopt;
  while (!consume("}")) {
    std::pair<int64_t, int64_t> pair;
    if (!pairs.empty() && !consume(",")) return std::nullopt;
    if (!consume("{") || !number(pair.first) || !consume(",") || !number(pair.second) || !consume("}"))
      return std::nullopt;
    pairs.push_back(pair);
  }
  return text.trim().empty() ? std::optional(std::move(pairs)) : std::nullopt;
}

}  // namespace hlo
