"""Tells triagebot what an interpreter is and what it has of the project.

It is run by ``python -c`` in a tree, before any trial, and prints one line of
JSON last. It needs the standard library only and writes nothing.
"""

import csv
import json
import os
import re
import sys

# Directories of other people's code, in which a project file names no project of ours.
_THEIRS = {"node_modules", "site-packages", "vendor", "vendored", "_vendor", "third_party", "thirdparty", "external", "testdata"}
# Where a project keeps its modules, below its own directory.
_SOURCES = ("src", ".", "lib", "python")
# How deep below the tree a project of its own is looked for, and in how many directories.
_DEEPEST, _MOST_DIRS = 3, 1000
# How many files that the tree lacks are told of: with more it is no copy of the tree.
_MOST_MISSING = 40
_NAME = re.compile(r"""(?m)^\s*name\s*=\s*["']?([A-Za-z0-9][A-Za-z0-9._-]*)""")
_NAME_IN_CALL = re.compile(r"""\bname\s*=\s*["']([A-Za-z0-9][A-Za-z0-9._-]*)""")


def _pytest():
    try:
        import pytest

        return pytest.__version__, ""
    except BaseException as e:
        return "", type(e).__name__ + ": " + str(e)


def _below(path, root):
    """A path relative to a directory that holds it, or is it; None for another."""
    if path == root or path.startswith(root + os.sep):
        return os.path.relpath(path, root)
    return None


def _read(path):
    """The beginning of a file's text; empty for what is no file, as a pipe, which would be waited for."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read(1 << 20)
    except OSError:
        return ""


def _editable(checkout):
    """The directories of the checkout on the module path, without the interpreter's own."""
    found = []
    own = os.path.realpath(sys.prefix)
    seen = list(sys.path)
    for finder in sys.meta_path:
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", ""), None), "MAPPING", None)
        if isinstance(mapping, dict):
            seen += [os.path.dirname(str(x)) for x in mapping.values()]
    for x in filter(None, seen):
        full = os.path.realpath(x)
        rel = _below(full, checkout)
        if rel is not None and _below(full, own) is None and rel not in found:
            found.append(rel)
    return found


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(directory):
    """What the project files of a directory call it."""
    found = set()
    for table in re.split(r"(?m)^(?=\[)", _read(os.path.join(directory, "pyproject.toml"))):
        if re.match(r"\[\s*(project|tool\.poetry|tool\.flit\.metadata)\s*\]", table):
            found.update(_NAME.findall(table)[:1])
    for section in re.split(r"(?m)^(?=\[)", _read(os.path.join(directory, "setup.cfg"))):
        if section.startswith("[metadata]"):
            found.update(_NAME.findall(section)[:1])
    found.update(_NAME_IN_CALL.findall(_read(os.path.join(directory, "setup.py")))[:1])
    return {_normal(n) for n in found}


def _projects(tree):
    """The names of the tree's projects, each with its directory relative to the tree; the root's come first."""
    found = {}
    left = _MOST_DIRS
    for at, dirs, files in os.walk(tree):
        rel = os.path.relpath(at, tree)
        depth = 0 if rel == "." else rel.count(os.sep) + 1
        dirs[:] = sorted(d for d in dirs if d not in _THEIRS and not d.startswith(".") and depth < _DEEPEST)
        if not {"pyproject.toml", "setup.cfg", "setup.py"}.isdisjoint(files):
            for name in _names(at):
                found.setdefault(name, rel)
        left -= 1
        if not left:
            break
    return found


def _installed_ones():
    """The distributions on the module path, as directory, entry of metadata and name."""
    for place in dict.fromkeys(p for p in sys.path if p):
        try:
            entries = os.listdir(place)
        except OSError:
            continue
        for e in entries:
            if e.endswith((".dist-info", ".egg-info")):
                yield place, e, _normal(re.split(r"-(?=\d)", e.rpartition(".")[0])[0])
            elif e == "EGG-INFO":
                yield place, e, _normal(re.split(r"-(?=\d)", os.path.basename(place))[0])


def _origin(info):
    """The path that a distribution was installed from, whether it was a directory, and whether it is editable."""
    try:
        told = json.loads(_read(os.path.join(info, "direct_url.json")) or "{}")
        url = told.get("url", "")
        if not url.startswith("file://"):
            return "", False, False
        from urllib.parse import unquote, urlsplit
        from urllib.request import url2pathname

        path = os.path.realpath(url2pathname(unquote(urlsplit(url).path) if os.sep == "/" else urlsplit(url).path))
        return path, "dir_info" in told, bool((told.get("dir_info") or {}).get("editable"))
    except (ValueError, AttributeError):
        return "", False, False


