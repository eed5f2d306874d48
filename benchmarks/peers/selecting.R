# Called by selecting.py: Rscript selecting.R peer folder target level limit. Reads the problems that
# selecting.py has written and selects with glmnet: the lasso at the penalty of cv.glmnet that
# coef() takes unless told otherwise, one standard error from the best. It knows no level.
suppressMessages(library(glmnet))
argument <- commandArgs(trailingOnly = TRUE)
folder <- argument[2]
limit <- as.numeric(argument[5]) # processor seconds for each problem
manifest <- read.csv(file.path(folder, "manifest.csv"), colClasses = c(response = "character"))
families <- c(linear = "gaussian", binary = "binomial", count = "poisson", survival = "cox")

select_one <- function(s) {
  file_of <- function(name) file.path(folder, paste0(s$number, ".", name))
  X <- matrix(readBin(file_of("X"), "double", s$n * s$p), s$n, s$p)
  y <- matrix(readBin(file_of("y"), "double", s$n * s$columns), s$n, s$columns)
  if (s$response == "survival") colnames(y) <- c("time", "status") else y <- y[, 1]
  set.seed(s$seed %% 2^31)
  before <- sum(proc.time()[1:2])
  setTimeLimit(cpu = limit, transient = TRUE)
  fit <- cv.glmnet(X, y, family = families[[s$response]])
  setTimeLimit()
  beta <- as.vector(coef(fit))
  if (s$response != "survival") beta <- beta[-1] # the intercept
  seconds <- sum(proc.time()[1:2]) - before
  writeBin(as.double(beta != 0), file_of("selected"))
  writeBin(as.double(seconds), file_of("seconds"))
}

for (k in seq_len(nrow(manifest))) {
  s <- as.list(manifest[k, ])
  tryCatch(suppressWarnings(select_one(s)), error = function(e) {
    setTimeLimit()
    words <- conditionMessage(e)
    if (grepl("CPU time limit", words)) words <- "too slow"
    cat(words, file = file.path(folder, paste0(s$number, ".error")))
  })
}
