// tanh and erf of f32: odd functions that end at 1, as polynomials between there and 0.
#include "backends/llvm/math.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

/// Polynomials for 16 segments of `width`: those around j * width, j = 0, 1, …, with the distance from there
/// as argument. One row per coefficient, that of the constants first. Beyond `last` the function is constant.
struct Segments {
  double width, last;
  Math::Tables rows;
};

/// Near minimax, errors of 2^-25 of the value.
constexpr double kTanh[][16] = {
    {0, 0x1.0e190ep-1, 0x1.a6976ap-1, 0x1.e2923ep-1, 0x1.f6b6ap-1, 0x1.fd1c0cp-1, 0x1.ff1abp-1, 0x1.ffb908p-1,
     0x1.ffea0cp-1, 0x1.fff936p-1, 0x1.fffde6p-1, 0x1.ffff5ap-1, 0x1.ffffccp-1, 0x1.fffffp-1, 0x1.fffffcp-1,
     0x1.fffffep-1},
    {0x1p+0, 0x1.718392p-1, 0x1.466874p-2, 0x1.c953ecp-4, 0x1.267a14p-5, 0x1.70eee2p-7, 0x1.ca3a4ap-9,
     0x1.1bcd38p-10, 0x1.5f3fe8p-12, 0x1.b29d72p-14, 0x1.0cdc96p-15, 0x1.4ca368p-17, 0x1.9b8a4ep-19,
     0x1.fd2816p-21, 0x1.3af6a2p-22, 0x1.85abeap-24},
    {0, -0x1.85dcf6p-2, -0x1.0d68bap-2, -0x1.af0a7cp-4, -0x1.2122b2p-5, -0x1.6ed9b4p-7, -0x1.c96d1ap-9,
     -0x1.1ba5eap-10, -0x1.5f30e4p-12, -0x1.b297bcp-14, -0x1.0cdb84p-15, -0x1.4ca306p-17, -0x1.9b8a32p-19,
     -0x1.fd281ap-21, -0x1.3af6acp-22, -0x1.85abf6p-24},
    {-0x1.55547cp-2, -0x1.456fb8p-5, 0x1.c63f0ep-4, 0x1.fba566p-5, 0x1.7376dep-6, 0x1.e39a6ap-8,
     0x1.2fe21cp-9, 0x1.79c9aep-11, 0x1.d41906p-13, 0x1.21b2cep-14, 0x1.667714p-16, 0x1.bb82e6p-18,
     0x1.125be8p-19, 0x1.537004p-21, 0x1.a3f37ap-23, 0x1.03c834p-24},
    {0, 0x1.2ed71ap-3, -0x1.f3b8d8p-9, -0x1.7e57e4p-6, -0x1.57f886p-7, -0x1.d8994p-9, -0x1.2dbb32p-10,
     -0x1.78f00cp-12, -0x1.d3be4p-14, -0x1.219cdap-15, -0x1.666902p-17, -0x1.bb768cp-19, -0x1.12553ap-20,
     -0x1.53677ap-22, -0x1.a3e87ep-24, -0x1.03c2a8p-25},
    {0x1.10ad6p-3, -0x1.8e135ap-5, -0x1.b67402p-6, 0x1.f4364ap-9, 0x1.d10faep-9, 0x1.68aecap-10,
     0x1.dbfb7p-12, 0x1.2c3e98p-13, 0x1.75b202p-15, 0x1.cf30d6p-17, 0x1.1eb15p-18, 0x1.62c26p-20,
     0x1.b6ee8p-22, 0x1.0f80eep-23, 0x1.4fee92p-25, 0x1.9f7d64p-27},
    {0, -0x1.07d3a8p-5, 0x1.17c6c8p-6, 0x1.04d558p-9, -0x1.89d472p-11, -0x1.b52ebp-12, -0x1.37731ep-13,
     -0x1.918372p-15, -0x1.f70156p-17, -0x1.385bbep-18, -0x1.82e8fp-20, -0x1.dedaa2p-22, -0x1.284348p-23,
     -0x1.6eacfp-25, -0x1.c5cbe6p-27, -0x1.185e94p-28},
    {-0x1.9cb36ap-5, 0x1.d6c386p-6, -0x1.a1ab2p-9, -0x1.f5e06ap-10, -0x1.aef6aep-17, 0x1.88a79cp-14,
     0x1.4e63b6p-15, 0x1.c2651ep-17, 0x1.1dbaap-18, 0x1.643edcp-20, 0x1.b9d27p-22, 0x1.116c9ep-23,
     0x1.524b9ep-25, 0x1.a59b42p-27, 0x1.03c898p-28, 0x1.463e9ep-30},
};

