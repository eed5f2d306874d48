// Solves random small ensembles and checks each answer by the definitions of its problem.
//
//   fuzz [problems] [first]
//
// solves problems first, first + 1, ... and ends with 1 if an answer is wrong. Meant to be built
// with the checks of addresses and undefined behaviour.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "paths/ensemble.hpp"
#include "tests/certificate.hpp"

namespace selica::fuzz {
namespace {

// What the core writes, all of it.
struct Answer {
  std::vector<double> coef, intercept, gap, kkt, entry, largest, total, square;
  std::vector<std::int64_t> n_active, iterations, counts;
  std::vector<std::int8_t> status;
  std::vector<SparseEntries> sparse;

  bool operator==(const Answer& other) const {
    const auto same = [](const auto& a, const auto& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
    };
    return same(coef, other.coef) && same(intercept, other.intercept) && same(gap, other.gap) &&
           same(total, other.total) && same(square, other.square) && same(counts, other.counts) &&
           same(status, other.status) && same(largest, other.largest);
  }
};

Answer solve(const Case& is, Index threads) {
  const std::size_t grid = static_cast<std::size_t>(is.members * is.n_lams);
  const std::size_t columns = static_cast<std::size_t>(is.columns());
  const std::size_t cells = static_cast<std::size_t>(is.n_lams) * columns;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Answer out;
  out.coef.assign(grid * columns, 0.0);
  out.intercept.assign(grid, 0.0);
  out.gap.assign(grid, nan);
  out.kkt.assign(grid, nan);
  out.entry.assign(static_cast<std::size_t>(is.members) * columns, 0.0);
  out.largest.assign(static_cast<std::size_t>(is.members), nan);
  out.total.assign(cells, 0.0);
  out.square.assign(cells, 0.0);
  out.n_active.assign(grid, -1);
  out.iterations.assign(grid, 0);
  out.counts.assign(cells, 0);
  out.status.assign(grid, static_cast<std::int8_t>(Status::stopped));
  Kept kept{out.coef.data(),    out.intercept.data(),  out.n_active.data(), out.gap.data(),
            out.kkt.data(),     out.iterations.data(), out.status.data(),   out.entry.data(),
            out.largest.data(), out.counts.data(),     out.total.data(),    out.square.data()};
  Ensemble ensemble(is.problem, kept, true, is.chunk, threads);
  Index told = 0;
  bool rises = true;
  ensemble.run([&](Index done) {
    if (done > 0) {
      rises = rises && done > told;
      told = done;
    }
    return true;
  });
  if (!rises || told != is.members) out.status.assign(grid, 99);
  out.sparse = ensemble.entries();
  return out;
}

// Counts over all problems.
struct Tally {
  Index answers = 0, unsolved = 0, degenerate = 0, stopped = 0, vague = 0;
};

class Checker {
 public:
  Checker(const Case& is, const Answer& answer, Tally& tally)
      : is_(is), answer_(answer), tally_(tally) {}

  // Returns what is wrong, or nothing.
  std::string check() {
    for (Index b = 0; b < is_.members && wrong_.empty(); ++b) {
      const Judge judge(is_, b);
      check_largest(judge, b);
      bool stopped = false;
      for (Index l = 0; l < is_.n_lams && wrong_.empty(); ++l) check_one(judge, b, l, stopped);
    }
    if (wrong_.empty()) check_sums();
    return wrong_;
  }

 private:
  void expect(bool holds, const std::string& what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }

  void check_largest(const Judge& judge, Index b) {
    const double given = answer_.largest[static_cast<std::size_t>(b)];
    expect(std::isfinite(given) && given >= 0.0, "lam_max is no number");
    if (judge.degenerate() || judge.unclear() || is_.problem.unpenalised != nullptr) return;
    for (Index j = 0; j < is_.columns(); ++j)
      if (is_.problem.factor_of(b)[j] == 0.0) return;
    Real error = 0.0L;
    const Real exact = judge.largest(error);
    expect(std::abs(given - exact) <= 1e-6L * exact + error,
           "lam_max " + std::to_string(given) + ", not " + std::to_string(exact));
  }

