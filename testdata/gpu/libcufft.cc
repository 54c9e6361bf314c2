// A library that is found as libcufft.so.12: Fourier transforms on the emulated GPU, by sums on the host. It
// refuses plans that are not ready, and fails for some lengths.
#include <complex>
#include <map>
#include <numbers>

#include "backends/gpu/libraries/cufft_api.h"
#include "testdata/gpu/stand_in.h"

using namespace hlo::gpu;  // NOLINT(google-build-using-namespace): it stands in for C

namespace {

/// Transforms whose last length is such that functions fail.
enum Failing : long long { kNotFound = 22, kBrokenPlan = 26, kFailing = 34, kNotSupportedAfterAll = 38 };
constexpr size_t kWorkspace = 1000;

struct Plan {
  bool allocates = true, made = false;
  CufftType type = CufftType::C2C;
  std::vector<size_t> lengths;
  size_t batch = 0;
  void *stream = nullptr, *workspace = nullptr;
};
std::map<CufftHandle, Plan> plans;
CufftHandle last = 0;

using Complex = std::complex<double>;

bool IsInverse(CufftType type, int direction) {
  return type == CufftType::C2R || type == CufftType::Z2D || direction == kCufftInverse;
}
bool ToReal(CufftType type) { return type == CufftType::C2R || type == CufftType::Z2D; }
bool FromReal(CufftType type) { return type == CufftType::R2C || type == CufftType::D2Z; }

/// Along one dimension of an array [outer, n, inner].
void Along(std::vector<Complex>& x, size_t n, size_t inner, bool inverse) {
  std::vector<Complex> unity(n), row(n);
  for (size_t k = 0; k < n; ++k)
    unity[k] = std::polar(
        1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (size_t begin = 0; begin < x.size(); begin += n * inner)
    for (size_t i = 0; i < inner; ++i) {
      for (size_t k = 0; k < n; ++k) {
        Complex sum = 0;
        for (size_t j = 0; j < n; ++j) sum += x[begin + j * inner + i] * unity[j * k % n];
        row[k] = sum;
      }
      for (size_t k = 0; k < n; ++k) x[begin + k * inner + i] = row[k];
    }
}

/// All dimensions but the last, of rows of `width`.
void AlongOthers(const Plan& plan, std::vector<Complex>& x, size_t width, bool inverse) {
  size_t inner = width;
  for (size_t d = plan.lengths.size() - 1; d-- > 0;) {
    Along(x, plan.lengths[d], inner, inverse);
    inner *= plan.lengths[d];
  }
}

template <class Real>
std::vector<Real> Numbers(const std::vector<Complex>& x) {
  std::vector<Real> numbers;
  for (const Complex& c : x) {
    numbers.push_back(static_cast<Real>(c.real()));
    numbers.push_back(static_cast<Real>(c.imag()));
  }
  return numbers;
}

template <class Real>
bool Transform(const Plan& plan, void* from, void* to, int direction) {
  const size_t n = plan.lengths.back(), half = n / 2 + 1;
  size_t rows = plan.batch;
  for (size_t d = 0; d + 1 < plan.lengths.size(); ++d) rows *= plan.lengths[d];
  const bool inverse = IsInverse(plan.type, direction), halved = ToReal(plan.type);
  std::vector<Real> numbers;
  std::vector<Complex> x;
  const size_t width = halved ? half : n;
  if (!Fetch(from, rows * width * (FromReal(plan.type) ? 1 : 2), numbers, plan.stream)) return false;
  for (size_t i = 0; i < rows * width; ++i)
    x.push_back(FromReal(plan.type) ? Complex(numbers[i]) : Complex(numbers[2 * i], numbers[2 * i + 1]));
  if (!halved) Along(x, n, 1, inverse);
  if (FromReal(plan.type)) {
    std::vector<Complex> first;
    for (size_t i = 0; i < rows * n; ++i)
      if (i % n < half) first.push_back(x[i]);
    x = first;
  }
  AlongOthers(plan, x, FromReal(plan.type) ? half : width, inverse);
  if (!halved) return Store(to, Numbers<Real>(x), plan.stream);
  // What was transformed is spoilt.
  const std::vector<Real> spoilt(numbers.size(), static_cast<Real>(NAN));
  std::vector<Complex> whole;
  for (size_t row = 0; row < rows; ++row)
    for (size_t k = 0; k < n; ++k)
      whole.push_back(k < half ? x[row * half + k] : std::conj(x[row * half + n - k]));
  // Of the first and the middle one only the real part counts.
  for (size_t row = 0; row < rows; ++row) {
    whole[row * n] = whole[row * n].real();
    if (n % 2 == 0) whole[row * n + n / 2] = whole[row * n + n / 2].real();
  }
  Along(whole, n, 1, inverse);
  std::vector<Real> real;
  for (const Complex& c : whole) real.push_back(static_cast<Real>(c.real()));
  return Store(from, spoilt, plan.stream) && Store(to, real, plan.stream);
}

CufftStatus Execute(CufftHandle handle, CufftType type, void* from, void* to, int direction) {
  const auto it = plans.find(handle);
  if (it == plans.end() || !it->second.made || it->second.type != type) return CufftStatus::InvalidPlan;
  const Plan& plan = it->second;
  if (plan.workspace == nullptr) return CufftStatus::NoWorkspace;
  constexpr uint64_t kAlignment = 256;
  for (const void* array : {from, to, plan.workspace})
    if (reinterpret_cast<uint64_t>(array) % kAlignment != 0) return CufftStatus::UnalignedData;
  if (from == to || (direction != kCufftForward && direction != kCufftInverse))
    return CufftStatus::InvalidValue;
  const auto length = static_cast<long long>(plan.lengths.back());
  if (length == kFailing) return CufftStatus::ExecFailed;
  if (length == kNotSupportedAfterAll) return CufftStatus::NotSupported;
  if (!Store(plan.workspace, std::vector<char>(kWorkspace, 0), plan.stream)) return CufftStatus::ExecFailed;
  const bool is_double = type == CufftType::Z2Z || type == CufftType::D2Z || type == CufftType::Z2D;
  const bool done =
      is_double ? Transform<double>(plan, from, to, direction) : Transform<float>(plan, from, to, direction);
  return done ? CufftStatus::Success : CufftStatus::ExecFailed;
}

}  // namespace

extern "C" {

void SetDriver(const LentDriver* lent) { driver = lent; }

CufftStatus cufftCreate(CufftHandle* plan) {
  if (driver == nullptr) return CufftStatus::SetupFailed;
  plans[*plan = ++last];
  return CufftStatus::Success;
}
CufftStatus cufftDestroy(CufftHandle plan) {
  return plans.erase(plan) == 1 ? CufftStatus::Success : CufftStatus::InvalidPlan;
}
CufftStatus cufftSetAutoAllocation(CufftHandle plan, int allocates) {
  plans.at(plan).allocates = allocates != 0;
  return CufftStatus::Success;
}
CufftStatus cufftMakePlanMany64(CufftHandle handle, int rank, long long* lengths, long long* in_sizes,
                                long long in_stride, long long in_each, long long* out_sizes,
                                long long out_stride, long long out_each, CufftType type, long long batch,
                                size_t* workspace_bytes) {
  Plan& plan = plans.at(handle);
  if (plan.allocates || plan.made || rank < 1 || rank > 3 || in_sizes == nullptr || out_sizes == nullptr ||
      in_stride != 1 || out_stride != 1 || batch < 1)
    return CufftStatus::InvalidValue;
  // Arrays follow each other, rows of which the library has half as they are.
  const long long half = lengths[rank - 1] / 2 + 1;
  const long long widths[] = {ToReal(type) ? half : lengths[rank - 1],
                              FromReal(type) ? half : lengths[rank - 1]};
  long long in = widths[0], out = widths[1];
  for (int d = 0; d + 1 < rank; ++d) {
    in *= in_sizes[d];
    out *= out_sizes[d];
    if (in_sizes[d] != lengths[d] || out_sizes[d] != lengths[d]) return CufftStatus::InvalidValue;
  }
  if (in_sizes[rank - 1] != widths[0] || out_sizes[rank - 1] != widths[1] || in_each != in || out_each != out)
    return CufftStatus::InvalidValue;
  if (lengths[rank - 1] == kNotFound) return CufftStatus::InvalidSize;
  if (lengths[rank - 1] == kBrokenPlan) return CufftStatus::InternalError;
  plan.type = type;
  plan.batch = static_cast<size_t>(batch);
  plan.lengths.assign(lengths, lengths + rank);
  plan.made = true;
  *workspace_bytes = kWorkspace;
  return CufftStatus::Success;
}
CufftStatus cufftSetStream(CufftHandle plan, void* stream) {
  plans.at(plan).stream = stream;
  return CufftStatus::Success;
}
CufftStatus cufftSetWorkArea(CufftHandle plan, void* workspace) {
  plans.at(plan).workspace = workspace;
  return CufftStatus::Success;
}
CufftStatus cufftExecC2C(CufftHandle plan, void* from, void* to, int direction) {
  return Execute(plan, CufftType::C2C, from, to, direction);
}
CufftStatus cufftExecZ2Z(CufftHandle plan, void* from, void* to, int direction) {
  return Execute(plan, CufftType::Z2Z, from, to, direction);
}
CufftStatus cufftExecR2C(CufftHandle plan, void* from, void* to) {
  return Execute(plan, CufftType::R2C, from, to, kCufftForward);
}
CufftStatus cufftExecC2R(CufftHandle plan, void* from, void* to) {
  return Execute(plan, CufftType::C2R, from, to, kCufftInverse);
}
CufftStatus cufftExecD2Z(CufftHandle plan, void* from, void* to) {
  return Execute(plan, CufftType::D2Z, from, to, kCufftForward);
}
CufftStatus cufftExecZ2D(CufftHandle plan, void* from, void* to) {
  return Execute(plan, CufftType::Z2D, from, to, kCufftInverse);
}

}  // extern "C"
