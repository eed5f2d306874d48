"""Sphinx settings."""

from selica import __version__

project = "selica"
author = "The selica developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_theme = "pydata_sphinx_theme"
html_title = "selica"
exclude_patterns = ["_build"]
