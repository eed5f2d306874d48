"""Sphinx settings. The site loads nothing from outside: it can be read without a network."""

import sys
from importlib.metadata import files
from pathlib import Path

from selica import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "selica"
author = "The selica developers"
copyright = "The selica developers, BSD-3-Clause"
release = version = __version__
extensions = [
    "myst_parser",
    "numpydoc",
    "methods",
    "promises",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "data",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "gallery/*.json",
]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# One file, with its fonts inside, from a package: no CDN, and none of the reader's own fonts.
_mathjax = next(f for f in files("sphinx-mathjax-offline") or [] if f.name == "tex-svg.js")
mathjax_path = _mathjax.name

default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # three need files of the reader's
    "filename_pattern": r"/(?!colon|hiv|riboflavin)[a-z_]+\.py",
    "within_subsection_order": "exhibition.place",
    "abort_on_example_error": True,
    "capture_repr": (),
    "image_scrapers": ("exhibition.scrape",),
    "thumbnail_size": (640, 448),
    "default_thumb_file": str(Path(__file__).parent / "images" / "no-figure.png"),
    "doc_module": ("selica",),
    "backreferences_dir": "generated/examples",
    "reference_url": {"selica": None},
    "download_all_examples": False,
    "write_computation_times": False,  # its page would load scripts from elsewhere
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 3600,
}

html_theme = "pydata_sphinx_theme"
html_title = "selica"
html_static_path = ["_static", str(_mathjax.locate())]
html_extra_path = ["data"]  # measured rows, as they are
html_css_files = ["selica.css"]
html_sidebars = {"**": ["all-pages.html"]}
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which a browser forbids for files
html_theme_options = {
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "back_to_top_button": False,
}
