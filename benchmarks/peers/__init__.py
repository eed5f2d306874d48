"""Other people's lasso solvers on the ensemble problem, timed to one certified gap.

Nothing here imports selica: each peer runs in its own environment, which needs NumPy and that peer.
"""
