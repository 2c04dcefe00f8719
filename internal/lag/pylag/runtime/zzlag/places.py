"""Whose code is it, and which site is this call.

A site's id is file, function, kind and an ordinal, without a line number, so
head and base share it: the entry of a function is ordinal 1, a call is counted
among the calls of its function, an await among its awaits.
"""

import bisect
import dis
import fnmatch
import inspect
import linecache
import os
import re
import sys

from . import plan as plans

OTHER, PROJECT, TEST = range(3)

# Directories of other people's code inside a tree.
_FOREIGN = re.compile(r"(^|/)(site-packages|dist-packages|\.?venv|\.?env|\.tox|\.nox|node_modules|\.eggs|__pypackages__)/")
# What stands in test code: doubles are defined there.
_TESTS = re.compile(r"(^|/)(tests?|testing|testutils?|fakes?|mocks?|stubs?)/|(^|/)(test_[^/]*|[^/]*_test|tests|conftest|fakes?|mocks?)\.py$")
# Functions that are called by the interpreter in places where nobody hands work over.
_SILENT = {
    "__repr__", "__str__", "__hash__", "__eq__", "__del__", "__getattr__", "__setattr__", "__format__", "__bool__", "__len__",
    "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<module>",
}  # fmt: skip

# Functions of the standard library, by file and name, and what they are to the
# one who calls them.
_STANDARD = {
    ("queue.py", "get"): plans.WAKE,
    ("queue.py", "join"): plans.WAKE,
    ("queue.py", "put"): plans.SIGNAL,
    ("queue.py", "task_done"): plans.SIGNAL,
    ("threading.py", "wait"): plans.WAKE,
    ("threading.py", "wait_for"): plans.WAKE,
    ("threading.py", "join"): plans.WAKE,
    ("threading.py", "acquire"): plans.WAKE,
    ("threading.py", "set"): plans.SIGNAL,
    ("threading.py", "clear"): plans.SIGNAL,
    ("threading.py", "notify"): plans.SIGNAL,
    ("threading.py", "notify_all"): plans.SIGNAL,
    ("threading.py", "release"): plans.SIGNAL,
    ("threading.py", "start"): plans.SIGNAL,
    ("threading.py", "run"): plans.START,
    ("thread.py", "run"): plans.START,
    ("thread.py", "submit"): plans.SIGNAL,
    ("_base.py", "result"): plans.WAKE,
    ("_base.py", "exception"): plans.WAKE,
    ("_base.py", "set_result"): plans.SIGNAL,
    ("_base.py", "set_exception"): plans.SIGNAL,
    ("mock.py", "__call__"): plans.DOUBLE,
}

_FUNCTION = inspect.CO_OPTIMIZED  # the body of a class or module has it not

_STDLIB = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_HOMES = {_STDLIB, _STDLIB + "concurrent/futures/", _STDLIB + "unittest/"}


class Place:
    """What is known of one code object."""

    __slots__ = ("code", "sort", "file", "func", "standard", "entry", "start", "_sites", "_calls", "_awaits", "_loops")

    def __init__(self, code, sort, file, func, standard):
        self.code, self.sort, self.file, self.func, self.standard = code, sort, file, func, standard
        self.entry = self.start = None
        self._sites = {}
        self._calls = self._awaits = self._loops = None

    def _read(self):
        """Find the calls, awaits and loops of the function in its byte code."""
        calls, awaits, loops = [], [], []
        for i in dis.get_instructions(self.code):
            name = i.opname
            if name.startswith("CALL") and not name.startswith("CALL_INTRINSIC"):
                calls.append(i.offset)
            elif name in ("SEND", "YIELD_FROM"):
                awaits.append(i.offset)
            elif isinstance(i.argval, int) and "JUMP" in name and i.argval < i.offset and "NO_INTERRUPT" not in name:
                loops.append((i.argval, i.offset))
        self._awaits, self._loops, self._calls = awaits, loops, calls

    def ordinal(self, at, awaited=False):
        """The number of the call, or await, at this offset."""
        if self._calls is None:
            self._read()
        if awaited:  # a suspended frame stands one instruction before the await, or right behind it
            return max(1, bisect.bisect_right(self._awaits, at + 2))
        return max(1, bisect.bisect_right(self._calls, at))  # CPython 3.11 stands behind the call, in its cache

    def in_loop(self, at):
        """Whether the instruction at this offset is inside a loop of its function."""
        if self._loops is None:
            self._read()
        return any(first <= at <= last for first, last in self._loops)

    def id(self, kind, ordinal=1):
        return "%s:%s:%s:%d" % (self.file, self.func, kind, ordinal)

    def text(self, line):
        return linecache.getline(self.code.co_filename, line).strip()[:200]


