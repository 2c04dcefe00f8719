"""Unit tests of the lag runtime: unittest only, so that they run without pytest.

Each test of an engine runs in a process of its own, because hooks and patches are
for the life of a process.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.environ.get("TRIAGEBOT_LAG_RUNTIME") or os.path.join(HERE, "..", "..", "runtime")
sys.path.insert(0, RUNTIME)

from zzlag import plan as plans  # noqa: E402


def plan_of(**fields):
    return plans.Plan(dict({"version": 1}, **fields))


class PlanRules(unittest.TestCase):
    """The rules that all engines share; the numbers are those of the Go engine."""

    def test_hash_and_mix_are_the_shared_ones(self):
        self.assertEqual(plans.fnv("shop/core.py:Dispatcher._one:double:1"), 7433582223346322904)
        self.assertEqual(plans.mix(1, 2), 9426897204217471601)
        self.assertEqual(plans.mix(0, 0), 4651459656426533367)
        self.assertEqual(plans.mix((1 << 64) - 1, (1 << 64) - 1), 6616324782511284543)
        p = plan_of(min_ms=10, max_ms=20, seed=3)
        self.assertEqual([p.dose("a:f:call:1", hit) for hit in (1, 2, 3)], [18.998, 10.363, 11.264])

    def test_unknown_version_is_refused(self):
        with self.assertRaises(ValueError):
            plans.Plan({"version": 2})

    def test_defaults_bound_hits_and_budget(self):
        p = plan_of(kinds=["call"], min_ms=5)
        self.assertEqual((p.hits, p.budget, p.least, p.most), (3, 20000, 5, 5))

    def test_a_site_in_test_code_needs_the_plans_word(self):
        self.assertFalse(plan_of(kinds=["call"]).picks("a:f:call:1", "call", True))
        self.assertTrue(plan_of(kinds=["call"], test_sites=True).picks("a:f:call:1", "call", True))
        self.assertTrue(plan_of(sites=["a:f:call:1"]).picks("a:f:call:1", "call", True))

    def test_functions_are_named_without_kind_and_ordinal(self):
        id = "shop/core.py:Registry.register:call:1"
        for site, want in (
            (id, True),
            ("shop/core.py:Registry.register", True),
            ("shop/:Registry.register", True),
            ("shop/core.py:register", False),
            ("core.py:Registry.register", False),
            ("./:Registry.register", False),
        ):
            p = plan_of(kinds=["call"], sites=[site])
            self.assertEqual(p.picks(id, "call", False), want, site)
            self.assertFalse(p.picks(id.replace(":call:", ":wake:"), "wake", False), site)
        self.assertTrue(plan_of(kinds=["wake"], sites=["./:run"]).picks("a.py:run:wake:2", "wake", False))

    def test_probability_picks_the_same_sites_each_time(self):
        ids = ["f.py:f%d:call:1" % i for i in range(1000)]
        p = plan_of(kinds=["call"], probability=0.3, seed=4)
        first = [i for i in ids if p.picks(i, "call", False)]
        self.assertEqual(first, [i for i in ids if p.picks(i, "call", False)])
        self.assertTrue(200 < len(first) < 400, len(first))

    def test_dose_is_within_its_bounds_and_depends_on_the_hit(self):
        p = plan_of(kinds=["call"], min_ms=10, max_ms=20, seed=3)
        doses = {p.dose("a:f:call:1", hit) for hit in range(1, 20)}
        self.assertTrue(len(doses) > 10 and all(10 <= d <= 20 for d in doses), doses)


class SiteRules(unittest.TestCase):
    def passes(self, p, role, n=5, kind="call", id="a:f:call:1"):
        site = plans.Site(p, id, kind, 1, "", False)
        return [site.decide(role) for _ in range(n)]

    def test_hits_are_capped_and_numbered_by_role(self):
        p = plan_of(kinds=["call"], role="worker", min_ms=5, hits=2)
        self.assertEqual(self.passes(p, plans.WORKER), [(1, 5, False), (2, 5, False), None, None, None])
        self.assertEqual(self.passes(p, plans.TEST), [None] * 5)

    def test_hits_are_counted_anew_for_another_test(self):
        site = plans.Site(plan_of(kinds=["call"], role="worker", min_ms=5, hits=1, per_test=True), "a:f:call:1", "call", 1, "", False)
        self.assertEqual([site.decide(plans.WORKER) for _ in range(2)], [(1, 5, False), None])
        self.assertTrue(site.done)
        site.renew()
        self.assertFalse(site.done)
        self.assertEqual([site.decide(plans.WORKER) for _ in range(2)], [(3, 5, False), None])
        other = plans.Site(site._plan, "a:f:step:1", "step", 1, "", False)
        other.renew()
        self.assertTrue(other.done)

    def test_a_replay_delays_the_very_hits(self):
        p = plan_of(decisions=[{"site": "a:f:call:1", "role": "worker", "hit": 3, "ms": 7}])
        self.assertEqual(self.passes(p, plans.WORKER), [None, None, (3, 7, False), None, None])
        self.assertEqual(self.passes(p, plans.TEST), [None] * 5)

    def test_hit_zero_is_every_hit_up_to_the_cap(self):
        p = plan_of(decisions=[{"site": "a:f:call:1", "hit": 0, "ms": 7}], hits=2)
        self.assertEqual(self.passes(p, plans.TEST, 3), [(1, 7, False), (2, 7, False), None])

    def test_a_yield_has_no_dose(self):
        p = plan_of(kinds=["call"], **{"yield": True})
        self.assertEqual(self.passes(p, plans.WORKER, 1), [(1, 0, True)])


class InProcess(unittest.TestCase):
    """Runs a script under a plan, as a project with tests/ and shop/."""

    def run_script(self, plan, script, child=False, root=HERE, extra=None):
        with tempfile.TemporaryDirectory() as d:
            env = dict(os.environ, PYTHONPATH=os.pathsep.join([RUNTIME, root]), TRIAGEBOT_TREE=root, PYTHONDONTWRITEBYTECODE="1")
            env.update(extra or {})
            if plan is not None:
                with open(os.path.join(d, "plan"), "w") as f:
                    json.dump(dict({"version": 1}, **plan), f)
                env["TRIAGEBOT_LAG_PLAN"] = os.path.join(d, "plan")
                env["TRIAGEBOT_LAG_LOG"] = os.path.join(d, "log")
            if child:
                env["TRIAGEBOT_LAG_CHILD"] = "1"
            done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], env=env, cwd=root, capture_output=True, text=True, timeout=60)
            log = []
            if os.path.exists(os.path.join(d, "log")):
                with open(os.path.join(d, "log")) as f:
                    log = [json.loads(line) for line in f]
            return done, log

    def under(self, plan, body, **more):
        """Run body as a test would be run; it must succeed."""
        script = (
            "import zzlag\nfrom zzlag import threads\nengine = zzlag.install()\n"
            "from tests import cases\nengine.begin(); threads.begin(engine)\n"
            + textwrap.dedent(body)
            + "\nthreads.end(engine); engine.end()\n"
        )
        done, log = self.run_script(plan, script, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.stderr, self.stdout = done.stderr, done.stdout
        return log

    def sites(self, log):
        return [r["site"] for r in log if "site" in r]


ALL = ["double", "return", "call", "start", "wake", "signal", "step"]


class Off(InProcess):
    def test_without_a_plan_nothing_is_installed(self):
        done, _ = self.run_script(
            None,
            """
            import asyncio, sys, threading, time
            before = asyncio.BaseEventLoop.create_task, time.sleep, time.monotonic, threading.Event.wait
            import zzlag
            assert zzlag.install() is None
            assert sys.getprofile() is None and threading._profile_hook is None
            assert before == (asyncio.BaseEventLoop.create_task, time.sleep, time.monotonic, threading.Event.wait)
            assert not [m for m in sys.modules if m.startswith("zzlag.")]
            """,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_process_without_a_plan_does_not_even_import_it(self):
        done, _ = self.run_script(None, "import sys; assert 'zzlag' not in sys.modules", child=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_plan_that_is_broken_ends_the_process(self):
        done, _ = self.run_script({"version": 9}, "import zzlag; zzlag.install(); print('on')")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("version 9", done.stderr)

    def test_the_sitecustomize_behind_ours_still_runs(self):
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "sitecustomize.py"), "w") as f:
                f.write("import sys; sys.own_site = True\n")
            path = os.pathsep.join([RUNTIME, d])
            done, _ = self.run_script(None, "import sys; assert sys.own_site", extra={"PYTHONPATH": path})
            self.assertEqual(done.returncode, 0, done.stderr)


class Threads(InProcess):
    def worker(self, kinds, call, **more):
        return self.under(dict({"role": "worker", "kinds": kinds, "min_ms": 1}, **more), call)

    def test_a_double_is_late_after_it_returned(self):
        log = self.worker(["double"], "cases.dispatch()")
        self.assertEqual(self.sites(log), ["shop/core.py:Dispatcher._one:double:1"])
        self.assertEqual((log[0]["role"], log[0]["hit"], log[0]["test"]), ("worker", 1, False))
        self.assertEqual(log[0]["text"], "pane = self.tmux.spawn(job)")

    def test_a_mock_is_a_double(self):
        self.assertEqual(self.sites(self.worker(["double"], "cases.dispatch_mock()")), ["shop/core.py:Dispatcher._one:double:1"])

    def test_functions_are_late_before_they_run(self):
        log = self.worker(["call"], "cases.dispatch()")
        self.assertEqual(
            self.sites(log),
            ["shop/core.py:Dispatcher._run:call:1", "shop/core.py:Dispatcher._one:call:1", "shop/core.py:Registry.register:call:1"],
        )

    def test_a_thread_and_a_pool_item_are_named_by_their_function(self):
        self.assertEqual(self.sites(self.worker(["start"], "cases.dispatch()")), ["shop/core.py:Dispatcher._run:start:1"])
        self.assertEqual(self.sites(self.worker(["start"], "cases.pool()")), ["shop/core.py:work:start:1"])

    def test_a_thread_class_of_the_tests_starts_late_once(self):
        log = self.worker(["start"], "cases.subclass()")
        self.assertEqual(self.sites(log), ["tests/cases.py:Server.run:start:1"])

    def test_a_queue_wakes_and_an_event_signals(self):
        self.assertIn("shop/core.py:Dispatcher._run:wake:1", self.sites(self.worker(["wake"], "cases.dispatch()")))
        self.assertIn("shop/core.py:Dispatcher._run:signal:3", self.sites(self.worker(["signal"], "cases.dispatch()")))

    def test_a_builtin_handed_in_as_callback_may_be_a_double(self):
        self.assertEqual(self.sites(self.worker(["return"], "cases.callback()")), ["shop/core.py:Machine._go:return:1"])

    def test_the_tests_own_thread_is_not_delayed_by_a_plan_for_workers(self):
        log = self.worker(ALL, "cases.direct()")
        self.assertEqual(log, [])

    def test_the_tests_own_thread_steps(self):
        log = self.under({"role": "test", "kinds": ["step"], "min_ms": 1, "test_sites": True}, "cases.direct()")
        self.assertEqual(self.sites(log), ["tests/cases.py:direct:step:1", "tests/cases.py:direct:step:2"])
        self.assertTrue(log[0]["test"])

    def test_the_budget_bounds_the_process(self):
        log = self.worker(["call"], "cases.dispatch()", min_ms=40, max_ms=40, budget_ms=100)
        self.assertEqual(len(log), 2)

    def test_sleepers_go_on_when_the_test_ends(self):
        log = self.under(
            {"role": "worker", "kinds": ["start"], "min_ms": 30000, "max_ms": 30000, "budget_ms": 60000},
            "import time; began = time.monotonic(); t = cases.start()\nwhile not engine._records: pass\nthreads.end(engine); engine.end(); t.join(); assert time.monotonic() - began < 20",
        )
        self.assertEqual(len(log), 1)

    def test_nothing_is_delayed_outside_a_test(self):
        done, log = self.run_script(
            {"role": "any", "kinds": ALL, "min_ms": 1}, "import zzlag; zzlag.install(); from tests import cases; cases.dispatch()"
        )
        self.assertEqual((done.returncode, log), (0, []), done.stderr)

    def test_the_same_place_has_the_same_id_when_lines_move(self):
        log = self.worker(ALL, "cases.dispatch()")
        with tempfile.TemporaryDirectory() as d:
            for folder in ("shop", "tests"):
                os.mkdir(os.path.join(d, folder))
                for name in os.listdir(os.path.join(HERE, folder)):
                    if name.endswith(".py"):
                        with open(os.path.join(HERE, folder, name)) as f:
                            text = f.read()
                        with open(os.path.join(d, folder, name), "w") as f:
                            f.write("# moved\n\n\n" + text.replace("    def _one", "    # moved\n    def _one"))
            moved = self.under({"role": "worker", "kinds": ALL, "min_ms": 1}, "cases.dispatch()", root=os.path.realpath(d))
        self.assertEqual(set(self.sites(moved)), set(self.sites(log)))
        self.assertNotEqual([r.get("line") for r in moved], [r.get("line") for r in log])


class Tasks(InProcess):
    def test_tasks_of_the_project_are_workers(self):
        log = self.under({"role": "worker", "kinds": ["start", "wake"], "min_ms": 1}, "cases.arun(cases.adispatch())")
        self.assertEqual(
            self.sites(log),
            ["shop/aio.py:ADispatcher._run:start:1", "shop/aio.py:ARegistry.register:wake:1"],
        )
        self.assertEqual({r["role"] for r in log}, {"worker"})

    def test_the_tests_own_task_is_the_test(self):
        log = self.under({"role": "test", "kinds": ["wake"], "min_ms": 1, "test_sites": True}, "cases.arun(cases.adispatch())")
        self.assertTrue(log and all(r["role"] == "test" for r in log), log)

    def test_a_test_that_sleeps_is_not_made_later(self):
        log = self.under({"role": "test", "kinds": ["wake"], "min_ms": 1, "test_sites": True}, "cases.arun(cases.asleep())")
        self.assertEqual(log, [])

    def test_the_loops_thread_is_never_blocked(self):
        self.under({"role": "any", "kinds": ALL, "min_ms": 150, "max_ms": 150, "test_sites": True, "hits": 1}, "cases.arun(cases.heartbeat(0.1))")

    def test_cancelling_a_delayed_task_cancels_it(self):
        self.under({"role": "worker", "kinds": ["start", "wake"], "min_ms": 50}, "cases.arun(cases.cancel())")

    def test_a_delay_without_a_thread_for_it_is_none(self):
        log = self.under(
            {"role": "worker", "kinds": ["start", "wake"], "min_ms": 1},
            "import types\nfrom zzlag import tasks\ndef refuse(*_): raise RuntimeError(\"can't start new thread\")\n"
            "tasks._thread = types.SimpleNamespace(start_new_thread=refuse)\ncases.arun(cases.adispatch())",
        )
        self.assertTrue(log)

    def test_results_and_errors_come_through(self):
        self.under({"role": "worker", "kinds": ["start", "wake"], "min_ms": 1}, "cases.arun(cases.results())")

    def test_a_loop_with_its_own_clock_is_left_alone_and_said(self):
        log = self.under({"role": "any", "kinds": ["start", "wake"], "min_ms": 1}, "cases.own_clock()")
        self.assertEqual(log, [])
        self.assertIn("clock of its own", self.stderr)


class Clocks(InProcess):
    def stretched(self, body, **stretch):
        log = self.under({"stretch": stretch}, "import time; began = time.perf_counter()\n" + body + "\nprint(time.perf_counter() - began)")
        return [r["stretched"] for r in log], float(self.stdout)

    def test_a_sleep_is_longer_outside_a_loop_only(self):
        sites, took = self.stretched("cases.sleep(); cases.poll()", sleeps=20)
        self.assertEqual(sites, ["tests/cases.py:sleep:sleep:1"])
        self.assertTrue(0.2 <= took, took)

    def test_a_wait_is_longer(self):
        for case in ("event_timeout", "queue_timeout", "async_timeout", "future_timeout", "deadline_loop"):
            with self.subTest(case):
                sites, took = self.stretched("cases.%s()" % case, timeouts=10)
                self.assertTrue(sites and all(":timeout:" in s for s in sites), sites)
                self.assertTrue(0.25 <= took, took)

    def test_the_cap_bounds_what_is_added(self):
        _, took = self.stretched("cases.event_timeout()", timeouts=1000, cap_ms=100)
        self.assertTrue(took < 25, took)

    def test_only_the_sites_asked_for_are_stretched(self):
        sites, _ = self.stretched("cases.event_timeout(); cases.queue_timeout()", timeouts=10, sites=["tests/cases.py:queue_timeout:timeout:2"])
        self.assertEqual(sites, ["tests/cases.py:queue_timeout:timeout:2"])

    def test_a_clock_that_is_read_once_is_true(self):
        self.under({"stretch": {"timeouts": 50}}, "cases.clock_is_true()")


class FakeClocks(InProcess):
    """A clock that a test puts in the real one's place neither ends a delay nor is moved by one."""

    LATE = {"role": "worker", "kinds": ["call", "start", "wake"], "min_ms": 60, "max_ms": 60}

    def test_a_thread_is_late_in_real_time_only(self):
        log = self.under(self.LATE, "took = cases.fake_time(); assert took >= 0.12, took")
        self.assertEqual(self.sites(log), ["shop/core.py:nap:start:1", "shop/core.py:nap:call:1"])

    def test_a_clock_that_stops_ends_no_delay_and_gets_none(self):
        log = self.under(self.LATE, "cases.arun(cases.fake_time_stops_the_loop())")
        self.assertEqual(self.sites(log), ["shop/aio.py:stages:start:1"])
        self.assertIn("clock of its own", self.stderr)

    def test_the_clock_of_one_loop_is_left_alone_and_said(self):
        self.assertEqual(self.under(self.LATE, "cases.loop_time_of_an_instance()"), [])
        self.assertIn("clock of its own", self.stderr)

    def test_a_fake_clock_is_not_stretched(self):
        for plan in ({"stretch": {"sleeps": 20, "timeouts": 10}}, self.LATE, {"stretch": {"sleeps": 1}}):
            log = self.under(plan, "late = cases.skipping_loop(); assert late == 3660, late")
            self.assertEqual(log, [])

    def test_a_replaced_sleep_is_not_stretched(self):
        log = self.under({"stretch": {"sleeps": 20, "timeouts": 10}}, "with cases.FakeTime() as c:\n    cases.sleep(); assert c.now == 1000.01, c.now")
        self.assertEqual(log, [])


