// The least time that oneDNN takes for convolutions. Reads one of them per line,
//   KIND TYPE IMAGES GROUPS INPUTS OUTPUTS RANK {SIZE TAPS STRIDE LEFT_DILATION RIGHT_DILATION LOW HIGH}
// (KIND: forward or weights, the gradient by weights; features are those of one group; one brace per spatial
// dimension; dilations count from 1), and prints seconds for each, and how they came about, or `none` where
// the library has nothing but its reference loops. Threads are those of OpenMP: OMP_NUM_THREADS.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dnnl.hpp>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using dnnl::algorithm, dnnl::memory, dnnl::prop_kind;
using Dims = memory::dims;
using Tag = memory::format_tag;
using Type = memory::data_type;

// Other processes disturb threads that wait for each other: turns lie far apart.
constexpr int kRounds = 3;
constexpr double kTurn = .005, kLongestTurn = .02;  // seconds, of each
constexpr int kLeastRuns = 40;

struct Form {
  std::string kind, type;
  int64_t images, groups, inputs, outputs;
  size_t rank;
  Dims size, taps, stride, spread, dilation, low, high;

  /// The library counts dilations from 0, and the padding of a dilated input from where no tap is lost.
  bool Read(const std::string& line) {
    std::istringstream in(line);
    in >> kind >> type >> images >> groups >> inputs >> outputs >> rank;
    for (size_t d = 0; d < rank; ++d) {
      int64_t n[7];
      for (int64_t& value : n) in >> value;
      size.push_back(n[0]), taps.push_back(n[1]), stride.push_back(n[2]), spread.push_back(n[3]);
      dilation.push_back(n[4] - 1), low.push_back(n[5]), high.push_back(n[6]);
    }
    return !in.fail();
  }
  /// The same of images that have one more dimension, of one element.
  Form Lifted() const {
    Form f = *this;
    ++f.rank;
    for (Dims* dims : {&f.size, &f.taps, &f.stride, &f.spread}) dims->insert(dims->begin(), 1);
    for (Dims* dims : {&f.dilation, &f.low, &f.high}) dims->insert(dims->begin(), 0);
    return f;
  }
  bool IsSpread() const { return spread != Dims(rank, 1); }
  bool IsStrided() const { return stride != Dims(rank, 1); }
};

/// How arrays lie: the library's choice, features minor, or the latter with weights as it likes them.
struct Layout {
  const char* name;
  bool plain_images, plain_weights;
};
constexpr Layout kLayouts[] = {{"any", false, false}, {"plain", true, true}, {"plain images", true, false}};

struct Arrays {
  memory::desc source, weights, result;
};

Arrays Describe(const Form& f, const Layout& layout, Type sources, Type kernels, Type results) {
  Dims source = {f.images, f.groups * f.inputs}, result = {f.images, f.groups * f.outputs}, weights;
  if (f.groups > 1) weights.push_back(f.groups);
  weights.push_back(f.outputs), weights.push_back(f.inputs);
  for (size_t d = 0; d < f.rank; ++d) {
    const int64_t reach = (f.taps[d] - 1) * (f.dilation[d] + 1) + 1,
                  span = (f.size[d] - 1) * f.spread[d] + 1 + f.low[d] + f.high[d];
    source.push_back(f.size[d]);
    weights.push_back(f.taps[d]);
    result.push_back((span - reach) / f.stride[d] + 1);
  }
  constexpr Tag kImages[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc}, kWeights[] = {Tag::wio, Tag::hwio, Tag::dhwio},
                kGroups[] = {Tag::wigo, Tag::hwigo, Tag::dhwigo};
  const Tag images = layout.plain_images ? kImages[f.rank - 1] : Tag::any,
            plain = f.groups > 1 ? kGroups[f.rank - 1] : kWeights[f.rank - 1];
  return {{source, sources, images},
          {weights, kernels, layout.plain_weights ? plain : Tag::any},
          {result, results, images}};
}

/// The least time of one execution, with arrays of small numbers.
double Seconds(const dnnl::engine& engine, const dnnl::primitive& primitive,
               const std::vector<std::pair<int, memory::desc>>& arrays) {
  dnnl::stream stream(engine);
  std::unordered_map<int, memory> arguments;
  for (const auto& [what, desc] : arrays) {
    const memory array(desc, engine);
    std::memset(array.get_data_handle(), 0x3f, desc.get_size());
    arguments.emplace(what, array);
  }
  using Clock = std::chrono::steady_clock;
  double least = 1e9, all = 0;
  for (int run = 0; all < kTurn || (run < kLeastRuns && all < kLongestTurn); ++run) {
    const auto start = Clock::now();
    primitive.execute(stream, arguments);
    stream.wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    least = std::min(least, seconds);
    all += seconds;
  }
  return least;
}

