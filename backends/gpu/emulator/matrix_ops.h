// Matrices that lie in the registers of a warp (ptx.md §6).
#pragma once
#include "backends/gpu/emulator/block.h"

namespace hlo::gpu {

void LoadMatrices(Meeting& meeting);      // ldmatrix
void StoreMatrices(Meeting& meeting);     // stmatrix
void MoveMatrix(Meeting& meeting);        // movmatrix
void MultiplyMatrices(Meeting& meeting);  // mma

}  // namespace hlo::gpu