class Notes(InProcess):
    """What the runtime says of what it cannot delay: the report shows these lines."""

    PLAN = {"role": "any", "kinds": ALL, "min_ms": 1}
    TEST = "import zzlag\nfrom zzlag import tasks, threads\nengine = zzlag.install()\nfor _ in 1, 2:\n    engine.begin(); threads.begin(engine); threads.end(engine); tasks.end(engine); engine.end()\n"

    def said(self, before, plan=PLAN):
        done, _ = self.run_script(plan, before + "\n" + self.TEST)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()

    def test_an_ordinary_process_says_nothing(self):
        self.assertEqual(self.said("import sys; sys._is_gil_enabled = lambda: True"), [])

    def test_uvloop_is_said_once(self):
        said = self.said("import sys, types; sys._is_gil_enabled = lambda: True; sys.modules['uvloop'] = types.ModuleType('uvloop')")
        self.assertEqual(said, ["triagebot lag: uvloop is loaded: tasks on its loops are not delayed"])

    def test_uvloop_is_not_said_where_no_task_would_be_delayed(self):
        loaded = "import sys, types; sys._is_gil_enabled = lambda: True; sys.modules['uvloop'] = types.ModuleType('uvloop')"
        self.assertEqual(self.said(loaded, {"stretch": {"sleeps": 2}}), [])

    def test_a_free_threaded_build_is_said_once(self):
        said = self.said("import sys; sys._is_gil_enabled = lambda: False")
        self.assertEqual(said, ["triagebot lag: free-threaded build: delays are as asked, but nothing here was measured on one"])

    def test_a_profile_function_that_was_there_is_said(self):
        said = self.said("import sys; sys._is_gil_enabled = lambda: True; sys.setprofile(lambda *a: None)", dict(self.PLAN, test_sites=True))
        self.assertEqual(said, ["triagebot lag: the test's thread has a profile function of its own: it is not delayed"])


class Children(InProcess):
    PLAN = {"role": "worker", "kinds": ["call"], "min_ms": 1}

    def test_a_python_child_is_a_worker(self):
        done, log = self.run_script(self.PLAN, "from shop import core; core.work(1)", child=True)
        self.assertEqual((done.returncode, self.sites(log)), (0, ["shop/core.py:work:call:1"]), done.stderr)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_a_forked_child_is_a_worker(self):
        log = self.under(self.PLAN, "cases.fork()")
        self.assertEqual(self.sites(log), ["shop/core.py:work:call:1"])


if __name__ == "__main__":
    unittest.main()
