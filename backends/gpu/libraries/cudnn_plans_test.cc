// What the library says to descriptions, for a card that is not there.
#include <dlfcn.h>

#include "backends/gpu/libraries/attention_gradient.h"
#include "backends/gpu/libraries/cudnn.h"
#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kH200 = R"({
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
  "multiProcessorCount": 132, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
  "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
  "supportCoopLaunch": 1, "totalGlobalMem": 150754820096, "smClockRateKHz": 1980000,
  "memClockRateKHz": 3201000, "l2CacheSize": 62914560, "cudaDeviceId": 0, "deviceVer": 900,
  "driverVer": 13000, "deviceName": "NVIDIA H200"})";

constexpr llvm::StringLiteral kA100 = R"({
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
  "multiProcessorCount": 108, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 166912, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
  "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
  "supportCoopLaunch": 1, "totalGlobalMem": 85899345920, "smClockRateKHz": 1410000,
  "memClockRateKHz": 1512000, "l2CacheSize": 41943040, "cudaDeviceId": 0, "deviceVer": 800,
  "driverVer": 13000, "deviceName": "NVIDIA A100"})";

struct AttentionCase {
  const char* name;
  ElementType type = ElementType::BF16;
  int64_t places = 2048, keys = 2048, features = 128, shared = 1;  // heads that share keys
  bool causal = false;
  std::optional<ElementType> bias = std::nullopt;
  llvm::StringRef along = "hqk";  // the dimensions that the bias has
  double scale = 0.125;
  std::optional<double> cap = std::nullopt;
};
constexpr ElementType kHalf = ElementType::F16, kBrain = ElementType::BF16, kSingle = ElementType::F32;
constexpr AttentionCase kAttention[] = {
    {.name = "plain"},
    {.name = "f16", .type = kHalf},
    {.name = "without a scale", .scale = 1},
    {.name = "causal", .causal = true},
    {.name = "shared keys", .shared = 4},
    {.name = "shared keys, causal", .shared = 4, .causal = true},
    {.name = "bias", .bias = kBrain},
    {.name = "bias of f32", .bias = kSingle},
    {.name = "bias of each sequence", .bias = kBrain, .along = "bhqk"},
    {.name = "bias of f16", .type = kHalf, .bias = kHalf},
    {.name = "bias, causal", .causal = true, .bias = kBrain},
    {.name = "mask of keys", .bias = kBrain, .along = "bk"},
    {.name = "mask of queries", .bias = kBrain, .along = "bq"},
    {.name = "mask of f16 by f32", .type = kHalf, .bias = kSingle, .along = "bk"},
    {.name = "256 features", .features = 256},
    {.name = "64 features", .features = 64},
    {.name = "16 features", .features = 16},
    {.name = "short", .places = 64, .keys = 64, .features = 16},
    {.name = "one query", .places = 1},
    {.name = "capped", .cap = 50},
    {.name = "capped, causal", .causal = true, .cap = 50},
    {.name = "capped, bias", .bias = kBrain, .cap = 50},
    {.name = "capped, shared keys", .shared = 4, .cap = 30},
    {.name = "other keys", .places = 512, .keys = 77},
};

constexpr AttentionCase kGradients[] = {
    {.name = "f16", .type = kHalf, .scale = 1},
    {.name = "causal", .causal = true},
    {.name = "shared keys, causal", .shared = 4, .causal = true},
    {.name = "bias", .bias = kBrain, .along = "bqk"},
    {.name = "lengths, shared keys", .shared = 4, .bias = kBrain, .along = "bk"},
    {.name = "other keys", .places = 512, .keys = 77, .features = 64},
};

