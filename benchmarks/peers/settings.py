"""The fastest route through each peer on each workload, at the loosest sufficient tolerance.

Found with `python -m benchmarks.peers.tune` (12 members; 4 on the two large workloads; seed 0),
some refined by hand between its steps, and checked with the members of `benchmarks.peers`: the
loosest tolerance, to a factor of about 2, whose certified gap is at most 1e-6 at every member and
penalty, so that nobody is timed at needless accuracy; of the routes the one with the least
processor time. Every tolerance is in the peer's own unit (`adapters`, `glmnet.R`), and belongs to
these data: another seed may miss the gap by a little, and `run_peer` then says so. At 20000x500
celer (2e-4) and adelie (2e-8) would do at seed 0 but miss by far at seed 1; the tighter values
here cost no measurable time.

What the routes showed (p × p Gram matrices were not tried at p > 1000, except in glmnet):
- scikit-learn: coordinate descent on the Gram matrix is its fastest at 320x128. Elsewhere its LARS
  wins (2 to 5 times at n ≤ 200, 1.3 at 1000x5000, 1.6 at 20000x500) and is exact: no `tol`.
- celer: growing working sets are as fast as pruned ones or faster. At 20000x500 it steps from above
  the target to 1e-15: it looks at the gap every ten epochs.
- skglm: `GramCD` forms the Gram matrix again at each penalty; it wins at 320x128, loses tenfold at
  200x1000. Its own sample weights (`WeightedQuadratic`) were 2 to 4 times slower than scaled rows.
- adelie, glmnet: dropping the rows of zero count before the call saves 10 to 30 % (nothing at
  320x128); covariance mode pays at 320x128 and 20000x500 only.
- knockoffs: the Gram matrix of [X, copy] is new in each member; forming it still pays for
  scikit-learn (its LARS is 1.5 to 9 times slower), and for nobody else.
- one penalty (4 members): no Gram matrix pays; scikit-learn's residual route is 7 times faster than
  its LARS at 1000x400 and 3 at 5000x2000. At 5000x2000 celer and scikit-learn are far below the gap
  at the loosest tolerance tried. Knockoffs at 1000x5000, and the last two peers of knockoffs at
  5000x2000, have the tolerances of their neighbours, not tuned ones.
- labels: Newton's steps win in all four (skglm's coordinate descent is 7 times slower, glmnet's
  other bound 4 times). adelie's inner loop may stay loose: 10 to 20 % slower at
  200x1000, 10 to 20 % faster at 1000x5000, ten times faster for survival. There glmnet, which
  has one tolerance for both loops, approaches the gap slowly (200x1000: gaps of 2e-4, 6e-6 and
  2e-6 after 1.6, 23 and 49 s of processor time); skglm takes 10 s there and more than 100 s at
  1000x5000. What needs more than half a minute a member is in `TOO_SLOW` and not run.
"""

from __future__ import annotations

