#include "backends/gpu/driver/driver.h"

namespace hlo::gpu {
namespace {

struct ErrorRow {
  int code;
  const char* name;
  bool lost;
  const char* text;
};
constexpr ErrorRow kErrors[] = {
#define CU_ERROR(Kind, code, name, lost, text) {code, name, lost, text},
#include "backends/gpu/driver/errors.def"
};
constexpr DriverFunction kFunctions[] = {
#define CU_FUNCTION(name, symbol, version, parameters) {#name, #symbol, version, offsetof(DriverApi, name)},
#include "backends/gpu/driver/functions.def"
};

const ErrorRow* Find(CuResult result) {
  for (const ErrorRow& row : kErrors)
    if (row.code == static_cast<int>(result)) return &row;
  return nullptr;
}

}  // namespace

const char* NameOf(CuResult result) {
  const ErrorRow* row = Find(result);
  return row != nullptr ? row->name : nullptr;
}
const char* TextOf(CuResult result) {
  const ErrorRow* row = Find(result);
  return row != nullptr ? row->text : nullptr;
}

bool IsLost(CuResult result) {
  const ErrorRow* row = Find(result);
  return row != nullptr && row->lost;
}

std::optional<CuResult> ResultNamed(llvm::StringRef name) {
  for (const ErrorRow& row : kErrors)
    if (row.name == name) return static_cast<CuResult>(row.code);
  return std::nullopt;
}

llvm::StringRef DriverFunction::base() const {
  llvm::StringRef left = symbol;
  return left.consume_back("_v2") || left.consume_back("_v3") ? left : symbol;
}

llvm::ArrayRef<DriverFunction> DriverFunctions() { return kFunctions; }

}  // namespace hlo::gpu
