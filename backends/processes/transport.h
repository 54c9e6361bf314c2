// How the processes of a run reach each other.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ir/support/result.h"

namespace hlo::processes {

/// Messages, and memory that is sent into memory. One thread calls it at a time. All but Close() return at
/// once; what was begun goes on in later calls.
class Transport {
 public:
  struct Message {
    int from = 0;
    std::string text;
  };
  /// Something that was begun: a number from 1 on.
  using Ticket = uint64_t;
  /// Memory goes in pieces of so many bytes.
  static constexpr size_t kMost = size_t{1} << 30;

  virtual ~Transport() = default;
  [[nodiscard]] virtual int rank() const = 0;  // of this process
  [[nodiscard]] virtual int size() const = 0;  // how many there are
  /// A tag is below that: so many that none comes twice while something with it may be on its way, even where
  /// a run that has failed has left that.
  [[nodiscard]] virtual int tags() const = 0;
  /// Sends a message; those to one process arrive in their order.
  virtual void Post(int to, std::string text) = 0;
  /// What has come, if anything has.
  virtual std::optional<Message> Next() = 0;
  /// Memory that stays as it is until Done(). What is sent with one tag to one process is received there with
  /// that tag in the same order; sizes are the same, kMost at most.
  virtual Ticket Send(int to, int tag, const void* data, size_t bytes) = 0;
  virtual Ticket Receive(int from, int tag, void* data, size_t bytes) = 0;
  /// Whether that is done; then the ticket is forgotten.
  virtual bool Done(Ticket ticket) = 0;
  /// What has gone wrong for good, in words; empty: nothing.
  [[nodiscard]] virtual const std::string& error() const = 0;
  /// A process that cannot be reached any more, where that is known.
  [[nodiscard]] virtual std::optional<int> lost() const { return std::nullopt; }
  /// No more calls: all processes come to an end of it together.
  virtual void Close() = 0;
};

}  // namespace hlo::processes
