#include "backends/gpu/libraries/cudnn_graph.h"

#include "llvm/ADT/Sequence.h"

namespace hlo::gpu {
namespace {

using A = CudnnAttribute;
using T = CudnnAttributeType;

/// Engines that are tried of each search, and notes that one has at most.
constexpr size_t kMostConfigs = 64, kMostNotes = 16;
/// The most bytes that an engine may take besides the arrays: as much as products.
constexpr int64_t kMostWorkspace = int64_t{32} << 20;
constexpr uint64_t kMostAlignment = 256;

struct TypeRow {
  ElementType type;
  CudnnType number;
};
constexpr TypeRow kTypes[] = {{ElementType::F16, CudnnType::F16},
                              {ElementType::BF16, CudnnType::BF16},
                              {ElementType::F32, CudnnType::F32},
                              {ElementType::F64, CudnnType::F64}};

/// What an engine may not do: results that differ from run to run, or that are rounded on the way by more
/// than the order of a sum.
constexpr CudnnNote kForbidden[] = {CudnnNote::DownConvertInputs,
                                    CudnnNote::ReducedPrecisionReduction,
                                    CudnnNote::Fft,
                                    CudnnNote::Nondeterministic,
                                    CudnnNote::Winograd,
                                    CudnnNote::Winograd4x4,
                                    CudnnNote::Winograd6x6,
                                    CudnnNote::Winograd13x13};

}  // namespace

CudnnType CudnnTypeOf(ElementType type) {
  return llvm::find_if(kTypes, [&](const TypeRow& row) { return row.type == type; })->number;
}

uint64_t UsefulAlignment(uint64_t alignment) {
  const uint64_t all = alignment | kMostAlignment;
  return all & (~all + 1);
}

Result<Descriptor*> CudnnGraph::Add(CudnnDescriptorKind kind) {
  HLO_TRY(Descriptor made, Descriptor::Make(library_, kind));
  parts_.push_back(std::move(made));
  return &parts_.back();
}

Result<const Descriptor*> CudnnGraph::AddTensor(const CudnnTensor& tensor) {
  using Place = CudnnTensor::Place;
  HLO_TRY(Descriptor* const made, Add(CudnnDescriptorKind::Tensor));
  llvm::SmallVector<int64_t, 5> sizes, strides;
  for (const ViewDim& dim : tensor.dims) {
    sizes.push_back(dim.size);
    strides.push_back(dim.stride);
  }
  HLO_CHECK_OK(made->Set(A::TensorType, T::DataType, tensor.type));
  HLO_CHECK_OK(made->SetEach(A::TensorSizes, T::Int64, llvm::ArrayRef<int64_t>(sizes)));
  HLO_CHECK_OK(made->SetEach(A::TensorStrides, T::Int64, llvm::ArrayRef<int64_t>(strides)));
  HLO_CHECK_OK(made->Set(A::TensorId, T::Int64, tensors_++));
  HLO_CHECK_OK(made->Set(A::TensorAlignment, T::Int64, static_cast<int64_t>(tensor.alignment)));
  HLO_CHECK_OK(made->Set(A::TensorVirtual, T::Boolean, tensor.place == Place::OnTheWay));
  if (tensor.place == Place::Host) HLO_CHECK_OK(made->Set(A::TensorByValue, T::Boolean, true));
  HLO_CHECK_OK(made->Finish());
  return made;
}

Status CudnnGraph::AddPointwise(const Pointwise& operation) {
  HLO_TRY(Descriptor* const kind, Add(CudnnDescriptorKind::Pointwise));
  HLO_CHECK_OK(kind->Set(A::PointwiseMode, T::PointwiseMode, operation.mode));
  HLO_CHECK_OK(kind->Set(A::PointwisePrecision, T::DataType, operation.precision));
  if (operation.mode == CudnnPointwise::Relu)
    HLO_CHECK_OK(kind->Set(A::PointwiseNans, T::NanPropagation, CudnnNan::Propagate));
  if (operation.axis) HLO_CHECK_OK(kind->Set(A::PointwiseAxis, T::Int64, *operation.axis));
  HLO_CHECK_OK(kind->Finish());
  HLO_TRY(Descriptor* const made, Add(CudnnDescriptorKind::PointwiseOperation));
  HLO_CHECK_OK(made->Set(A::OperationPointwise, *kind));
  HLO_CHECK_OK(made->Set(A::OperationX, *operation.x));
  if (operation.b != nullptr) HLO_CHECK_OK(made->Set(A::OperationB, *operation.b));
  if (operation.t != nullptr) HLO_CHECK_OK(made->Set(A::OperationT, *operation.t));
  HLO_CHECK_OK(made->Set(A::OperationY, *operation.y));
  return AddOperation(*made);
}

Status CudnnGraph::AddOperation(Descriptor& operation) {
  HLO_CHECK_OK(operation.Finish());
  operations_.push_back(operation.handle());
  return {};
}

Result<const Descriptor*> CudnnGraph::Finish() {
  HLO_TRY(Descriptor* const graph, Add(CudnnDescriptorKind::Graph));
  if (library_.device() == nullptr) HLO_CHECK_OK(graph->Set(A::GraphHandle, T::Handle, library_.handle()));
  HLO_CHECK_OK(
      graph->SetEach(A::GraphOperations, T::Descriptor, llvm::ArrayRef<CudnnDescriptor>(operations_)));
  HLO_CHECK_OK(graph->Finish());
  return graph;
}

Status CudnnPlan::Search(int64_t most) {
  HLO_TRY(const Descriptor* const graph, graph_.Finish());
  HLO_TRY(Descriptor search, Descriptor::Make(*library_, CudnnDescriptorKind::Search));
  HLO_CHECK_OK(search.Set(A::SearchGraph, *graph));
  HLO_CHECK_OK(search.Set(A::SearchMode, T::SearchMode, CudnnSearch::ByRules));
  if (const Descriptor* const device = library_->device()) HLO_CHECK_OK(search.Set(A::SearchDevice, *device));
  HLO_CHECK_OK(search.Finish());
  std::vector<Descriptor> configs;
  std::vector<CudnnDescriptor> handles;
  while (configs.size() < kMostConfigs) {
    HLO_TRY(Descriptor config, Descriptor::Make(*library_, CudnnDescriptorKind::EngineConfig));
    handles.push_back(config.handle());
    configs.push_back(std::move(config));
  }
  HLO_TRY(const size_t count,
          search.GetAll(A::SearchResults, T::Descriptor, configs.size(), static_cast<void*>(handles.data())));
  if (count == 0) return Decline({}, "cuDNN has no engine for it");
  std::string why;
  for (Descriptor& config : llvm::MutableArrayRef(configs).take_front(count)) {
    HLO_TRY(const bool fits, IsExact(config));
    if (!fits) {
      if (why.empty()) why = "it rounds otherwise, or differs from run to run";
      continue;
    }
    const Status taken = Take(config, std::max(most, kMostWorkspace));
    if (taken) return {};
    why = taken.error().message;
  }
  return Decline({}, "cuDNN finds no way among {0} engines, the last one: {1}", count, why);
}

/// Whether an engine does only what it may.
Result<bool> CudnnPlan::IsExact(const Descriptor& config) const {
  HLO_TRY(const Descriptor engine, Descriptor::Make(*library_, CudnnDescriptorKind::Engine));
  CudnnDescriptor handle = engine.handle();
  HLO_TRY([[maybe_unused]] const size_t one,
          config.GetAll(A::ConfigEngine, T::Descriptor, 1, static_cast<void*>(&handle)));
  CudnnNote notes[kMostNotes] = {};
  HLO_TRY(const size_t count, engine.GetAll(A::EngineNotes, T::Note, kMostNotes, &notes[0]));
  return llvm::none_of(llvm::ArrayRef(notes).take_front(count),
                       [](CudnnNote note) { return llvm::is_contained(kForbidden, note); });
}

/// Makes a plan of it. Declines what is not for this GPU, or takes too much memory.
Status CudnnPlan::Take(Descriptor& config, int64_t most) {
  HLO_TRY(auto made, MakePlan(config));
  if (made.second > most) return Decline({}, "it takes {0} bytes besides the arrays", made.second);
  config_ = std::move(config);
  plan_ = std::move(made.first);
  workspace_ = made.second;
  return {};
}

Result<std::pair<Descriptor, int64_t>> CudnnPlan::MakePlan(const Descriptor& config) const {
  HLO_TRY(Descriptor plan, Descriptor::Make(*library_, CudnnDescriptorKind::Plan));
  if (const Descriptor* const device = library_->device())
    HLO_CHECK_OK(plan.Set(A::PlanDevice, *device));
  else
    HLO_CHECK_OK(plan.Set(A::PlanHandle, T::Handle, library_->handle()));
  HLO_CHECK_OK(plan.Set(A::PlanConfig, config));
  HLO_CHECK_OK(plan.Finish());
  int64_t workspace = 0;
  HLO_TRY([[maybe_unused]] const size_t one, plan.GetAll(A::PlanWorkspace, T::Int64, 1, &workspace));
  return std::pair(std::move(plan), workspace);
}

Status CudnnPlan::Execute(void* stream, uint64_t workspace, llvm::ArrayRef<uint64_t> at) const {
  const auto ids = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(at.size())));
  HLO_TRY(Descriptor arrays, Descriptor::Make(*library_, CudnnDescriptorKind::Arrays));
  HLO_CHECK_OK(arrays.SetEach(A::ArraysIds, T::Int64, llvm::ArrayRef<int64_t>(ids)));
  // Addresses of a GPU are as wide as pointers.
  HLO_CHECK_OK(arrays.SetEach(A::ArraysPointers, T::Pointer, at));
  HLO_CHECK_OK(arrays.Set(A::ArraysWorkspace, T::Pointer, workspace));
  HLO_CHECK_OK(arrays.Finish());
  return library_->Execute(stream, plan_->handle(), arrays.handle());
}

}  // namespace hlo::gpu