class Places:
    """All code objects seen, sorted."""

    def __init__(self, engine, root, patterns=()):
        self.engine = engine
        self.root = os.path.realpath(root) + os.sep
        self.patterns = list(patterns)  # of test files, as the project configures them
        self.known = {}  # by id of the code object, which Place keeps alive
        self._files = {}

    def learn(self, code):
        """Sort a code object that is not known yet."""
        sort, file = self._file(code.co_filename)
        standard = None
        if sort == OTHER:
            standard = self._standard(code)
            func = code.co_name
        else:
            func = qualified_name(code)
        place = Place(code, sort, file, func, standard)
        if sort != OTHER and code.co_name not in _SILENT and code.co_flags & _FUNCTION:
            place.entry = self._entry(place, plans.CALL)
            place.start = self._entry(place, plans.START)
        self.known[id(code)] = place
        return place

    def of(self, code):
        return self.known.get(id(code)) or self.learn(code)

    def _entry(self, place, kind):
        line = place.code.co_firstlineno
        return self.engine.site(place.id(kind), kind, line, place.text(line), place.sort == TEST)

    def _file(self, filename):
        found = self._files.get(filename)
        if found is None:
            found = self._files[filename] = self._sort(filename)
        return found

    def _sort(self, filename):
        if filename.startswith("<"):
            return OTHER, filename
        full = os.path.realpath(filename)
        if not full.startswith(self.root):
            return OTHER, full
        name = full[len(self.root) :].replace(os.sep, "/")
        if _FOREIGN.search(name):
            return OTHER, name
        base = name.rpartition("/")[2]
        if _TESTS.search(name) or any(fnmatch.fnmatch(base, p) for p in self.patterns):
            return TEST, name
        return PROJECT, name

    def _standard(self, code):
        full = code.co_filename
        kind = _STANDARD.get((os.path.basename(full), code.co_name))
        if kind is None:
            return None
        home = os.path.dirname(os.path.realpath(full)) + os.sep
        if home in _HOMES or kind == plans.DOUBLE and home.endswith("/mock/"):
            return kind
        return None

    def call_site(self, place, kind, frame):
        """The site of the call that this frame is making."""
        at = frame.f_lasti
        site = place._sites.get((kind, at))
        if site is None:
            line = frame.f_lineno or place.code.co_firstlineno
            id = place.id(kind, place.ordinal(at))
            site = place._sites[kind, at] = self.engine.site(id, kind, line, place.text(line), place.sort == TEST)
        return site

    def await_site(self, place, frame):
        """The site of the await that this frame is suspended at."""
        at = frame.f_lasti
        site = place._sites.get((plans.WAKE, at, True))
        if site is None:
            line = frame.f_lineno or place.code.co_firstlineno
            id = place.id(plans.WAKE, place.ordinal(at, awaited=True))
            site = place._sites[plans.WAKE, at, True] = self.engine.site(id, plans.WAKE, line, place.text(line), place.sort == TEST)
        return site


if sys.version_info >= (3, 11):

    def qualified_name(code):
        return code.co_qualname

else:
    _names = {}

    def qualified_name(code):
        """The qualified name of a code object, which before 3.11 only its source tells."""
        filename = code.co_filename
        names = _names.get(filename)
        if names is None:
            names = _names[filename] = {}
            try:
                _collect(compile("".join(linecache.getlines(filename)), filename, "exec", dont_inherit=True), "", names)
            except (SyntaxError, ValueError):
                pass
        return names.get((code.co_name, code.co_firstlineno), code.co_name)

    def _collect(code, prefix, names):
        for const in code.co_consts:
            if hasattr(const, "co_code"):
                name = prefix + const.co_name
                names[const.co_name, const.co_firstlineno] = name
                _collect(const, name + (".<locals>." if const.co_flags & _FUNCTION else "."), names)
