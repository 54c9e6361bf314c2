#include "backends/products/conv/onednn.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "backends/products/common/subnormals.h"
#include "ir/support/library_use.h"

namespace hlo::gemm::onednn {
namespace {

struct Loaded {
  Functions functions;
  std::string why;  // it is of no use
};

std::string Load(Functions& f) {
  const char* asked = std::getenv("HLO_ONEDNN");
  if (asked != nullptr && llvm::StringRef(asked) == "none") return "HLO_ONEDNN=none";
  const bool named = asked != nullptr && *asked != '\0';
  const char* const file = named ? asked : "libdnnl.so.2";
  const LibraryScope loading({file});
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return named ? "HLO_ONEDNN: " + std::string(dlerror()) : "libdnnl not found";
  bool all = true;
#define ONEDNN_FUNCTION(name, result, arguments)                                 \
  f.name = reinterpret_cast<result(*) arguments>(dlsym(library, "dnnl_" #name)); \
  all = all && f.name != nullptr;
#include "backends/products/conv/onednn_functions.def"
  // Only builds with OpenMP can be told how many threads they may use.
  f.set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  if (!all || f.set_threads == nullptr) return "libdnnl lacks functions";
  f.set_threads(1);
  constexpr int kCpu = 1, kUser = 1;
  if (f.engine_create(&f.engine, kCpu, 0) != 0 || f.primitive_attr_create(&f.user_scratch) != 0 ||
      f.primitive_attr_set_scratchpad_mode(f.user_scratch, kUser) != 0)
    return "libdnnl does not work";
  return "";
}

}  // namespace

const Functions* Library(std::string& why) {
  static const Loaded loaded = [] {
    Loaded l;
    l.why = Load(l.functions);
    return l;
  }();
  why = loaded.why;
  return why.empty() ? &loaded.functions : nullptr;
}

bool Descriptor::Init(const Functions& dnn, int type, llvm::ArrayRef<int64_t> dims,
                      llvm::ArrayRef<int64_t> strides) {
  const int rank = static_cast<int>(dims.size());
  return (strides.empty()
              ? dnn.memory_desc_init_by_tag(bytes, rank, dims.data(), type, kAnyFormat)
              : dnn.memory_desc_init_by_strides(bytes, rank, dims.data(), type, strides.data())) == 0;
}

Primitive::Primitive(Primitive&& o) noexcept
    : dnn_(o.dnn_),
      desc_(std::exchange(o.desc_, nullptr)),
      primitive_(std::exchange(o.primitive_, nullptr)) {}

Primitive::~Primitive() {
  if (primitive_ != nullptr) dnn_->primitive_destroy(primitive_);
  if (desc_ != nullptr) dnn_->primitive_desc_destroy(desc_);
}

bool Primitive::ChooseReorder(const void* from, const void* to) {
  dnn_->set_threads(1);
  return dnn_->reorder_primitive_desc_create(&desc_, from, dnn_->engine, to, dnn_->engine,
                                             dnn_->user_scratch) == 0;
}

bool Primitive::Choose(const void* operation) {
  dnn_->set_threads(1);
  return dnn_->primitive_desc_create(&desc_, operation, dnn_->user_scratch, dnn_->engine, nullptr) == 0;
}

std::string Primitive::Name() const {
  const char* name = nullptr;
  if (dnn_->primitive_desc_query(desc_, kQueryName, 0, static_cast<void*>(&name)) != 0) return "";
  return name == nullptr ? "" : name;
}

const void* Primitive::Query(int what) const { return dnn_->primitive_desc_query_md(desc_, what, 0); }

size_t Primitive::Bytes(int what) const {
  const void* descriptor = Query(what);
  return descriptor == nullptr ? 0 : dnn_->memory_desc_get_size(descriptor);
}

bool Primitive::Generate() {
  dnn_->set_threads(1);
  return dnn_->primitive_create(&primitive_, desc_) == 0;
}

bool Primitive::Run(llvm::ArrayRef<Argument> arguments) const {
  struct Passed {
    int what;
    void* memory;
  };
  const FlushSubnormals flush;
  dnn_->set_threads(1);
  llvm::SmallVector<Passed, 4> passed;
  void* stream = nullptr;
  constexpr unsigned kInOrder = 1;
  bool good = dnn_->stream_create(&stream, dnn_->engine, kInOrder) == 0;
  for (const Argument& a : arguments) {
    void* memory = nullptr;
    good = good && dnn_->memory_create(&memory, a.descriptor, dnn_->engine, a.bytes) == 0;
    passed.push_back({a.what, memory});
  }
  good = good &&
         dnn_->primitive_execute(primitive_, stream, static_cast<int>(passed.size()), passed.data()) == 0;
  if (stream != nullptr) {
    good = dnn_->stream_wait(stream) == 0 && good;
    dnn_->stream_destroy(stream);
  }
  for (const Passed& p : passed)
    if (p.memory != nullptr) dnn_->memory_destroy(p.memory);
  return good;
}

}  // namespace hlo::gemm::onednn