def _files(info):
    """The files of a distribution below its place, without its metadata, its scripts and what is compiled; None where that is not told."""
    try:
        with open(os.path.join(info, "RECORD"), encoding="utf-8", newline="") as f:
            listed = [row[0].replace("/", os.sep) for row in csv.reader(f) if row]
    except (OSError, ValueError, csv.Error):
        return None
    return [p for p in listed if not os.path.isabs(p) and not p.startswith("..") and "__pycache__" not in p
            and not p.split(os.sep)[0].endswith((".dist-info", ".data"))]


def _tops(place, info, files):
    """The prefixes of the paths of its modules, as the interpreter spells them and as they are."""
    if files is None:
        tops = _read(os.path.join(info, "top_level.txt")).split()
        tops = [t + os.sep for t in tops] + [t + "." for t in tops]
    else:
        tops = {p.split(os.sep)[0] + (os.sep if os.sep in p else "") for p in files if p.endswith((".py", ".so", ".pyd"))}
    return sorted({os.path.join(at, t) for t in tops for at in (place, os.path.realpath(place))})


def _source(tree, projects, files):
    """The directory of the tree that has most of these files, relative to it, and the files that it lacks."""
    best, lacking = "", None
    for project in projects:
        for sub in _SOURCES:
            rel = os.path.normpath(os.path.join(project, sub))
            missing = [f for f in files if not os.path.isfile(os.path.join(tree, rel, f))]
            if any(f.endswith(".py") and f not in missing for f in files) and (lacking is None or len(missing) < len(lacking)):
                best, lacking = rel, missing
    if lacking is None or len(lacking) > _MOST_MISSING:
        return "", []
    return best, [os.path.normpath(os.path.join(best, f)) for f in lacking]


def _same(place, checkout, rel, files):
    """Whether most of the files are the checkout's to the byte: it was made of that directory, and is not another's of this name."""
    modules = [f for f in files if f.endswith(".py")]
    alike = sum(_read(os.path.join(place, f)) == _read(os.path.join(checkout, rel, f)) for f in modules)
    return 2 * alike > len(modules)


def _copies(checkout, tree, suite, editable):
    """The distributions that were installed from the project by copying it, where the tree has no environment of its own.

    It is one when its metadata names a directory of the checkout or the tree; or when it has
    the name of the project in the root or in the suite's directory; or that of another project
    of the tree, where it came from this machine or its modules are the checkout's.
    """
    found, known = [], None
    for place, entry, name in _installed_ones():
        real, info = os.path.realpath(place), os.path.join(place, entry)
        if _below(real, tree) is not None or _below(real, checkout) in editable:
            continue
        path, directory, editable_install = _origin(info)
        if editable_install:
            continue
        known = _projects(tree) if known is None else known
        at = next((rel for rel in (_below(path, checkout), _below(path, tree)) if rel is not None), None) if directory else None
        home = known.get(name)
        if at is None and home is None:
            continue
        homes = dict.fromkeys(h for h in (at, home, ".") if h is not None)
        files = _files(info)
        rel, missing = _source(tree, homes, files or [])
        if at is None and home not in (".", suite) and not path and not (rel and _same(place, checkout, rel, files)):
            continue
        found.append({"info": info, "places": [os.path.join(p, "") for p in dict.fromkeys((place, real))], "tops": _tops(place, info, files),
                      "source": rel.replace(os.sep, "/"), "missing": [m.replace(os.sep, "/") for m in missing]})
    return found


def _main():
    version, error = _pytest()
    told = {"executable": sys.executable, "major": sys.version_info[0], "minor": sys.version_info[1], "pytest": version, "error": error}
    if os.environ.get("TRIAGEBOT_CHECKOUT") and sys.version_info >= (3, 9):
        checkout = os.path.realpath(os.environ["TRIAGEBOT_CHECKOUT"])
        tree = os.path.realpath(os.environ["TRIAGEBOT_TREE"])
        told["editable"] = _editable(checkout)
        told["copies"] = _copies(checkout, tree, os.path.relpath(os.path.realpath(os.getcwd()), tree), told["editable"])
    print()
    print(json.dumps(told))


_main()
