// What an ensemble of members is: one design, and for each member weights, penalties, a response.
//
// Member b minimises, at each penalty lam of its path,
//
//   L_b(eta) + lam sum_j u_bj |w_j| + lam2 / 2 sum_j w_j^2 ,   eta = a + x w ,
//
// where L_b has the weights c_b of the rows.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/types.hpp"
#include "designs/design.hpp"
#include "losses/loss.hpp"

namespace selica {

// Columns that belong to one member alone, e.g. knockoff copies; returned by `Problem::own`.
using OwnColumns = std::shared_ptr<const Design>;

struct Problem {
  const Design* design = nullptr;
  Index members = 0;
  Index columns = 0;    // of the design and a member's own
  Index most_rows = 0;  // of positive weight in any member

  std::vector<const double*> y;     // fields of the response, (rows,) each, or (members, rows)
  bool y_each = false;              // whether each member has a response of its own
  const double* weights = nullptr;  // (members, rows)
  const double* lams = nullptr;     // (n_lams,) or (members, n_lams), decreasing
  const double* lam2 = nullptr;     // the ridge beside each
  bool lams_each = false;
  Index n_lams = 0;
  const double* factor = nullptr;  // u: (columns,) or (members, columns)
  bool factor_each = false;
  const double* variance = nullptr;   // (members, columns) if columns are standardised by these
  const bool* unpenalised = nullptr;  // (columns,) or null: no penalty, no ridge, no scaling

  std::shared_ptr<const LossKind> loss;  // null: half the squared residual
  bool fit_intercept = false;
  bool centred = false;  // whether columns may be centred: with an intercept, or for Cox
  bool standardize = false;
  double tol = 1e-6;
  Index max_iter = 100;
  Index max_active = -1;  // below zero: no limit

  std::function<OwnColumns(Index)> own;  // empty, or the own columns of a member
  bool own_is_shared = false;            // whether several members have the same

  const double* weights_of(Index b) const { return weights + b * design->rows(); }
  const double* lams_of(Index b) const { return lams + (lams_each ? b * n_lams : 0); }
  const double* lam2_of(Index b) const { return lam2 + (lams_each ? b * n_lams : 0); }
  const double* factor_of(Index b) const { return factor + (factor_each ? b * columns : 0); }
  const double* y_of(Index b, std::size_t field) const {
    return y[field] + (y_each ? b * design->rows() : 0);
  }
};

}  // namespace selica
