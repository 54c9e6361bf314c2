#include "backends/products/conv/onednn_convolution.h"

#include <atomic>
#include <bit>
#include <mutex>

#include "backends/products/common/scratch.h"
#include "backends/products/common/sums.h"
#include "backends/products/conv/depthwise_nhwc_staged.h"
#include "backends/products/conv/onednn.h"
#include "ir/eval/strided_copy.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

using onednn::Argument;
using onednn::Descriptor;
using onednn::Functions;
using onednn::Primitive;

/// Operations below which making the primitive costs more than a thousand runs save: of depthwise ones, of
/// others, and of single taps in F32, where our own loops are nearly as fast.
constexpr double kLeastDepthwise = 2e7, kLeastWork = 1e8, kLeastSingle = 4e8;
/// Positions of the result per channel, below which reordering the weights takes the time that is saved.
constexpr int64_t kLeastPositions = 512;
/// Features of both sides up to which lines of images that are shifted take less time.
constexpr int64_t kFewFeatures = 4;
/// Operations of a piece for a thread.
constexpr double kPieceWork = 2.5e7, kPieceWorkTiles = 5e7, kPieceWorkDepthwise = 5e6;
constexpr uint64_t kMostBands = 16;

/// A two-dimensional convolution, in elements. Dimension 0 is the outer one.
struct Form {
  int64_t images, groups, in_features, out_features;  // features of one group
  int64_t in[2], out[2], taps[2], stride[2], dilation[2], low[2], high[2];
  int64_t in_strides[4], out_strides[4], weight_strides[5];  // n c h w; g o i h w
  int in_type, out_type;
  bool tile_registers;  // multiply
  [[nodiscard]] double Work() const {
    return 2.0 * static_cast<double>(images * groups * in_features * out_features) *
           static_cast<double>(out[0] * out[1] * taps[0] * taps[1]);
  }
};

int TypeCode(ElementType type) {
  return type == ElementType::F32 ? onednn::kF32 : type == ElementType::BF16 ? onednn::kBf16 : 0;
}

/// The forms and types that the library is fast for.
Fit FitForm(const Instruction* convolution, const Target& target) {
  Fit fit;
  if (!fit.Needs(target.libraries, "libraries are not asked")) return fit;
  if (!fit.Needs(convolution != nullptr, "not a whole convolution")) return fit;
  const auto& attrs = convolution->attr<ConvolutionAttrs>();
  const ElementType type = convolution->operand(0)->shape().element_type(),
                    out = convolution->shape().element_type();
  fit.Needs(convolution->operand(1)->shape().element_type() == type && TypeCode(type) != 0 &&
                (out == type || (type == ElementType::BF16 && out == ElementType::F32)) &&
                attrs.algorithm == DotAlgorithm::Unset,
            "not all of F32 or of BF16");
  fit.Needs(type == ElementType::BF16 ? target.amx || target.pairs : target.isa == Isa::Avx512,
            "the processor lacks AVX-512");
  if (!fit.Needs(attrs.dim_labels && attrs.window.dims.size() == 2, "not of two dimensions")) return fit;
  const auto& labels = *attrs.dim_labels;
  fit.Needs(attrs.batch_group_count == 1, "groups of the batch");
  fit.Needs(labels.input_rank == 4 && labels.input_feature == 3 && labels.output_feature == 3,
            "features are no neighbours");
  fit.Needs(llvm::all_of(attrs.window.dims,
                         [](const WindowDim& d) {
                           return d.base_dilation == 1 && !d.reversal && d.pad_low >= 0 && d.pad_high >= 0;
                         }),
            "dilated, reversed or cropped");
  return fit;
}

