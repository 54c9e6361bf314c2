#include "backends/gpu/libraries/convolution.h"

#include "ir/module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr ConvolutionTypes kTypes[] = {
#define CONVOLUTION_TYPES(operands, result, algorithm, sums, tensor_cores, apart) \
  {ElementType::operands, ElementType::result, DotAlgorithm::algorithm,           \
   ElementType::sums,     tensor_cores,        apart},
#include "backends/gpu/libraries/convolution_types.def"
};

/// Smaller convolutions are not worth a call; sums of few terms, as those of a filter for each feature, are
/// read and written by our own kernels at the speed of memory.
constexpr int64_t kLeastMultiplies = int64_t{1} << 20, kLeastTerms = 16;
/// Convolutions that are worth another kernel for what else is done to them.
constexpr int64_t kLeastApart = int64_t{1} << 28;
/// The library has dimensions in space of these numbers.
constexpr size_t kFewestDims = 2, kMostDims = 3;
/// Of tensors, where dimensions are.
enum Place : size_t { Batch, Features, Space };

using Direction = LibraryConvolution::Direction;

struct DirectionRow {
  Direction direction;
  llvm::StringLiteral text;
  LibraryTensor LibraryConvolution::* result;
};
constexpr DirectionRow kDirections[] = {
    {Direction::Forward, "forward", &LibraryConvolution::response},
    {Direction::BackwardFilter, "backward filter", &LibraryConvolution::filter},
    {Direction::BackwardData, "backward data", &LibraryConvolution::image}};
const DirectionRow& RowOf(Direction direction) {
  return *llvm::find_if(kDirections, [&](const DirectionRow& row) { return row.direction == direction; });
}

/// Without an algorithm the first row of the types: no operand is rounded.
const ConvolutionTypes* TypesOf(DotAlgorithm algorithm, ElementType operands, ElementType result) {
  const auto* row = llvm::find_if(kTypes, [&](const ConvolutionTypes& types) {
    return types.operands == operands && types.result == result &&
           (algorithm == DotAlgorithm::Unset || algorithm == types.algorithm);
  });
  return row == std::end(kTypes) ? nullptr : row;
}

bool IsReversed(const WindowDim& dim) { return dim.reversal && dim.size > 1; }

/// Which of the library's functions a convolution is. Any convolution without holes is a forward one;
/// gradients of filters have windows that are larger than their results, and add up what lies farthest apart,
/// the batch.
Direction DirectionOf(const Instruction& inst) {
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  const auto& dims = attrs.window.dims;
  const bool holes = llvm::any_of(dims, [](const WindowDim& d) { return d.base_dilation > 1; });
  const bool steps = llvm::any_of(dims, [](const WindowDim& d) { return d.stride > 1; });
  const bool reversed = llvm::any_of(dims, IsReversed);
  if (holes || (reversed && !steps)) return Direction::BackwardData;
  if (reversed) return Direction::Forward;
  int64_t window = 1, results = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    window *= dims[i].size;
    results *= inst.shape().dim(attrs.dim_labels->output_spatial[i]);
  }
  const bool over_batch = attrs.dim_labels->input_feature < attrs.dim_labels->input_batch;
  const bool of_filter = attrs.batch_group_count > 1 || (window > results && over_batch);
  return of_filter ? Direction::BackwardFilter : Direction::Forward;
}

/// What of a view is a tensor: its dimensions in another order.
LibraryTensor TensorOf(const View& view, int64_t batch, int64_t features, const Dims& space) {
  LibraryTensor tensor;
  tensor.array = view.array;
  tensor.type = view.type;
  tensor.offset = view.offset;
  const auto add = [&](int64_t d) { tensor.dims.push_back(view.dims[static_cast<size_t>(d)]); };
  add(batch);
  add(features);
  for (const int64_t d : space) add(d);
  return tensor;
}

