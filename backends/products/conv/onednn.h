// oneDNN 2, loaded when a program first has a use for it, without its headers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo::gemm::onednn {

/// Numbers of its interface.
inline constexpr int kF32 = 3, kBf16 = 2;
inline constexpr int kAnyFormat = 1, kForwardInference = 96, kDirect = 1;
inline constexpr int kQueryName = 8, kQueryWeights = 131, kQueryResult = 133, kQueryScratch = 136;
inline constexpr int kSource = 1, kFrom = 1, kResult = 17, kTo = 17, kWeights = 33, kScratch = 80;
/// More than any of its descriptors needs.
inline constexpr size_t kDescriptorBytes = 16384;

struct Functions {
#define ONEDNN_FUNCTION(name, result, arguments) result(*name) arguments = nullptr;
#include "backends/products/conv/onednn_functions.def"
  /// Of OpenMP, for the calling thread: the library works with as many threads.
  void (*set_threads)(int) = nullptr;
  void* engine = nullptr;
  void* user_scratch = nullptr;  // attributes: scratch memory is an argument
};

/// The library, or null with the reason. HLO_ONEDNN in the environment names another one, or `none`.
const Functions* Library(std::string& why);

/// A descriptor of an array with strides of our own; without strides the library chooses the format.
struct Descriptor {
  alignas(64) unsigned char bytes[1024] = {};
  bool Init(const Functions& dnn, int type, llvm::ArrayRef<int64_t> dims,
            llvm::ArrayRef<int64_t> strides = {});
};

/// One argument of an execution.
struct Argument {
  int what;
  const void* descriptor;
  void* bytes;
};

/// Something the library can do, made ready in two steps: choosing how, then generating its code.
class Primitive {
 public:
  explicit Primitive(const Functions& dnn) : dnn_(&dnn) {}
  Primitive(Primitive&& o) noexcept;
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;
  Primitive& operator=(Primitive&&) = delete;
  ~Primitive();
  /// Choose an implementation; false if there is none.
  bool ChooseReorder(const void* from, const void* to);
  bool Choose(const void* operation);
  /// The name of what was chosen.
  [[nodiscard]] std::string Name() const;
  [[nodiscard]] const void* Query(int what) const;
  /// Bytes of the array or scratch memory that `what` asks for.
  [[nodiscard]] size_t Bytes(int what) const;
  bool Generate();
  /// Executes with one thread; on several threads at once if they have scratch memory of their own.
  bool Run(llvm::ArrayRef<Argument> arguments) const;

 private:
  const Functions* dnn_;
  void* desc_ = nullptr;
  void* primitive_ = nullptr;
};

}  // namespace hlo::gemm::onednn