Form FormOf(const Instruction& inst, const Target& target) {
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  const auto& labels = *attrs.dim_labels;
  const Shape &lhs = inst.operand(0)->shape(), &rhs = inst.operand(1)->shape(), &out = inst.shape();
  const auto lhs_strides = RowMajorStrides(lhs.dims()), rhs_strides = RowMajorStrides(rhs.dims()),
             out_strides = RowMajorStrides(out.dims());
  const auto at = [](const auto& list, int64_t d) { return list[static_cast<size_t>(d)]; };
  Form f{};
  f.groups = attrs.feature_group_count;
  f.images = lhs.dim(labels.input_batch);
  f.in_features = rhs.dim(labels.kernel_input_feature);
  f.out_features = rhs.dim(labels.kernel_output_feature) / f.groups;
  f.in_type = TypeCode(lhs.element_type());
  f.out_type = TypeCode(out.element_type());
  f.in_strides[0] = at(lhs_strides, labels.input_batch);
  f.in_strides[1] = at(lhs_strides, labels.input_feature);
  f.out_strides[0] = at(out_strides, labels.output_batch);
  f.out_strides[1] = at(out_strides, labels.output_feature);
  f.weight_strides[1] = at(rhs_strides, labels.kernel_output_feature);
  f.weight_strides[0] = f.weight_strides[1] * f.out_features;
  f.weight_strides[2] = at(rhs_strides, labels.kernel_input_feature);
  for (size_t d = 0; d < 2; ++d) {
    const WindowDim& window = attrs.window.dims[d];
    f.in[d] = lhs.dim(labels.input_spatial[d]);
    f.out[d] = out.dim(labels.output_spatial[d]);
    f.taps[d] = window.size;
    f.stride[d] = window.stride;
    f.dilation[d] = window.window_dilation;
    f.low[d] = window.pad_low;
    f.high[d] = window.pad_high;
    f.in_strides[2 + d] = at(lhs_strides, labels.input_spatial[d]);
    f.out_strides[2 + d] = at(out_strides, labels.output_spatial[d]);
    f.weight_strides[3 + d] = at(rhs_strides, labels.kernel_spatial[d]);
  }
  f.tile_registers = target.amx && f.in_type == onednn::kBf16;
  return f;
}

bool IsDepthwise(const Form& f) { return f.in_features * f.out_features == 1; }

double LeastWork(const Form& f) {
  if (IsDepthwise(f)) return kLeastDepthwise;
  return f.in_type == onednn::kF32 && f.taps[0] * f.taps[1] == 1 ? kLeastSingle : kLeastWork;
}

/// Rows of the result that are computed at a time, and the rows they are computed from.
struct Band {
  int64_t images, rows, in_rows, low, high;
  bool operator==(const Band&) const = default;
};

/// Where a band lies, and which primitive computes it.
struct Unit {
  size_t kind;
  int64_t from, to;  // elements
};

/// What the library does for one kind of band.
struct Kind {
  Band band;
  Descriptor source, result;
  Primitive primitive;
};

class LibraryConvolution {
 public:
  LibraryConvolution(const Functions& dnn, const Form& form) : dnn_(dnn), form_(form), reorder_(dnn) {}

  /// Chooses how; returns why it cannot be done.
  std::string Plan() {
    CutResult();
    for (Kind& kind : kinds_)
      if (std::string why = Choose(kind); !why.empty()) return why;
    // All bands read the same packed weights.
    weights_ = kinds_[0].primitive.Query(onednn::kQueryWeights);
    for (const Kind& kind : kinds_)
      if (dnn_.memory_desc_equal(weights_, kind.primitive.Query(onednn::kQueryWeights)) == 0)
        return "libdnnl wants several orders of weights";
    const int64_t dims[] = {form_.groups, form_.out_features, form_.in_features, form_.taps[0],
                            form_.taps[1]};
    const size_t skip = form_.groups > 1 ? 0 : 1;
    if (!plain_.Init(dnn_, form_.in_type, llvm::ArrayRef(dims).drop_front(skip),
                     llvm::ArrayRef(form_.weight_strides).drop_front(skip)) ||
        !reorder_.ChooseReorder(plain_.bytes, weights_))
      return "libdnnl cannot reorder the weights";
    return IsSlow(reorder_.Name()) ? "libdnnl has no fast way to reorder the weights" : "";
  }

