// The names of the documents: their programs compile with this header in place of their own.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/client.h"
#include "hlo/computation_builder.h"
#include "hlo/ops.h"
#include "hlo/scopes.h"
#include "hlo/transform.h"

namespace xla {
using namespace hlo_toolkit;  // NOLINT(google-build-using-namespace): what the header is for
using std::string;
// NOLINTBEGIN(readability-identifier-naming): names of the documents
using int32 = int32_t;
using int64 = int64_t;
using uint32 = uint32_t;
using uint64 = uint64_t;
// NOLINTEND(readability-identifier-naming)
}  // namespace xla

// Of the documents' own libraries.
namespace util {
using hlo_toolkit::Status;
using hlo_toolkit::StatusOr;
}  // namespace util
namespace gtl {
template <class T>
using ArraySlice = hlo_toolkit::Span<const T>;
}  // namespace gtl
namespace tensorflow {
using StringPiece = std::string_view;
}  // namespace tensorflow