/// Heads lie beside each other, as JAX has them.
LibraryAttention AttentionFor(const AttentionCase& of) {
  constexpr int64_t kBatch = 4, kHeads = 16;
  const auto array = [&](int64_t number, int64_t heads, int64_t places) {
    View view;
    view.array = number;
    view.type = of.type;
    view.dims = {{kBatch, places * heads * of.features},
                 {heads, of.features},
                 {places, heads * of.features},
                 {of.features, 1}};
    return view;
  };
  LibraryAttention attention;
  attention.queries = array(0, kHeads, of.places);
  attention.keys = array(1, kHeads / of.shared, of.keys);
  attention.values = array(2, kHeads / of.shared, of.keys);
  attention.result = array(-1, kHeads, of.places);
  attention.scale = of.scale;
  attention.cap = of.cap;
  if (of.causal) attention.masked = -1e9;
  if (!of.bias) return attention;
  attention.bias.array = 3;
  attention.bias.type = *of.bias;
  int64_t stride = 1;
  for (const auto& [name, size] : {std::pair('k', of.keys), {'q', of.places}, {'h', kHeads}, {'b', kBatch}}) {
    const int64_t used = of.along.contains(name) ? size : 1;
    attention.bias.dims.insert(attention.bias.dims.begin(), {used, stride});
    stride *= used;
  }
  return attention;
}

/// Of the result, all laid out like what they are of.
LibraryAttentionGradient GradientFor(const AttentionCase& of) {
  LibraryAttentionGradient gradient;
  LibraryAttention& attention = gradient.attention = AttentionFor(of);
  enum Number : int64_t { Bias = 3, ResultGradient, Result, Statistics };
  const auto as = [](View view, int64_t number) {
    view.array = number;
    return view;
  };
  attention.result.array = Result;
  const auto& q = attention.queries.dims;
  attention.statistics.array = Statistics;
  attention.statistics.dims = {
      {q[0].size, q[1].size * q[2].size}, {q[1].size, q[2].size}, {q[2].size, 1}, {1, 1}};
  gradient.result = as(attention.result, ResultGradient);
  gradient.queries = as(attention.queries, -1);
  gradient.keys = as(attention.keys, -2);
  gradient.values = as(attention.values, -3);
  return gradient;
}

LibraryAttention WithStatistics(const AttentionCase& of) {
  LibraryAttention attention = GradientFor(of).attention;
  attention.result.array = -1;
  attention.statistics.array = -2;
  return attention;
}

/// Ends the process: 0 if there are plans for all on a card, or no such library; what is wrong is said.
void MakePlans(llvm::StringRef card, bool all_cases) {
  // Where there is no driver plans are made with one that has no card.
  if (::dlopen("libcuda.so.1", RTLD_NOW) == nullptr) ::dlopen(HLO_WITHOUT_CARD, RTLD_NOW);
  const auto library = Cudnn::OpenFor({}, card);
  if (!library) std::_Exit(0);
  LibraryArrays alignments;
  alignments.operands = {256, 256, 256, 256, 256, 256, 256};
  alignments.results = {256, 256, 256};
  bool all = true;
  const auto check = [&](const AttentionCase& one, llvm::StringRef what, const auto& plan) {
    if (!plan) llvm::errs() << what << one.name << ": " << plan.error().message << '\n';
    all &= plan.has_value();
  };
  for (const AttentionCase& one :
       llvm::ArrayRef(kAttention).take_front(all_cases ? std::size(kAttention) : 1))
    check(one, "", PlanAttention(*library, AttentionFor(one), alignments));
  for (const AttentionCase& one : kGradients) {
    if (one.causal || one.bias)
      check(one, "with statistics: ", PlanAttention(*library, WithStatistics(one), alignments));
    check(one, "gradients: ", PlanGradient(*library, GradientFor(one), alignments));
  }
  // What the library keeps until the end is not ours to look at.
  std::_Exit(all ? 0 : 1);
}

// In processes of their own: others do not find the driver that has no card.
TEST(CudnnPlans, AreMadeForHopper) {
  if (!Cudnn::IsThere({})) GTEST_SKIP() << "libcudnn.so.9 is not installed";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(MakePlans(kH200, true), testing::ExitedWithCode(0), "");
}
TEST(CudnnPlans, AreMadeForAmpere) {
  if (!Cudnn::IsThere({})) GTEST_SKIP() << "libcudnn.so.9 is not installed";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(MakePlans(kA100, false), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hlo::gpu
