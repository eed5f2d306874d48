// What fitting needs of a loss: a convex function of the predictors of the rows of one member.
//
// Arrays over rows are padded with zeros to whole blocks of kPad; the weights of padding are zero.
// `LossKind` holds what all members share and makes the `Loss` of a member. A new loss is a file
// with these two classes (or with the functions of one row, see row_loss.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.hpp"

namespace selica {

// The rows of positive weight of one member.
struct MemberRows {
  const std::int32_t* places;  // in the design, ascending
  Index count;
  const double* weight;          // (padded(count),)
  std::vector<const double*> y;  // fields of the response, over all rows of the design
};

class Loss {
 public:
  virtual ~Loss() = default;

  // Takes the rows of a member.
  virtual void open(const MemberRows& rows) = 0;
  // Returns whether there is nothing to fit, e.g. no event: all coefficients are zero.
  virtual bool degenerate() const { return false; }
  // Returns the smallest loss that any predictors have.
  virtual double infimum() const = 0;
  // Returns the loss, and writes minus its derivative in each predictor.
  virtual double evaluate(const double* eta, double* residual) = 0;
  // Returns the constant that minimises the loss when it is added to eta.
  virtual double balance(const double* eta) = 0;
  // Returns minus the conjugate of the loss at `scale` times its derivative at eta, the point of
  // the last evaluation: with a feasible scale the dual objective without ridges.
  virtual double dual(const double* eta, double scale) = 0;
  // Writes the diagonal of second derivatives, and, behind padded(count), minus the weights of
  // `terms` further rows: the matrix of second derivatives is the sum over all of these rows.
  virtual void curvature(const double* eta, double* weight) = 0;
  virtual Index terms() const { return 0; }
  // Writes the entries of a column in the further rows, at the eta of the last `curvature`.
  virtual void extend(const double*, double*) const {}
  // Returns how far predictors may move in one step.
  virtual double longest_step() const { return 1e300; }
};

class LossKind {
 public:
  virtual ~LossKind() = default;
  virtual std::unique_ptr<Loss> member() const = 0;
  // Returns the largest number of further rows of any member.
  virtual Index most_terms() const { return 0; }
};

}  // namespace selica
