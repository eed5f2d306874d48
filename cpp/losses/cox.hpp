// Cox's partial likelihood with the ties of Breslow or Efron, in strata.
//
// A term has a weight omega and shares b of the rows at risk at one time of death:
//
//   L = sum over terms of omega log S - sum over deaths of c eta ,   S = sum_i b_i e^eta_i .
//
// Breslow has one term for each time of death, b = c on the risk set and omega = d, the weight of
// the deaths. Efron has one for each of the n deaths of a time, omega = d / n, and in the k-th the
// dying have b = c (1 - k / n). A row censored at a time is at risk then.
//
// Second derivatives: diag(A) - sum omega p p' with p = b e^eta / S; the terms are further rows
// with negative weights. Dual point: p' = kappa p + (1 - kappa) q with q the observed deaths, and
// the dual objective is - sum omega sum_i p'_i log(p'_i / b_i).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "losses/loss.hpp"

namespace selica {

enum class Ties { breslow, efron };

// Times, events and strata of all rows, sorted once for all members.
class CoxKind final : public LossKind {
 public:
  CoxKind(const double* time, const double* event, const double* stratum, Index rows, Ties how)
      : ties(how), order_(static_cast<std::size_t>(rows)), rank_(order_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      if (stratum[a] != stratum[b]) return stratum[a] < stratum[b];
      return time[a] < time[b];
    });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      rank_[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
      deaths_ += event[i] != 0.0;
    }
  }

  std::unique_ptr<Loss> member() const override;
  Index most_terms() const override { return deaths_; }
  std::int32_t rank(std::int32_t row) const { return rank_[static_cast<std::size_t>(row)]; }

  const Ties ties;

 private:
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> rank_;  // of each row in the order of strata and times
  Index deaths_ = 0;
};

class Cox final : public Loss {
 public:
  explicit Cox(const CoxKind& kind) : kind_(kind) {}

  void open(const MemberRows& rows) override {
    const std::size_t n = static_cast<std::size_t>(rows.count);
    count_ = rows.count;
    c_ = rows.weight;
    const double *time = rows.y[0], *event = rows.y[1], *stratum = rows.y[2];
    sorted_.resize(n);
    std::iota(sorted_.begin(), sorted_.end(), Index{0});
    std::sort(sorted_.begin(), sorted_.end(), [&](Index a, Index b) {
      return kind_.rank(rows.places[a]) < kind_.rank(rows.places[b]);
    });
    dies_.resize(n);
    groups_.clear();
    strata_.clear();
    n_terms_ = 0;
    infimum_ = 0.0;
    for (Index i = 0; i < count_;) {
      const std::int32_t row = rows.places[sorted_[at(i)]];
      if (i == 0 || stratum[row] != stratum[rows.places[sorted_[at(i - 1)]]]) strata_.push_back(i);
      Group group{i, i, 0, 0.0, n_terms_};
      for (; i < count_; ++i) {
        const Index local = sorted_[at(i)];
        const std::int32_t other = rows.places[local];
        if (stratum[other] != stratum[row] || time[other] != time[row]) break;
        dies_[at(i)] = event[other] != 0.0;
        if (!dies_[at(i)]) continue;
        ++group.deaths;
        group.weight += c_[local];
      }
      group.end = i;
      if (group.deaths == 0) continue;
      n_terms_ += terms_of(group);
      const double n_deaths = static_cast<double>(group.deaths);
      infimum_ += group.weight * std::log(group.weight);
      for (Index k = 0; k < terms_of(group); ++k)
        infimum_ += group.weight / n_deaths * std::log1p(-static_cast<double>(k) / n_deaths);
      groups_.push_back(group);
    }
    strata_.push_back(count_);
    for (auto* each : {&risk_, &z_, &reference_}) each->assign(n, 0.0);
    for (auto* each : {&sums_, &reference_sums_}) each->assign(at(n_terms_), 0.0);
  }

  bool degenerate() const override { return groups_.empty(); }
  double infimum() const override { return infimum_; }
  double balance(const double*) override { return 0.0; }  // a constant changes nothing
  Index terms() const override { return n_terms_; }
  double longest_step() const override { return 10.0; }

