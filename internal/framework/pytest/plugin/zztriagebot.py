"""Tells triagebot what each test of a pytest run did.

The adapter loads this file with ``-p zztriagebot``. It needs the standard
library and pytest only, leaves the project's own options and plugins as they are but for
what would spoil a trial (see _arguments and _silence), and writes nothing into
the tree.

Its records go to the standard output as it was before pytest began to capture:
one line each, behind a random word (the fence) that the environment names and
that is taken out of it at once. So no output of a test can be taken for a
record, and no pytest that a test starts can write one.
"""

import atexit
import faulthandler
import json
import os
import shutil
import signal
import sys
import tempfile

import pytest

_FENCE = os.environ.pop("TRIAGEBOT_PYTEST_FENCE", "")
_SEED = os.environ.pop("TRIAGEBOT_PYTEST_SEED", "")
_ORDERED = os.environ.pop("TRIAGEBOT_PYTEST_ORDERED", "")
_COPIES = os.environ.pop("TRIAGEBOT_PYTEST_COPIES", "")
_TREE = os.path.realpath(os.environ.get("TRIAGEBOT_TREE") or os.getcwd())
_OUT = os.dup(1)
_ERR = os.dup(2)

# What one record may hold, in characters: the end of a long text has the message.
_MOST_TEXT = 24000
# How many foreign files are named at most.
_MOST_OUTSIDE = 5

_compiling = []  # where Python keeps what it compiles while the tests run, and whether
_session = None  # the reporter of the one session that is ours
_shuffler = ""  # the plugin that the seed is for


def _write(record):
    data = ("\n%s %s\n" % (_FENCE, json.dumps(record))).encode("ascii", "replace")
    while data:
        data = data[os.write(_OUT, data):]


def _relative(path):
    """A path below the tree, with forward slashes; any other as it is."""
    full = os.path.realpath(path)
    if full == _TREE or full.startswith(_TREE + os.sep):
        full = os.path.relpath(full, _TREE)
    return full.replace(os.sep, "/")


def _cache_directory():
    """Name a directory for pytest's cache outside the tree; the command line reads it from the environment."""
    path = os.path.join(tempfile.gettempdir(), "zztriagebot-%d" % os.getpid())
    os.environ["TRIAGEBOT_PYTEST_CACHE"] = path
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(path, "hypothesis"))
    atexit.register(shutil.rmtree, path, True)


def _keep_what_is_compiled():
    """Have Python keep what it compiles until the tests are collected, beside this file and so outside the tree.

    A person's runs find it in __pycache__; compiling the project anew for every
    trial costs more than all else that we do. The tests themselves run with what
    the environment says, and so does what they start. Our own modules were loaded
    before: their compiled files are written where Python looks for them.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("zztriagebot", "zzlag"):
            continue
        spec = getattr(module, "__spec__", None)
        if spec and spec.cached and not os.path.exists(spec.cached):
            import py_compile

            try:
                py_compile.compile(spec.origin, spec.cached)
            except OSError:
                break  # the user of the tests may not write here
    _compiling[:] = [(sys.pycache_prefix, sys.dont_write_bytecode)]
    sys.pycache_prefix = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiled")
    sys.dont_write_bytecode = False


def _compile_as_the_environment_says():
    while _compiling:
        sys.pycache_prefix, sys.dont_write_bytecode = _compiling.pop()


def _show_where_it_hangs():
    """On SIGQUIT, which ends a trial that takes too long, print every thread's stack first."""
    if hasattr(signal, "SIGQUIT") and hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGQUIT, file=_ERR, all_threads=True, chain=True)


def _arguments(manager, options):
    """Options that neutralise what a project may have installed: known only once plugins are loaded."""
    global _shuffler
    _shuffler = _made_by(manager, options) if _SEED else ""
    more = []
    if manager.hasplugin("xdist"):
        more.append("-n0")
    if manager.hasplugin("rerunfailures"):
        more.append("--reruns=0")
    if manager.hasplugin("pytest_cov"):
        more.append("--no-cov")
    if _shuffler == "randomly":
        more += ["-prandomly", "--randomly-seed=" + _SEED]
        if _ORDERED:  # it still seeds the generators before each test
            more.append("--randomly-dont-reorganize")
    elif _shuffler == "random_order" and not _ORDERED:
        more.append("--random-order-seed=" + _SEED)
    return more


def _made_by(manager, options):
    """Which plugin the seed is for: pytest-randomly shuffles unless told otherwise, pytest-random-order when asked to."""
    if not manager.hasplugin("random_order"):
        return "randomly" if manager.hasplugin("randomly") else ""
    asked = getattr(options, "random_order_enabled", False) or any(
        not str(getattr(options, name, "default:")).startswith("default:") for name in ("random_order_bucket", "random_order_seed")
    )
    return "random_order" if asked or not manager.hasplugin("randomly") else "randomly"


