#include "ir/support/byte_text.h"

#include <iterator>

#include "llvm/Support/FormatVariadic.h"

namespace hlo {

std::string FormatBytes(int64_t bytes, bool decimal) {
  constexpr const char* kBinary[] = {"KiB", "MiB", "GiB", "TiB"};
  constexpr const char* kDecimal[] = {"kB", "MB", "GB", "TB"};
  const double base = decimal ? 1000 : 1024;
  double value = static_cast<double>(bytes);
  if (value < base) return llvm::formatv("{0} B", bytes).str();
  value /= base;
  size_t unit = 0;
  for (; value >= base && unit + 1 < std::size(kBinary); ++unit) value /= base;
  return llvm::formatv("{0:F1} {1}", value, decimal ? kDecimal[unit] : kBinary[unit]).str();
}

}  // namespace hlo
