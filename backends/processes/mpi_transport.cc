#include "backends/processes/mpi_transport.h"

#include <dlfcn.h>

#include <cstdlib>
#include <deque>

#include "backends/processes/mpi_plugin.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

namespace hlo::processes {
namespace {

constexpr llvm::StringLiteral kPlugin = "hlo-mpi.so";
// Of MPI; those of memory stand behind it.
constexpr int kMessageTag = 0;
constexpr size_t kErrorText = 256;

class MpiTransport final : public Transport {
 public:
  MpiTransport(const HloMpiFunctions& mpi, int rank, int size, int largest_tag)
      : mpi_(mpi), rank_(rank), size_(size), tags_(largest_tag) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int tags() const override { return tags_; }

  void Post(int to, std::string text) override {
    Posted& posted = posted_.emplace_back();
    posted.text = std::move(text);
    Check(mpi_.send(to, kMessageTag, posted.text.data(), posted.text.size(), &posted.request));
  }

  std::optional<Message> Next() override {
    while (!posted_.empty() && IsDone(posted_.front().request)) posted_.pop_front();
    int found = 0, from = 0;
    size_t bytes = 0;
    if (!Check(mpi_.probe(kMessageTag, &found, &from, &bytes)) || found == 0) return std::nullopt;
    Message message;
    message.from = from;
    message.text.resize(bytes);
    if (!Check(mpi_.take(from, kMessageTag, message.text.data(), bytes))) return std::nullopt;
    return message;
  }

  Ticket Send(int to, int tag, const void* data, size_t bytes) override {
    uint64_t request = 0;
    Check(mpi_.send(to, tag + 1, data, bytes, &request));
    return Add(request);
  }
  Ticket Receive(int from, int tag, void* data, size_t bytes) override {
    uint64_t request = 0;
    Check(mpi_.receive(from, tag + 1, data, bytes, &request));
    return Add(request);
  }
  bool Done(Ticket ticket) override {
    const auto it = requests_.find(ticket);
    if (it == requests_.end()) return true;
    if (!IsDone(it->second)) return false;
    requests_.erase(it);
    return true;
  }
  [[nodiscard]] const std::string& error() const override { return error_; }
  void Close() override { mpi_.finish(); }

 private:
  struct Posted {
    std::string text;
    uint64_t request = 0;
  };

  bool Check(int code) {
    if (code == 0) return true;
    if (!error_.empty()) return false;
    char text[kErrorText] = "";
    mpi_.error_text(code, text, sizeof text);
    error_ = llvm::formatv("MPI cannot reach other processes: {0}", text).str();
    return false;
  }
  bool IsDone(uint64_t& request) {
    int done = 0;
    return Check(mpi_.test(&request, &done)) && done != 0;
  }
  Ticket Add(uint64_t request) {
    requests_[++last_] = request;
    return last_;
  }

  const HloMpiFunctions& mpi_;
  int rank_, size_, tags_;
  std::deque<Posted> posted_;  // that MPI still reads
  llvm::DenseMap<Ticket, uint64_t> requests_;
  Ticket last_ = 0;
  std::string error_;
};

/// Beside the program; or beside the library that this is in, or in its folder there, as they are installed.
std::string PluginPath() {
  if (const char* named = std::getenv("HLO_MPI"); named != nullptr && *named != '\0') return named;
  const auto beside = [](llvm::StringRef file, llvm::StringRef folder) {
    llvm::SmallString<128> path(llvm::sys::path::parent_path(file));
    llvm::sys::path::append(path, folder, kPlugin);
    return path.str().str();
  };
  Dl_info self = {};
  static const char here = 0;
  if (::dladdr(&here, &self) != 0 && self.dli_fname != nullptr)
    for (const char* folder : {"", "hlo"})
      if (std::string path = beside(self.dli_fname, folder); llvm::sys::fs::exists(path)) return path;
  return beside(llvm::sys::fs::getMainExecutable(nullptr, nullptr), "");
}

}  // namespace

Result<std::unique_ptr<Transport>> JoinMpi() {
  const std::string path = PluginPath();
  if (path == "none") return Error("unavailable-mpi", {}, "no MPI: HLO_MPI is 'none'");
  // MPI's own plugins find its symbols only where all do.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    Diagnostic error = MakeError("unavailable-mpi", {}, "no MPI: '{0}' cannot be loaded", path);
    error.Note(llvm::sys::fs::exists(path)
                   ? std::string(why != nullptr ? why : "")
                   : "it is built where MPI's headers are: libopenmpi-dev, then cmake and ninja again");
    return Error(std::move(error));
  }
  using Entry = const HloMpiFunctions*();
  auto* const entry = reinterpret_cast<Entry*>(::dlsym(library, HLO_MPI_ENTRY));
  const HloMpiFunctions* mpi = entry != nullptr ? entry() : nullptr;
  if (mpi == nullptr || mpi->version != HLO_MPI_VERSION)
    return Error("unavailable-mpi", {}, "no MPI: '{0}' is not the plugin of this program", path);
  int rank = 0, size = 1, largest_tag = 0;
  char why[kErrorText] = "";
  if (mpi->start(&rank, &size, &largest_tag, why, sizeof why) != 0)
    return Error("unavailable-mpi", {}, "no MPI: {0}", why);
  return std::make_unique<MpiTransport>(*mpi, rank, size, largest_tag);
}

}  // namespace hlo::processes
