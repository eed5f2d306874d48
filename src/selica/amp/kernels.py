"""Products with a design and with its squared entries, in one reading of the design.

With one penalty such products are as fast as the design is read from memory, so that three in one
cost little more than one, and the squares need not be stored.
"""

from __future__ import annotations

from numba import njit

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def along(A, u, s, t, out):
    """out = (A u, A^2 s, A^2 t) for A (m, k) in rows; out is (3, m)."""
    m, k = A.shape
    for i in range(m):
        first, second, third = 0.0, 0.0, 0.0
        for j in range(k):
            x = A[i, j]
            first += x * u[j]
            second += x * x * s[j]
            third += x * x * t[j]
        out[0, i], out[1, i], out[2, i] = first, second, third


@njit(cache=True, nogil=True, fastmath=_FAST)
def across(A, u, s, t, out):
    """out = (A' u, A'^2 s, A'^2 t) for A (m, k) in rows; out is (3, k)."""
    m, k = A.shape
    out[:] = 0.0
    first, second, third = out[0], out[1], out[2]
    whole = m - m % 4
    for i in range(0, whole, 4):  # four rows for each writing of the sums
        for j in range(k):
            x, y, z, w = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
            first[j] += x * u[i] + y * u[i + 1] + z * u[i + 2] + w * u[i + 3]
            x, y, z, w = x * x, y * y, z * z, w * w
            second[j] += x * s[i] + y * s[i + 1] + z * s[i + 2] + w * s[i + 3]
            third[j] += x * t[i] + y * t[i + 1] + z * t[i + 2] + w * t[i + 3]
    for i in range(whole, m):
        for j in range(k):
            x = A[i, j]
            first[j] += x * u[i]
            second[j] += x * x * s[i]
            third[j] += x * x * t[i]
