// A library that is found as libcublasLt.so.13: products on the emulated GPU, by plain loops on the host. It
// refuses descriptions that do not fit together, and arrays that are not aligned as was promised.
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/gpu/libraries/cublas_lt_api.h"
#include "backends/gpu/libraries/lent_driver.h"

using namespace hlo::gpu;  // NOLINT(google-build-using-namespace): it stands in for C

namespace {

/// Products of so many terms are such that functions fail.
enum Failing : uint64_t { kNotFound = 272, kNotSupportedAfterAll = 304, kFailing = 336, kBrokenSearch = 368 };
constexpr size_t kWorkspace = 1000;

struct Layout {
  CudaType type;
  uint64_t rows, columns;
  int64_t leading, batch_stride = 0;
  int32_t batch = 1;
};
struct Desc {
  CublasCompute compute;
  CudaType scale;
  CublasTranspose a = CublasTranspose::No, b = CublasTranspose::No;
  CublasEpilogue epilogue = CublasEpilogue::None;
  uint64_t bias = 0;
};
struct Search {
  uint64_t workspace = 0;
  uint32_t alignments[4] = {256, 256, 256, 256};  // of A, B, C, D
};

const LentDriver* driver = nullptr;
constexpr uint64_t kHandle = 0xb1a5;

struct TypeFacts {
  CudaType type;
  size_t bytes;
};
constexpr TypeFacts kTypes[] = {{CudaType::F32, 4}, {CudaType::F64, 8}, {CudaType::F16, 2},
                                {CudaType::S8, 1},  {CudaType::S32, 4}, {CudaType::BF16, 2}};
size_t BytesOf(CudaType type) {
  for (const TypeFacts& facts : kTypes)
    if (facts.type == type) return facts.bytes;
  return 0;
}

template <class T>
T Read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void Write(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

double Load(CudaType type, const char* from) {
  switch (type) {
    case CudaType::F32: return double{Read<float>(from)};
    case CudaType::F64: return Read<double>(from);
    case CudaType::F16: return static_cast<double>(Read<_Float16>(from));
    case CudaType::S8: return double{1} * Read<int8_t>(from);
    case CudaType::S32: return Read<int32_t>(from);
    case CudaType::BF16: {
      const uint32_t bits = uint32_t{Read<uint16_t>(from)} << 16;
      return double{Read<float>(reinterpret_cast<const char*>(&bits))};
    }
    case CudaType::C64:
    case CudaType::C128: break;
  }
  return 0;
}
void Store(CudaType type, char* to, double value) {
  switch (type) {
    case CudaType::F32: return Write(to, static_cast<float>(value));
    case CudaType::F64: return Write(to, value);
    case CudaType::F16: return Write(to, static_cast<_Float16>(value));
    case CudaType::S8: return Write(to, static_cast<int8_t>(value));
    case CudaType::S32: return Write(to, static_cast<int32_t>(value));
    case CudaType::BF16: {
      const auto wide = static_cast<float>(value);
      uint32_t bits = 0;
      std::memcpy(&bits, &wide, sizeof bits);
      // To nearest, halves to even; NaNs stay as they are.
      if (!std::isnan(wide)) bits += 0x7fff + ((bits >> 16) & 1);
      return Write(to, static_cast<uint16_t>(bits >> 16));
    }
    case CudaType::C64:
    case CudaType::C128: break;
  }
}

/// Of those that products may have.
bool Fits(const Desc& desc, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  if (a.type != b.type || c.type != d.type) return false;
  struct Row {
    CudaType operands, result, scale;
    CublasCompute compute;
  };
  constexpr Row kRows[] = {
      {CudaType::BF16, CudaType::BF16, CudaType::F32, CublasCompute::F32},
      {CudaType::BF16, CudaType::F32, CudaType::F32, CublasCompute::F32},
      {CudaType::F16, CudaType::F16, CudaType::F32, CublasCompute::F32},
      {CudaType::F16, CudaType::F32, CudaType::F32, CublasCompute::F32},
      {CudaType::F32, CudaType::F32, CudaType::F32, CublasCompute::F32},
      {CudaType::F32, CudaType::F32, CudaType::F32, CublasCompute::FastTF32},
      {CudaType::F64, CudaType::F64, CudaType::F64, CublasCompute::F64},
      {CudaType::S8, CudaType::S32, CudaType::S32, CublasCompute::S32},
  };
  for (const Row& row : kRows)
    if (row.operands == a.type && row.result == d.type && row.scale == desc.scale &&
        row.compute == desc.compute)
      return desc.epilogue == CublasEpilogue::None || desc.scale == CudaType::F32;
  return false;
}
uint64_t TermsOf(const Desc& desc, const Layout& a) {
  return desc.a == CublasTranspose::Yes ? a.rows : a.columns;
}
bool IsWhole(const Desc& desc, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  const bool a_turned = desc.a == CublasTranspose::Yes, b_turned = desc.b == CublasTranspose::Yes;
  for (const Layout* layout : {&a, &b, &c, &d})
    if (layout->batch != d.batch || layout->leading < static_cast<int64_t>(layout->rows)) return false;
  return (a_turned ? a.columns : a.rows) == d.rows && (b_turned ? b.rows : b.columns) == d.columns &&
         (b_turned ? b.columns : b.rows) == TermsOf(desc, a) && c.rows == d.rows && c.columns == d.columns;
}

/// The elements of an array of the GPU from the first to the last of a batch of matrices.
struct Array {
  Array(const Layout& of, const void* at) : layout(of), address(reinterpret_cast<uint64_t>(at)) {}
  [[nodiscard]] size_t bytes() const {
    return static_cast<size_t>((layout.batch - 1) * layout.batch_stride +
                               static_cast<int64_t>(layout.columns - 1) * layout.leading) *
               BytesOf(layout.type) +
           layout.rows * BytesOf(layout.type);
  }
  bool Fetch(void* stream) {
    values.resize(bytes());
    return static_cast<int>(driver->to_host(values.data(), address, bytes(), stream)) == 0 &&
           static_cast<int>(driver->finish(stream)) == 0;
  }
  /// What lies between columns and between matrices is not touched.
  bool StoreAll(void* stream) {
    const bool dense = layout.leading == static_cast<int64_t>(layout.rows);
    const uint64_t pieces = dense ? 1 : layout.columns;
    const size_t bytes = layout.rows * layout.columns / pieces * BytesOf(layout.type);
    for (int64_t batch = 0; batch < layout.batch; ++batch)
      for (uint64_t column = 0; column < pieces; ++column) {
        const char* const from = At(batch, 0, column);
        const uint64_t to = address + static_cast<uint64_t>(from - values.data());
        if (static_cast<int>(driver->to_device(to, from, bytes, stream)) != 0) return false;
      }
    return true;
  }
  char* At(int64_t batch, uint64_t row, uint64_t column) {
    const int64_t place = batch * layout.batch_stride + static_cast<int64_t>(column) * layout.leading +
                          static_cast<int64_t>(row);
    return values.data() + static_cast<size_t>(place) * BytesOf(layout.type);
  }
  const Layout& layout;
  uint64_t address;
  std::vector<char> values;
};

template <class T>
CublasStatus Delete(void* object) {
  delete static_cast<T*>(object);
  return CublasStatus::Success;
}
template <class T>
CublasStatus Set(T& member, const void* value, size_t bytes) {
  if (value == nullptr || bytes != sizeof member) return CublasStatus::InvalidValue;
  std::memcpy(&member, value, bytes);
  return CublasStatus::Success;
}

/// The terms of each row of A, or of each column of B, side by side.
std::vector<double> Terms(Array& of, int64_t batch, uint64_t lines, uint64_t terms, bool line_is_row) {
  std::vector<double> values;
  values.reserve(lines * terms);
  for (uint64_t line = 0; line < lines; ++line)
    for (uint64_t k = 0; k < terms; ++k)
      values.push_back(Load(of.layout.type, line_is_row ? of.At(batch, line, k) : of.At(batch, k, line)));
  return values;
}
double SumOfProducts(const double* x, const double* y, uint64_t terms) {
  constexpr size_t kSums = 8;  // none of which waits for another
  double sums[kSums] = {};
  for (uint64_t k = 0; k < terms; ++k) sums[k % kSums] += x[k] * y[k];
  double all = 0;
  for (const double sum : sums) all += sum;
  return all;
}

/// One matrix of D, of which the elements between columns stay as they are.
void Multiply(const Desc& desc, int64_t batch, Array& a, Array& b, Array* c, Array& d, double alpha,
              const std::vector<char>& bias) {
  const bool relu = desc.epilogue == CublasEpilogue::Relu || desc.epilogue == CublasEpilogue::ReluBias;
  const uint64_t terms = TermsOf(desc, a.layout);
  const std::vector<double> left = Terms(a, batch, d.layout.rows, terms, desc.a == CublasTranspose::No),
                            right = Terms(b, batch, d.layout.columns, terms, desc.b == CublasTranspose::Yes);
  for (uint64_t column = 0; column < d.layout.columns; ++column)
    for (uint64_t row = 0; row < d.layout.rows; ++row) {
      double sum = alpha * SumOfProducts(&left[row * terms], &right[column * terms], terms);
      if (c != nullptr) sum += Load(c->layout.type, c->At(batch, row, column));
      if (!bias.empty()) sum += Load(d.layout.type, bias.data() + row * BytesOf(d.layout.type));
      if (relu && sum < 0) sum = 0;
      Store(d.layout.type, d.At(batch, row, column), sum);
    }
}

}  // namespace

extern "C" {

void SetDriver(const LentDriver* lent) { driver = lent; }

CublasStatus cublasLtCreate(CublasHandle* handle) {
  *handle = reinterpret_cast<void*>(kHandle);  // NOLINT(performance-no-int-to-ptr): never looked through
  return driver != nullptr ? CublasStatus::Success : CublasStatus::NotInitialized;
}
CublasStatus cublasLtDestroy(CublasHandle handle) {
  return reinterpret_cast<uint64_t>(handle) == kHandle ? CublasStatus::Success : CublasStatus::InvalidValue;
}
CublasStatus cublasLtMatmulDescCreate(CublasDesc* desc, CublasCompute compute, CudaType scale) {
  *desc = new Desc{compute, scale};
  return CublasStatus::Success;
}
CublasStatus cublasLtMatmulDescDestroy(CublasDesc desc) { return Delete<Desc>(desc); }
CublasStatus cublasLtMatmulDescSetAttribute(CublasDesc desc, CublasDescAttribute attribute, const void* value,
                                            size_t bytes) {
  auto& of = *static_cast<Desc*>(desc);
  switch (attribute) {
    case CublasDescAttribute::TransposeA: return Set(of.a, value, bytes);
    case CublasDescAttribute::TransposeB: return Set(of.b, value, bytes);
    case CublasDescAttribute::Epilogue: return Set(of.epilogue, value, bytes);
    case CublasDescAttribute::BiasPointer: return Set(of.bias, value, bytes);
  }
  return CublasStatus::InvalidValue;
}
CublasStatus cublasLtMatrixLayoutCreate(CublasLayout* layout, CudaType type, uint64_t rows, uint64_t columns,
                                        int64_t leading) {
  if (BytesOf(type) == 0) return CublasStatus::InvalidValue;
  *layout = new Layout{type, rows, columns, leading};
  return CublasStatus::Success;
}
CublasStatus cublasLtMatrixLayoutDestroy(CublasLayout layout) { return Delete<Layout>(layout); }
CublasStatus cublasLtMatrixLayoutSetAttribute(CublasLayout layout, CublasLayoutAttribute attribute,
                                              const void* value, size_t bytes) {
  auto& of = *static_cast<Layout*>(layout);
  switch (attribute) {
    case CublasLayoutAttribute::BatchCount: return Set(of.batch, value, bytes);
    case CublasLayoutAttribute::BatchStride: return Set(of.batch_stride, value, bytes);
  }
  return CublasStatus::InvalidValue;
}
CublasStatus cublasLtMatmulPreferenceCreate(CublasSearch* search) {
  *search = new Search;
  return CublasStatus::Success;
}
CublasStatus cublasLtMatmulPreferenceDestroy(CublasSearch search) { return Delete<Search>(search); }
CublasStatus cublasLtMatmulPreferenceSetAttribute(CublasSearch search, CublasSearchAttribute attribute,
                                                  const void* value, size_t bytes) {
  auto& of = *static_cast<Search*>(search);
  if (attribute == CublasSearchAttribute::WorkspaceBytes) return Set(of.workspace, value, bytes);
  const auto place = static_cast<size_t>(attribute) - static_cast<size_t>(CublasSearchAttribute::AlignmentA);
  return place < std::size(of.alignments) ? Set(of.alignments[place], value, bytes)
                                          : CublasStatus::InvalidValue;
}

CublasStatus cublasLtMatmulAlgoGetHeuristic(CublasHandle handle, CublasDesc desc, CublasLayout a,
                                            CublasLayout b, CublasLayout c, CublasLayout d,
                                            CublasSearch search, int wanted, CublasHeuristic* found,
                                            int* count) {
  const auto& of = *static_cast<Desc*>(desc);
  const Layout &left = *static_cast<Layout*>(a), &right = *static_cast<Layout*>(b),
               &added = *static_cast<Layout*>(c), &result = *static_cast<Layout*>(d);
  const auto& preference = *static_cast<Search*>(search);
  *count = 0;
  if (reinterpret_cast<uint64_t>(handle) != kHandle || wanted < 1 ||
      !IsWhole(of, left, right, added, result) || TermsOf(of, left) == kBrokenSearch)
    return CublasStatus::InvalidValue;
  if (TermsOf(of, left) == kNotFound || !Fits(of, left, right, added, result) ||
      preference.workspace < kWorkspace)
    return CublasStatus::NotSupported;
  *found = {};
  for (size_t i = 0; i < std::size(preference.alignments); ++i)
    found->algorithm.data[i] = preference.alignments[i];
  found->workspace_bytes = kWorkspace;
  *count = 1;
  return CublasStatus::Success;
}

CublasStatus cublasLtMatmul(CublasHandle handle, CublasDesc desc, const void* alpha, const void* a,
                            CublasLayout a_layout, const void* b, CublasLayout b_layout, const void* beta,
                            const void* c, CublasLayout c_layout, void* d, CublasLayout d_layout,
                            const CublasAlgorithm* algorithm, void* workspace, size_t workspace_bytes,
                            void* stream) {
  const auto& of = *static_cast<Desc*>(desc);
  Array left(*static_cast<Layout*>(a_layout), a), right(*static_cast<Layout*>(b_layout), b),
      added(*static_cast<Layout*>(c_layout), c), result(*static_cast<Layout*>(d_layout), d);
  if (reinterpret_cast<uint64_t>(handle) != kHandle || workspace_bytes < kWorkspace)
    return CublasStatus::InvalidValue;
  const Array* const arrays[] = {&left, &right, &added, &result};
  for (size_t i = 0; i < std::size(arrays); ++i)
    if (algorithm->data[i] == 0 || arrays[i]->address % algorithm->data[i] != 0)
      return CublasStatus::InvalidValue;
  if (TermsOf(of, left.layout) == kNotSupportedAfterAll) return CublasStatus::NotSupported;
  if (TermsOf(of, left.layout) == kFailing) return CublasStatus::ExecutionFailed;
  const auto factor = [&](const void* at) { return Load(of.scale, static_cast<const char*>(at)); };
  const bool adds = factor(beta) != 0;
  if (adds && factor(beta) != 1) return CublasStatus::NotSupported;
  std::vector<char> bias;
  const bool biased = of.epilogue == CublasEpilogue::Bias || of.epilogue == CublasEpilogue::ReluBias;
  if (biased) {
    Layout vector = result.layout;
    vector.columns = 1;
    vector.batch = 1;
    Array values(vector, reinterpret_cast<void*>(of.bias));  // NOLINT(performance-no-int-to-ptr): of the GPU
    if (of.bias == 0 || !values.Fetch(stream)) return CublasStatus::ExecutionFailed;
    bias = values.values;
  }
  if (!left.Fetch(stream) || !right.Fetch(stream) || (adds && !added.Fetch(stream)))
    return CublasStatus::ExecutionFailed;
  result.values.resize(result.bytes());
  for (int64_t batch = 0; batch < result.layout.batch; ++batch)
    Multiply(of, batch, left, right, adds ? &added : nullptr, result, factor(alpha), bias);
  const std::vector<char> scratch(kWorkspace, 0);
  const auto scratch_at = reinterpret_cast<uint64_t>(workspace);
  const bool stored =
      static_cast<int>(driver->to_device(scratch_at, scratch.data(), kWorkspace, stream)) == 0 &&
      result.StoreAll(stream) && static_cast<int>(driver->finish(stream)) == 0;
  return stored ? CublasStatus::Success : CublasStatus::ExecutionFailed;
}

}  // extern "C"
