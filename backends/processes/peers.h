// Whether the other processes still live.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace hlo::processes {

/// What a process tells the others of itself.
struct Identity {
  std::string host;
  int64_t pid = 0;
  /// Where its number means something: the system and the namespace of numbers. Empty: not known.
  std::string domain;
  static Identity OfThisProcess();
};

/// Of processes on this machine the system tells when they end, of others that they have not been heard of.
class Peers {
 public:
  using Clock = std::chrono::steady_clock;
  /// Between two signs of life.
  static constexpr std::chrono::milliseconds kBetweenBeats{500};
  /// Who is silent for so long is gone.
  static constexpr std::chrono::milliseconds kSilence{6000};

  Peers(int rank, std::vector<Identity> all);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  void Heard(int rank, Clock::time_point now) { heard_[static_cast<size_t>(rank)] = now; }
  /// Of whom signs of life are needed here: those that the system says nothing of.
  [[nodiscard]] std::vector<int> Unwatched() const;
  /// Who needs them of this process.
  void SetBeatsWantedBy(std::vector<int> ranks) { wanted_by_ = std::move(ranks); }
  /// To whom a sign of life is due, if any is.
  std::vector<int> DueBeats(Clock::time_point now);
  /// Looks for one that is gone, not more often than every few milliseconds but `at_once`; once found it
  /// stays.
  std::optional<int> FindGone(Clock::time_point now, bool at_once = false);
  /// That it is the one that is gone: others that are may have ended for its sake.
  void Blame(int rank);
  /// What connects with it has broken.
  void Lose(int rank);
  [[nodiscard]] std::optional<int> gone() const { return gone_; }
  /// `process 2 of 4 (host node1, pid 77)`.
  [[nodiscard]] std::string Name(int rank) const;
  /// How it is known that the one that is gone is.
  [[nodiscard]] const char* HowGone() const;
  /// The first process that is not gone.
  [[nodiscard]] int FirstAlive();

 private:
  [[nodiscard]] bool HasEnded(size_t rank) const;
  int rank_;
  std::vector<Identity> all_;
  std::vector<int> watched_;  // by rank: a descriptor that can be read once the process has ended; or -1
  std::vector<Clock::time_point> heard_;
  std::vector<int> wanted_by_;
  Clock::time_point last_beat_;
  Clock::time_point last_look_;
  std::optional<int> gone_, lost_;
};

}  // namespace hlo::processes