/// The same but for the first segment, whose polynomial is that of erf(x) - x.
constexpr double kErf[][16] = {
    {0, 0x1.20d8b4p-2, 0x1.0f5b86p-1, 0x1.71692p-1, 0x1.b3fb34p-1, 0x1.dbb43cp-1, 0x1.f0893p-1, 0x1.fa2332p-1,
     0x1.fe06dep-1, 0x1.ff6954p-1, 0x1.ffd83ap-1, 0x1.fff6b8p-1, 0x1.fffe16p-1, 0x1.ffffa8p-1, 0x1.fffff2p-1,
     0x1.fffffep-1},
    {0x1.06eba8p-3, 0x1.0e9eap+0, 0x1.bd05bcp-1, 0x1.412574p-1, 0x1.96cd24p-2, 0x1.c4431ap-3, 0x1.b94adcp-4,
     0x1.79e994p-5, 0x1.1c0b08p-6, 0x1.76beb6p-8, 0x1.b1ed1ep-10, 0x1.b8fc5ep-12, 0x1.8955a6p-14,
     0x1.33e9d4p-16, 0x1.a71c66p-19, 0x1.fe47f8p-22},
    {0, -0x1.147e5ep-2, -0x1.c6af3cp-2, -0x1.ec2ec4p-2, -0x1.9fa43ap-2, -0x1.20cf1cp-2, -0x1.522a96p-3,
     -0x1.51dcecp-4, -0x1.2236e6p-5, -0x1.aebbdp-7, -0x1.15124ap-8, -0x1.35b5c6p-10, -0x1.2d51b6p-12,
     -0x1.fefcdp-15, -0x1.79ffcep-17, -0x1.e84ae8p-20},
    {-0x1.81263ap-2, -0x1.39c3a2p-2, -0x1.1bae46p-3, 0x1.2aaa74p-5, 0x1.27052p-3, 0x1.550c3ep-3,
     0x1.0ff6c2p-3, 0x1.53c152p-4, 0x1.5c0716p-5, 0x1.2ada9ep-6, 0x1.b3b06ap-8, 0x1.0fb8dcp-9, 0x1.238456p-11,
     0x1.0e047p-13, 0x1.b10cd2p-16, 0x1.2d44fp-18},
    {0, 0x1.066f9ep-3, 0x1.751b84p-3, 0x1.2a454ep-3, 0x1.fad97cp-5, -0x1.82865ep-7, -0x1.7b16b8p-5,
     -0x1.7cc116p-5, -0x1.02ef06p-5, -0x1.10f282p-6, -0x1.d4381cp-8, -0x1.4ea1aap-9, -0x1.940978p-11,
     -0x1.9fac78p-13, -0x1.6e8c9ap-15, -0x1.163b1ep-17},
    {0x1.cb8038p-4, 0x1.45c93ap-4, 0x1.4475fap-8, -0x1.c269bcp-5, -0x1.16845ep-4, -0x1.655be4p-5,
     -0x1.751274p-7, 0x1.0fdbf2p-7, 0x1.a9b446p-7, 0x1.40148p-7, 0x1.58cf4cp-8, 0x1.2410d8p-9, 0x1.9456b4p-11,
     0x1.d2da4cp-13, 0x1.c717cap-15, 0x1.79927p-17},
};

struct Place {
  Value* index;
  Value* center;    // over the width
  Value* distance;  // from the center
};
Place Locate(Math& m, const Segments& segments, Value* a) {
  const double magic = 0x1.8p23;
  a = m.AtMost(a, segments.last);
  Value* sum = m.Fma(a, 1 / segments.width, m.C(magic));
  Value* center = m.Sub(sum, m.C(magic));
  return {m.Bits(sum), center, m.Fma(center, -segments.width, a)};
}

/// c[0] + c[1] d + c[2] d^2 + … of the segment; `first` makes c[0] what it is.
Value* Polynomial(Math& m, const Segments& segments, const Place& place,
                  llvm::function_ref<Value*(Value*)> first) {
  const llvm::SmallVector<Value*, 8> c = m.LookupInAll(segments.rows, place.index);
  Value* sum = c.back();
  for (size_t i = c.size() - 1; i-- > 1;) sum = m.Fma(sum, place.distance, c[i]);
  return m.Fma(sum, place.distance, first(c[0]));
}

}  // namespace

/// From here on they are 1.
constexpr double kOneFromTanh = 0x1.22ep+3, kOneFromErf = 0x1.f6p+1;

Value* EmitTanh32(Math& m, llvm::ArrayRef<Value*> x) {
  const Segments segments = {0x1.2c67p-1, kOneFromTanh, kTanh};
  const Place place = Locate(m, segments, m.Abs(x[0]));
  return m.CopySign(Polynomial(m, segments, place, [](Value* c) { return c; }), x[0]);
}

Value* EmitErf32(Math& m, llvm::ArrayRef<Value*> x) {
  const Segments segments = {0x1.059p-2, kOneFromErf, kErf};
  const Place place = Locate(m, segments, m.Abs(x[0]));
  const auto first = [&](Value* c) { return m.Select(m.Equal(place.center, 0.0), place.distance, c); };
  return m.CopySign(Polynomial(m, segments, place, first), x[0]);
}

}  // namespace hlo::codegen
