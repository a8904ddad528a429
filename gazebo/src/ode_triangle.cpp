// Faster triangular solves and dot products for ODE's direct solver, loaded in front of Gazebo's own (LD_PRELOAD).
//
// The direct solver grows the factor L of L D L' = A row by row and solves with it for every row, hundreds of times a
// step. A humanoid is a tree, so a row of A and with it a row of L begins with many zeros: they are remembered here and
// left out. The result is the same up to rounding; a physics step takes little more than half the time.
#include <algorithm>
#include <vector>

namespace
{
/// Where each row of the present L begins, i.e. the number of its leading zeros.
class Rows
{
public:
  /// Get to know L as it is now: the same as before, one row longer, or another one.
  void Follow(const double *L, int n, int skip)
  {
    if (int(begin.size()) < n)
      begin.resize(2 * n);
    if (L == seen && n == known + 1 && n > 1)
      begin[known] = last;  // the row that was made of the last solution
    else if (L != seen || n != known || n == 1)
      for (int i = 0; i < n; ++i)
        begin[i] = LeadingZeros(L + i * skip, i);
    seen = L;
    known = n;
  }

  static int LeadingZeros(const double *row, int n)
  {
    int zeros = 0;
    while (zeros < n && row[zeros] == 0.0)
      ++zeros;
    return zeros;
  }

  void Forget() { seen = nullptr; }

  std::vector<int> begin;
  int last = 0;  // leading zeros of the last forward solution

private:
  const double *seen = nullptr;
  int known = 0;  // rows
};

thread_local Rows rows;

#define FAST __attribute__((target_clones("avx2", "default"), \
                           optimize("O3,associative-math,no-signed-zeros,no-trapping-math")))

// Both solves take four rows at a time, from where the first of them begins: a row alone is so short that waiting for the
// one before took most of the time.

FAST void Forward(const double *L, double *b, int n, int skip, int first, const int *begin)
{
  int i = first + 1;
  for (; i + 3 < n; i += 4)
  {
    const double *r0 = L + i * skip, *r1 = r0 + skip, *r2 = r1 + skip, *r3 = r2 + skip;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (int j = std::max(first, *std::min_element(begin + i, begin + i + 4)); j < i; ++j)
    {
      s0 += r0[j] * b[j];
      s1 += r1[j] * b[j];
      s2 += r2[j] * b[j];
      s3 += r3[j] * b[j];
    }
    const double b0 = b[i] - s0;
    const double b1 = b[i + 1] - s1 - r1[i] * b0;
    const double b2 = b[i + 2] - s2 - r2[i] * b0 - r2[i + 1] * b1;
    b[i] = b0;
    b[i + 1] = b1;
    b[i + 2] = b2;
    b[i + 3] -= s3 + r3[i] * b0 + r3[i + 1] * b1 + r3[i + 2] * b2;
  }
  for (; i < n; ++i)
  {
    const double *row = L + i * skip;
    double sum = 0.0;
    for (int j = std::max(first, begin[i]); j < i; ++j)
      sum += row[j] * b[j];
    b[i] -= sum;
  }
}

FAST void Backward(const double *L, double *b, int n, int skip, const int *begin)
{
  int i = n - 1;
  for (; i > 3; i -= 4)
  {
    const double *r3 = L + i * skip, *r2 = r3 - skip, *r1 = r2 - skip, *r0 = r1 - skip;
    const double b3 = b[i];
    const double b2 = b[i - 1] - r3[i - 1] * b3;
    const double b1 = b[i - 2] - r3[i - 2] * b3 - r2[i - 2] * b2;
    const double b0 = b[i - 3] - r3[i - 3] * b3 - r2[i - 3] * b2 - r1[i - 3] * b1;
    b[i - 1] = b2;
    b[i - 2] = b1;
    b[i - 3] = b0;
    for (int j = *std::min_element(begin + i - 3, begin + i + 1); j < i - 3; ++j)
      b[j] -= r3[j] * b3 + r2[j] * b2 + r1[j] * b1 + r0[j] * b0;
  }
  for (; i > 0; --i)
    for (int j = begin[i]; j < i; ++j)
      b[j] -= b[i] * L[i * skip + j];
}

FAST double Dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}
}  // namespace

extern "C" {
/// Solve L x = b in place; L is unit lower triangular, stored by rows.
void _dSolveL1(const double *L, double *b, int n, int skip)
{
  Rows &known = rows;
  known.Follow(L, n, skip);
  const int first = Rows::LeadingZeros(b, n);
  Forward(L, b, n, skip, first, known.begin.data());
  known.last = first;
}

/// Solve L' x = b in place.
void _dSolveL1T(const double *L, double *b, int n, int skip)
{
  Rows &known = rows;
  known.Follow(L, n, skip);
  Backward(L, b, n, skip, known.begin.data());
}

/// a' b
double _dDot(const double *a, const double *b, int n) { return Dot(a, b, n); }

/// Factor A = L D L' in place; d gets the reciprocals of D.
void _dFactorLDLT(double *A, double *d, int n, int skip)
{
  std::vector<int> begin(n);
  for (int i = 0; i < n; ++i)
  {
    double *row = A + i * skip;
    begin[i] = Rows::LeadingZeros(row, i);
    Forward(A, row, i, skip, begin[i], begin.data());
    double pivot = row[i];
    for (int j = begin[i]; j < i; ++j)
    {
      const double scaled = row[j] * d[j];
      pivot -= row[j] * scaled;
      row[j] = scaled;
    }
    d[i] = 1.0 / pivot;
  }
  rows.Forget();
}
}
