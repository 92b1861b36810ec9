"""The wheel and the source archive hold what an installed sampledash needs, dashboard included."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[1]
BUILD = "from setuptools.build_meta import *; build_wheel('../built'); build_sdist('../built')"


def test_wheel_and_archive_hold_the_package_and_the_dashboard(tmp_path):
    pytest.importorskip("setuptools", minversion="77")  # as in pyproject.toml; the extra has it
    source, built = tmp_path / "source", tmp_path / "built"
    idle = (".git", ".venv", "tests", "__pycache__", "*.egg-info", "build", ".*_cache", ".mutants")
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*idle))
    names = [path for path in (source / "sampledash").rglob("*") if path.is_file()]
    package = {path.relative_to(source).as_posix() for path in names}
    subprocess.run([sys.executable, "-c", BUILD], cwd=source, check=True, capture_output=True)
    with ZipFile(*built.glob("*.whl")) as wheel, tarfile.open(*built.glob("*.tar.gz")) as archive:
        installed = set(wheel.namelist())
        unpacked = {name.partition("/")[2] for name in archive.getnames()}
    shared = {name.partition(".data/data/share/sampledash/")[2] for name in installed} - {""}
    # Streamlit reads its settings beside app.py, which reads the files that it names in assets.
    named = re.findall(r'"([\w]+\.(?:svg|css))"', (ROOT / "app.py").read_text("utf-8"))
    assert shared == {"app.py", ".streamlit/config.toml", *(f"assets/{name}" for name in named)}
    assert package <= installed
    assert package | shared | {"pyproject.toml", "requirements.txt", "README.md"} <= unpacked


def test_pages_link_to_each_other_where_app_py_is_away_from_the_package(tmp_path):
    shutil.copytree(ROOT / "assets", tmp_path / "assets")
    shutil.copy(ROOT / "app.py", tmp_path)
    page = AppTest.from_file(str(tmp_path / "app.py"), default_timeout=60).run()
    assert not page.exception
    assert next(link.proto.page for link in page.get("page_link")) == "consistency"
