// A library that is found as libcudnn.so.9: convolutions on the emulated GPU, by plain loops on the host. It
// refuses descriptions that are not complete or do not fit together, and arrays that are not aligned as was
// promised. Of its engines one gives wrong results and says that it may not be used; f32 is rounded to tf32.
#include <algorithm>
#include <map>
#include <vector>

#include "backends/gpu/libraries/cudnn_api.h"
#include "testdata/gpu/numbers.h"
#include "testdata/gpu/stand_in.h"

using namespace hlo::gpu;  // NOLINT(google-build-using-namespace): it stands in for C
using numbers::Kind;

namespace {

/// Images of so many features are such that functions fail.
enum Failing : int64_t { kNotFound = 17, kNotSupportedAfterAll = 19, kFailing = 23, kBrokenSearch = 29 };
constexpr int64_t kWorkspace = 1000, kTooMuch = int64_t{1} << 40;
constexpr uint64_t kHandle = 0xd22;

using A = CudnnAttribute;
using T = CudnnAttributeType;
using K = CudnnDescriptorKind;

struct AttributeRow {
  K kind;
  A attribute;
  T type;
};
constexpr AttributeRow kAttributes[] = {
    {K::Pointwise, A::PointwiseMode, T::PointwiseMode},
    {K::Pointwise, A::PointwisePrecision, T::DataType},
    {K::Pointwise, A::PointwiseNans, T::NanPropagation},
    {K::Convolution, A::ConvolutionType, T::DataType},
    {K::Convolution, A::ConvolutionMode, T::ConvolutionMode},
    {K::Convolution, A::ConvolutionDims, T::Int64},
    {K::Convolution, A::ConvolutionDilations, T::Int64},
    {K::Convolution, A::ConvolutionStrides, T::Int64},
    {K::Convolution, A::ConvolutionPrePaddings, T::Int64},
    {K::Convolution, A::ConvolutionPostPaddings, T::Int64},
    {K::Search, A::SearchGraph, T::Descriptor},
    {K::Search, A::SearchMode, T::SearchMode},
    {K::Plan, A::PlanHandle, T::Handle},
    {K::Plan, A::PlanConfig, T::Descriptor},
    {K::Forward, A::ForwardAlpha, T::Float},
    {K::Forward, A::ForwardBeta, T::Float},
    {K::Forward, A::ForwardConvolution, T::Descriptor},
    {K::Forward, A::ForwardFilter, T::Descriptor},
    {K::Forward, A::ForwardImage, T::Descriptor},
    {K::Forward, A::ForwardResponse, T::Descriptor},
    {K::BackwardData, A::DataAlpha, T::Float},
    {K::BackwardData, A::DataBeta, T::Float},
    {K::BackwardData, A::DataConvolution, T::Descriptor},
    {K::BackwardData, A::DataFilter, T::Descriptor},
    {K::BackwardData, A::DataImage, T::Descriptor},
    {K::BackwardData, A::DataResponse, T::Descriptor},
    {K::BackwardFilter, A::FilterAlpha, T::Float},
    {K::BackwardFilter, A::FilterBeta, T::Float},
    {K::BackwardFilter, A::FilterConvolution, T::Descriptor},
    {K::BackwardFilter, A::FilterFilter, T::Descriptor},
    {K::BackwardFilter, A::FilterImage, T::Descriptor},
    {K::BackwardFilter, A::FilterResponse, T::Descriptor},
    {K::PointwiseOperation, A::OperationPointwise, T::Descriptor},
    {K::PointwiseOperation, A::OperationX, T::Descriptor},
    {K::PointwiseOperation, A::OperationB, T::Descriptor},
    {K::PointwiseOperation, A::OperationY, T::Descriptor},
    {K::Graph, A::GraphHandle, T::Handle},
    {K::Graph, A::GraphOperations, T::Descriptor},
    {K::Arrays, A::ArraysIds, T::Int64},
    {K::Arrays, A::ArraysPointers, T::Pointer},
    {K::Arrays, A::ArraysWorkspace, T::Pointer},
    {K::Tensor, A::TensorAlignment, T::Int64},
    {K::Tensor, A::TensorType, T::DataType},
    {K::Tensor, A::TensorSizes, T::Int64},
    {K::Tensor, A::TensorStrides, T::Int64},
    {K::Tensor, A::TensorId, T::Int64},
    {K::Tensor, A::TensorVirtual, T::Boolean},
};

/// Of three operations the attributes that mean the same.
struct OperationRow {
  K kind;
  A image, filter, response, convolution, alpha, beta;
};
constexpr OperationRow kOperations[] = {
    {K::Forward, A::ForwardImage, A::ForwardFilter, A::ForwardResponse, A::ForwardConvolution,
     A::ForwardAlpha, A::ForwardBeta},
    {K::BackwardFilter, A::FilterImage, A::FilterFilter, A::FilterResponse, A::FilterConvolution,
     A::FilterAlpha, A::FilterBeta},
    {K::BackwardData, A::DataImage, A::DataFilter, A::DataResponse, A::DataConvolution, A::DataAlpha,
     A::DataBeta}};

/// An engine: what is to be known of it, and what it takes besides arrays.
struct EngineRow {
  std::vector<CudnnNote> notes;
  int64_t workspace;
};
const std::vector<EngineRow>& Engines() {
  static const std::vector<EngineRow> engines = {
      {{CudnnNote::Nondeterministic}, kWorkspace}, {{}, kTooMuch}, {{}, kWorkspace}};
  return engines;
}
constexpr size_t kWrong = 0;

struct TypeRow {
  CudnnType type;
  Kind kind;
};
constexpr TypeRow kTypes[] = {{CudnnType::F32, Kind::F32},
                              {CudnnType::F64, Kind::F64},
                              {CudnnType::F16, Kind::F16},
                              {CudnnType::BF16, Kind::BF16}};

/// What was set, as bytes.
struct Description {
  explicit Description(K of) : kind(of) {}
  K kind;
  bool finished = false;
  size_t engine = 0;                   // of engines, configurations and plans
  const Description* graph = nullptr;  // of these
  std::map<A, std::vector<char>> values;

