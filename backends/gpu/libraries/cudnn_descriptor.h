// What cuDNN is told, piece by piece.
#pragma once
#include "backends/gpu/libraries/cudnn.h"

namespace hlo::gpu {

/// A description of the library's.
class Descriptor {
 public:
  /// Of a library that outlives it.
  static Result<Descriptor> Make(const Cudnn& library, CudnnDescriptorKind kind);
  ~Descriptor();
  Descriptor(Descriptor&& o) noexcept : library_(o.library_), handle_(std::exchange(o.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(library_, o.library_);
    std::swap(handle_, o.handle_);
    return *this;
  }

  [[nodiscard]] CudnnDescriptor handle() const { return handle_; }
  template <class T>
  Status Set(CudnnAttribute attribute, CudnnAttributeType type, const T& value) {
    return SetAll(attribute, type, 1, static_cast<const void*>(&value));
  }
  template <class T>
  Status SetEach(CudnnAttribute attribute, CudnnAttributeType type, llvm::ArrayRef<T> values) {
    return SetAll(attribute, type, values.size(), static_cast<const void*>(values.data()));
  }
  Status Set(CudnnAttribute attribute, const Descriptor& part) {
    return Set(attribute, CudnnAttributeType::Descriptor, part.handle_);
  }
  /// How many there are of them, at most `most`.
  Result<size_t> GetAll(CudnnAttribute attribute, CudnnAttributeType type, size_t most, void* values) const;
  /// Nothing is set any more.
  Status Finish();

 private:
  explicit Descriptor(const Cudnn& library) : library_(&library) {}
  Status SetAll(CudnnAttribute attribute, CudnnAttributeType type, size_t count, const void* values);

  const Cudnn* library_;
  CudnnDescriptor handle_ = nullptr;
};

}  // namespace hlo::gpu
