// Bytes from one process to another by TCP: for processes that plain shells have started, without MPI.
#pragma once
#include <vector>

#include "backends/processes/tcp_socket.h"
#include "backends/processes/transport.h"

namespace hlo::processes {

/// How processes without MPI find each other.
struct Rendezvous {
  int rank = 0, size = 1;
  /// The first process listens there, and the others come to it: HOST:PORT.
  std::string coordinator;
  /// How long they may take to come.
  std::chrono::milliseconds timeout{30000};
};

/// Waits until all have come. All then have a connection with each other, on the network of the coordinator's
/// address; each shows a number that the first one has drawn. Whoever else connects is sent away. Errors:
/// usage-option, unavailable-processes, usage-devices for another number of them, runtime-collective-timeout,
/// naming those that have not come or have gone.
Result<std::unique_ptr<Transport>> JoinTcp(const Rendezvous& where);

/// By connections with all other processes; of this one there is none.
std::unique_ptr<Transport> MakeTcpTransport(int rank, std::vector<Socket> connections);

}  // namespace hlo::processes