  template <class V>
  [[nodiscard]] std::vector<V> All(A attribute) const {
    const auto it = values.find(attribute);
    if (it == values.end()) return {};
    std::vector<V> all(it->second.size() / sizeof(V));
    std::memcpy(all.data(), it->second.data(), all.size() * sizeof(V));
    return all;
  }
  template <class V>
  [[nodiscard]] V One(A attribute) const {
    const auto it = values.find(attribute);
    V value = {};
    if (it != values.end() && it->second.size() == sizeof value)
      std::memcpy(&value, it->second.data(), sizeof value);
    return value;
  }
  [[nodiscard]] const Description& Part(A attribute) const { return *One<const Description*>(attribute); }
  [[nodiscard]] bool Has(A attribute) const { return values.contains(attribute); }
};

const OperationRow* ConvolutionRow(K kind) {
  for (const OperationRow& row : kOperations)
    if (row.kind == kind) return &row;
  return nullptr;
}
Kind KindOf(const Description& tensor) {
  for (const TypeRow& row : kTypes)
    if (row.type == tensor.One<CudnnType>(A::TensorType)) return row.kind;
  return Kind::F32;
}
std::vector<int64_t> SizesOf(const Description& tensor) { return tensor.All<int64_t>(A::TensorSizes); }

size_t SizeOf(T type) {
  switch (type) {
    case T::Boolean: return sizeof(bool);
    case T::Int64:
    case T::Double:
    case T::Handle:
    case T::Pointer:
    case T::Descriptor: return sizeof(int64_t);
    default: return sizeof(int);
  }
}

bool FitsTensor(const Description& of) {
  const auto sizes = SizesOf(of), strides = of.All<int64_t>(A::TensorStrides);
  const auto alignment = of.One<int64_t>(A::TensorAlignment);
  constexpr size_t kFewest = 4, kMost = 5;
  const auto positive = [](const std::vector<int64_t>& all) {
    return std::all_of(all.begin(), all.end(), [](int64_t x) { return x > 0; });
  };
  return sizes.size() >= kFewest && sizes.size() <= kMost && sizes.size() == strides.size() &&
         positive(sizes) && positive(strides) && of.Has(A::TensorType) && of.Has(A::TensorId) &&
         alignment > 0 && alignment % static_cast<int64_t>(numbers::BytesOf(KindOf(of))) == 0;
}
bool FitsWindow(const Description& of) {
  const auto dims = static_cast<size_t>(of.One<int64_t>(A::ConvolutionDims));
  for (const A each : {A::ConvolutionDilations, A::ConvolutionStrides, A::ConvolutionPrePaddings,
                       A::ConvolutionPostPaddings})
    if (of.All<int64_t>(each).size() != dims) return false;
  return dims >= 2 && of.Has(A::ConvolutionType) && of.Has(A::ConvolutionMode);
}

/// What a convolution is made of.
struct Convolution {
  Convolution(const Description& operation, const OperationRow& row)
      : window(operation.Part(row.convolution)),
        image(operation.Part(row.image)),
        filter(operation.Part(row.filter)),
        response(operation.Part(row.response)),
        strides(window.All<int64_t>(A::ConvolutionStrides)),
        dilations(window.All<int64_t>(A::ConvolutionDilations)),
        before(window.All<int64_t>(A::ConvolutionPrePaddings)),
        after(window.All<int64_t>(A::ConvolutionPostPaddings)),
        is_double(window.One<CudnnType>(A::ConvolutionType) == CudnnType::F64) {
    alpha = is_double ? operation.One<double>(row.alpha) : double{operation.One<float>(row.alpha)};
  }
  [[nodiscard]] bool IsWhole() const {
    const auto x = SizesOf(image), w = SizesOf(filter), y = SizesOf(response);
    if (x.size() != strides.size() + 2 || w.size() != x.size() || y.size() != x.size()) return false;
    if (x[0] != y[0] || w[0] != y[1] || x[1] % w[1] != 0 || w[0] % (x[1] / w[1]) != 0) return false;
    for (size_t i = 0; i < strides.size(); ++i) {
      const int64_t room = x[2 + i] + before[i] + after[i] - ((w[2 + i] - 1) * dilations[i] + 1);
      if (before[i] < 0 || after[i] < 0 || room < 0 || room / strides[i] + 1 != y[2 + i]) return false;
    }
    return true;
  }
  const Description &window, &image, &filter, &response;
  std::vector<int64_t> strides, dilations, before, after;
  bool is_double;
  double alpha = 0;
};

/// Factors are set in the type of sums.
bool FitsFactor(const Description& operation, A attribute, bool is_double) {
  const auto it = operation.values.find(attribute);
  return it != operation.values.end() && it->second.size() == (is_double ? sizeof(double) : sizeof(float));
}
bool FitsOperation(const Description& of, const OperationRow& row) {
  for (const A part : {row.image, row.filter, row.response, row.convolution})
    if (!of.Has(part) || !of.Part(part).finished) return false;
  const Convolution convolution(of, row);
  return FitsFactor(of, row.alpha, convolution.is_double) &&
         FitsFactor(of, row.beta, convolution.is_double) && convolution.IsWhole();
}
bool FitsStep(const Description& of) {
  if (!of.Has(A::OperationPointwise) || !of.Has(A::OperationX) || !of.Has(A::OperationY)) return false;
  const bool relu =
      of.Part(A::OperationPointwise).One<CudnnPointwise>(A::PointwiseMode) == CudnnPointwise::Relu;
  if (relu) return !of.Has(A::OperationB) && of.Part(A::OperationPointwise).Has(A::PointwiseNans);
  if (!of.Has(A::OperationB)) return false;
  const auto x = SizesOf(of.Part(A::OperationX)), b = SizesOf(of.Part(A::OperationB));
  for (size_t i = 0; i < x.size(); ++i)
    if (b.size() != x.size() || (b[i] != x[i] && b[i] != 1)) return false;
  return true;
}
bool IsHandle(const Description& of, A attribute) { return of.One<uint64_t>(attribute) == kHandle; }

int64_t FeaturesOf(const Description& graph) {
  const Description& operation = *graph.All<const Description*>(A::GraphOperations).front();
  return SizesOf(operation.Part(ConvolutionRow(operation.kind)->image))[1];
}

CudnnStatus Finish(Description& of) {
  const auto said = [](bool fits) { return fits ? CudnnStatus::Success : CudnnStatus::BadParameter; };
  if (const OperationRow* row = ConvolutionRow(of.kind)) return said(FitsOperation(of, *row));
  switch (of.kind) {
    case K::Tensor: return said(FitsTensor(of));
    case K::Convolution: return said(FitsWindow(of));
    case K::PointwiseOperation: return said(FitsStep(of));
    case K::Graph:
      return said(IsHandle(of, A::GraphHandle) && !of.All<const Description*>(A::GraphOperations).empty());
    case K::Search:
      if (!of.Has(A::SearchGraph) || FeaturesOf(of.Part(A::SearchGraph)) == kBrokenSearch)
        return CudnnStatus::BadParameter;
      return CudnnStatus::Success;
    case K::Plan:
      if (!IsHandle(of, A::PlanHandle)) return CudnnStatus::BadParameter;
      of.engine = of.Part(A::PlanConfig).engine;
      of.graph = of.Part(A::PlanConfig).graph;
      return CudnnStatus::Success;
    default: return CudnnStatus::Success;
  }
}

/// A tensor of the graph: in memory, or on the way as exact numbers.
struct Values {
  explicit Values(const Description& of)
      : tensor(of), sizes(SizesOf(of)), strides(of.All<int64_t>(A::TensorStrides)), kind(KindOf(of)) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    numbers.resize(static_cast<size_t>(count));
  }
  /// Calls with the number of each element in order, and its place in memory.
  template <class F>
  void ForEach(F&& call) const {
    std::vector<int64_t> at(sizes.size());
    for (size_t n = 0; n < numbers.size(); ++n) {
      int64_t place = 0;
      for (size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
      call(n, static_cast<size_t>(place), at);
      for (size_t d = at.size(); d-- > 0;) {
        if (++at[d] < sizes[d]) break;
        at[d] = 0;
      }
    }
  }
  [[nodiscard]] size_t Bytes() const {
    size_t last = 0;
    ForEach([&](size_t, size_t place, const auto&) { last = std::max(last, place); });
    return (last + 1) * numbers::BytesOf(kind);
  }
  bool Fetch(uint64_t from, void* stream) {
    std::vector<char> bytes(Bytes());
    if (!hlo::gpu::Fetch(reinterpret_cast<const void*>(from), bytes.size(), bytes, stream)) return false;
    ForEach([&](size_t n, size_t place, const auto&) {
      numbers[n] = numbers::Load(kind, bytes.data() + place * numbers::BytesOf(kind));
    });
    return true;
  }
  /// What lies between elements is not touched.
  bool StoreAll(uint64_t to, void* stream) const {
    std::vector<char> bytes(Bytes());
    const size_t each = numbers::BytesOf(kind);
    bool stored = true;
    const bool dense = bytes.size() == numbers.size() * each;
    ForEach([&](size_t n, size_t place, const auto&) {
      char* const at = bytes.data() + place * each;
      numbers::Store(kind, at, numbers[n]);
      if (!dense) stored &= static_cast<int>(driver->to_device(to + place * each, at, each, stream)) == 0;
    });
    return stored &&
           (!dense || static_cast<int>(driver->to_device(to, bytes.data(), bytes.size(), stream)) == 0) &&
           static_cast<int>(driver->finish(stream)) == 0;
  }
  [[nodiscard]] size_t NumberOf(const std::vector<int64_t>& at) const {
    size_t number = 0;
    for (size_t d = 0; d < at.size(); ++d)
      number = number * static_cast<size_t>(sizes[d]) + static_cast<size_t>(sizes[d] == 1 ? 0 : at[d]);
    return number;
  }
  const Description& tensor;
  std::vector<int64_t> sizes, strides;
  Kind kind;
  std::vector<double> numbers;
};

double RoundedToTf32(double x) {
  auto narrow = static_cast<float>(x);
  uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof bits);
  constexpr uint32_t kLost = 13;
  if (std::isfinite(narrow)) bits = (bits + (1U << (kLost - 1))) >> kLost << kLost;
  std::memcpy(&narrow, &bits, sizeof bits);
  return double{narrow};
}

