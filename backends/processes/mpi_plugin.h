// What the program calls of MPI, in the words of a table: hlo-mpi.so, which is built where MPI's headers are
// and loaded when it is asked for, has that table. Of the program's code it uses nothing.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define HLO_MPI_VERSION 2

/// Functions return 0, or MPI's number of an error. Only one thread calls them at a time. Requests are
/// numbers that mean something to MPI alone.
struct HloMpiFunctions {
  int version;  // HLO_MPI_VERSION
  /// MPI_Init; this process among how many, and the largest tag. Not 0: `why` says in words what is wrong.
  int (*start)(int* rank, int* size, int* largest_tag, char* why, size_t why_size);
  /// Begin to send and to receive; the memory stays until `test` says that it is done. At most 1 GiB.
  int (*send)(int to, int tag, const void* data, size_t bytes, uint64_t* request);
  int (*receive)(int from, int tag, void* data, size_t bytes, uint64_t* request);
  int (*test)(uint64_t* request, int* done);
  /// Whether a message of that tag has come, from whom and of what size.
  int (*probe)(int tag, int* found, int* from, size_t* bytes);
  /// Takes one that has.
  int (*take)(int from, int tag, void* data, size_t bytes);
  void (*error_text)(int error, char* text, size_t text_size);
  /// MPI_Finalize: all processes call it.
  int (*finish)();
};

/// The name of the function of the plugin that gives its table.
#define HLO_MPI_ENTRY "HloMpi"