/// Features read and of each group of them, as one dimension of all features; false where that needs a copy.
bool MergeGroups(LibraryTensor& filter, int64_t groups) {
  ViewDim &all = filter.dims[Batch], &of_group = filter.dims[Features];
  of_group.size /= groups;
  if (groups == 1) return true;
  const int64_t to_next = of_group.size * of_group.stride;
  if (all.size == 1) all.stride = to_next;
  if (all.size * all.stride != to_next) return false;
  all.size *= groups;
  return true;
}

/// Of the response, what lies behind the image: as much as in front of it, or else the least. Nothing where
/// the window does not fit.
std::optional<int64_t> PaddingAfter(const LibraryConvolution::Dim& dim, int64_t image, int64_t window,
                                    int64_t responses) {
  const int64_t least = (responses - 1) * dim.stride + (window - 1) * dim.dilation + 1 - image - dim.before;
  const int64_t most = least + dim.stride - 1;
  const int64_t chosen = dim.before >= least && dim.before <= most ? dim.before : std::max<int64_t>(least, 0);
  if (chosen > most) return std::nullopt;
  return chosen;
}

/// Puts together what is known of a convolution and what is done to it.
class ConvolutionReader {
 public:
  ConvolutionReader(const Instruction& inst, const Epilogue& epilogue) : inst_(inst), epilogue_(epilogue) {}

  Result<LibraryConvolution> Read() {
    found_.direction = DirectionOf(inst_);
    HLO_CHECK_OK(ReadTensors());
    HLO_CHECK_OK(ReadDims());
    HLO_CHECK_OK(ReadTypes());
    HLO_CHECK_OK(ReadSteps());
    HLO_CHECK_OK(Settle());
    HLO_CHECK_OK(CheckWork());
    return std::move(found_);
  }

 private:
  [[nodiscard]] const ConvolutionAttrs& attrs() const { return inst_.attr<ConvolutionAttrs>(); }
  tl::unexpected<Diagnostic> Refuse(const char* why) const { return Decline(inst_.loc(), "{0}", why); }

  Status ReadTensors() {
    const ConvDimLabels& labels = *attrs().dim_labels;
    const size_t space = labels.input_spatial.size();
    if (space == 0 || space > kMostDims || attrs().sparsity_config != SparsityConfig() ||
        inst_.operand_count() != 2 || labels.input_rank > static_cast<int64_t>(space + Space) ||
        labels.kernel_rank > static_cast<int64_t>(space + Space) ||
        labels.output_rank > static_cast<int64_t>(space + Space))
      return Refuse("the library has no convolution of these dimensions");
    llvm::SmallVector<View, 2> views;
    for (const Instruction* operand : inst_.operands()) {
      std::optional<View> view = ViewOf(*operand);
      if (!view) return Decline(operand->loc(), "%{0} is made within the kernel", operand->name());
      views.push_back(std::move(*view));
    }
    const View &left = views[0], &right = views[1], &result = epilogue_.result();
    const int64_t groups = attrs().feature_group_count, batch_groups = attrs().batch_group_count;
    const bool of_filter = found_.direction == Direction::BackwardFilter;
    if ((of_filter ? groups : batch_groups) != 1) return Refuse("the library has no such groups");
    if (of_filter) {
      found_.image = TensorOf(left, labels.input_feature, labels.input_batch, labels.input_spatial);
      found_.response =
          TensorOf(right, labels.kernel_input_feature, labels.kernel_output_feature, labels.kernel_spatial);
      found_.filter = TensorOf(result, labels.output_feature, labels.output_batch, labels.output_spatial);
      return {};
    }
    LibraryTensor read = TensorOf(left, labels.input_batch, labels.input_feature, labels.input_spatial);
    LibraryTensor made = TensorOf(result, labels.output_batch, labels.output_feature, labels.output_spatial);
    if (found_.direction == Direction::Forward) {
      found_.filter =
          TensorOf(right, labels.kernel_output_feature, labels.kernel_input_feature, labels.kernel_spatial);
      found_.image = std::move(read);
      found_.response = std::move(made);
      return {};
    }
    found_.filter =
        TensorOf(right, labels.kernel_input_feature, labels.kernel_output_feature, labels.kernel_spatial);
    found_.response = std::move(read);
    found_.image = std::move(made);
    if (!MergeGroups(found_.filter, groups)) return Refuse("its filter does not lie as the library takes it");
    return {};
  }

