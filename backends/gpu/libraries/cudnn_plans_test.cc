// What the library says to descriptions, for a card that is not there.
#include <dlfcn.h>

#include "backends/gpu/libraries/attention.h"
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
    {.name = "mask of places", .bias = kBrain, .along = "bqk"},
    {.name = "mask of queries", .bias = kBrain, .along = "bq"},
    {.name = "mask of f16 by f32", .type = kHalf, .bias = kSingle, .along = "bk"},
    {.name = "mask of keys, capped", .bias = kBrain, .along = "bk", .cap = 50},
    {.name = "mask of other keys", .places = 512, .keys = 77, .bias = kBrain, .along = "bk"},
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

/// Ends the process: 0 if there are plans for all, or no such library; what is wrong is said.
void MakeAttention() {
  // Where there is no driver plans are made with one that has no card.
  if (::dlopen("libcuda.so.1", RTLD_NOW) == nullptr) ::dlopen(HLO_WITHOUT_CARD, RTLD_NOW);
  const auto library = Cudnn::OpenFor({}, kH200);
  if (!library) std::_Exit(0);
  LibraryArrays alignments;
  alignments.operands = {256, 256, 256, 256};
  alignments.results = {256};
  bool all = true;
  for (const AttentionCase& one : kAttention) {
    const auto plan = PlanAttention(*library, AttentionFor(one), alignments);
    if (!plan) llvm::errs() << one.name << ": " << plan.error().message << '\n';
    all &= plan.has_value();
  }
  // What the library keeps until the end is not ours to look at.
  std::_Exit(all ? 0 : 1);
}

// In a process of its own: others do not find the driver that has no card.
TEST(CudnnPlans, AttentionIsMade) {
  if (!Cudnn::IsThere({})) GTEST_SKIP() << "libcudnn.so.9 is not installed";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(MakeAttention(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hlo::gpu
