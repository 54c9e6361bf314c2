// Discrete Fourier transforms of any length over one to three trailing axes.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hlo {

// Definitions of ops-structured §6.1. Arrays are row-major [batch, lengths...]; `lengths` are the sizes
// in the signal domain (fft_length). All work is done in double precision; time is O(n log n)
// for every n. Instances exist for float and double.

/// FFT, or IFFT with the factor 1/product(lengths). `in` and `out` may be the same array.
template <class Real>
void Fft(bool inverse, size_t batch, std::span<const int64_t> lengths, const std::complex<Real>* in,
         std::complex<Real>* out);

/// RFFT: real input; the last axis of the output has lengths.back()/2+1 entries (0 for 0).
template <class Real>
void RealFft(size_t batch, std::span<const int64_t> lengths, const Real* in, std::complex<Real>* out);

/// IRFFT: the last axis of the input has lengths.back()/2+1 entries. The imaginary parts of the DC bin
/// and, for even lengths, of the Nyquist bin of the last axis are ignored.
template <class Real>
void InverseRealFft(size_t batch, std::span<const int64_t> lengths, const std::complex<Real>* in, Real* out);

}  // namespace hlo