  double evaluate(const double* eta, double* residual) override {
    const double value = weigh(eta, sums_);
    write_expected(sums_, residual);
    for (Index i = 0; i < count_; ++i) {
      const Index local = sorted_[at(i)];
      residual[local] = (dies_[at(i)] ? c_[local] : 0.0) - residual[local];
    }
    for (Index i = count_; i < padded(count_); ++i) residual[i] = 0.0;
    return value;
  }

  double dual(const double*, double scale) override {
    // z_ and risk_ are those of the last evaluation
    double total = 0.0;
    const double log_scale = std::log(std::max(scale, 1e-300));
    auto group = groups_.rbegin();
    for (Index s = static_cast<Index>(strata_.size()) - 2; s >= 0; --s) {
      double mass = 0.0, moment = 0.0;  // over rows at risk that do not die now
      Index i = strata_[at(s + 1)];
      while (group != groups_.rend() && group->start >= strata_[at(s)]) {
        for (; i > group->end;) add(--i, mass, moment);
        double now_mass = mass, now_moment = moment;
        for (Index j = group->start; j < group->end; ++j)
          if (!dies_[at(j)]) add(j, now_mass, now_moment);
        total += dual_terms(*group, scale, log_scale, now_mass, now_moment);
        for (; i > group->start;) add(--i, mass, moment);
        ++group;
      }
    }
    return total;
  }

  void curvature(const double* eta, double* weight) override {
    weigh(eta, reference_sums_);
    reference_ = risk_;
    write_expected(reference_sums_, weight);
    for (Index i = count_; i < padded(count_) + padded(n_terms_); ++i) weight[i] = 0.0;
    double* further = weight + padded(count_);
    for (const Group& group : groups_)
      for (Index k = 0; k < terms_of(group); ++k)
        further[group.term + k] = -group.weight / static_cast<double>(terms_of(group));
  }

  void extend(const double* column, double* further) const override {
    auto group = groups_.rbegin();
    for (Index s = static_cast<Index>(strata_.size()) - 2; s >= 0; --s) {
      double total = 0.0;
      Index i = strata_[at(s + 1)];
      for (; group != groups_.rend() && group->start >= strata_[at(s)]; ++group) {
        while (i > group->start) {
          --i;
          total += reference_[at(i)] * column[sorted_[at(i)]];
        }
        double dying = 0.0;
        if (terms_of(*group) > 1)
          for (Index j = group->start; j < group->end; ++j)
            if (dies_[at(j)]) dying += reference_[at(j)] * column[sorted_[at(j)]];
        const double n_terms = static_cast<double>(terms_of(*group));
        for (Index k = 0; k < terms_of(*group); ++k)
          further[group->term + k] = (total - static_cast<double>(k) / n_terms * dying) /
                                     reference_sums_[at(group->term + k)];
      }
    }
    for (Index k = n_terms_; k < padded(n_terms_); ++k) further[k] = 0.0;
  }

 private:
  // A sum of risks below this one, next to a largest risk of c, has no digits left: predictors are
  // hundreds apart, and a step there is not accepted.
  static constexpr double kLeastSum = 1e-280;
  static constexpr double kRefused = 1e300;

  // Rows of one time in one stratum, with deaths.
  struct Group {
    Index start, end;  // in sorted order
    Index deaths;
    double weight;  // of the deaths
    Index term;     // number of its first term
  };

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Index terms_of(const Group& group) const { return kind_.ties == Ties::efron ? group.deaths : 1; }

  void add(Index i, double& mass, double& moment) const {
    mass += risk_[at(i)];
    moment += risk_[at(i)] * z_[at(i)];
  }