  Status ReadDims() {
    const bool forward = found_.direction == Direction::Forward;
    const bool of_data = found_.direction == Direction::BackwardData;
    std::optional<bool> reversed;
    for (size_t i = 0; i < attrs().window.dims.size(); ++i) {
      const WindowDim& window = attrs().window.dims[i];
      LibraryConvolution::Dim dim{window.stride, window.window_dilation, window.pad_low, window.pad_high};
      if (found_.direction == Direction::BackwardFilter) std::swap(dim.stride, dim.dilation);
      if (of_data) {
        if (window.stride != 1) return Refuse("the library has no steps in images with holes");
        dim.stride = window.base_dilation;
        dim.before = (window.size - 1) * dim.dilation - window.pad_low;
      }
      if (!forward) {
        const auto after =
            PaddingAfter(dim, found_.image.dims[Space + i].size, found_.filter.dims[Space + i].size,
                         found_.response.dims[Space + i].size);
        if (!after) return Refuse("the library has no such edges");
        dim.after = *after;
      }
      if (dim.before < 0 || dim.after < 0) return Refuse("the library has no negative edges");
      if (window.size > 1 && reversed.value_or(window.reversal) != window.reversal)
        return Refuse("its filter is reversed in some dimensions");
      if (window.size > 1) reversed = window.reversal;
      found_.dims.push_back(dim);
    }
    // The gradient of an image goes through the filter from its end.
    found_.flipped = reversed && *reversed != of_data;
    return {};
  }

  Status ReadTypes() {
    const LibraryTensor& result = found_.result();
    const auto [left, right] = Operands();
    found_.types = left->type == right->type ? TypesOf(attrs().algorithm, left->type, result.type) : nullptr;
    if (found_.types == nullptr)
      return Decline(inst_.loc(),
                     "the library has no convolution of {0} and {1} that is {2}, by its algorithm",
                     ToString(left->type), ToString(right->type), ToString(result.type));
    if (!found_.types->tensor_cores)
      return Refuse("the library is fast only where f32 may be rounded to tf32");
    return {};
  }

  Status ReadSteps() {
    using Op = EpilogueStep::Op;
    const bool of_filter = found_.direction == Direction::BackwardFilter;
    const ConvDimLabels& labels = *attrs().dim_labels;
    for (const EpilogueStep& step : epilogue_.steps()) {
      if (step.op == Op::Scale) {
        if (!found_.steps.empty())
          return Decline(step.inst->loc(), "%{0} ({1}) is more than the library does to sums",
                         step.inst->name(), step.inst->info().text);
        found_.alpha *= step.factor;
        continue;
      }
      if (of_filter || found_.types->sums != ElementType::F32)
        return Refuse("the library does nothing to such sums");
      LibraryConvolution::Step& taken = found_.steps.emplace_back();
      taken.op = step.op;
      if (step.op == Op::Relu) continue;
      taken.operand = TensorOf(step.view, labels.output_batch, labels.output_feature, labels.output_spatial);
      for (ViewDim& dim : taken.operand.dims)
        if (dim.stride == 0) dim.size = 1;
    }
    return {};
  }

