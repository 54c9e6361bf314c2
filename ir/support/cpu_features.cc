#include "ir/support/cpu_features.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#define _Bool bool  // the header is meant for C
#include <sys/platform/x86.h>
#undef _Bool
#define HLO_CPU_FEATURE(name) x86_cpu_##name
#elif defined(__x86_64__)
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#define HLO_CPU_FEATURE(name) 0
#else
#define HLO_CPU_FEATURE(name) 0
#endif

namespace hlo {
namespace {

struct Row {
  llvm::StringRef name;
  unsigned index;  // glibc's number
};
constexpr Row kRows[] = {
    {"sse", HLO_CPU_FEATURE(SSE)},
    {"sse2", HLO_CPU_FEATURE(SSE2)},
    {"sse3", HLO_CPU_FEATURE(SSE3)},
    {"ssse3", HLO_CPU_FEATURE(SSSE3)},
    {"sse4.1", HLO_CPU_FEATURE(SSE4_1)},
    {"sse4.2", HLO_CPU_FEATURE(SSE4_2)},
    {"sse4a", HLO_CPU_FEATURE(SSE4A)},
    {"popcnt", HLO_CPU_FEATURE(POPCNT)},
    {"cx16", HLO_CPU_FEATURE(CMPXCHG16B)},
    {"movbe", HLO_CPU_FEATURE(MOVBE)},
    {"lzcnt", HLO_CPU_FEATURE(LZCNT)},
    {"bmi", HLO_CPU_FEATURE(BMI1)},
    {"bmi2", HLO_CPU_FEATURE(BMI2)},
    {"avx", HLO_CPU_FEATURE(AVX)},
    {"avx2", HLO_CPU_FEATURE(AVX2)},
    {"fma", HLO_CPU_FEATURE(FMA)},
    {"f16c", HLO_CPU_FEATURE(F16C)},
    {"gfni", HLO_CPU_FEATURE(GFNI)},
    {"fma4", HLO_CPU_FEATURE(FMA4)},
    {"xop", HLO_CPU_FEATURE(XOP)},
    {"tbm", HLO_CPU_FEATURE(TBM)},
    {"avxvnni", HLO_CPU_FEATURE(AVX_VNNI)},
    {"avx512f", HLO_CPU_FEATURE(AVX512F)},
    {"avx512bw", HLO_CPU_FEATURE(AVX512BW)},
    {"avx512cd", HLO_CPU_FEATURE(AVX512CD)},
    {"avx512dq", HLO_CPU_FEATURE(AVX512DQ)},
    {"avx512vl", HLO_CPU_FEATURE(AVX512VL)},
    {"avx512ifma", HLO_CPU_FEATURE(AVX512_IFMA)},
    {"avx512vbmi", HLO_CPU_FEATURE(AVX512_VBMI)},
    {"avx512vbmi2", HLO_CPU_FEATURE(AVX512_VBMI2)},
    {"avx512vnni", HLO_CPU_FEATURE(AVX512_VNNI)},
    {"avx512bitalg", HLO_CPU_FEATURE(AVX512_BITALG)},
    {"avx512vpopcntdq", HLO_CPU_FEATURE(AVX512_VPOPCNTDQ)},
    {"avx512vp2intersect", HLO_CPU_FEATURE(AVX512_VP2INTERSECT)},
    {"avx512bf16", HLO_CPU_FEATURE(AVX512_BF16)},
    {"avx512fp16", HLO_CPU_FEATURE(AVX512_FP16)},
    {"amx-tile", HLO_CPU_FEATURE(AMX_TILE)},
    {"amx-bf16", HLO_CPU_FEATURE(AMX_BF16)},
    {"amx-int8", HLO_CPU_FEATURE(AMX_INT8)},
};

bool Has([[maybe_unused]] const Row& row) {
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
  return x86_cpu_active(row.index);
#elif defined(__x86_64__)
  static const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return host.lookup(row.name);
#else
  return false;
#endif
}

}  // namespace

llvm::ArrayRef<llvm::StringRef> KnownCpuFeatures() {
  static const std::vector<llvm::StringRef> names = [] {
    std::vector<llvm::StringRef> all;
    for (const Row& row : kRows) all.push_back(row.name);
    return all;
  }();
  return names;
}

bool HasCpuFeatures(std::initializer_list<llvm::StringRef> features) {
  return llvm::all_of(features, [](llvm::StringRef feature) {
    return llvm::any_of(kRows, [&](const Row& row) { return row.name == feature && Has(row); });
  });
}

}  // namespace hlo
