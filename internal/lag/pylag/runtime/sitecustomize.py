"""Brings the lag runtime into the Python processes that a lagged test starts.

Python imports this at start because its directory is on PYTHONPATH. In any other
process it only hands over to the sitecustomize that it stands before.
"""

import os
import sys


def _hand_over():
    import importlib.machinery
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("TRIAGEBOT_LAG_PLAN") and os.environ.get("TRIAGEBOT_LAG_CHILD") and sys.version_info >= (3, 9):
    import zzlag

    zzlag.install(child=True)
_hand_over()
