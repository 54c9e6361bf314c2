#include "hlo/status.h"

#include <cstdio>
#include <cstdlib>

#include "hlo/types.h"
#include "ir/numeric/narrow_float.h"
#include "ir/types.h"
#include "tools/library/convert.h"

namespace hlo_toolkit {

std::string Status::ToString() const {
  static constexpr const char* kNames[] = {
      "OK",       "INVALID_ARGUMENT", "UNIMPLEMENTED",     "FAILED_PRECONDITION",
      "INTERNAL", "CANCELLED",        "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED",
      "ABORTED",  "UNAVAILABLE"};
  std::string text = kNames[static_cast<size_t>(code_)];
  if (!message_.empty()) text += ": " + message_;
  return text;
}

namespace internal {

void Die(const Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

namespace {

StatusCode CodeOf(const hlo::Diagnostic& diagnostic) {
  if (hlo::IsDeclined(diagnostic)) return StatusCode::kUnimplemented;
  static constexpr struct {
    hlo::DiagnosticId id;
    StatusCode code;
  } kIds[] = {
      {"interrupted", StatusCode::kCancelled},
      {"limit-timeout", StatusCode::kDeadlineExceeded},
      {"runtime-buffer", StatusCode::kFailedPrecondition},
      {"runtime-memory", StatusCode::kResourceExhausted},
  };
  for (const auto& row : kIds)
    if (row.id == diagnostic.id) return row.code;
  static constexpr struct {
    int exit;
    StatusCode code;
  } kExits[] = {
      {hlo::ExitCode::Compilation, StatusCode::kUnimplemented},
      {hlo::ExitCode::RunTime, StatusCode::kAborted},
      {hlo::ExitCode::Unavailable, StatusCode::kUnavailable},
      {hlo::ExitCode::Limit, StatusCode::kResourceExhausted},
      {hlo::ExitCode::Internal, StatusCode::kInternal},
  };
  if (diagnostic.id.empty()) return StatusCode::kInvalidArgument;
  for (const auto& row : kExits)
    if (row.exit == hlo::DiagnosticInfo::Of(diagnostic.id).exit) return row.code;
  return StatusCode::kInvalidArgument;
}

}  // namespace

Status ToStatus(const hlo::Diagnostic& diagnostic) {
  std::string message;
  if (diagnostic.loc.valid()) {
    const hlo::LineColumn at = hlo::FindLineColumn(*diagnostic.loc.source, diagnostic.loc.begin);
    message = llvm::formatv("{0}:{1}:{2}: ", diagnostic.loc.source->name(), at.line, at.column).str();
  }
  message += diagnostic.message;
  for (const hlo::Diagnostic& note : diagnostic.notes) message += "; " + note.message;
  return {CodeOf(diagnostic), std::move(message)};
}

}  // namespace internal
}  // namespace hlo_toolkit
