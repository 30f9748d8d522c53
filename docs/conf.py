"""How Sphinx builds the site: ``nox -s docs``, or ``sphinx-build docs docs/_build/html``.

Nothing is fetched: formulas are MathML, which browsers draw themselves, and links to other
projects' documentation are plain links.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for gallery_tools and mathml

import gallery_tools  # noqa: E402

import lxcim_xp  # noqa: E402

project = "lxcim_xp"
author = "The lxcim_xp developers"
copyright = author
version = release = lxcim_xp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = True

# The pages are read on code hosts as well: headings are link targets in the way that these make
# them, and formulas stand between dollars.
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4

# Types are in the parameters of the docstrings, in words.
autodoc_typehints = "none"
autodoc_default_options = {"members": False}
autosummary_generate = True
python_maximum_signature_line_length = 80
smartquotes = False  # {"raise", "omit"} are values
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": gallery_tools.executed(),
    "within_subsection_order": "gallery_tools.place",
    "reset_argv": "gallery_tools.arguments",
    "reset_modules": ("gallery_tools.stay",),
    "reset_modules_order": "both",
    "image_scrapers": ("gallery_tools.written_figures",),
    "default_thumb_file": str(HERE / "_static" / "no_figure.svg"),
    # What scripts print is what they have to say; the value of a last line is not.
    "capture_repr": (),
    "abort_on_example_error": True,
    # A script is what there is to download; times are those of the machine that built the page.
    "notebook_extensions": set(),
    "download_all_examples": False,
    "min_reported_time": 60,
    "write_computation_times": False,
    "show_signature": False,
}

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"lxcim_xp {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