/// One run of a graph.
class Run {
 public:
  Run(const Description& plan, const Description& arrays, void* stream)
      : plan_(plan),
        stream_(stream),
        ids_(arrays.All<int64_t>(A::ArraysIds)),
        pointers_(arrays.All<uint64_t>(A::ArraysPointers)) {}

  CudnnStatus Execute() {
    for (const Description* operation : plan_.graph->All<const Description*>(A::GraphOperations)) {
      const OperationRow* const row = ConvolutionRow(operation->kind);
      const bool done = row != nullptr ? Convolve(*operation, *row) : Step(*operation);
      if (!done) return CudnnStatus::BadParameter;
    }
    return CudnnStatus::Success;
  }

 private:
  /// Where a tensor is; 0: nowhere.
  [[nodiscard]] uint64_t AddressOf(const Description& tensor) const {
    const auto it = std::find(ids_.begin(), ids_.end(), tensor.One<int64_t>(A::TensorId));
    if (it == ids_.end()) return 0;
    const uint64_t at = pointers_[static_cast<size_t>(it - ids_.begin())];
    return at % static_cast<uint64_t>(tensor.One<int64_t>(A::TensorAlignment)) == 0 ? at : 0;
  }
  bool Get(const Description& tensor, Values& values) {
    if (tensor.One<bool>(A::TensorVirtual)) {
      const auto it = on_the_way_.find(tensor.One<int64_t>(A::TensorId));
      if (it == on_the_way_.end()) return false;
      values.numbers = it->second;
      return true;
    }
    const uint64_t at = AddressOf(tensor);
    return at != 0 && values.Fetch(at, stream_);
  }
  bool Put(const Values& values) {
    if (values.tensor.One<bool>(A::TensorVirtual)) {
      on_the_way_[values.tensor.One<int64_t>(A::TensorId)] = values.numbers;
      return true;
    }
    const uint64_t at = AddressOf(values.tensor);
    return at != 0 && values.StoreAll(at, stream_);
  }

