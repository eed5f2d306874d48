"""
Which measurements tell two kinds of tumour apart?
==================================================

569 breast tumours, benign or malignant, with thirty measurements of their cell nuclei (the table of
scikit-learn). A response with two values is fitted by logistic regression. The columns are far from
independent: radius, perimeter and area say nearly the same.
"""

# %%
import warnings

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from selica import StabilitySelection

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
size = X[["mean radius", "mean perimeter", "mean area"]].corr()
print(size.round(3).to_string())

# %%
# Each half of the rows takes its first eight measurements; at most one false selection is
# expected.
warnings.simplefilter("ignore")  # nearly equal columns: the selector says so
selector = StabilitySelection(
    q=8, pfer=1.0, assumption="unimodal", resampling="pairs", n_resamples=60, random_state=0
).fit(X, y)
print(selector.summary())

# %%
figure = selector.plot()

# %%
# Is anything lost with the other columns? A selector is a step of a pipeline, and is then fitted
# on the training part of each fold only.
for name, steps in {
    "all 30 columns": [StandardScaler()],
    "stable columns": [selector, StandardScaler()],
}.items():
    model = make_pipeline(*steps, LogisticRegression(C=1.0))
    print(f"{name}: accuracy {cross_val_score(model, X, y, cv=3).mean():.3f}")

# %%
# **What to see:** of a bundle of nearly equal measurements the halves agree on one (the worst
# radius, none of the mean radius, perimeter and area). Three or four columns carry most of the
# prediction, but not all of it: a list one can rely on is not the list that predicts best.