SETTINGS: dict[str, dict[str, tuple[str, float]]] = {
    "sklearn": {
        "320x128": ("gram", 5e-7),
        "200x1000": ("lars", 0.0),
        "71x4088": ("lars", 0.0),
        "1000x5000": ("lars", 0.0),
        "20000x500": ("lars", 0.0),
        "riboflavin": ("lars", 0.0),
        "knockoffs-320x128": ("gram", 7e-7),
        "knockoffs-1000x800": ("gram", 7e-7),
        "single-1000x400": ("residual", 1e-6),
        "single-knockoffs-1000x400": ("residual", 2e-6),
        "single-1000x5000": ("residual", 4e-7),
        "single-knockoffs-1000x5000": ("residual", 4e-7),
        "single-5000x2000": ("residual", 2e-6),
        "single-knockoffs-5000x2000": ("residual", 2e-6),
    },
    "celer": {
        "320x128": ("grow", 5e-7),
        "200x1000": ("grow", 5e-7),
        "71x4088": ("grow", 5e-7),
        "1000x5000": ("grow", 5e-7),
        "20000x500": ("grow", 5e-7),
        "riboflavin": ("grow", 4e-7),
        "knockoffs-320x128": ("grow", 8e-7),
        "knockoffs-1000x800": ("grow", 8e-7),
        "single-1000x400": ("grow", 1e-6),
        "single-knockoffs-1000x400": ("prune", 5e-6),
        "single-1000x5000": ("prune", 5e-7),
        "single-knockoffs-1000x5000": ("prune", 5e-7),
        "single-5000x2000": ("prune", 5e-6),
        "single-knockoffs-5000x2000": ("grow", 5e-6),
        "logistic-200x1000": ("grow-newton", 5e-9),
        "logistic-1000x5000": ("grow-newton", 1e-9),
    },
    "skglm": {
        "320x128": ("gram", 3e-7),
        "200x1000": ("anderson", 3e-7),
        "71x4088": ("anderson", 4e-7),
        "1000x5000": ("anderson", 3e-7),
        "20000x500": ("anderson", 2e-6),
        "riboflavin": ("anderson", 3e-7),
        "knockoffs-320x128": ("anderson", 4e-7),
        "knockoffs-1000x800": ("anderson", 4e-7),
        "single-1000x400": ("anderson", 1e-5),
        "single-knockoffs-1000x400": ("anderson", 5e-6),
        "single-1000x5000": ("anderson", 1e-5),
        "single-knockoffs-1000x5000": ("anderson", 2e-6),
        "single-5000x2000": ("anderson", 5e-6),
        "single-knockoffs-5000x2000": ("anderson", 5e-6),
        "logistic-200x1000": ("newton", 4e-7),
        "logistic-1000x5000": ("newton", 2e-7),
        "poisson-200x1000": ("newton", 2e-7),
        "poisson-1000x5000": ("newton", 2e-7),
        "cox-200x1000": ("newton", 5e-7),
    },
    "adelie": {
        "320x128": ("cov", 5e-14),
        "200x1000": ("rows-strong", 1e-14),
        "71x4088": ("rows", 2e-14),
        "1000x5000": ("rows-strong", 1e-14),
        "20000x500": ("cov", 1e-9),
        "riboflavin": ("rows", 5e-14),
        "knockoffs-320x128": ("rows-strong", 1e-13),
        "knockoffs-1000x800": ("rows-strong", 1e-13),
        "single-1000x400": ("rows", 1e-12),
        "single-knockoffs-1000x400": ("rows-strong", 5e-12),
        "single-1000x5000": ("rows-strong", 1e-13),
        "single-knockoffs-1000x5000": ("rows-strong", 1e-13),
        "single-5000x2000": ("shared", 5e-10),
        "single-knockoffs-5000x2000": ("rows", 1e-8),
        "logistic-200x1000": ("rows-tight", 1e-12),
        "logistic-1000x5000": ("rows", 1e-13),
        "poisson-200x1000": ("rows-tight", 1e-13),
        "poisson-1000x5000": ("rows", 1e-14),
        "cox-200x1000": ("rows", 1e-16),
        "cox-1000x5000": ("rows", 5e-16),
    },
    "glmnet": {
        "320x128": ("covariance-rows", 5e-14),
        "200x1000": ("naive-rows", 1e-14),
        "71x4088": ("naive-rows", 5e-14),
        "1000x5000": ("naive-rows", 1e-14),
        "20000x500": ("covariance-rows", 5e-9),
        "riboflavin": ("naive-rows", 5e-14),
        "knockoffs-320x128": ("naive", 1e-13),
        "knockoffs-1000x800": ("naive", 1e-13),
        "single-1000x400": ("naive-rows", 1e-12),
        "single-knockoffs-1000x400": ("naive", 5e-12),
        "single-1000x5000": ("naive-rows", 1e-13),
        "single-knockoffs-1000x5000": ("naive", 1e-13),
        "single-5000x2000": ("naive-rows", 5e-10),
        "single-knockoffs-5000x2000": ("naive", 1e-9),
        "logistic-200x1000": ("Newton", 1e-13),
        "logistic-1000x5000": ("Newton-rows", 2e-14),
        "poisson-200x1000": ("whole-rows", 1e-14),
        "poisson-1000x5000": ("whole-rows", 1e-14),
    },
}
# Peers that have the loss but do not reach the gap in a reasonable time.
TOO_SLOW: dict[str, tuple[str, ...]] = {
    "glmnet": ("cox-200x1000", "cox-1000x5000"),
    "skglm": ("cox-1000x5000",),
}
