// Complex functions against values computed with 300 bits, and their special values.
#include "ir/numeric/complex_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hlo::math {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct ComplexPoint {
  const char* name;
  Complex128 (*wide)(Complex128);
  Complex64 (*narrow)(Complex64);
  Complex128 z, expected;
};
struct ComplexPoint2 {
  const char* name;
  Complex128 (*wide)(Complex128, Complex128);
  Complex64 (*narrow)(Complex64, Complex64);
  Complex128 x, y, expected;
};

// clang-format off
const ComplexPoint kPoints[] = {
    {"Exp", Exp, Exp, {0.3, 0.4}, {0x1.3e490f285d816p+0, 0x1.0d234750f27c6p-1}},
    {"Exp", Exp, Exp, {-1.2, 0.7}, {0x1.d7ca2679a643cp-3, 0x1.8d620858e1b60p-3}},
    {"Exp", Exp, Exp, {2.5, -3.1}, {-0x1.8580adecec246p+3, -0x1.035b5486acb29p-1}},
    {"Exp", Exp, Exp, {1e-09, 2e-09}, {0x1.000000044b830p+0, 0x1.12e0be870a00cp-29}},
    {"Exp", Exp, Exp, {-0.999999, 1e-07}, {0x1.78b57c12eea51p-2, 0x1.3c01a0231208ap-25}},
    {"Exp", Exp, Exp, {1.0000001, -1e-08}, {0x1.5bf0aaf904983p+1, -0x1.d2ff4fa285c70p-26}},
    {"Exp", Exp, Exp, {-30.0, 2.0}, {-0x1.5ec0dff117a43p-45, 0x1.7f348162614cdp-44}},
    {"Exp", Exp, Exp, {0.01, 3.14}, {-0x1.02929055030e8p+0, 0x1.a5b34d1936aa5p-10}},
    {"Expm1", Expm1, Expm1, {0.3, 0.4}, {0x1.f2487942ec0b2p-3, 0x1.0d234750f27c6p-1}},
    {"Expm1", Expm1, Expm1, {-1.2, 0.7}, {-0x1.8a0d7661966f1p-1, 0x1.8d620858e1b60p-3}},
    {"Expm1", Expm1, Expm1, {2.5, -3.1}, {-0x1.a580adecec246p+3, -0x1.035b5486acb29p-1}},
    {"Expm1", Expm1, Expm1, {1e-09, 2e-09}, {0x1.12e0be7b82862p-30, 0x1.12e0be870a00cp-29}},
    {"Expm1", Expm1, Expm1, {-0.999999, 1e-07}, {-0x1.43a541f688ad7p-1, 0x1.3c01a0231208ap-25}},
    {"Expm1", Expm1, Expm1, {1.0000001, -1e-08}, {0x1.b7e155f209307p+0, -0x1.d2ff4fa285c70p-26}},
    {"Expm1", Expm1, Expm1, {-30.0, 2.0}, {-0x1.00000000000afp+0, 0x1.7f348162614cdp-44}},
    {"Expm1", Expm1, Expm1, {0.01, 3.14}, {-0x1.0149482a81874p+1, 0x1.a5b34d1936aa5p-10}},
    {"Log", Log, Log, {0.3, 0.4}, {-0x1.62e42fefa39efp-1, 0x1.dac670561bb50p-1}},
    {"Log", Log, Log, {-1.2, 0.7}, {0x1.50a67639fca63p-2, 0x1.4e87c3b956ba8p+1}},
    {"Log", Log, Log, {2.5, -3.1}, {0x1.61c4349aa48bcp+0, -0x1.c8c5c422f340dp-1}},
    {"Log", Log, Log, {1e-09, 2e-09}, {-0x1.3eb25e36c934fp+4, 0x1.1b6e192ebbe44p+0}},
    {"Log", Log, Log, {-0.999999, 1e-07}, {-0x1.0c6f82c0c8848p-20, 0x1.921fb46d832eap+1}},
    {"Log", Log, Log, {1.0000001, -1e-08}, {0x1.ad7f284b509f7p-24, -0x1.5798ebe292d38p-27}},
    {"Log", Log, Log, {-30.0, 2.0}, {0x1.b3a3179d15915p+1, 0x1.899a67091335fp+1}},
    {"Log", Log, Log, {0.01, 3.14}, {0x1.24ec1e258553fp+0, 0x1.914efed2b53b8p+0}},
    {"Log1p", Log1p, Log1p, {0.3, 0.4}, {0x1.3af99cb1b90b0p-2, 0x1.31a9b43436de1p-2}},
    {"Log1p", Log1p, Log1p, {-1.2, 0.7}, {-0x1.450ec3d21b603p-2, 0x1.d95e5ac22d08cp+0}},
    {"Log1p", Log1p, Log1p, {2.5, -3.1}, {0x1.8ad616d35dddap+0, -0x1.7321a7b99c6e6p-1}},
    {"Log1p", Log1p, Log1p, {1e-09, 2e-09}, {0x1.12e0be89584c8p-30, 0x1.12e0be7dd0d1ep-29}},
    {"Log1p", Log1p, Log1p, {-0.999999, 1e-07}, {-0x1.b9efe7eb627bep+3, 0x1.983e282dfaae9p-4}},
    {"Log1p", Log1p, Log1p, {1.0000001, -1e-08}, {0x1.62e4319d22c7fp-1, -0x1.5798ed02cdcaap-28}},
    {"Log1p", Log1p, Log1p, {-30.0, 2.0}, {0x1.af514a92cef9ep+1, 0x1.894f6b2b6da70p+1}},
    {"Log1p", Log1p, Log1p, {0.01, 3.14}, {0x1.3185e541edaa9p+0, 0x1.42749d12fa90cp+0}},
    {"Sqrt", Sqrt, Sqrt, {0.3, 0.4}, {0x1.43d136248490fp-1, 0x1.43d136248490fp-2}},
    {"Sqrt", Sqrt, Sqrt, {-1.2, 0.7}, {0x1.3afd62d6c42b9p-2, 0x1.2347d24fa6431p+0}},
    {"Sqrt", Sqrt, Sqrt, {2.5, -3.1}, {0x1.cce334155b7a2p+0, -0x1.b8ce1fcd389f8p-1}},
    {"Sqrt", Sqrt, Sqrt, {1e-09, 2e-09}, {0x1.516e15edec27dp-15, 0x1.a11621422d22cp-16}},
    {"Sqrt", Sqrt, Sqrt, {-0.999999, 1e-07}, {0x1.ad7f37beacd92p-25, 0x1.ffffef390819ap-1}},
    {"Sqrt", Sqrt, Sqrt, {1.0000001, -1e-08}, {0x1.000000d6bf948p+0, -0x1.5798ed02cdcb2p-28}},
    {"Sqrt", Sqrt, Sqrt, {-30.0, 2.0}, {0x1.75b4611924f55p-3, 0x1.5ebca65063cadp+2}},
    {"Sqrt", Sqrt, Sqrt, {0.01, 3.14}, {0x1.41473c318d7dcp+0, 0x1.4041b7e5f0bcbp+0}},
    {"Rsqrt", Rsqrt, Rsqrt, {0.3, 0.4}, {0x1.43d136248490fp+0, -0x1.43d136248490fp-1}},
    {"Rsqrt", Rsqrt, Rsqrt, {-1.2, 0.7}, {0x1.c5781f07cff7dp-3, -0x1.a3562f539c1bap-1}},
    {"Rsqrt", Rsqrt, Rsqrt, {2.5, -3.1}, {0x1.ceeacf5454551p-2, 0x1.babf16f96c4ecp-3}},
    {"Rsqrt", Rsqrt, Rsqrt, {1e-09, 2e-09}, {0x1.19144c2f607efp+14, -0x1.5b6ee00fbe58cp+13}},
    {"Rsqrt", Rsqrt, Rsqrt, {-0.999999, 1e-07}, {0x1.ad7f53e472037p-25, -0x1.000008637c38ep+0}},
    {"Rsqrt", Rsqrt, Rsqrt, {1.0000001, -1e-08}, {0x1.fffffe5280d86p-1, 0x1.5798eac257dcep-28}},
    {"Rsqrt", Rsqrt, Rsqrt, {-30.0, 2.0}, {0x1.8dbc413e88fd5p-8, -0x1.754a6f21e2b16p-3}},
    {"Rsqrt", Rsqrt, Rsqrt, {0.01, 3.14}, {0x1.99450440d3d18p-2, -0x1.97f7e03ba827ap-2}},
    {"Logistic", Logistic, Logistic, {0.3, 0.4}, {0x1.27a506f1d264ap-1, 0x1.959404a68a54bp-4}},
    {"Logistic", Logistic, Logistic, {-1.2, 0.7}, {0x1.a7d941cc631c1p-3, 0x1.0022efe935d80p-3}},
    {"Logistic", Logistic, Logistic, {2.5, -3.1}, {0x1.16de14a4a99d9p+0, -0x1.096f2d44bebddp-8}},
    {"Logistic", Logistic, Logistic, {1e-09, 2e-09}, {0x1.0000000225c18p-1, 0x1.12e0be826d695p-31}},
    {"Logistic", Logistic, Logistic, {-0.999999, 1e-07}, {0x1.13656e7710486p-2, 0x1.51c6e1f634defp-26}},
    {"Logistic", Logistic, Logistic, {1.0000001, -1e-08}, {0x1.764d50063d977p-1, -0x1.0e38abc46cc62p-29}},
    {"Logistic", Logistic, Logistic, {-30.0, 2.0}, {-0x1.5ec0dff1176b8p-45, 0x1.7f348162616dap-44}},
    {"Logistic", Logistic, Logistic, {0.01, 3.14}, {0x1.881baf8c1c1b6p+6, 0x1.f109872e68facp+3}},
    {"Sin", Sin, Sin, {0.3, 0.4}, {0x1.47256eb135df7p-2, 0x1.91d30ed85a130p-2}},
    {"Sin", Sin, Sin, {-1.2, 0.7}, {-0x1.2b7c602e9d023p+0, 0x1.1979cc685eccbp-2}},
    {"Sin", Sin, Sin, {2.5, -3.1}, {0x1.a9fa65f2c4464p+2, 0x1.1bf666352205fp+3}},
    {"Sin", Sin, Sin, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Sin", Sin, Sin, {-0.999999, 1e-07}, {-0x1.aed536cf668e7p-1, 0x1.d01deb29abedfp-25}},
    {"Sin", Sin, Sin, {1.0000001, -1e-08}, {0x1.aed54ac0ae885p-1, -0x1.734af8d81725cp-28}},
    {"Sin", Sin, Sin, {-30.0, 2.0}, {0x1.dbcc2be585ab2p+1, 0x1.1e7007dc4d4b7p-1}},
    {"Sin", Sin, Sin, {0.01, 3.14}, {0x1.da0bb49353c45p-4, 0x1.70f36df6a6e85p+3}},
    {"Cos", Cos, Cos, {0.3, 0.4}, {0x1.0864c96a5b326p+0, -0x1.f1320a2a34409p-4}},
    {"Cos", Cos, Cos, {-1.2, 0.7}, {0x1.d1bc64728a2d1p-2, 0x1.69ffcaa6cbac0p-1}},
    {"Cos", Cos, Cos, {2.5, -3.1}, {-0x1.1d1e0e454479fp+3, 0x1.a840ac9b5c510p+2}},
    {"Cos", Cos, Cos, {1e-09, 2e-09}, {0x1.0000000000000p+0, -0x1.2725dd1d243acp-59}},
    {"Cos", Cos, Cos, {-0.999999, 1e-07}, {0x1.14a29d377e15ep-1, 0x1.6968a76081c04p-24}},
    {"Cos", Cos, Cos, {1.0000001, -1e-08}, {0x1.14a27e287efa0p-1, 0x1.21209348e6d44p-27}},
    {"Cos", Cos, Cos, {-30.0, 2.0}, {0x1.29203ee5b524dp-1, -0x1.caae94a68c159p+1}},
    {"Cos", Cos, Cos, {0.01, 3.14}, {0x1.7255fc07fb400p+3, -0x1.d845dc22d17eep-4}},
    {"Tan", Tan, Tan, {0.3, 0.4}, {0x1.0b56e6356ccd4p-2, 0x1.a47d19bfa5a19p-2}},
    {"Tan", Tan, Tan, {-1.2, 0.7}, {-0x1.e955352792f79p-2, 0x1.58e364936c22fp+0}},
    {"Tan", Tan, Tan, {2.5, -3.1}, {-0x1.fd8fd6e0d7481p-9, -0x1.ff682fc4fdba9p-1}},
    {"Tan", Tan, Tan, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Tan", Tan, Tan, {-0.999999, 1e-07}, {-0x1.8eb20c537642ap+0, 0x1.6fcfa6acee3acp-22}},
    {"Tan", Tan, Tan, {1.0000001, -1e-08}, {0x1.8eb24b8b2e105p+0, -0x1.263ffa9ce152bp-25}},
    {"Tan", Tan, Tan, {-30.0, 2.0}, {0x1.7af805c8e4181p-7, 0x1.0912b6821ec98p+0}},
    {"Tan", Tan, Tan, {0.01, 3.14}, {0x1.391c0763a5525p-14, 0x1.fe15ea41cfa4dp-1}},
    {"Asin", Asin, Asin, {0.3, 0.4}, {0x1.1f5d5b21561e8p-2, 0x1.9ed5c4bd8b06bp-2}},
    {"Asin", Asin, Asin, {-1.2, 0.7}, {-0x1.d29d042e38a55p-1, 0x1.f51237144f53ap-1}},
    {"Asin", Asin, Asin, {2.5, -3.1}, {0x1.53ac03d861b76p-1, -0x1.0a136d1668890p+1}},
    {"Asin", Asin, Asin, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Asin", Asin, Asin, {-0.999999, 1e-07}, {-0x1.91c2e921dbb5cp+0, 0x1.283689bac9a03p-14}},
    {"Asin", Asin, Asin, {1.0000001, -1e-08}, {0x1.921e3e9566a3fp+0, -0x1.d58593f59a8a5p-12}},
    {"Asin", Asin, Asin, {-30.0, 2.0}, {-0x1.8112b067ddff3p+0, 0x1.062993ab849cap+2}},
    {"Asin", Asin, Asin, {0.01, 3.14}, {0x1.8dbe0c4de6240p-9, 0x1.dca00906f5201p+0}},
    {"Acos", Acos, Acos, {0.3, 0.4}, {0x1.4a485e7bed49ep+0, -0x1.9ed5c4bd8b06bp-2}},
    {"Acos", Acos, Acos, {-1.2, 0.7}, {0x1.3db71badaf921p+1, -0x1.f51237144f53ap-1}},
    {"Acos", Acos, Acos, {2.5, -3.1}, {0x1.d09366b023ebbp-1, 0x1.0a136d1668890p+1}},
    {"Acos", Acos, Acos, {1e-09, 2e-09}, {0x1.921fb53ff74e9p+0, -0x1.12e0be826d695p-29}},
    {"Acos", Acos, Acos, {-0.999999, 1e-07}, {0x1.91f14f330f43ap+1, -0x1.283689bac9a03p-14}},
    {"Acos", Acos, Acos, {1.0000001, -1e-08}, {0x1.76aedc2d93846p-16, 0x1.d58593f59a8a5p-12}},
    {"Acos", Acos, Acos, {-30.0, 2.0}, {0x1.899932d610686p+1, -0x1.062993ab849cap+2}},
    {"Acos", Acos, Acos, {0.01, 3.14}, {0x1.9158d63e1bde7p+0, -0x1.dca00906f5201p+0}},
    {"Atan", Atan, Atan, {0.3, 0.4}, {0x1.5977a5103ea92p-2, 0x1.842f595c35287p-2}},
    {"Atan", Atan, Atan, {-1.2, 0.7}, {-0x1.f0c3566e7b5a6p-1, 0x1.0a51168f6ce10p-2}},
    {"Atan", Atan, Atan, {2.5, -3.1}, {0x1.68940efb2d87fp+0, -0x1.8b0f4c82a461ep-3}},
    {"Atan", Atan, Atan, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Atan", Atan, Atan, {-0.999999, 1e-07}, {-0x1.921fa47d4aa57p-1, 0x1.ad7f45d18e482p-25}},
    {"Atan", Atan, Atan, {1.0000001, -1e-08}, {0x1.921fb6f1c1f9dp-1, -0x1.5798ebe292d1ap-28}},
    {"Atan", Atan, Atan, {-30.0, 2.0}, {-0x1.89a1a0c89a062p+0, 0x1.21a9ec7bb4790p-9}},
    {"Atan", Atan, Atan, {0.01, 3.14}, {0x1.91d5bcbf7725bp+0, 0x1.51dc0c4af5373p-2}},
    {"Sinh", Sinh, Sinh, {0.3, 0.4}, {0x1.1f369c910ca48p-2, 0x1.a0d8011f25460p-2}},
    {"Sinh", Sinh, Sinh, {-1.2, 0.7}, {-0x1.278d4b40ce2f0p+0, 0x1.2a9ce200f468cp+0}},
    {"Sinh", Sinh, Sinh, {2.5, -3.1}, {-0x1.82e0d215f4319p+2, -0x1.051ab2ca0fb15p-2}},
    {"Sinh", Sinh, Sinh, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Sinh", Sinh, Sinh, {-0.999999, 1e-07}, {-0x1.2cd9e26171222p+0, 0x1.4b5fb0bf75a14p-23}},
    {"Sinh", Sinh, Sinh, {1.0000001, -1e-08}, {0x1.2cd9fedbab1c6p+0, -0x1.091968c0c7e94p-26}},
    {"Sinh", Sinh, Sinh, {-30.0, 2.0}, {0x1.02db96ae77b69p+41, 0x1.1acea94f4c47ep+42}},
    {"Sinh", Sinh, Sinh, {0.01, 3.14}, {-0x1.47af5f28ca10cp-7, 0x1.a18678d9c0d30p-10}},
    {"Cosh", Cosh, Cosh, {0.3, 0.4}, {0x1.ecf6d00834b08p-1, 0x1.e5ba360afecacp-4}},
    {"Cosh", Cosh, Cosh, {-1.2, 0.7}, {0x1.6286901002f77p+0, -0x1.f1e141ebb063fp-1}},
    {"Cosh", Cosh, Cosh, {2.5, -3.1}, {-0x1.882089c3e4173p+2, -0x1.019bf64349b3ep-2}},
    {"Cosh", Cosh, Cosh, {1e-09, 2e-09}, {0x1.0000000000000p+0, 0x1.2725dd1d243acp-59}},
    {"Cosh", Cosh, Cosh, {-0.999999, 1e-07}, {0x1.8b0741662ccb6p+0, -0x1.f8be916d623e4p-24}},
    {"Cosh", Cosh, Cosh, {1.0000001, -1e-08}, {0x1.8b0757165e141p+0, -0x1.93cbcdc37bbb7p-27}},
    {"Cosh", Cosh, Cosh, {-30.0, 2.0}, {-0x1.02db96ae77b69p+41, -0x1.1acea94f4c47ep+42}},
    {"Cosh", Cosh, Cosh, {0.01, 3.14}, {-0x1.00033196b17a6p+0, 0x1.0b350fdd75d13p-16}},
    {"Tanh", Tanh, Tanh, {0.3, 0.4}, {0x1.5a5f73902b160p-2, 0x1.86477c89d3bf8p-2}},
    {"Tanh", Tanh, Tanh, {-1.2, 0.7}, {-0x1.e8b1b1f1db5c9p-1, 0x1.6068077325198p-3}},
    {"Tanh", Tanh, Tanh, {2.5, -3.1}, {0x1.f92b7484a6f8cp-1, 0x1.219f020a47af4p-10}},
    {"Tanh", Tanh, Tanh, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Tanh", Tanh, Tanh, {-0.999999, 1e-07}, {-0x1.85ef9d39c12efp-1, 0x1.68c1799ded550p-25}},
    {"Tanh", Tanh, Tanh, {1.0000001, -1e-08}, {0x1.85efacba108d2p-1, -0x1.209aa800c677fp-28}},
    {"Tanh", Tanh, Tanh, {-30.0, 2.0}, {-0x1.0000000000000p+0, -0x1.06853fbe95ab0p-86}},
    {"Tanh", Tanh, Tanh, {0.01, 3.14}, {0x1.47ab7f253e0bbp-7, -0x1.a176937a53e74p-10}},
    {"Asinh", Asinh, Asinh, {0.3, 0.4}, {0x1.469e168ec97fbp-2, 0x1.8faf0d1615711p-2}},
    {"Asinh", Asinh, Asinh, {-1.2, 0.7}, {-0x1.17bf6ed90cc81p+0, 0x1.be117c6f5d2f0p-2}},
    {"Asinh", Asinh, Asinh, {2.5, -3.1}, {0x1.093915318bbf9p+1, -0x1.c0cfc7b54d153p-1}},
    {"Asinh", Asinh, Asinh, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Asinh", Asinh, Asinh, {-0.999999, 1e-07}, {-0x1.c3434e5d9c9e6p-1, 0x1.2fb3406da4550p-24}},
    {"Asinh", Asinh, Asinh, {1.0000001, -1e-08}, {0x1.c343687703ae7p-1, -0x1.e5eb88c536b48p-28}},
    {"Asinh", Asinh, Asinh, {-30.0, 2.0}, {-0x1.06328effcd20ep+2, 0x1.1083513a71997p-4}},
    {"Asinh", Asinh, Asinh, {0.01, 3.14}, {0x1.cf9d84eb20e74p+0, 0x1.91438815308f0p+0}},
    {"Acosh", Acosh, Acosh, {0.3, 0.4}, {0x1.9ed5c4bd8b06bp-2, 0x1.4a485e7bed49ep+0}},
    {"Acosh", Acosh, Acosh, {-1.2, 0.7}, {0x1.f51237144f53ap-1, 0x1.3db71badaf921p+1}},
    {"Acosh", Acosh, Acosh, {2.5, -3.1}, {0x1.0a136d1668890p+1, -0x1.d09366b023ebbp-1}},
    {"Acosh", Acosh, Acosh, {1e-09, 2e-09}, {0x1.12e0be826d695p-29, 0x1.921fb53ff74e9p+0}},
    {"Acosh", Acosh, Acosh, {-0.999999, 1e-07}, {0x1.283689bac9a03p-14, 0x1.91f14f330f43ap+1}},
    {"Acosh", Acosh, Acosh, {1.0000001, -1e-08}, {0x1.d58593f59a8a5p-12, -0x1.76aedc2d93846p-16}},
    {"Acosh", Acosh, Acosh, {-30.0, 2.0}, {0x1.062993ab849cap+2, 0x1.899932d610686p+1}},
    {"Acosh", Acosh, Acosh, {0.01, 3.14}, {0x1.dca00906f5201p+0, 0x1.9158d63e1bde7p+0}},
    {"Atanh", Atanh, Atanh, {0.3, 0.4}, {0x1.0bc49861276d8p-2, 0x1.a2a25f172cfe4p-2}},
    {"Atanh", Atanh, Atanh, {-1.2, 0.7}, {-0x1.27741089dfbf4p-1, 0x1.141d73670eb48p+0}},
    {"Atanh", Atanh, Atanh, {2.5, -3.1}, {0x1.3914d5f3e6028p-3, -0x1.5f8789c513d23p+0}},
    {"Atanh", Atanh, Atanh, {1e-09, 2e-09}, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-29}},
    {"Atanh", Atanh, Atanh, {-0.999999, 1e-07}, {-0x1.d01e29dded376p+2, 0x1.983e3599f46c8p-5}},
    {"Atanh", Atanh, Atanh, {1.0000001, -1e-08}, {0x1.0ce678f9df397p+3, -0x1.855dc40dadfaap+0}},
    {"Atanh", Atanh, Atanh, {-30.0, 2.0}, {-0x1.0ff4f9ef8421ep-5, 0x1.918e8eab96477p+0}},
    {"Atanh", Atanh, Atanh, {0.01, 3.14}, {0x1.e2c89f3d4a8a4p-11, 0x1.43321b79e09d1p+0}},
    {"Sign", Sign, Sign, {0.3, 0.4}, {0x1.3333333333333p-1, 0x1.999999999999ap-1}},
    {"Sign", Sign, Sign, {-1.2, 0.7}, {-0x1.ba413a64aacd3p-1, 0x1.01fb62100e4d0p-1}},
    {"Sign", Sign, Sign, {2.5, -3.1}, {0x1.4168c4efb01a1p-1, -0x1.8e8c2766a72a9p-1}},
    {"Sign", Sign, Sign, {1e-09, 2e-09}, {0x1.c9f25c5bfedd9p-2, 0x1.c9f25c5bfedd9p-1}},
    {"Sign", Sign, Sign, {-0.999999, 1e-07}, {-0x1.fffffffffffd3p-1, 0x1.ad7f45d18f32bp-24}},
    {"Sign", Sign, Sign, {1.0000001, -1e-08}, {0x1.0000000000000p+0, -0x1.5798ebe292d38p-27}},
    {"Sign", Sign, Sign, {-30.0, 2.0}, {-0x1.feddb23adb4e7p-1, 0x1.10763cec30b26p-4}},
    {"Sign", Sign, Sign, {0.01, 3.14}, {0x1.a16cb4dcfd74bp-9, 0x1.ffff55d70ee12p-1}},
};
const ComplexPoint2 kPoints2[] = {
    {"Multiply", Multiply, Multiply, {0.3, 0.4}, {-1.2, 0.7}, {-0x1.47ae147ae147bp-1, -0x1.147ae147ae148p-2}},
    {"Multiply", Multiply, Multiply, {2.5, -3.1}, {0.5, 1.5}, {0x1.799999999999ap+2, 0x1.199999999999ap+1}},
    {"Multiply", Multiply, Multiply, {-3.0, 0.001}, {7.0, -2.0}, {-0x1.4ff7ced916873p+4, 0x1.8072b020c49bap+2}},
    {"Divide", Divide, Divide, {0.3, 0.4}, {-1.2, 0.7}, {-0x1.5390948f40fe9p-5, -0x1.6e17e02a7212ap-2}},
    {"Divide", Divide, Divide, {2.5, -3.1}, {0.5, 1.5}, {-0x1.5c28f5c28f5c3p+0, -0x1.0f5c28f5c28f6p+1}},
    {"Divide", Divide, Divide, {-3.0, 0.001}, {7.0, -2.0}, {-0x1.95c6450384315p-2, -0x1.cf2839cec54dbp-4}},
    {"Divide", Divide, Divide, {1e+300, 1e+300}, {2e+300, -1e+300}, {0x1.999999999999ap-3, 0x1.3333333333333p-1}},
    {"Divide", Divide, Divide, {1e-300, 3e-300}, {2e-300, 1e-305}, {0x1.0000fba866edbp-1, 0x1.7fffd60e6bb2fp+0}},
    {"Pow", Pow, Pow, {0.3, 0.4}, {-1.2, 0.7}, {-0x1.0b103579653f4p-5, -0x1.3331968b986f8p+0}},
    {"Pow", Pow, Pow, {2.5, -3.1}, {0.5, 1.5}, {-0x1.b3ebfc047f370p-2, 0x1.e6200062968f6p+2}},
    {"Pow", Pow, Pow, {-3.0, 0.001}, {7.0, -2.0}, {0x1.50190813a7e18p+19, 0x1.ce2b05aa2bf5dp+19}},
    {"Atan2", Atan2, Atan2, {0.3, 0.4}, {-1.2, 0.7}, {0x1.8c0c04f1e68f7p+1, -0x1.7e2ef67d264b7p-2}},
    {"Atan2", Atan2, Atan2, {2.5, -3.1}, {0.5, 1.5}, {0x1.ce631fea330e9p+0, -0x1.51228950229c2p-2}},
    {"Atan2", Atan2, Atan2, {-3.0, 0.001}, {7.0, -2.0}, {-0x1.863e4eae6934ep-2, -0x1.90f87d644160fp-4}},
};
// clang-format on

/// |got - expected| in units of the last place of |expected|.
double Error(Complex128 got, Complex128 expected) { return Abs(got - expected) / Abs(expected) * 0x1p52; }

Complex64 Narrow(Complex128 z) { return {static_cast<float>(z.real()), static_cast<float>(z.imag())}; }
Complex128 Widen(Complex64 z) { return {static_cast<double>(z.real()), static_cast<double>(z.imag())}; }

TEST(ComplexMath, WithinAFewUnits) {
  for (const ComplexPoint& p : kPoints) {
    EXPECT_LE(Error(p.wide(p.z), p.expected), 4) << p.name << p.z << " = " << p.wide(p.z);
    const Complex64 z = Narrow(p.z);
    EXPECT_LE(Error(Widen(p.narrow(z)), p.wide(Widen(z))), 0x1p29) << p.name << z;
  }
  for (const ComplexPoint2& p : kPoints2) {
    EXPECT_LE(Error(p.wide(p.x, p.y), p.expected), 6) << p.name << p.x << p.y << " = " << p.wide(p.x, p.y);
    const Complex64 x = Narrow(p.x);
    const Complex64 y = Narrow(p.y);
    if (std::isnormal(x.real()) && std::isnormal(y.real()))
      EXPECT_LE(Error(Widen(p.narrow(x, y)), p.wide(Widen(x), Widen(y))), 0x1p29) << p.name << x << y;
  }
}

void ExpectSame(Complex128 got, Complex128 expected) {
  const auto same = [](double a, double b) {
    return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
  };
  EXPECT_TRUE(same(got.real(), expected.real()) && same(got.imag(), expected.imag()))
      << got << " instead of " << expected;
}

TEST(ComplexMath, BranchCuts) {
  const double pi = std::acos(-1.0);
  ExpectSame(Log(Complex128(-1, -0.0)), {0, -pi});
  ExpectSame(Log(Complex128(-1, 0.0)), {0, pi});
  ExpectSame(Sqrt(Complex128(-4, 0.0)), {0, 2});
  ExpectSame(Sqrt(Complex128(-4, -0.0)), {0, 2});
  ExpectSame(Sqrt(Complex128(0, 0)), {0, 0});
  EXPECT_GT(Asin(Complex128(2, 0.0)).imag(), 0);
  EXPECT_LT(Asin(Complex128(2, -0.0)).imag(), 0);
}

TEST(ComplexMath, ZerosAndInfinities) {
  EXPECT_EQ(Abs(Complex128(kInf, kNan)), kInf);
  EXPECT_EQ(Abs(Complex128(3e300, 4e300)), 5e300);
  ExpectSame(Rsqrt(Complex128(0, 0)), {kInf, kNan});
  ExpectSame(Rsqrt(Complex128(1, kInf)), {0, -0.0});
  ExpectSame(Sign(Complex128(0, -0.0)), {0, 0});
  EXPECT_LE(Error(Sign(Complex128(3e307, 4e307)), {0.6, 0.8}), 2);
  ExpectSame(Divide(Complex128(1, 1), Complex128(-0.0, 0)), {-kInf, -kInf});
  ExpectSame(Divide(Complex128(1, 1), Complex128(0, -0.0)), {kInf, kInf});
  ExpectSame(Divide(Complex128(kNan, 1), Complex128(0, 0)), {kNan, kInf});
  ExpectSame(Divide(Complex128(kInf, 1), Complex128(2, 0)), {kInf, kNan});
  ExpectSame(Divide(Complex128(1, 1), Complex128(kInf, 0)), {0, 0});
  ExpectSame(Pow(Complex128(0, 0), Complex128(2, 0)), {0, 0});
  ExpectSame(Pow(Complex128(0, 0), Complex128(0, 0)), {1, 0});
  ExpectSame(Pow(Complex128(kInf, 0), Complex128(-1, 0)), {0, 0});
  EXPECT_EQ(Pow(Complex128(kInf, 0), Complex128(2, 0)).real(), kInf);
  ExpectSame(Pow(Complex128(1, 2), Complex128(2, 0)), {-3, 4});
}

TEST(ComplexMath, NothingOverflowsOnTheWay) {
  const Complex128 half = Exp(Complex128(355, 0.4));
  EXPECT_LE(Error(Divide(Exp(Complex128(710, 0.8)), half), half), 8);
  EXPECT_LE(Error(Expm1(Complex128(709.5, 1.5)), Exp(Complex128(709.5, 1.5))), 2);
  EXPECT_EQ(Logistic(Complex128(800, 1)), Complex128(1, 0));
  EXPECT_EQ(Logistic(Complex128(-800, 1)), Complex128(0, 0));
  EXPECT_TRUE(std::isinf(Exp(Complex64(100, 1)).real()));
}

}  // namespace
}  // namespace hlo::math
