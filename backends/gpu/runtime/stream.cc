#include "backends/gpu/runtime/stream.h"

#include <cstring>

#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {

Result<Event> Event::Create(const GpuPtr& gpu, bool timed) {
  constexpr unsigned kWithoutTiming = 2;
  Event event;
  HLO_CHECK_OK(gpu->MakeCurrent());
  HLO_CHECK_OK(gpu->Call(&DriverApi::EventCreate, &event.event_, timed ? 0U : kWithoutTiming));
  event.gpu_ = gpu;
  return event;
}

Event::~Event() {
  if (gpu_ == nullptr || !gpu_->MakeCurrent()) return;
  // Nobody could do anything about it.
  [[maybe_unused]] const Status destroyed = gpu_->Call(&DriverApi::EventDestroy, event_);
}

Result<std::unique_ptr<Stream>> Stream::Create(const GpuPtr& gpu) {
  auto stream = std::unique_ptr<Stream>(new Stream(gpu));
  HLO_CHECK_OK(stream->Start());
  return stream;
}

Status Stream::Start() {
  constexpr unsigned kNonBlocking = 1;
  HLO_CHECK_OK(gpu_->MakeCurrent());
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamCreate, &stream_, kNonBlocking));
  for (Staging& staging : staging_) {
    HLO_TRY(staging.used, Event::Create(gpu_, /*timed=*/false));
  }
  return {};
}

Stream::~Stream() {
  // Nobody could do anything about errors.
  Status ignored = gpu_->MakeCurrent();
  if (!ignored) return;
  ignored = Wait();
  for (Staging& staging : staging_)
    if (staging.memory != nullptr) ignored = gpu_->Call(&DriverApi::MemFreeHost, staging.memory);
  if (stream_ != nullptr) ignored = gpu_->Call(&DriverApi::StreamDestroy, stream_);
}

Status Stream::Finish(Staging& staging) {
  if (staging.filled == 0) return {};
  HLO_CHECK_OK(gpu_->Call(&DriverApi::EventSynchronize, staging.used.handle()));
  for (const Arrival& arrival : staging.arrivals) std::memcpy(arrival.to, arrival.from, arrival.bytes);
  staging.arrivals.clear();
  staging.filled = 0;
  return {};
}

Result<uint8_t*> Stream::Take(size_t most, size_t& bytes) {
  if (staging_[turn_].filled == kStagingBytes) {
    HLO_CHECK_OK(Record(staging_[turn_].used));
    turn_ = 1 - turn_;
    HLO_CHECK_OK(Finish(staging_[turn_]));
  }
  Staging& staging = staging_[turn_];
  if (staging.memory == nullptr) {
    void* memory = nullptr;
    HLO_CHECK_OK(gpu_->Call(&DriverApi::MemHostAlloc, &memory, kStagingBytes, 0U));
    staging.memory = static_cast<uint8_t*>(memory);
  }
  bytes = std::min(most, kStagingBytes - staging.filled);
  uint8_t* const at = staging.memory + staging.filled;
  staging.filled += llvm::alignTo(bytes, kStagingAlignment);
  return at;
}

Status Stream::ToDevice(CuDevicePtr to, const void* from, size_t bytes) {
  const auto* source = static_cast<const uint8_t*>(from);
  for (size_t at = 0, part = 0; at < bytes; at += part) {
    HLO_TRY(uint8_t* const staged, Take(bytes - at, part));
    std::memcpy(staged, source + at, part);
    HLO_CHECK_OK(gpu_->Call(&DriverApi::MemcpyHtoDAsync, to + at, staged, part, stream_));
  }
  return {};
}

Status Stream::ToHostLater(void* to, CuDevicePtr from, size_t bytes) {
  for (size_t at = 0, part = 0; at < bytes; at += part) {
    HLO_TRY(uint8_t* const staged, Take(bytes - at, part));
    HLO_CHECK_OK(gpu_->Call(&DriverApi::MemcpyDtoHAsync, staged, from + at, part, stream_));
    staging_[turn_].arrivals.push_back({static_cast<uint8_t*>(to) + at, staged, part});
  }
  return {};
}

Status Stream::Arrive() {
  if (staging_[0].arrivals.empty() && staging_[1].arrivals.empty()) return {};
  HLO_CHECK_OK(Record(staging_[turn_].used));
  HLO_CHECK_OK(Finish(staging_[1 - turn_]));
  return Finish(staging_[turn_]);
}

Status Stream::Copy(CuDevicePtr to, CuDevicePtr from, size_t bytes) {
  return gpu_->Call(&DriverApi::MemcpyDtoDAsync, to, from, bytes, stream_);
}

}  // namespace hlo::gpu
