// Kernels of one thread that set conditions of graphs.
#include "backends/gpu/runtime/gpu.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

/// The driver defines the function when it compiles PTX: machine code of it would lack that. `stop` is memory
/// of the host.
constexpr const char* kSetters = R"(.version 7.8
.target sm_75
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);

.visible .entry set_loop(.param .u64 condition, .param .u64 predicate, .param .u64 stop)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [condition];
  ld.param.u64 %rd2, [predicate];
  ld.param.u64 %rd3, [stop];
  ld.relaxed.sys.global.u32 %r2, [%rd3];
  ld.global.u8 %r1, [%rd2];
  setp.ne.u32 %p1, %r1, 0;
  setp.eq.and.u32 %p2, %r2, 0, %p1;
  selp.u32 %r3, 1, 0, %p2;
  {
    .param .b64 param0;
    .param .b32 param1;
    st.param.b64 [param0+0], %rd1;
    st.param.b32 [param1+0], %r3;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}

.visible .entry set_branch(.param .u64 condition, .param .u64 selector, .param .u32 bytes, .param .u32 branches,
                           .param .u32 which)
{
  .reg .pred %p<5>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [condition];
  ld.param.u64 %rd2, [selector];
  ld.param.u32 %r1, [bytes];
  ld.param.u32 %r2, [branches];
  ld.param.u32 %r3, [which];
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra PREDICATE;
  ld.global.u32 %r4, [%rd2];
  sub.u32 %r5, %r2, 1;
  min.u32 %r6, %r4, %r5;
  bra CHOSEN;
PREDICATE:
  ld.global.u8 %r4, [%rd2];
  setp.eq.u32 %p2, %r4, 0;
  selp.u32 %r6, 1, 0, %p2;
CHOSEN:
  setp.eq.u32 %p3, %r6, %r3;
  selp.u32 %r7, 1, 0, %p3;
  setp.eq.u32 %p4, %r3, 0xffffffff;
  selp.u32 %r8, %r6, %r7, %p4;
  {
    .param .b64 param0;
    .param .b32 param1;
    st.param.b64 [param0+0], %rd1;
    st.param.b32 [param1+0], %r8;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

/// A function of the driver that graphs with conditions need and that it lacks; empty: none.
llvm::StringRef Missing(const DriverApi& api) {
  for (const DriverFunction& function : DriverFunctions()) {
    const void* address = nullptr;
    std::memcpy(static_cast<void*>(&address), reinterpret_cast<const char*>(&api) + function.offset,
                sizeof address);
    if (address == nullptr) return function.symbol;
  }
  return "";
}

}  // namespace

Status Gpu::LoadSetters() {
  if (const llvm::StringRef missing = Missing(*driver_.api); !missing.empty())
    return Error(kGpuErrorId, {}, "the driver has no {0}", missing);
  int version = 0;
  HLO_CHECK_OK(Call(&DriverApi::DriverGetVersion, &version));
  setters_.switches = version >= kSwitchVersion;
  HLO_TRY(const CuModule module, LoadModule(kSetters));
  HLO_CHECK_OK(Call(&DriverApi::ModuleGetFunction, &setters_.loop, module, "set_loop"));
  return Call(&DriverApi::ModuleGetFunction, &setters_.branch, module, "set_branch");
}

const ConditionSetters& Gpu::Setters() {
  std::call_once(setters_are_loaded_, [this] {
    const Status loaded = LoadSetters();
    if (loaded) return;
    setters_.why_not = loaded.error().message;
    has_remark_ = true;
  });
  return setters_;
}

std::optional<Diagnostic> Gpu::TakeRemark() {
  if (!has_remark_.exchange(false)) return std::nullopt;
  Diagnostic remark = MakeError(kGpuErrorId, {}, "{0}", setters_.why_not);
  remark.severity = Severity::Remark;
  remark.Note("graphs have no loops of unknown length and no branches: the host goes through these");
  return remark;
}

}  // namespace hlo::gpu
