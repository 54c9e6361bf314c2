// Custom calls of linear algebra as NVIDIA's libraries take them.
#pragma once
#include <optional>

#include "backends/gpu/libraries/cusolver_api.h"
#include "backends/gpu/libraries/library.h"

namespace hlo::gpu {

enum class Solver : uint8_t { Potrf, Trsm, Geqrf, Orgqr, Syevd, Gesvd };

/// What a library is told of matrices as it sees them: column beside column, where an array of HLO has row
/// below row, so that it sees the transposed of what the array holds.
struct LibrarySolve {
  Solver solver = Solver::Potrf;
  ElementType type = ElementType::F32;
  int64_t rows = 0, columns = 0, batch = 1;
  int64_t reflectors = 0;  // Orgqr
  CublasFill uplo = CublasFill::Lower;
  CublasSide side = CublasSide::Left;
  CublasTranspose trans = CublasTranspose::No;
  CublasDiagonal diagonal = CublasDiagonal::NonUnit;
  bool vectors = true;  // Syevd
  /// Potrf: the triangle that is not the factor's may be written over, as the call for many matrices does.
  bool spoils = false;
  char job = 'S';  // Gesvd: all columns, as many as there are singular values, or no vectors
  /// The library works on a copy that is transposed before and after, since no mirrored problem does it.
  bool turned = false;
  /// Gesvd: of the transposed matrix; its left vectors are the right ones.
  bool swapped = false;
};

/// Which of them a custom call is; nothing: none.
std::optional<Solver> SolverOf(const Instruction& inst);
/// What a custom call is for the libraries. Declines what they do not do, or not for such layouts.
Result<LibrarySolve> LibrarySolveOf(const Instruction& call);
std::string ToString(const LibrarySolve& solve);

}  // namespace hlo::gpu