/// The best time, and what took it.
struct Best {
  double seconds = 1e9;
  std::string how;
};

template <class Primitive>
void Try(const dnnl::engine& engine, const typename Primitive::primitive_desc& chosen,
         const std::vector<std::pair<int, memory::desc>>& arrays, const Layout& layout, Best& best) {
  const std::string name = chosen.impl_info_str();
  if (name.find("ref") != std::string::npos) return;
  const double seconds = Seconds(engine, Primitive(chosen), arrays);
  if (seconds < best.seconds) best = {seconds, name + ", " + layout.name};
}

void TryForward(const dnnl::engine& engine, const Form& f, const Layout& layout, const Arrays& a,
                Best& best) {
  const auto arrays = [](const auto& chosen) {
    return std::vector<std::pair<int, memory::desc>>{{DNNL_ARG_SRC, chosen.src_desc()},
                                                     {DNNL_ARG_WEIGHTS, chosen.weights_desc()},
                                                     {DNNL_ARG_DST, chosen.dst_desc()}};
  };
  if (!f.IsSpread()) {
    using Way = dnnl::convolution_forward;
    const Way::primitive_desc chosen({prop_kind::forward_inference, algorithm::convolution_direct, a.source,
                                      a.weights, a.result, f.stride, f.dilation, f.low, f.high},
                                     engine);
    return Try<Way>(engine, chosen, arrays(chosen), layout, best);
  }
  if (f.IsStrided()) return;
  Dims low, high;
  for (size_t d = 0; d < f.rank; ++d) {
    const int64_t reach = (f.taps[d] - 1) * (f.dilation[d] + 1);
    low.push_back(reach - f.low[d]);
    high.push_back(reach - f.high[d]);
    if (low.back() < 0 || high.back() < 0) return;
  }
  using Way = dnnl::deconvolution_forward;
  const Way::primitive_desc chosen({prop_kind::forward_inference, algorithm::deconvolution_direct, a.source,
                                    a.weights, a.result, f.spread, f.dilation, low, high},
                                   engine);
  Try<Way>(engine, chosen, arrays(chosen), layout, best);
}

void TryWeights(const dnnl::engine& engine, const Form& f, const Layout& layout, const Arrays& a,
                Best& best) {
  using Way = dnnl::convolution_backward_weights;
  const dnnl::convolution_forward::primitive_desc forward(
      {prop_kind::forward_training, algorithm::convolution_direct, a.source, a.weights, a.result, f.stride,
       f.dilation, f.low, f.high},
      engine);
  const Way::primitive_desc chosen(
      {algorithm::convolution_direct, a.source, a.weights, a.result, f.stride, f.dilation, f.low, f.high},
      engine, forward);
  Try<Way>(engine, chosen,
           {{DNNL_ARG_SRC, chosen.src_desc()},
            {DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc()},
            {DNNL_ARG_DIFF_DST, chosen.diff_dst_desc()}},
           layout, best);
}

/// Keeps the best time of all layouts.
void Measure(const dnnl::engine& engine, const Form& f, Best& best) {
  struct Types {
    const char* name;
    Type source, weights, result;
  };
  // Bytes have signed weights, and results of whichever width is faster.
  constexpr Types kTypes[] = {
      {"f32", Type::f32, Type::f32, Type::f32}, {"bf16", Type::bf16, Type::bf16, Type::bf16},
      {"s8", Type::s8, Type::s8, Type::s32},    {"s8", Type::s8, Type::s8, Type::s8},
      {"u8", Type::u8, Type::s8, Type::s32},    {"u8", Type::u8, Type::s8, Type::s8}};
  for (const Types& types : kTypes) {
    if (f.type != types.name) continue;
    for (const Layout& layout : kLayouts) try {
        const Arrays arrays = Describe(f, layout, types.source, types.weights, types.result);
        (f.kind == "weights" ? TryWeights : TryForward)(engine, f, layout, arrays, best);
      } catch (const dnnl::error&) {
        // It has no such form.
      }
  }
  if (f.rank == 1) Measure(engine, f.Lifted(), best);
}

}  // namespace

int main() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::vector<Form> forms;
  for (std::string line; std::getline(std::cin, line);) {
    forms.emplace_back();
    if (!forms.back().Read(line) || forms.back().rank < 1 || forms.back().rank > 3) {
      std::fprintf(stderr, "not a convolution: %s\n", line.c_str());
      return 1;
    }
  }
  std::vector<Best> best(forms.size());
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < forms.size(); ++i) Measure(engine, forms[i], best[i]);
  for (const Best& b : best)
    if (b.how.empty())
      std::puts("none");
    else
      std::printf("%.9g %s\n", b.seconds, b.how.c_str());
}
