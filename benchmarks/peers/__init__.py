"""Other people's solvers on the ensemble problem, timed to one certified gap.

Only `agreement` imports selica: each peer runs in its own environment, with NumPy and that peer.
"""
