// A library that is found as libcuda.so.1: it hands out the functions that a test gives it.
#include <cstddef>
#include <cstring>

struct DriverRow {
  const char* symbol;  // without the version of its interface
  int version;
  void* function;
};

namespace {

const DriverRow* rows = nullptr;
size_t row_count = 0;
constexpr int kSuccess = 0, kNotFound = 500;

}  // namespace

extern "C" void SetDriver(const DriverRow* given, size_t count) {
  rows = given;
  row_count = count;
}

extern "C" int cuGetProcAddress_v2(const char* symbol, void** function, int version, unsigned long long flags,
                                   int* status) {
  (void)flags;
  (void)status;
  for (size_t i = 0; i < row_count; ++i)
    if (std::strcmp(rows[i].symbol, symbol) == 0 && rows[i].version == version) {
      *function = rows[i].function;
      return kSuccess;
    }
  return kNotFound;
}
