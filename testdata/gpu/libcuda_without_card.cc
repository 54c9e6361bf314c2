// A library that is found as libcuda.so.1 where there is no card: code can be loaded, and nothing be run.
// NVIDIA's libraries make plans with it for cards that are described to them.

namespace {
constexpr int kSuccess = 0, kStub = 34, kVersion = 13000;
char loaded;  // what handles point at
}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
int cuInit(unsigned) { return kSuccess; }
int cuDriverGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}
int cuLibraryLoadData(void** library) {
  *library = &loaded;
  return kSuccess;
}
int cuLibraryGetKernel(void** kernel) {
  *kernel = &loaded;
  return kSuccess;
}
int cuKernelGetFunction(void** function) {
  *function = &loaded;
  return kSuccess;
}
int cuModuleLoadData(void** module) {
  *module = &loaded;
  return kSuccess;
}
int cuModuleGetFunction(void** function) {
  *function = &loaded;
  return kSuccess;
}
int cuCtxGetCurrent(void** context) {
  *context = &loaded;
  return kSuccess;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return kSuccess;
}
int cuDeviceGetAttribute(int* value) {
  *value = 1;
  return kSuccess;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks) {
  *blocks = 1;
  return kSuccess;
}
int cuLibraryUnload(void*) { return kSuccess; }
int cuFuncSetAttribute() { return kSuccess; }
int cuKernelSetAttribute() { return kSuccess; }
#define NOT_WITHOUT_CARD(function) \
  int function() { return kStub; }
NOT_WITHOUT_CARD(cuCtxGetDevice)
NOT_WITHOUT_CARD(cuCtxGetLimit)
NOT_WITHOUT_CARD(cuCtxPopCurrent)
NOT_WITHOUT_CARD(cuCtxPushCurrent)
NOT_WITHOUT_CARD(cuDeviceGet)
NOT_WITHOUT_CARD(cuDevicePrimaryCtxRelease)
NOT_WITHOUT_CARD(cuDevicePrimaryCtxReset)
NOT_WITHOUT_CARD(cuDevicePrimaryCtxRetain)
NOT_WITHOUT_CARD(cuFuncGetAttribute)
NOT_WITHOUT_CARD(cuGetErrorName)
NOT_WITHOUT_CARD(cuGetExportTable)
NOT_WITHOUT_CARD(cuGetErrorString)
NOT_WITHOUT_CARD(cuKernelGetAttribute)
NOT_WITHOUT_CARD(cuLaunchCooperativeKernel)
NOT_WITHOUT_CARD(cuLaunchKernel)
NOT_WITHOUT_CARD(cuLaunchKernelEx)
NOT_WITHOUT_CARD(cuLibraryLoadFromFile)
NOT_WITHOUT_CARD(cuLinkAddData)
NOT_WITHOUT_CARD(cuLinkAddData_v2)
NOT_WITHOUT_CARD(cuLinkAddFile)
NOT_WITHOUT_CARD(cuLinkAddFile_v2)
NOT_WITHOUT_CARD(cuLinkComplete)
NOT_WITHOUT_CARD(cuLinkCreate)
NOT_WITHOUT_CARD(cuLinkCreate_v2)
NOT_WITHOUT_CARD(cuLinkDestroy)
NOT_WITHOUT_CARD(cuMemcpyDtoH_v2)
NOT_WITHOUT_CARD(cuModuleGetGlobal)
NOT_WITHOUT_CARD(cuModuleGetGlobal_v2)
NOT_WITHOUT_CARD(cuModuleLoadDataEx)
NOT_WITHOUT_CARD(cuModuleLoadFatBinary)
NOT_WITHOUT_CARD(cuModuleUnload)
NOT_WITHOUT_CARD(cuTensorMapEncodeTiled)
NOT_WITHOUT_CARD(cuOccupancyMaxPotentialClusterSize)
NOT_WITHOUT_CARD(cuStreamGetCtx)
NOT_WITHOUT_CARD(cuStreamSynchronize)
}
// NOLINTEND(readability-identifier-naming)