  bool Convolve(const Description& operation, const OperationRow& row) {
    const Convolution of(operation, row);
    Values image(of.image), filter(of.filter), response(of.response);
    Values& result = row.kind == K::Forward ? response : row.kind == K::BackwardData ? image : filter;
    for (Values* values : {&image, &filter, &response}) {
      if (values != &result && !Get(values->tensor, *values)) return false;
      if (values->kind == Kind::F32)
        for (double& x : values->numbers) x = RoundedToTf32(x);
    }
    Multiply(of, image, filter, response, result);
    for (double& x : result.numbers) x = x * of.alpha + (plan_.engine == kWrong ? 1 : 0);
    return Put(result);
  }
  /// Goes through all terms of responses.
  static void Multiply(const Convolution& of, Values& image, Values& filter, Values& response,
                       Values& result) {
    const int64_t groups = image.sizes[1] / filter.sizes[1], in_group = response.sizes[1] / groups;
    const bool flipped = of.window.One<CudnnMode>(A::ConvolutionMode) == CudnnMode::Convolution;
    std::fill(result.numbers.begin(), result.numbers.end(), 0);
    std::vector<std::vector<int64_t>> taps;  // of one feature of the response
    filter.ForEach([&](size_t, size_t, const std::vector<int64_t>& at) {
      if (at[0] == 0) taps.push_back(at);
    });
    std::vector<int64_t> in(image.sizes.size());
    response.ForEach([&](size_t y, size_t, const std::vector<int64_t>& out) {
      for (size_t t = 0; t < taps.size(); ++t) {
        const std::vector<int64_t>& tap = taps[t];
        in[0] = out[0];
        in[1] = out[1] / in_group * filter.sizes[1] + tap[1];
        bool inside = true;
        for (size_t d = 0; d < of.strides.size(); ++d) {
          const int64_t place = flipped ? filter.sizes[2 + d] - 1 - tap[2 + d] : tap[2 + d];
          in[2 + d] = out[2 + d] * of.strides[d] + place * of.dilations[d] - of.before[d];
          inside &= in[2 + d] >= 0 && in[2 + d] < image.sizes[2 + d];
        }
        if (!inside) continue;
        const size_t x = image.NumberOf(in), w = static_cast<size_t>(out[1]) * taps.size() + t;
        if (&result == &response) response.numbers[y] += image.numbers[x] * filter.numbers[w];
        if (&result == &image) image.numbers[x] += response.numbers[y] * filter.numbers[w];
        if (&result == &filter) filter.numbers[w] += image.numbers[x] * response.numbers[y];
      }
    });
  }

