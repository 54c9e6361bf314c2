// A library that is found as libcudnn.so.9: convolutions and attention on the emulated GPU, by plain loops on
// the host. It refuses descriptions that are not complete or do not fit together, and arrays that are not
// aligned as was promised. Of its engines one gives wrong results and says that it may not be used; f32 is
// rounded to tf32.
#include <algorithm>
#include <map>
#include <vector>

#include "testdata/gpu/cudnn_convolution.h"
#include "testdata/gpu/cudnn_operations.h"

using namespace hlo::gpu;  // NOLINT(google-build-using-namespace): it stands in for C

namespace {

/// Images of so many features, and attention of so many heads, are such that functions fail.
enum Failing : int64_t { kNotFound = 17, kNotSupportedAfterAll = 19, kFailing = 23, kBrokenSearch = 29 };
constexpr int64_t kWorkspace = 1000, kTooMuch = int64_t{1} << 40;
constexpr uint64_t kHandle = 0xd22;

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
bool IsHandle(const Description& of, A attribute) { return of.One<uint64_t>(attribute) == kHandle; }

/// By which it is decided what fails.
int64_t FeaturesOf(const Description& graph) {
  const auto operations = graph.All<const Description*>(A::GraphOperations);
  const auto product = std::find_if(operations.begin(), operations.end(), [](const Description* operation) {
    return operation->kind == K::MatmulOperation || ConvolutionRow(operation->kind) != nullptr;
  });
  const Description& operation = product == operations.end() ? *operations.front() : **product;
  const OperationRow* const row = ConvolutionRow(operation.kind);
  return SizesOf(operation.Part(row != nullptr ? row->image : A::OperationMatmulA))[1];
}

/// Attention is known by all of its operations; the library asks for what a gradient would need, too, and
/// takes that of its gradients.
bool IsKnown(const Description& graph) {
  bool products = false, logarithms = false, gradients = false;
  for (const Description* operation : graph.All<const Description*>(A::GraphOperations)) {
    products |= operation->kind == K::MatmulOperation;
    gradients |= operation->kind == K::ReshapeOperation;
    logarithms |=
        operation->kind == K::PointwiseOperation && PointwiseOf(*operation)->mode == CudnnPointwise::Log;
  }
  return !products || logarithms != gradients;
}

CudnnStatus Finish(Description& of) {
  const auto said = [](bool fits) { return fits ? CudnnStatus::Success : CudnnStatus::BadParameter; };
  if (const OperationRow* row = ConvolutionRow(of.kind)) return said(FitsOperation(of, *row));
  switch (of.kind) {
    case K::Tensor: return said(FitsTensor(of));
    case K::Convolution: return said(FitsWindow(of));
    case K::PointwiseOperation: return said(FitsPointwise(of));
    case K::MatmulOperation: return said(FitsMatmul(of));
    case K::ReductionOperation: return said(FitsReduction(of));
    case K::ReshapeOperation: return said(FitsReshape(of));
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

double Rounded(Kind kind, double x) {
  char bytes[sizeof(double)];
  numbers::Store(kind, &bytes[0], x);
  return numbers::Load(kind, &bytes[0]);
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
      const bool done = row != nullptr                             ? Convolve(*operation, *row)
                        : operation->kind == K::MatmulOperation    ? Multiply(*operation)
                        : operation->kind == K::ReductionOperation ? Reduce(*operation)
                        : operation->kind == K::ReshapeOperation   ? Reshape(*operation)
                                                                   : Step(*operation);
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
    if (at != 0 && tensor.One<bool>(A::TensorByValue)) {
      // It lies on the host.
      values.numbers = {numbers::Load(values.kind, reinterpret_cast<const char*>(at))};
      return true;
    }
    return at != 0 && values.Fetch(at, stream_);
  }
  bool Put(const Values& values) {
    if (values.tensor.One<bool>(A::TensorVirtual)) {
      std::vector<double>& kept = on_the_way_[values.tensor.One<int64_t>(A::TensorId)] = values.numbers;
      const bool narrow = values.kind == Kind::F16 || values.kind == Kind::BF16;
      for (double& x : kept) x = narrow ? Rounded(values.kind, x) : x;
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
    hlo::gpu::Multiply(of, image, filter, response, result);
    for (double& x : result.numbers) x = x * of.alpha + (plan_.engine == kWrong ? 1 : 0);
    return Put(result);
  }
  bool Multiply(const Description& operation) {
    Values a(operation.Part(A::OperationMatmulA)), b(operation.Part(A::OperationMatmulB)),
        c(operation.Part(A::OperationMatmulC));
    if (!Get(a.tensor, a) || !Get(b.tensor, b)) return false;
    MultiplyMatrices(a, b, c);
    for (double& x : c.numbers) x += plan_.engine == kWrong ? 1 : 0;
    return Put(c);
  }
  bool Reduce(const Description& operation) {
    Values x(operation.Part(A::OperationReductionX)), y(operation.Part(A::OperationReductionY));
    if (!Get(x.tensor, x)) return false;
    ReduceRows(operation.Part(A::OperationReduction).One<CudnnReduction>(A::ReductionOperator), x, y);
    return Put(y);
  }
  bool Reshape(const Description& operation) {
    Values x(operation.Part(A::OperationReshapeX)), y(operation.Part(A::OperationReshapeY));
    return Get(x.tensor, x) && ReshapeValues(x, y) && Put(y);
  }
  bool Step(const Description& operation) {
    Values x(operation.Part(A::OperationX)), y(operation.Part(A::OperationY));
    const PointwiseRow& row = *PointwiseOf(operation);
    if (row.mode == CudnnPointwise::GenIndex) {
      const auto axis =
          static_cast<size_t>(operation.Part(A::OperationPointwise).One<int64_t>(A::PointwiseAxis));
      y.ForEach([&](size_t n, size_t, const std::vector<int64_t>& at) {
        y.numbers[n] = static_cast<double>(at[axis]);
      });
      return Put(y);
    }
    Values b(row.takes_b ? operation.Part(A::OperationB) : x.tensor);
    if (!Get(x.tensor, x) || !Get(b.tensor, b)) return false;
    if (row.mode == CudnnPointwise::BinarySelect) {
      Values t(operation.Part(A::OperationT));
      if (!Get(t.tensor, t)) return false;
      y.ForEach([&](size_t n, size_t, const std::vector<int64_t>& at) {
        y.numbers[n] = t.numbers[t.NumberOf(at)] != 0 ? x.numbers[n] : b.numbers[b.NumberOf(at)];
      });
      return Put(y);
    }
    y.ForEach([&](size_t n, size_t, const std::vector<int64_t>& at) {
      y.numbers[n] = row.compute(x.numbers[n], b.numbers[b.NumberOf(at)]);
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
    if (FeaturesOf(graph) == kNotFound || !IsKnown(graph)) return CudnnStatus::Success;
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
