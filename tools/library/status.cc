#include "hlo/status.h"

#include <cstdio>
#include <cstdlib>

#include "hlo/types.h"
#include "ir/numeric/narrow_float.h"
#include "ir/types.h"
#include "tools/library/convert.h"

namespace hlo_toolkit {

std::string Status::ToString() const {
  static constexpr const char* kNames[] = {"OK", "INVALID_ARGUMENT", "UNIMPLEMENTED", "FAILED_PRECONDITION",
                                           "INTERNAL"};
  std::string text = kNames[static_cast<size_t>(code_)];
  if (!message_.empty()) text += ": " + message_;
  return text;
}

namespace internal {

void Die(const Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

Status ToStatus(const hlo::Diagnostic& diagnostic) {
  return {hlo::IsDeclined(diagnostic) ? StatusCode::kUnimplemented : StatusCode::kInvalidArgument,
          diagnostic.message};
}

}  // namespace internal
}  // namespace hlo_toolkit