  // Writes predictors less the largest of their stratum, c e^z, and the sums S; returns the loss.
  double weigh(const double* eta, std::vector<double>& sums) {
    double value = 0.0;
    auto group = groups_.rbegin();
    for (Index s = static_cast<Index>(strata_.size()) - 2; s >= 0; --s) {
      const Index first = strata_[at(s)], last = strata_[at(s + 1)];
      double top = -1e300;
      for (Index i = first; i < last; ++i) top = std::max(top, eta[sorted_[at(i)]]);
      for (Index i = first; i < last; ++i) {
        z_[at(i)] = eta[sorted_[at(i)]] - top;
        risk_[at(i)] = c_[sorted_[at(i)]] * std::exp(z_[at(i)]);
      }
      double total = 0.0;
      Index i = last;
      for (; group != groups_.rend() && group->start >= first; ++group) {
        while (i > group->start) total += risk_[at(--i)];
        double dying = 0.0;
        for (Index j = group->start; j < group->end; ++j) {
          if (!dies_[at(j)]) continue;
          dying += risk_[at(j)];
          value -= c_[sorted_[at(j)]] * z_[at(j)];
        }
        const double n_terms = static_cast<double>(terms_of(*group));
        for (Index k = 0; k < terms_of(*group); ++k) {
          const double each = total - static_cast<double>(k) / n_terms * dying;
          if (!(each > kLeastSum)) return kRefused;
          sums[at(group->term + k)] = each;
          value += group->weight / n_terms * std::log(each);
        }
      }
    }
    return value;
  }

  // Writes A: c e^eta times the hazard that each row has seen, by row.
  void write_expected(const std::vector<double>& sums, double* expected) const {
    auto group = groups_.begin();
    for (Index s = 0; s + 1 < static_cast<Index>(strata_.size()); ++s) {
      double hazard = 0.0;
      for (Index i = strata_[at(s)]; i < strata_[at(s + 1)]; ++i) {
        double of_dying = hazard;
        const bool starts = group != groups_.end() && group->start == i;
        if (starts) {
          const double n_terms = static_cast<double>(terms_of(*group));
          for (Index k = 0; k < terms_of(*group); ++k) {
            const double each = group->weight / n_terms / sums[at(group->term + k)];
            hazard += each;
            of_dying += each * (1.0 - static_cast<double>(k) / n_terms);
          }
          for (Index j = group->start; j < group->end; ++j)
            expected[sorted_[at(j)]] = risk_[at(j)] * (dies_[at(j)] ? of_dying : hazard);
          i = group->end - 1;
          ++group;
        } else {
          expected[sorted_[at(i)]] = risk_[at(i)] * hazard;
        }
      }
    }
  }

  double dual_terms(const Group& group, double scale, double log_scale, double mass,
                    double moment) const {
    const double n_terms = static_cast<double>(terms_of(group)), omega = group.weight / n_terms;
    double total = 0.0;
    for (Index k = 0; k < terms_of(group); ++k) {
      const double S = sums_[at(group.term + k)], left = 1.0 - static_cast<double>(k) / n_terms;
      double inner = scale * ((log_scale - std::log(S)) * (mass / S) + moment / S);
      for (Index j = group.start; j < group.end; ++j) {
        if (!dies_[at(j)]) continue;
        const double c = c_[sorted_[at(j)]], b = c * left;
        const double p = scale * left * risk_[at(j)] / S + (1.0 - scale) * c / group.weight;
        if (p > 0.0) inner += p * std::log(p / b);
      }
      total -= omega * inner;
    }
    return total;
  }

  const CoxKind& kind_;
  Index count_ = 0;
  const double* c_ = nullptr;
  Index n_terms_ = 0;
  double infimum_ = 0.0;
  std::vector<Index> sorted_;                       // rows of the member by stratum and time
  std::vector<char> dies_;                          // in sorted order
  std::vector<Group> groups_;                       // ascending
  std::vector<Index> strata_;                       // where they begin, and the end of the last
  std::vector<double> risk_;                        // c e^z in sorted order
  std::vector<double> z_;                           // predictors less the largest of the stratum
  std::vector<double> sums_;                        // S of each term
  std::vector<double> reference_, reference_sums_;  // the same where `curvature` was taken
};

inline std::unique_ptr<Loss> CoxKind::member() const { return std::make_unique<Cox>(*this); }

}  // namespace selica
