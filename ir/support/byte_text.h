// Numbers of bytes as people read them.
#pragma once
#include <cstdint>
#include <string>

namespace hlo {

/// Text of a number of bytes: `512 B`, `64.0 MiB`, or in powers of 1000 `67.1 MB`.
std::string FormatBytes(int64_t bytes, bool decimal = false);

}  // namespace hlo
