// Source text and positions in it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// One input text with the name diagnostics print for it (`<stdin>` for standard input).
/// Immutable; modules share ownership because names and strings of the IR point into it.
class SourceBuffer {
 public:
  SourceBuffer(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  [[nodiscard]] llvm::StringRef name() const { return name_; }
  [[nodiscard]] llvm::StringRef text() const { return text_; }

 private:
  std::string name_;
  std::string text_;
};
using SourcePtr = std::shared_ptr<const SourceBuffer>;

/// A half-open byte range of a source buffer. `source` is null where there is no text (built IR).
/// The pointer does not own: a Loc is valid as long as the module (or caller) keeps the buffer.
struct Loc {
  const SourceBuffer* source = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;
  [[nodiscard]] bool valid() const { return source != nullptr; }
};

}  // namespace hlo
