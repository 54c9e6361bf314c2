#include "tools/run/trace.h"

#include <unistd.h>

#include "ir/op.h"
#include "ir/support/json.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo {

int RunTrace::Thread() {
  return threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size())).first->second;
}

void RunTrace::Add(llvm::StringRef name, llvm::StringRef category, Clock::time_point begin,
                   Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  events_.push_back({name.str(), category.str(), Thread(), begin, end});
  CountMemory(Clock::now());
}

void RunTrace::Close(std::thread::id thread, Clock::time_point now) {
  const auto it = open_.find(thread);
  if (it == open_.end()) return;
  events_.push_back(
      {it->second.name, it->second.opcode, threads_[thread], it->second.begin, now, it->second.library});
  open_.erase(it);
}

void RunTrace::CountMemory(Clock::time_point now) {
  constexpr auto kInterval = std::chrono::microseconds(500);
  if (!memory_.empty() && now - memory_.back().at < kInterval) return;
  const auto text = llvm::MemoryBuffer::getFileAsStream("/proc/self/statm");
  int64_t pages = 0;
  if (!text || (*text)->getBuffer().split(' ').second.split(' ').first.getAsInteger(10, pages)) return;
  memory_.push_back({now, pages * ::sysconf(_SC_PAGESIZE)});
}

void RunTrace::Begin(const Instruction& inst) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  Thread();
  Close(std::this_thread::get_id(), now);
  CountMemory(now);
  open_[std::this_thread::get_id()] = {"%" + inst.name().str(), inst.info().text.str(), now};
}

void RunTrace::DoneBy(llvm::StringRef library) {
  const std::lock_guard lock(mutex_);
  if (const auto it = open_.find(std::this_thread::get_id()); it != open_.end())
    it->second.library = library.str();
}

void RunTrace::EndExecution() {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  while (!open_.empty()) Close(open_.begin()->first, now);
}

std::string RunTrace::Json() const {
  const std::lock_guard lock(mutex_);
  const auto microseconds = [](Clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
  };
  std::string text;
  llvm::raw_string_ostream stream(text);
  JsonWriter json(stream);
  json.Object([&] {
    json.Member("displayTimeUnit", "ms");
    json.Array("traceEvents", [&] {
      for (const Event& event : events_)
        json.Object([&] {
          json.Member("name", event.name);
          json.Member("cat", event.category);
          json.Member("ph", "X");
          json.Member("pid", 1);
          json.Member("tid", event.thread);
          json.Member("ts", microseconds(event.begin - start_));
          json.Member("dur", microseconds(event.end - event.begin));
          if (!event.library.empty()) json.Object("args", [&] { json.Member("library", event.library); });
        });
      for (const Memory& memory : memory_)
        json.Object([&] {
          json.Member("name", "memory");
          json.Member("ph", "C");
          json.Member("pid", 1);
          json.Member("ts", microseconds(memory.at - start_));
          json.Object("args", [&] { json.Member("resident_bytes", memory.bytes); });
        });
    });
  });
  return text + "\n";
}

}  // namespace hlo
