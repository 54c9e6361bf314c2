// hlo-mpi.so: MPI's functions for the program, which is not linked with MPI.
#include "backends/processes/mpi_plugin.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

namespace {

MPI_Comm world = MPI_COMM_NULL;
/// MPI was begun here and is ended here; else the program around does both.
bool ours = false;

/// The program around may have ended it.
bool HasEnded() {
  int ended = 0;
  if (!ours) MPI_Finalized(&ended);
  return ended != 0;
}

static_assert(sizeof(MPI_Request) <= sizeof(uint64_t));

MPI_Request Load(const uint64_t* number) {
  MPI_Request request;
  memcpy(static_cast<void*>(&request), number, sizeof(MPI_Request));
  return request;
}

void Store(uint64_t* number, MPI_Request request) {
  *number = 0;
  memcpy(number, static_cast<const void*>(&request), sizeof(MPI_Request));
}

void ErrorText(int error, char* text, size_t size) {
  if (HasEnded()) {
    snprintf(text, size, "the program has ended MPI");
    return;
  }
  char words[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(error, words, &length);
  snprintf(text, size, "%s", words);
}

int Start(int* rank, int* size, int* largest_tag, char* why, size_t why_size) {
  int before = 0, threads = 0;
  MPI_Initialized(&before);
  int error = MPI_SUCCESS;
  ours |= before == 0;
  if (HasEnded()) {
    snprintf(why, why_size, "the program has ended MPI");
    return MPI_ERR_OTHER;
  }
  if (before == 0)
    error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  else
    MPI_Query_thread(&threads);
  if (error == MPI_SUCCESS && threads < MPI_THREAD_SERIALIZED) {
    snprintf(why, why_size, "this MPI cannot be called from several threads in turn");
    return MPI_ERR_OTHER;
  }
  if (error == MPI_SUCCESS) error = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (error == MPI_SUCCESS) error = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (error == MPI_SUCCESS) error = MPI_Comm_rank(world, rank);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(world, size);
  int* largest = nullptr;
  int known = 0;
  if (error == MPI_SUCCESS)
    error = MPI_Comm_get_attr(world, MPI_TAG_UB, static_cast<void*>(&largest), &known);
  constexpr int kGuaranteed = 32767;  // by the standard
  *largest_tag = known != 0 ? *largest : kGuaranteed;
  if (error != MPI_SUCCESS) ErrorText(error, why, why_size);
  return error;
}

int Send(int to, int tag, const void* data, size_t bytes, uint64_t* request) {
  if (HasEnded()) return MPI_ERR_OTHER;
  MPI_Request made = MPI_REQUEST_NULL;
  const int error = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, world, &made);
  Store(request, made);
  return error;
}

int Receive(int from, int tag, void* data, size_t bytes, uint64_t* request) {
  if (HasEnded()) return MPI_ERR_OTHER;
  MPI_Request made = MPI_REQUEST_NULL;
  const int error = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, world, &made);
  Store(request, made);
  return error;
}

int Test(uint64_t* request, int* done) {
  if (HasEnded()) return MPI_ERR_OTHER;
  MPI_Request tested = Load(request);
  const int error = MPI_Test(&tested, done, MPI_STATUS_IGNORE);
  Store(request, tested);
  return error;
}

int Probe(int tag, int* found, int* from, size_t* bytes) {
  if (HasEnded()) return MPI_ERR_OTHER;
  MPI_Status status;
  const int error = MPI_Iprobe(MPI_ANY_SOURCE, tag, world, found, &status);
  if (error != MPI_SUCCESS || *found == 0) return error;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *bytes = static_cast<size_t>(count);
  return MPI_SUCCESS;
}

int Take(int from, int tag, void* data, size_t bytes) {
  return MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, world, MPI_STATUS_IGNORE);
}

int Finish() { return ours ? MPI_Finalize() : MPI_SUCCESS; }

constexpr HloMpiFunctions kFunctions = {HLO_MPI_VERSION, Start, Send,      Receive, Test,
                                        Probe,           Take,  ErrorText, Finish};

}  // namespace

extern "C" __attribute__((visibility("default"))) const HloMpiFunctions* HloMpi() { return &kFunctions; }
