# Called by run_peer.py: Rscript glmnet.R folder n p L B way thresh threads repeats kind longest
# Reads X (column-major), y, event (survival only), weights (one row of counts after another), lams
# and the copies (one column-major copy after another, or nothing) as raw doubles, times the loop
# over members, writes the coefficients and a line "wall cpu" a repeat.
suppressMessages(library(glmnet))
argument <- commandArgs(trailingOnly = TRUE)
folder <- argument[1]
size <- as.integer(argument[2:5]) # n p L B
way <- argument[6]
thresh <- as.numeric(argument[7])
threads <- as.integer(argument[8])
repeats <- as.integer(argument[9])
kind <- argument[10]
longest <- as.numeric(argument[11]) # seconds, after which no repeat begins
doubles <- function(name, count) readBin(file.path(folder, name), "double", count)
X <- matrix(doubles("X", size[1] * size[2]), size[1], size[2])
y <- doubles("y", size[1])
event <- doubles("event", size[1])
weights <- matrix(doubles("weights", size[1] * size[4]), size[1], size[4])
lams <- doubles("lams", size[3])
copies <- doubles("copies", size[1] * size[2] * size[4])
knockoffs <- length(copies) > 0
if (knockoffs) copies <- array(copies, size[c(1, 2, 4)])
columns <- if (knockoffs) 2 * size[2] else size[2]
# Way: naive | covariance, for labels Newton | modified.Newton, with -rows: rows of zero count are
# dropped. Survival and counts have no choice: any word.
type <- sub("-.*", "", way)
rows <- grepl("rows", way)
glmnet.control(fdev = 0, devmax = 1) # to the end of the path

other <- function(b) {
  c <- weights[, b]
  keep <- if (rows) which(c > 0) else seq_along(c)
  X <- if (rows) X[keep, , drop = FALSE] else X
  fit <- function(response, ...) {
    glmnet(X, response, weights = c[keep], lambda = lams / sum(c), standardize = FALSE,
           thresh = thresh, maxit = 1e7, ...)
  }
  switch(kind,
    logistic = fit(y[keep], family = "binomial", intercept = FALSE, type.logistic = type),
    poisson = fit(y[keep], family = "poisson"),
    cox = fit(cbind(time = y[keep], status = event[keep]), family = "cox")
  )$beta
}
squared <- function(b) {
  c <- weights[, b]
  if (knockoffs) {
    fit <- glmnet(cbind(X, copies[, , b]), y, lambda = lams / size[1], standardize = FALSE,
                  intercept = FALSE, thresh = thresh, maxit = 1e7, type.gaussian = type)
  } else if (rows) {
    keep <- which(c > 0)
    fit <- glmnet(X[keep, , drop = FALSE], y[keep], weights = c[keep], lambda = lams / sum(c),
                  standardize = FALSE, intercept = FALSE, thresh = thresh, maxit = 1e7,
                  type.gaussian = type)
  } else {
    fit <- glmnet(X, y, weights = c, lambda = lams / sum(c), standardize = FALSE,
                  intercept = FALSE, thresh = thresh, maxit = 1e7, type.gaussian = type)
  }
  fit$beta
}
member <- if (kind == "squared") squared else other
ensemble <- function() {
  if (threads == 1) return(lapply(seq_len(size[4]), member))
  parallel::mclapply(seq_len(size[4]), member, mc.cores = threads)
}

whole <- lams
lams <- whole[1:min(2, length(whole))]
warm <- member(1)
lams <- whole
report <- file(file.path(folder, "times"), "w")
begin <- Sys.time()
for (r in seq_len(repeats)) {
  if (as.numeric(Sys.time() - begin, units = "secs") > longest) break
  start <- Sys.time()
  before <- proc.time()
  paths <- ensemble()
  wall <- as.numeric(Sys.time() - start, units = "secs")
  cpu <- sum((proc.time() - before)[c(1, 2, 4, 5)])
  writeLines(sprintf("%.9f %.9f", wall, cpu), report)
}
close(report)
out <- file(file.path(folder, "W"), "wb")
for (path in paths) {
  full <- matrix(NaN, columns, size[3]) # NaN where glmnet gave up: the judge then says inf
  full[, seq_len(ncol(path))] <- as.matrix(path)
  writeBin(as.vector(full), out)
}
close(out)
cat(as.character(packageVersion("glmnet")))
