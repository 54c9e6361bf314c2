// Positions in source text.
#include "ir/support/source.h"

#include "ir/support/diagnostic.h"
#include "ir/support/utf8.h"

namespace hlo {

LineColumn FindLineColumn(const SourceBuffer& source, uint32_t offset) {
  const llvm::StringRef before = source.text().take_front(offset);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<unsigned>(before.count('\n') + 1),
          static_cast<unsigned>(CountCharacters(before.drop_front(line_start)) + 1)};
}

}  // namespace hlo
