// What objects that were compiled ahead of time hand to the archive of loops, and what it gives back.
// Functions of C, which their code calls (codegen::EntryPoint).
#pragma once
#include <cstddef>
#include <cstdint>

namespace hlo::runtime {

/// What functions return. Callers know them by the header that was written with the object.
enum Code : int {
  kDone = 0,
  kNullPointer = 1,
  kMisaligned = 2,
  kNotStarted = 3,
  kOtherArchive = 4,
  kOutOfMemory = 5,
  kFailed = 6,
  kOtherWeights = 7,
  kOtherMachine = 8,  // code says so itself, before it calls the archive
};

/// Does task(what, i) for each i below `count`, on as many threads as it likes, and returns when all are
/// done.
using Threads = void(void* context, int count, void (*task)(void* what, int i), void* what);

class State;

/// A function of an object. Its code lays this out.
struct Program {
  const uint8_t* steps;  // cpu::HostSteps
  uint64_t steps_bytes;
  /// Everything that the function does; `host` is a kernel::RoutineHost.
  int (*body)(void* const* args, void* const* results, void* temp, const void* host);
  int64_t temp_bytes;  // of `body`
  int64_t alignment;   // of temporary memory
  /// Kernels that are run in pieces, or some rows at a time by a step.
  struct Kernel {
    void (*run)(void* const* buffers, int64_t begin, int64_t end);
    int64_t call;  // its number among what `body` calls, or that of its step
    int64_t extent, grain;
  };
  const Kernel* kernels;
  uint64_t kernel_count;
  uint64_t weights_bytes, weights_hash;  // cpu::WeightsHead; 0 bytes: there is no file
  const void* weights;                   // the file, once it is mapped
  State* state;                          // between start and end
};

}  // namespace hlo::runtime

extern "C" {
/// Makes ready what the function calls, so that nothing is allocated later. `threads` below 2 or a null
/// `run`: the caller alone. Once, before all calls.
int hlo_rt_start(hlo::runtime::Program* program, int threads, hlo::runtime::Threads* run, void* context);
/// How much temporary memory a call needs; 0 before the start.
size_t hlo_rt_temp_bytes(const hlo::runtime::Program* program);
/// May be called by several threads at once.
int hlo_rt_run(const hlo::runtime::Program* program, void* const* args, void* const* results, void* temp);
void hlo_rt_end(hlo::runtime::Program* program);
/// Maps the file of the program's constants; once, before calls. Looks at its head alone.
int hlo_rt_map_weights(hlo::runtime::Program* program, const char* path);
/// Reads all of the file that is mapped, and holds it against the head.
int hlo_rt_verify_weights(const hlo::runtime::Program* program);
}