  bool Step(const Description& operation) {
    Values x(operation.Part(A::OperationX)), y(operation.Part(A::OperationY));
    if (!Get(x.tensor, x)) return false;
    const auto mode = operation.Part(A::OperationPointwise).One<CudnnPointwise>(A::PointwiseMode);
    if (mode == CudnnPointwise::Relu) {
      for (size_t i = 0; i < y.numbers.size(); ++i) y.numbers[i] = x.numbers[i] < 0 ? 0 : x.numbers[i];
      return Put(y);
    }
    Values b(operation.Part(A::OperationB));
    if (!Get(b.tensor, b)) return false;
    y.ForEach([&](size_t n, size_t, const std::vector<int64_t>& at) {
      const double other = b.numbers[b.NumberOf(at)];
      y.numbers[n] = mode == CudnnPointwise::Add ? x.numbers[n] + other : x.numbers[n] * other;
    });
    return Put(y);
  }

  const Description& plan_;
  void* stream_;
  std::vector<int64_t> ids_;
  std::vector<uint64_t> pointers_;
  std::map<int64_t, std::vector<double>> on_the_way_;
};

void* stream_of_handle = nullptr;

}  // namespace

extern "C" {

void SetDriver(const LentDriver* lent) { driver = lent; }

CudnnStatus cudnnCreate(CudnnHandle* handle) {
  *handle = reinterpret_cast<void*>(kHandle);  // NOLINT(performance-no-int-to-ptr): never looked through
  return driver != nullptr ? CudnnStatus::Success : CudnnStatus::NotInitialized;
}
CudnnStatus cudnnDestroy(CudnnHandle handle) {
  return reinterpret_cast<uint64_t>(handle) == kHandle ? CudnnStatus::Success : CudnnStatus::BadParameter;
}
CudnnStatus cudnnSetStream(CudnnHandle handle, void* stream) {
  stream_of_handle = stream;
  return cudnnDestroy(handle);
}
CudnnStatus cudnnBackendCreateDescriptor(CudnnDescriptorKind kind, CudnnDescriptor* descriptor) {
  *descriptor = new Description(kind);
  return CudnnStatus::Success;
}
CudnnStatus cudnnBackendDestroyDescriptor(CudnnDescriptor descriptor) {
  delete static_cast<Description*>(descriptor);
  return CudnnStatus::Success;
}
CudnnStatus cudnnBackendSetAttribute(CudnnDescriptor descriptor, CudnnAttribute attribute,
                                     CudnnAttributeType type, int64_t count, const void* values) {
  auto& of = *static_cast<Description*>(descriptor);
  if (of.finished || count < 1) return CudnnStatus::BadParameter;
  for (const AttributeRow& row : kAttributes) {
    if (row.kind != of.kind || row.attribute != attribute) continue;
    if (row.type != type && !(row.type == T::Float && type == T::Double)) return CudnnStatus::AttributeType;
    const auto* const bytes = static_cast<const char*>(values);
    of.values[attribute].assign(bytes, bytes + static_cast<size_t>(count) * SizeOf(type));
    return CudnnStatus::Success;
  }
  return CudnnStatus::BadParameter;
}
CudnnStatus cudnnBackendFinalize(CudnnDescriptor descriptor) {
  auto& of = *static_cast<Description*>(descriptor);
  const CudnnStatus status = Finish(of);
  of.finished = status == CudnnStatus::Success;
  return status;
}
CudnnStatus cudnnBackendGetAttribute(CudnnDescriptor descriptor, CudnnAttribute attribute,
                                     CudnnAttributeType type, int64_t wanted, int64_t* count, void* values) {
  auto& of = *static_cast<Description*>(descriptor);
  const EngineRow& engine = Engines()[of.engine];
  if (attribute == A::SearchResults && type == T::Descriptor) {
    *count = 0;
    const Description& graph = of.Part(A::SearchGraph);
    if (FeaturesOf(graph) == kNotFound) return CudnnStatus::Success;
    *count = std::min(wanted, static_cast<int64_t>(Engines().size()));
    for (int64_t i = 0; i < *count; ++i) {
      Description& config = *static_cast<Description* const*>(values)[i];
      config.engine = static_cast<size_t>(i);
      config.graph = &graph;
      config.finished = true;
    }
    return CudnnStatus::Success;
  }
  if (attribute == A::ConfigEngine && type == T::Descriptor && wanted == 1) {
    *count = 1;
    static_cast<Description* const*>(values)[0]->engine = of.engine;
    return CudnnStatus::Success;
  }
  if (attribute == A::EngineNotes && type == T::Note) {
    *count = std::min(wanted, static_cast<int64_t>(engine.notes.size()));
    std::copy_n(engine.notes.begin(), *count, static_cast<CudnnNote*>(values));
    return CudnnStatus::Success;
  }
  if (attribute == A::PlanWorkspace && type == T::Int64 && wanted == 1) {
    *count = 1;
    *static_cast<int64_t*>(values) = engine.workspace;
    return CudnnStatus::Success;
  }
  return CudnnStatus::BadParameter;
}

CudnnStatus cudnnBackendExecute(CudnnHandle handle, CudnnDescriptor plan, CudnnDescriptor arrays) {
  const auto &of = *static_cast<Description*>(plan), &given = *static_cast<Description*>(arrays);
  if (cudnnDestroy(handle) != CudnnStatus::Success || !of.finished || !given.finished)
    return CudnnStatus::BadParameter;
  if (FeaturesOf(*of.graph) == kNotSupportedAfterAll) return CudnnStatus::NotSupported;
  if (FeaturesOf(*of.graph) == kFailing) return CudnnStatus::ExecutionFailed;
  const std::vector<char> scratch(kWorkspace, 0);
  const auto workspace = given.One<uint64_t>(A::ArraysWorkspace);
  if (static_cast<int>(driver->to_device(workspace, scratch.data(), scratch.size(), stream_of_handle)) != 0)
    return CudnnStatus::ExecutionFailed;
  return Run(of, given, stream_of_handle).Execute();
}

}  // extern "C"