def _silence(config):
    """Take out the plugins that repeat or reorder tests, and the reports that would be written into the tree."""
    manager = config.pluginmanager
    names = ["rerunfailures", "flaky", "randomize"]
    if _shuffler != "randomly":
        names.append("randomly")
    if _shuffler != "random_order" or _ORDERED:
        names.append("random_order")
    for name in names:
        plugin = manager.get_plugin(name)
        if plugin is not None and manager.is_registered(plugin):
            manager.unregister(plugin)
    for option in ("xmlpath", "report_log", "htmlpath", "json_report_file", "allure_report_dir"):
        if getattr(config.option, option, None):
            setattr(config.option, option, None)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    if _FENCE and _session is None:
        if early_config.pluginmanager.hasplugin("pytest_cov"):  # it starts in this very hook
            early_config.known_args_namespace.no_cov = True
            early_config.known_args_namespace.cov_source = []
        args[:] = args + _arguments(early_config.pluginmanager, early_config.known_args_namespace)


# First, so before the plugins that open their reports.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    _begin(config)


def _begin(config):
    global _session
    if _FENCE and _session is None:
        _session = Reporter(config)
        _silence(config)
        config.pluginmanager.register(_session, "zztriagebot-reporter")


class Reporter:
    """The hooks of the one session that is ours; a pytest inside a test has its own."""

    def __init__(self, config):
        self.config = config
        self.told = False

    def pytest_sessionstart(self, session):
        root = getattr(self.config, "rootpath", None) or self.config.rootdir
        _write({"$report_type": "Root", "root": _relative(str(root)), "tree": _TREE})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        _compile_as_the_environment_says()

    def pytest_runtest_logstart(self, nodeid, location):
        _write({"$report_type": "Start", "nodeid": nodeid})

    def pytest_runtest_logreport(self, report):
        record = _record("TestReport", report)
        record["when"] = report.when
        record["duration"] = getattr(report, "duration", 0)
        if hasattr(report, "wasxfail"):
            record["wasxfail"] = str(report.wasxfail)
        _write(record)

    def pytest_collectreport(self, report):
        if report.failed:
            _write(_record("CollectReport", report))

    def pytest_internalerror(self, excrepr):
        _write({"$report_type": "InternalError", "text": str(excrepr)[-_MOST_TEXT:]})

    def pytest_sessionfinish(self, session, exitstatus):
        record = {"$report_type": "SessionFinish", "exitstatus": int(exitstatus)}
        outside = _outside()
        if outside:
            record["outside"] = outside
        _write(record)


def _record(kind, report):
    record = {"$report_type": kind, "nodeid": report.nodeid, "outcome": report.outcome}
    if report.failed:
        record["text"] = _text(report)[-_MOST_TEXT:]
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None:
            record["crash"] = {
                "path": _relative(str(crash.path)),
                "lineno": crash.lineno,
                "message": str(crash.message)[:_MOST_TEXT],
            }
    return record


def _text(report):
    text = getattr(report, "longreprtext", None)
    return text if isinstance(text, str) else str(report.longrepr)


def _outside():
    """Project files that were loaded from another copy than this tree.

    A file counts when it is one of a distribution that was installed from the
    project (the adapter names them), or when it lies outside the tree and
    outside the interpreter's own directories, as an editable install makes it
    happen, and the tree has a file of the same path below some root.
    """
    interpreter = {p + os.sep for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__))}
    interpreter = tuple(interpreter | {os.path.realpath(p) + os.sep for p in interpreter})
    ours = (_TREE + os.sep, os.path.dirname(os.path.realpath(__file__)) + os.sep)
    copies = json.loads(_COPIES) if _COPIES else []
    installed = tuple(top for c in copies for top in c["tops"])
    found = []
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if not isinstance(name, str):
            continue
        if installed and name.startswith(installed) and _copied(name, copies):
            found.append(name)
        elif "site-packages" in name or "dist-packages" in name:
            continue
        elif not name.startswith(interpreter):  # most do; to resolve each would cost more than all else here
            full = os.path.realpath(name)
            if not full.startswith(interpreter + ours) and _twin(full):
                found.append(full)
        if len(found) == _MOST_OUTSIDE:
            break
    return found


def _copied(name, copies):
    """Whether a file is one of these distributions'; others may have modules in the same package."""
    for c in copies:
        if not name.startswith(tuple(c["tops"])):
            continue
        if "files" not in c:
            c["files"] = _listed(c["info"])
        if c["files"] is None:
            return True
        if any(name.startswith(p) and name[len(p):] in c["files"] for p in c["places"]):
            return True
    return False


def _listed(info):
    """The files of a distribution, by its metadata; None where that does not tell."""
    import csv

    try:
        with open(os.path.join(info, "RECORD"), encoding="utf-8", newline="") as f:
            return {row[0].replace("/", os.sep) for row in csv.reader(f) if row}
    except (OSError, ValueError, csv.Error):
        return None


def _twin(full):
    """Whether the tree has this file too, told by at least its last two path elements."""
    parts = full.split(os.sep)
    return any(os.path.isfile(os.path.join(_TREE, *parts[i:])) for i in range(1, len(parts) - 1))


if _FENCE:
    _cache_directory()
    _keep_what_is_compiled()
    _show_where_it_hangs()
