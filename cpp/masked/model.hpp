// Which member of each pair is the original, under a Bayesian model: what is computed here.
//
// There are m blocks of columns, each in two versions of the same size: a variable or a group of
// them, and its knockoff copy, in an order that does not know which is which. The model says
//
//   psi_j = 0 or 1       with probability 1/2: the version of block j that matters
//   b_j = 0              with probability p0, else each entry ~ N(0, t2)
//   y ~ N(sum_j F_j,psi_j b_j, s2),   p0 ~ Beta cut to [least_p0, 1],  t2, s2 ~ inverse Gamma
//
// and a binary response is the sign of such a y with s2 = 1, which has further columns with flat
// priors (the intercept). Columns of one version of a block are orthogonal: as the prior of b_j is
// round, a rotation of the columns changes nothing, and every formula is a sum over columns.
//
// Gibbs sampling: with r the residual without block j, z_i = f_i'r and l_i = |f_i|^2,
//
//   log BF_k = sum over the columns i of version k of
//              t2 z_i^2 / (2 s2 (s2 + t2 l_i)) - log(1 + t2 l_i / s2) / 2
//   x_k = log BF_k + log((1 - p0) / p0)
//   P(psi_j = 0 | rest) = sigmoid(e_j),   e_j = log(1 + e^x_0) - log(1 + e^x_1)
//   P(b_j != 0 | psi_j = k, rest) = sigmoid(x_k),   b_i ~ N(V z_i / s2, V),  1/V = 1/t2 + l_i/s2
//
// The answer is the mean of sigmoid(e_j) over sweeps, and not the share of draws with psi_j = 0:
// both estimate P(psi_j = 0 | y), the mean with less error. Nothing is certified: sampling errs,
// and chains that begin elsewhere show how much. That the answers of a block change their sign when
// its versions change places rests on the caller, who orders the versions.
#pragma once

#include "base/types.hpp"
#include "numeric/philox.hpp"

namespace selica::masked {

// Versions of blocks. Column i of version k is row k * columns + i, padded with zeros.
struct Pairs {
  Index rows, size;       // entries of a column; the same, padded
  Index columns, blocks;  // of one version
  const Index* starts;    // (blocks + 1): first column of each block
  const double* values;   // (2 * columns, size)
};

struct Response {
  const double* y;     // (size), padded; for labels 1 and -1
  bool labels;         // whether y is the sign of what the model describes
  const double* flat;  // (flat_columns, size): orthonormal, orthogonal to all others; for labels
  Index flat_columns;  //
  double freedom;      // rows less columns that were projected off
};

// An inverse Gamma distribution; with a shape of zero the parameter stays as it is.
struct Prior {
  double shape, scale;
};

struct Model {
  double p0, t2, s2;  // where a chain begins
  Prior t2_prior, s2_prior;
  double least_p0;  // p0 is drawn, uniform above this; with 1 it stays as it is
};

struct Plan {
  Key key;
  Index sweeps, burn_in, chains;
  const double* start;  // (2 * columns): coefficients where every other chain begins
};

}  // namespace selica::masked
