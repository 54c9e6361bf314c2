#include "backends/gpu/runtime/stream.h"

#include <cstring>

namespace hlo::gpu {

Result<std::unique_ptr<Stream>> Stream::Create(const GpuPtr& gpu) {
  auto stream = std::unique_ptr<Stream>(new Stream(gpu));
  HLO_CHECK_OK(stream->Start());
  return stream;
}

Status Stream::Start() {
  constexpr unsigned kNonBlocking = 1, kWithoutTiming = 2;
  HLO_CHECK_OK(gpu_->MakeCurrent());
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamCreate, &stream_, kNonBlocking));
  for (Staging& staging : staging_)
    HLO_CHECK_OK(gpu_->Call(&DriverApi::EventCreate, &staging.used, kWithoutTiming));
  return {};
}

Stream::~Stream() {
  // Nobody could do anything about errors.
  Status ignored = gpu_->MakeCurrent();
  if (!ignored) return;
  ignored = Wait();
  for (Staging& staging : staging_) {
    if (staging.used != nullptr) ignored = gpu_->Call(&DriverApi::EventDestroy, staging.used);
    if (staging.memory != nullptr) ignored = gpu_->Call(&DriverApi::MemFreeHost, staging.memory);
  }
  if (stream_ != nullptr) ignored = gpu_->Call(&DriverApi::StreamDestroy, stream_);
}

Result<Stream::Staging*> Stream::Next() {
  Staging& staging = staging_[next_++ % staging_.size()];
  if (staging.memory == nullptr)
    HLO_CHECK_OK(gpu_->Call(&DriverApi::MemHostAlloc, &staging.memory, kStagingBytes, 0U));
  HLO_CHECK_OK(gpu_->Call(&DriverApi::EventSynchronize, staging.used));
  return &staging;
}

Status Stream::ToDevice(CuDevicePtr to, const void* from, size_t bytes) {
  const auto* source = static_cast<const uint8_t*>(from);
  for (size_t at = 0; at < bytes; at += kStagingBytes) {
    const size_t part = std::min(bytes - at, kStagingBytes);
    HLO_TRY(Staging* const staging, Next());
    std::memcpy(staging->memory, source + at, part);
    HLO_CHECK_OK(gpu_->Call(&DriverApi::MemcpyHtoDAsync, to + at, staging->memory, part, stream_));
    HLO_CHECK_OK(gpu_->Call(&DriverApi::EventRecord, staging->used, stream_));
  }
  return {};
}

Status Stream::ToHost(void* to, CuDevicePtr from, size_t bytes) {
  auto* target = static_cast<uint8_t*>(to);
  // One part is on its way while the one before is taken from its staging.
  Staging* before = nullptr;
  size_t taken = 0, size_before = 0;
  const auto take = [&]() -> Status {
    if (before == nullptr) return {};
    HLO_CHECK_OK(gpu_->Call(&DriverApi::EventSynchronize, before->used));
    std::memcpy(target + taken, before->memory, size_before);
    taken += size_before;
    return {};
  };
  for (size_t at = 0; at < bytes; at += kStagingBytes) {
    const size_t part = std::min(bytes - at, kStagingBytes);
    HLO_TRY(Staging* const staging, Next());
    HLO_CHECK_OK(gpu_->Call(&DriverApi::MemcpyDtoHAsync, staging->memory, from + at, part, stream_));
    HLO_CHECK_OK(gpu_->Call(&DriverApi::EventRecord, staging->used, stream_));
    HLO_CHECK_OK(take());
    before = staging;
    size_before = part;
  }
  return take();
}

Status Stream::Copy(CuDevicePtr to, CuDevicePtr from, size_t bytes) {
  return gpu_->Call(&DriverApi::MemcpyDtoDAsync, to, from, bytes, stream_);
}

}  // namespace hlo::gpu
