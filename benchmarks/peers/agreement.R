# Called by agreement.py: Rscript agreement.R folder. Reads the problems of exchange.py, answers
# them with glmnet. Penalties are ours over the total weight; gaussian responses come with unit
# weighted variance, because glmnet scales them and not the ridge. With strata rows of zero weight
# are left out: its risk sets would be empty.
suppressMessages(library(glmnet))
suppressMessages(library(survival))
folder <- commandArgs(trailingOnly = TRUE)[1]
manifest <- read.csv(file.path(folder, "manifest.csv"))
glmnet.control(fdev = 0, devmax = 1, epsnr = 1e-14, mxitnr = 1000)

solve_one <- function(s) {
  file_of <- function(name) file.path(folder, paste0(s$number, ".", name))
  doubles <- function(name, count) readBin(file_of(name), "double", count)
  X <- matrix(doubles("X", s$n * s$p), s$n, s$p)
  rows <- matrix(doubles("rows", s$n * 5), s$n, 5)
  lams <- doubles("lams", s$penalties)
  if (s$loss == "cox-strata") {
    keep <- rows[, 5] > 0
    X <- X[keep, , drop = FALSE]
    rows <- rows[keep, , drop = FALSE]
  }
  c <- rows[, 5]
  y <- switch(s$loss,
    cox = Surv(rows[, 1], rows[, 2]),
    "cox-strata" = stratifySurv(Surv(rows[, 1], rows[, 2]), rows[, 3]),
    rows[, 1]
  )
  family <- switch(s$loss, squared = "gaussian", logistic = "binomial", poisson = "poisson",
                   each = "multinomial", group = "multinomial", "cox")
  fit <- function(alpha, ...) {
    options <- list(x = X, y = y, family = family, weights = c, alpha = alpha, standardize = FALSE,
                    maxit = 1e7, ...)
    if (s$loss == "poisson") options$offset <- rows[, 4]
    if (family == "multinomial")
      options$type.multinomial <- if (s$loss == "group") "grouped" else "ungrouped"
    do.call(glmnet, options)
  }
  largest <- fit(1, nlambda = 10, lambda.min.ratio = 0.5)$lambda[1] * sum(c)
  path <- fit(1 / (1 + s$ridge), lambda = lams * (1 + s$ridge) / sum(c), thresh = 1e-20)
  classes <- if (is.list(path$beta)) path$beta else list(path$beta)
  free <- matrix(if (family == "cox") 0 else path$a0, length(classes), length(lams))
  out <- file(file_of("answer"), "wb")
  for (l in seq_along(lams)) {
    writeBin(as.vector(free[, l]), out)
    for (beta in classes) writeBin(as.vector(as.matrix(beta)[, l]), out)
  }
  close(out)
  out <- file(file_of("largest"), "wb")
  writeBin(largest, out)
  close(out)
}

for (k in seq_len(nrow(manifest))) {
  s <- as.list(manifest[k, ])
  tryCatch(suppressWarnings(solve_one(s)), error = function(e) {
    unlink(file.path(folder, paste0(s$number, ".answer")))
    message(sprintf("glmnet gave up problem %s (%s): %s", s$number, s$loss, conditionMessage(e)))
  })
}
cat(as.character(packageVersion("glmnet")))
