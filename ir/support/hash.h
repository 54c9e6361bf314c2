// Hashes of texts and of sequences of hashes: the same in every run and on every machine.
#pragma once
#include <cstdint>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

namespace hlo {

/// Depends on the order of its arguments.
inline uint64_t CombineHashes(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 0x2545f4914f6cdd1du);
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

inline uint64_t HashText(llvm::StringRef text) { return llvm::xxh3_64bits(text); }

}  // namespace hlo
