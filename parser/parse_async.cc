// Asynchronous ops, and opcodes like `custom-call-start` that stand for one of them (hlo-text §10, end).
#include "parser/body.h"

namespace hlo {

using llvm::StringRef;

std::optional<std::pair<OpKind, OpKind>> SplitAsyncOpcode(StringRef word) {
  static constexpr std::pair<StringRef, OpKind> kSuffixes[] = {
      {"-start", OpKind::AsyncStart}, {"-update", OpKind::AsyncUpdate}, {"-done", OpKind::AsyncDone}};
  for (const auto& [suffix, kind] : kSuffixes) {
    StringRef stem = word;
    if (!stem.consume_back(suffix)) continue;
    if (const auto wrapped = ParseOpKind(stem)) return std::make_pair(kind, *wrapped);
  }
  return std::nullopt;
}

bool FinishAsync(BodyParser& body, Draft& d) {
  Cursor& c = body.cursor();
  if (!d.wrapped) return true;
  return c.Fail("parse-async", c.LocOf(d.opcode), "found '{0}', expected async-start, async-update or async-done",
                d.opcode.text);
}

void RegisterAsync(BodyParser& body, Instruction& instruction) {
  body.scope().async_starts.try_emplace(instruction.callee(), &instruction);
}

}  // namespace hlo
