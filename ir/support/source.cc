// Positions in source text.
#include "ir/support/source.h"

#include "ir/support/diagnostic.h"
#include "ir/support/utf8.h"

namespace hlo {
namespace {

/// Thousands of messages about one text each count its lines: blocks small enough for a byte as counter
/// let the compiler compare many characters at once.
unsigned CountLineBreaks(llvm::StringRef text) {
  unsigned count = 0;
  for (; !text.empty(); text = text.drop_front(std::min<size_t>(text.size(), 255))) {
    uint8_t in_block = 0;
    for (const char c : text.take_front(255)) in_block = static_cast<uint8_t>(in_block + (c == '\n' ? 1 : 0));
    count += in_block;
  }
  return count;
}

}  // namespace

LineColumn FindLineColumn(const SourceBuffer& source, uint32_t offset) {
  const llvm::StringRef before = source.text().take_front(offset);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {CountLineBreaks(before) + 1,
          static_cast<unsigned>(CountCharacters(before.drop_front(line_start)) + 1)};
}

}  // namespace hlo