  bool Run(const void* lhs, const void* rhs, void* out) const {
    if (!IsReady()) return false;
    uint8_t* packed = Scratch(ScratchUse::Right, static_cast<int64_t>(reorder_.Bytes(onednn::kQueryResult)));
    std::atomic<bool> good = reorder_.Run({{onednn::kFrom, plain_.bytes, const_cast<void*>(rhs)},
                                           {onednn::kTo, weights_, packed},
                                           ScratchFor(reorder_)});
    ParallelFor(0, static_cast<int64_t>(units_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end && good; ++u)
        if (!RunUnit(units_[static_cast<size_t>(u)], lhs, packed, out)) good = false;
    });
    return good;
  }
  [[nodiscard]] std::string Detail() const {
    return "onednn " + kinds_[0].primitive.Name() +
           (units_.size() > 1 ? ", " + std::to_string(units_.size()) + " pieces" : "");
  }

  /// Generates code once; false if that failed.
  bool IsReady() const {
    std::call_once(once_, [this] {
      std::atomic<bool> good = true;
      ParallelFor(0, static_cast<int64_t>(kinds_.size()) + 1, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          Primitive& primitive = k == 0 ? reorder_ : kinds_[static_cast<size_t>(k - 1)].primitive;
          if (!primitive.Generate()) good = false;
        }
      });
      ready_ = good;
    });
    return ready_;
  }

 private:
  static bool IsSlow(llvm::StringRef name) {
    return name.empty() || name.contains("ref") || name.contains("gemm:") || name.contains("any");
  }

  /// Cuts the result into pieces of whole images, or images into bands of rows.
  void CutResult() {
    const double per_image = form_.Work() / static_cast<double>(form_.images);
    const double piece = IsDepthwise(form_)     ? kPieceWorkDepthwise
                         : form_.tile_registers ? kPieceWorkTiles
                                                : kPieceWork;
    const auto images = std::clamp<int64_t>(static_cast<int64_t>(piece / per_image), 1, form_.images);
    // A power of two: pieces are alike, and few kinds of primitives have to be made.
    const auto wanted =
        std::bit_floor(std::clamp<uint64_t>(static_cast<uint64_t>(per_image / piece), 1, kMostBands));
    const int64_t bands = images > 1 ? 1 : std::min(static_cast<int64_t>(wanted), form_.out[0]);
    for (int64_t image = 0; image < form_.images; image += images)
      for (int64_t b = 0; b < bands; ++b)
        AddUnit(image, std::min(images, form_.images - image), form_.out[0] * b / bands,
                form_.out[0] * (b + 1) / bands);
  }
  void AddUnit(int64_t image, int64_t images, int64_t begin, int64_t end) {
    const int64_t reach = (form_.taps[0] - 1) * form_.dilation[0] + 1;
    const int64_t first = begin * form_.stride[0] - form_.low[0];
    const int64_t last = (end - 1) * form_.stride[0] - form_.low[0] + reach;
    const int64_t from = std::max<int64_t>(first, 0), to = std::min(last, form_.in[0]);
    const Band band{images, end - begin, to - from, from - first, last - to};
    size_t kind = 0;
    while (kind < kinds_.size() && kinds_[kind].band != band) ++kind;
    if (kind == kinds_.size()) kinds_.push_back({band, {}, {}, Primitive(dnn_)});
    units_.push_back({kind, image * form_.in_strides[0] + from * form_.in_strides[2],
                      image * form_.out_strides[0] + begin * form_.out_strides[2]});
  }

  std::string Choose(Kind& kind) {
    const Band& b = kind.band;
    if (b.in_rows <= 0) return "bands of padding";
    const int64_t in_dims[] = {b.images, form_.groups * form_.in_features, b.in_rows, form_.in[1]};
    const int64_t out_dims[] = {b.images, form_.groups * form_.out_features, b.rows, form_.out[1]};
    const int64_t weight_dims[] = {form_.groups, form_.out_features, form_.in_features, form_.taps[0],
                                   form_.taps[1]};
    const int64_t dilations[] = {form_.dilation[0] - 1, form_.dilation[1] - 1};
    const int64_t low[] = {b.low, form_.low[1]}, high[] = {b.high, form_.high[1]};
    // The library knows its formats by their strides, also that of the only image of a band.
    int64_t in_strides[4], out_strides[4];
    std::copy_n(form_.in_strides, 4, in_strides);
    std::copy_n(form_.out_strides, 4, out_strides);
    if (b.images == 1) {
      in_strides[0] = b.in_rows * form_.in_strides[2];
      out_strides[0] = b.rows * form_.out_strides[2];
    }
    Descriptor weights;
    alignas(64) unsigned char operation[onednn::kDescriptorBytes] = {};
    const bool good =
        kind.source.Init(dnn_, form_.in_type, in_dims, in_strides) &&
        kind.result.Init(dnn_, form_.out_type, out_dims, out_strides) &&
        weights.Init(dnn_, form_.in_type, llvm::ArrayRef(weight_dims).drop_front(form_.groups > 1 ? 0 : 1)) &&
        dnn_.dilated_convolution_forward_desc_init(
            operation, onednn::kForwardInference, onednn::kDirect, kind.source.bytes, weights.bytes, nullptr,
            kind.result.bytes, form_.stride, dilations, low, high) == 0 &&
        kind.primitive.Choose(operation);
    if (!good) return "libdnnl cannot do it";
    return IsSlow(kind.primitive.Name()) ? "libdnnl has only " + kind.primitive.Name() : "";
  }

  static Argument ScratchFor(const Primitive& primitive) {
    const auto bytes = static_cast<int64_t>(primitive.Bytes(onednn::kQueryScratch));
    return {onednn::kScratch, primitive.Query(onednn::kQueryScratch),
            Scratch(ScratchUse::Left, std::max<int64_t>(bytes, 1))};
  }
  bool RunUnit(const Unit& unit, const void* in, uint8_t* packed, void* out) const {
    const Kind& kind = kinds_[unit.kind];
    const auto size = [](int type) { return type == onednn::kF32 ? 4 : 2; };
    auto* from = static_cast<uint8_t*>(const_cast<void*>(in)) + unit.from * size(form_.in_type);
    return kind.primitive.Run(
        {{onednn::kSource, kind.source.bytes, from},
         {onednn::kWeights, weights_, packed},
         {onednn::kResult, kind.result.bytes, static_cast<uint8_t*>(out) + unit.to * size(form_.out_type)},
         ScratchFor(kind.primitive)});
  }

  const Functions& dnn_;
  Form form_;
  Descriptor plain_;  // of the weights as they come
  const void* weights_ = nullptr;
  mutable Primitive reorder_;
  mutable std::vector<Kind> kinds_;
  std::vector<Unit> units_;
  mutable std::once_flag once_;
  mutable bool ready_ = false;
};