  /// Dimensions of one element get a stride as the library expects it, and space two dimensions.
  Status Settle() {
    llvm::SmallVector<LibraryTensor*, 6> tensors = {&found_.image, &found_.filter, &found_.response};
    for (LibraryConvolution::Step& step : found_.steps)
      if (!step.operand.dims.empty()) tensors.push_back(&step.operand);
    const bool last = llvm::all_of(llvm::ArrayRef(tensors).take_front(3), [](const LibraryTensor* tensor) {
      return tensor->dims[Features].size == 1 || tensor->dims[Features].stride == 1;
    });
    for (; found_.dims.size() < kFewestDims;
         found_.dims.insert(found_.dims.begin(), LibraryConvolution::Dim()))
      for (LibraryTensor* tensor : tensors) tensor->dims.insert(tensor->dims.begin() + Space, {1, 0});
    for (LibraryTensor* tensor : tensors) {
      llvm::SmallVector<size_t, 5> inwards = {Batch, Features};
      for (size_t d = Space; d < tensor->dims.size(); ++d) inwards.push_back(d);
      if (last) std::rotate(inwards.begin() + 1, inwards.begin() + 2, inwards.end());
      int64_t next = 1;
      for (const size_t d : llvm::reverse(inwards)) {
        ViewDim& dim = tensor->dims[d];
        if (dim.size == 1) dim.stride = next;
        if (dim.stride <= 0) return Refuse("it reads an element for several");
        next = std::max(next, dim.stride * dim.size);
      }
    }
    return {};
  }

  Status CheckWork() const {
    const auto product = [](const LibraryTensor& tensor, size_t first) {
      int64_t all = 1;
      for (const ViewDim& dim : llvm::ArrayRef(tensor.dims).drop_front(first)) all *= dim.size;
      return all;
    };
    // Of the response, each is a sum of as many terms as a filter has.
    const int64_t multiplies = product(found_.response, Batch) * product(found_.filter, Features);
    const int64_t terms = multiplies / std::max<int64_t>(product(found_.result(), Batch), 1);
    if (terms < kLeastTerms) return Decline(inst_.loc(), "it has fewer than {0} terms", kLeastTerms);
    if (multiplies < kLeastMultiplies) return Refuse("it is small");
    return {};
  }

  /// The two that are read.
  [[nodiscard]] std::pair<const LibraryTensor*, const LibraryTensor*> Operands() const {
    llvm::SmallVector<const LibraryTensor*, 2> read;
    for (const LibraryTensor* tensor : {&found_.image, &found_.filter, &found_.response})
      if (tensor != &found_.result()) read.push_back(tensor);
    return {read[0], read[1]};
  }

  const Instruction& inst_;
  const Epilogue& epilogue_;
  LibraryConvolution found_;
};

/// The only one of a fusion, or null.
const Instruction* FusedConvolution(const Instruction& fusion) {
  if (fusion.kind() != OpKind::Fusion) return nullptr;
  const std::vector<Instruction*> found = fusion.callee()->InstructionsOf(OpKind::Convolution);
  return found.size() == 1 ? found.front() : nullptr;
}

/// What a convolution and what is done to it are to the library; the last is stored.
Result<LibraryConvolution> ConvolutionUpTo(llvm::ArrayRef<const Instruction*> chain) {
  const Instruction* const inst = chain.front();
  if (chain.back()->shape().HasDynamicDimension()) return Decline(inst->loc(), "its size is not known");
  HLO_TRY(const Epilogue epilogue, Epilogue::Read(chain));
  return ConvolutionReader(*inst, epilogue).Read();
}

/// Terms of the sums.
int64_t MultipliesOf(const LibraryConvolution& convolution) {
  int64_t all = 1;
  for (const ViewDim& dim : convolution.response.dims) all *= dim.size;
  for (const ViewDim& dim : llvm::ArrayRef(convolution.filter.dims).drop_front()) all *= dim.size;
  return all;
}

