// Pictures of drawings, through Graphviz's library, which is loaded when first needed.
#pragma once
#include <chrono>
#include <string>

#include "ir/support/result.h"

namespace hlo {

struct Picture {
  std::string bytes;
  bool timed_out = false;  // there is no picture
};

struct LayoutEffort {
  std::chrono::milliseconds limit{20'000};  // of processor time
  bool quick = false;                       // straight edges, fewer attempts to avoid crossings
};

/// True if the library can be loaded; otherwise why not. HLO_GRAPHVIZ in the environment names another one,
/// or `none`.
bool HasGraphviz(std::string& why);

/// A text in Graphviz's language as a picture; `format`: svg, png, pdf. Works in a child process, which is
/// ended after the limit, on Ctrl-C and at the end of --timeout. Errors: unavailable-library (exit 7),
/// interrupted.
Result<Picture> RenderDot(llvm::StringRef dot, llvm::StringRef format, const LayoutEffort& effort);

}  // namespace hlo
