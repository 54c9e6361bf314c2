// A library of linear algebra whose reduction to tridiagonal form writes one element too many.
extern "C" void ssytrd_(const char*, const int* n, float*, const int*, float*, float*, float* tau,
                        float* work, const int* lwork, int* info) {
  *info = 0;
  if (*lwork == -1)
    work[0] = 1;
  else
    tau[*n - 1] = 1;
}