  void check_one(const Judge& judge, Index b, Index l, bool& stopped) {
    const std::size_t at = static_cast<std::size_t>(b * is_.n_lams + l);
    const std::string where =
        "member " + std::to_string(b) + " penalty " + std::to_string(l) + ": ";
    const std::int8_t status = answer_.status[at];
    const double* w = answer_.coef.data() + at * static_cast<std::size_t>(is_.columns());
    ++tally_.answers;
    expect(status >= 0 && status <= 3, where + "status " + std::to_string(status));
    expect(judge.degenerate() == (status == static_cast<int>(Status::degenerate)),
           where + "degenerate or not");
    Index active = 0;
    for (Index j = 0; j < is_.columns(); ++j) {
      expect(std::isfinite(w[j]), where + "a coefficient is no number");
      active += w[j] != 0.0;
    }
    stopped = stopped || status == static_cast<int>(Status::stopped);
    if (stopped) {
      ++tally_.stopped;
      expect(status == static_cast<int>(Status::stopped) && answer_.n_active[at] == -1 &&
                 active == 0 && is_.problem.max_active >= 0,
             where + "stopped, or not");
      return;
    }
    expect(answer_.n_active[at] == active, where + "n_active");
    expect(is_.problem.max_active < 0 || active <= is_.problem.max_active, where + "max_active");
    expect(std::isfinite(answer_.intercept[at]), where + "the intercept is no number");
    const double reported = answer_.gap[at];
    expect(std::isfinite(reported) && reported >= 0.0, where + "gap " + std::to_string(reported));
    if (judge.degenerate()) {
      ++tally_.degenerate;
      expect(active == 0, where + "degenerate, but not zero");
      return;
    }
    if (!wrong_.empty()) return;
    const double tol = is_.problem.tol;
    const bool failed = status == static_cast<int>(Status::failed);
    expect(failed == !(reported <= tol) || failed, where + "converged with too large a gap");
    const Judged exact =
        judge.judge(w, answer_.intercept[at], is_.problem.lams_of(b)[l], is_.problem.lam2_of(b)[l]);
    const Real unit = exact.unit + exact.unit_error;
    const Real slack = failed ? 1.05L : 1.0L + 1e-6L;  // of a gap that says only that it is large
    const Real most = std::max<Real>(tol, reported) * unit * slack + exact.allowance;
    const auto numbers = [&] {
      char text[200];
      std::snprintf(
          text, sizeof text,
          "gap %.3Le (free columns %.1Le) reported %.3e tol %.0e unit %.3Le allowance %.1Le "
          "excess %.1Le",
          exact.gap, exact.free, reported, tol, exact.unit, exact.allowance, exact.excess);
      return std::string(text);
    };
    const Real gap = failed ? exact.gap - exact.free : exact.gap;
    if (exact.allowance > 1e-3L * unit) {
      ++tally_.vague;
      return;
    }
    expect(exact.gap >= -exact.allowance, where + "the check itself is wrong: " + numbers());
    expect(gap <= most, where + "not certified: " + numbers());
    expect(exact.excess <= most, where + "intercept: " + numbers());
    if (failed) {
      ++tally_.unsolved;
      expect(!is_.tame || exact.allowance > tol * unit, where + "unsolved: " + numbers());
    }
  }

  // Checks what is kept beside the coefficients.
  void check_sums() {
    const std::size_t columns = static_cast<std::size_t>(is_.columns());
    std::vector<double> sparse(answer_.coef.size(), 0.0);
    for (const SparseEntries& part : answer_.sparse)
      for (std::size_t e = 0; e < part.rows.size(); ++e)
        sparse[static_cast<std::size_t>(part.rows[e]) * columns +
               static_cast<std::size_t>(part.columns[e])] = part.values[e];
    expect(sparse == answer_.coef, "sparse entries");
    for (std::size_t cell = 0; cell < answer_.counts.size(); ++cell) {
      std::int64_t count = 0;
      Real total = 0.0L, square = 0.0L, size = 0.0L;
      for (Index b = 0; b < is_.members; ++b) {
        const Real w = answer_.coef[static_cast<std::size_t>(b) * answer_.counts.size() + cell];
        count += w != 0.0L;
        total += w;
        size += std::abs(w);
        square += w * w;
      }
      expect(count == answer_.counts[cell], "counts");
      expect(std::abs(total - answer_.total[cell]) <= 1e-14L * size &&
                 std::abs(square - answer_.square[cell]) <= 1e-14L * square,
             "moments");
    }
    for (Index b = 0; b < is_.members; ++b)
      for (std::size_t j = 0; j < columns; ++j) {
        double first = 0.0;
        for (Index l = is_.n_lams - 1; l >= 0; --l)
          if (answer_.coef[static_cast<std::size_t>(b * is_.n_lams + l) * columns + j] != 0.0)
            first = is_.problem.lams_of(b)[l];
        expect(answer_.entry[static_cast<std::size_t>(b) * columns + j] == first, "first entry");
      }
  }

  const Case& is_;
  const Answer& answer_;
  Tally& tally_;
  std::string wrong_;
};

std::string run(Index number, Tally& tally) {
  Case is;
  draw(number, is);
  const Answer answer = solve(is, is.threads);
  std::string wrong = Checker(is, answer, tally).check();
  if (wrong.empty() && is.threads > 1 && !(solve(is, 1) == answer)) wrong = "threads";
  if (wrong.empty()) return wrong;
  static const char* names[] = {"squared", "logistic", "poisson", "breslow", "efron"};
  return "problem " + std::to_string(number) + " (" + names[static_cast<int>(is.loss)] + ", " +
         std::to_string(is.n) + " x " + std::to_string(is.columns()) + ", " +
         std::to_string(is.members) + " members" + (is.tame ? ", tame" : "") + ") " + wrong;
}

}  // namespace
}  // namespace selica::fuzz

int main(int count, char** given) {
  using namespace selica;
  const Index problems = count > 1 ? std::atoll(given[1]) : 100'000;
  const Index first = count > 2 ? std::atoll(given[2]) : 0;
  fuzz::Tally tally;
  Index failed = 0;
  for (Index number = first; number < first + problems; ++number) {
    const std::string wrong = fuzz::run(number, tally);
    if (wrong.empty()) continue;
    ++failed;
    std::printf("%s\n", wrong.c_str());
    std::fflush(stdout);
  }
  std::printf("%lld answers: %lld not converged, %lld degenerate, %lld stopped, %lld vague\n",
              static_cast<long long>(tally.answers), static_cast<long long>(tally.unsolved),
              static_cast<long long>(tally.degenerate), static_cast<long long>(tally.stopped),
              static_cast<long long>(tally.vague));
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(problems - failed),
              static_cast<long long>(failed));
  return failed > 0 ? 1 : 0;
}