class OnednnPlan final : public Plan {
 public:
  explicit OnednnPlan(const Form& form) : form_(form) {}
  bool Run(const void* lhs, const void* rhs, void* out) const override {
    const LibraryConvolution* library = Chosen();
    return library != nullptr && library->Run(lhs, rhs, out);
  }
  bool Prepare() const override {
    const LibraryConvolution* library = Chosen();
    return library != nullptr && library->IsReady();
  }
  [[nodiscard]] std::string Refusal() const override { return Chosen() != nullptr ? "" : why_; }
  [[nodiscard]] std::string Detail() const override {
    const LibraryConvolution* library = Chosen();
    return library != nullptr ? library->Detail() : "";
  }

 private:
  /// Null if the library is not there or refuses.
  [[nodiscard]] const LibraryConvolution* Chosen() const {
    std::call_once(once_, [this] {
      const Functions* dnn = onednn::Library(why_);
      if (dnn == nullptr) return;
      library_ = std::make_unique<LibraryConvolution>(*dnn, form_);
      why_ = library_->Plan();
      if (!why_.empty()) library_.reset();
    });
    return library_.get();
  }

  Form form_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<LibraryConvolution> library_;
  mutable std::string why_;  // it is not asked
};

}  // namespace

Fit FitOnednn(const Problem& problem, const Target& target) {
  Fit fit = FitForm(problem.convolution, target);
  if (!fit.can()) return fit;
  const Form form = FormOf(*problem.convolution, target);
  fit.Suits(form.groups > 1 || std::max(form.in_features, form.out_features) > kFewFeatures, "few features");
  fit.Suits(form.Work() >= LeastWork(form), "little work");
  fit.Suits(form.images * form.out[0] * form.out[1] >= kLeastPositions, "few positions of the result");
#if defined(__x86_64__)
  fit.Suits(!IsOfLongLines(problem, target), "long lines of groups of one feature");
#endif
  return fit;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): of the type that all ways have
std::unique_ptr<Plan> PlanOnednn(Problem problem, const Target& target) {
  return std::make_unique<OnednnPlan>(FormOf(*problem.convolution, target));
}

}  // namespace hlo::gemm