void PrintTensor(llvm::raw_ostream& os, const LibraryTensor& tensor, const Instruction& fusion) {
  os << ToString(tensor.type);
  if (tensor.array >= 0) os << " %" << fusion.operand(tensor.array)->name();
  if (tensor.offset != 0) os << " + " << tensor.offset;
  os << ' ';
  llvm::interleave(tensor.dims, os, [&](const ViewDim& dim) { os << dim.size; }, "x");
  os << '/';
  llvm::interleave(tensor.dims, os, [&](const ViewDim& dim) { os << dim.stride; }, ",");
}

}  // namespace

const LibraryTensor& LibraryConvolution::result() const { return this->*RowOf(direction).result; }

llvm::SmallVector<const LibraryTensor*, 5> LibraryConvolution::Tensors() const {
  llvm::SmallVector<const LibraryTensor*, 5> all = {&image, &filter, &response};
  for (const Step& step : steps)
    if (!step.operand.dims.empty()) all.push_back(&step.operand);
  return all;
}

bool HasConvolution(const Instruction& fusion) { return FusedConvolution(fusion) != nullptr; }

Result<LibraryConvolution> ConvolutionOf(const Instruction& fusion) {
  const Instruction* const inst = FusedConvolution(fusion);
  if (inst == nullptr) return Decline(fusion.loc(), "there is no convolution in it");
  const auto chain = ChainOf(*inst);
  if (!chain.back()->IsRoot() || !fusion.shape().IsArray())
    return Decline(inst->loc(), "it has several results");
  return ConvolutionUpTo(chain);
}

Instruction* ConvolutionApart(const Instruction& fusion) {
  const Instruction* const inst = FusedConvolution(fusion);
  if (inst == nullptr) return nullptr;
  const auto whole = ChainOf(*inst);
  // With as much as the library does to it.
  for (llvm::ArrayRef<const Instruction*> chain(whole); !chain.empty(); chain = chain.drop_back()) {
    if (chain.back()->IsRoot() || !chain.back()->shape().IsArray()) continue;
    const auto found = ConvolutionUpTo(chain);
    if (!found) continue;
    const int64_t multiplies = MultipliesOf(*found);
    const int64_t terms = multiplies / std::max<int64_t>(chain.back()->shape().ElementCount(), 1);
    return terms >= found->types->apart && multiplies >= kLeastApart ? const_cast<Instruction*>(chain.back())
                                                                     : nullptr;
  }
  return nullptr;
}

std::string ToString(const LibraryConvolution& convolution, const Instruction& fusion) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << RowOf(convolution.direction).text << " by ";
  const bool tf32 = convolution.types->algorithm == DotAlgorithm::TF32TF32F32;
  os << (tf32 ? "tf32" : ToString(convolution.types->sums));
  const auto tensor = [&](llvm::StringRef name, const LibraryTensor& of) {
    os << ", " << name << ' ';
    PrintTensor(os, of, fusion);
  };
  tensor("X", convolution.image);
  tensor("W", convolution.filter);
  tensor("Y", convolution.response);
  const auto figures = [&](llvm::StringRef name, int64_t LibraryConvolution::Dim::* figure) {
    if (llvm::all_of(convolution.dims, [&](const auto& dim) { return dim.*figure == 1; })) return;
    os << ", " << name << ' ';
    llvm::interleave(convolution.dims, os, [&](const auto& dim) { os << dim.*figure; }, "x");
  };
  figures("stride", &LibraryConvolution::Dim::stride);
  figures("dilation", &LibraryConvolution::Dim::dilation);
  os << ", pad ";
  llvm::interleave(convolution.dims, os, [&](const auto& dim) { os << dim.before << '_' << dim.after; }, "x");
  if (convolution.flipped) os << ", flipped";
  if (convolution.alpha != 1) os << ", alpha " << llvm::format("%.9g", convolution.alpha);
  for (const LibraryConvolution::Step& step : convolution.steps) {
    if (step.op == EpilogueStep::Op::Relu)
      os << ", relu";
    else
      tensor(step.op == EpilogueStep::Op::Add ? "add" : "multiply", step.operand);
  }
  return text;
}

}  // namespace hlo::gpu
