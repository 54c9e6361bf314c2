#include "backends/processes/peers.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo::processes {
namespace {

/// The descriptor cannot be had, but the process is known to have ended.
constexpr int kEnded = -2;
constexpr std::chrono::milliseconds kBetweenLooks{3};

std::string TextOf(const char* path) {
  const auto file = llvm::MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().trim().str() : "";
}

}  // namespace

Identity Identity::OfThisProcess() {
  char host[256] = "";
  (void)gethostname(host, sizeof host - 1);
  Identity identity{host, getpid(), ""};
  const std::string boot = TextOf("/proc/sys/kernel/random/boot_id");
  char space[64] = "";
  if (!boot.empty() && readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0)
    identity.domain = boot + " " + space;
  return identity;
}

Peers::Peers(int rank, std::vector<Identity> all)
    : rank_(rank),
      all_(std::move(all)),
      watched_(all_.size(), -1),
      heard_(all_.size(), Clock::now()),
      last_beat_(Clock::now()) {
  const std::string domain = all_[static_cast<size_t>(rank)].domain;
  for (size_t r = 0; r < all_.size(); ++r) {
    if (r == static_cast<size_t>(rank) || domain.empty() || all_[r].domain != domain) continue;
    watched_[r] = static_cast<int>(syscall(SYS_pidfd_open, all_[r].pid, 0));
    if (watched_[r] < 0) watched_[r] = errno == ESRCH ? kEnded : -1;
  }
}

Peers::~Peers() {
  for (const int descriptor : watched_)
    if (descriptor >= 0) close(descriptor);
}

bool Peers::HasEnded(size_t rank) const {
  if (watched_[rank] == kEnded) return true;
  pollfd look = {watched_[rank], POLLIN, 0};
  return watched_[rank] >= 0 && poll(&look, 1, 0) == 1 && (look.revents & POLLIN) != 0;
}

std::vector<int> Peers::Unwatched() const {
  std::vector<int> ranks;
  for (size_t r = 0; r < all_.size(); ++r)
    if (watched_[r] == -1 && r != static_cast<size_t>(rank_)) ranks.push_back(static_cast<int>(r));
  return ranks;
}

std::vector<int> Peers::DueBeats(Clock::time_point now) {
  if (now - last_beat_ < kBetweenBeats) return {};
  last_beat_ = now;
  return wanted_by_;
}

void Peers::Blame(int rank) { gone_ = lost_ = rank; }

void Peers::Lose(int rank) {
  if (!lost_) lost_ = rank;
}

std::optional<int> Peers::FindGone(Clock::time_point now, bool at_once) {
  if (!at_once && now - last_look_ < kBetweenLooks) return gone_;
  last_look_ = now;
  for (size_t r = 0; r < all_.size() && !gone_; ++r) {
    if (r == static_cast<size_t>(rank_)) continue;
    if (HasEnded(r) || (watched_[r] == -1 && now - heard_[r] > kSilence)) gone_ = static_cast<int>(r);
  }
  if (!gone_) gone_ = lost_;
  return gone_;
}

std::string Peers::Name(int rank) const {
  const Identity& who = all_[static_cast<size_t>(rank)];
  return llvm::formatv("process {0} of {1} (host {2}, pid {3})", rank, all_.size(), who.host, who.pid).str();
}

const char* Peers::HowGone() const {
  if (HasEnded(static_cast<size_t>(*gone_))) return "has died";
  return gone_ == lost_ ? "has died, or its connection has" : "has not been heard of for seconds";
}

int Peers::FirstAlive() {
  for (size_t r = 0; r < all_.size(); ++r)
    if (static_cast<int>(r) == rank_ || (gone_ != static_cast<int>(r) && !HasEnded(r)))
      return static_cast<int>(r);
  return rank_;
}

}  // namespace hlo::processes
