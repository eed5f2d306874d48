"""What copies of members owe to each other, whoever draws them."""

from __future__ import annotations

import pickle

import numpy as np


def assert_members_do_not_depend_on_the_chunk(knockoffs, X):
    copies = knockoffs.copies(X, 5, 20)
    assert copies.shape == (20, len(X), X.shape[1] * getattr(knockoffs, "n_joint", 1))
    np.testing.assert_array_equal(knockoffs.sample(X, 5), copies[0])
    np.testing.assert_array_equal(knockoffs.copies(X, 5, [11, 3])[1], copies[3])
    np.testing.assert_array_equal(knockoffs.copies(X, 5, slice(10, 100))[1], copies[11])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(copies))[11], copies[11])
    for i, copy in enumerate(copies[7:9]):
        np.testing.assert_array_equal(copy, copies[7 + i])
    assert all(copy.flags.f_contiguous for copy in copies)
    assert np.any(copies[0] != copies[1])
