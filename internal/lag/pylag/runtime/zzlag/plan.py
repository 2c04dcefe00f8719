"""What to delay: the plan of one trial, and what it says of one site.

The rules are those of the other engines, so that a plan means the same in all
of them: the choice of sites and the doses depend on the seed and on the site's
id, not on the process, so head and base agree.
"""

ANY, WORKER, TEST = range(3)
ROLES = ("any", "worker", "test")

# Kinds that the engines share; this one has all but cleanup.
DOUBLE, RETURN, CALL, START, WAKE, SIGNAL, STEP = "double", "return", "call", "start", "wake", "signal", "step"
TIMEOUT, SLEEP = "timeout", "sleep"

VERSION = 1

# Limits where the plan names none.
DEFAULT_HITS = 3
DEFAULT_BUDGET_MS = 20000

_MASK = (1 << 64) - 1


def fnv(text):
    """FNV-1a of a site's id, 64 bits."""
    h = 14695981039346656037
    for byte in text.encode("utf-8", "surrogateescape"):
        h = ((h ^ byte) * 1099511628211) & _MASK
    return h


def mix(a, b):
    """The finaliser of splitmix64 over two numbers."""
    x = (a * 0x9E3779B97F4A7C15 & _MASK) ^ ((b + 0x7F4A7C15BF58476D) & _MASK)
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31


def fraction(x):
    return (x >> 11) / (1 << 53)


class Decision:
    """One delay of a plan to be replayed; hit 0 is every hit up to the plan's cap."""

    __slots__ = ("role", "hit", "ms", "give_up")

    def __init__(self, o):
        role = o.get("role") or "any"
        self.role = ROLES.index(role) if role in ROLES else ANY
        self.hit = int(o.get("hit") or 0)
        self.ms = float(o.get("ms") or 0)
        self.give_up = bool(o.get("yield"))


class Plan:
    """A plan as far as a process needs it. Times are in milliseconds."""

    def __init__(self, o):
        if o.get("version") != VERSION:
            raise ValueError("plan version %r is not known here" % (o.get("version"),))
        role = o.get("role") or "any"
        self.role = ROLES.index(role) if role in ROLES else ANY
        self.seed = int(o.get("seed") or 0)
        self.kinds = set(o.get("kinds") or ())
        self.sites = set(o.get("sites") or ())
        self.test_sites = bool(o.get("test_sites"))
        self.least = float(o.get("min_ms") or 0)
        self.most = max(self.least, float(o.get("max_ms") or 0))
        self.give_up = bool(o.get("yield"))
        self.probability = float(o.get("probability") or 0)
        self.hits = int(o.get("hits") or 0) or DEFAULT_HITS
        self.per_test = bool(o.get("per_test"))
        self.budget = float(o.get("budget_ms") or 0) or DEFAULT_BUDGET_MS
        stretch = o.get("stretch") or {}
        self.timeouts = float(stretch.get("timeouts") or 1)
        self.sleeps = float(stretch.get("sleeps") or 1)
        self.cap = float(stretch.get("cap_ms") or 0)
        self.clocks = set(stretch.get("sites") or ())
        self.decisions = None
        if o.get("decisions"):
            self.decisions = {}
            for d in o["decisions"]:
                self.decisions.setdefault(d.get("site"), []).append(Decision(d))

    def delays(self):
        """Whether the plan delays anything at all."""
        return self.decisions is not None or bool(self.kinds)

    def concerns(self, role):
        """Whether a thread of this role can be delayed."""
        if not self.delays():
            return False
        if self.decisions is None:
            return self.role in (ANY, role)
        return any(d.role in (ANY, role) for ds in self.decisions.values() for d in ds)

    def picks(self, site, kind, test):
        """Whether the plan delays this site. One that the plan names is taken whatever its kind.

        A start counts though the body is test code: it is the project that hands it to a thread.
        """
        if self.decisions is not None:
            return site in self.decisions
        if self.sites:
            if not self.names(site) or self.kinds and kind not in self.kinds:
                return False
        elif kind not in self.kinds or test and not self.test_sites and kind != START:
            return False
        return not 0 < self.probability < 1 or fraction(mix(self.seed, fnv(site))) < self.probability

    def names(self, site):
        """Whether the plan's sites have this one: by its id, by its file and function, or by its folder and function."""
        if site in self.sites:
            return True
        file, _, func = site.rsplit(":", 2)[0].rpartition(":")
        folder = file.rpartition("/")[0] or "."
        return "%s:%s" % (file, func) in self.sites or "%s/:%s" % (folder, func) in self.sites

    def dose(self, site, hit):
        """The delay of one hit, rounded down to a microsecond."""
        if self.most <= self.least:
            return self.least
        share = fraction(mix((self.seed + 13) & _MASK, (fnv(site) + hit * 0x9E3779B97F4A7C15) & _MASK))
        return int((self.least + (self.most - self.least) * share) * 1000) / 1000


class Site:
    """One place where time can be moved, and how often it was passed."""

    __slots__ = ("id", "kind", "line", "text", "test", "done", "told", "_picked", "_passes", "_taken", "_plan", "_decisions")

    def __init__(self, plan, id, kind, line, text, test):
        self.id, self.kind, self.line, self.text, self.test = id, kind, line, text, test
        self.told = False  # whether the log has its line
        self._plan = plan
        self._passes = [0, 0, 0]
        self._taken = 0
        self._decisions = plan.decisions.get(id) if plan.decisions is not None else None
        self._picked = plan.picks(id, kind, test)
        self.done = not self._picked

    def renew(self):
        """Another test begins, and the plan counts hits for each."""
        self._taken = 0
        self.done = not self._picked

    def decide(self, role):
        """The delay of this pass as (hit, ms, give_up), or None. Not safe for two threads at once."""
        if self._decisions is not None:
            return self._replay(role)
        if self._plan.role not in (ANY, role):
            return None
        self._passes[role] += 1
        self._taken += 1
        if self._taken > self._plan.hits:
            self.done = True
            return None
        hit = self._passes[role]
        if self._plan.give_up:
            return hit, 0, True
        ms = self._plan.dose(self.id, hit)
        return (hit, ms, False) if ms > 0 else None

    def _replay(self, role):
        self._passes[ANY] += 1
        self._passes[role] += 1
        own = self._passes[role]
        for d in self._decisions:
            if d.role not in (ANY, role):
                continue
            hit = self._passes[ANY] if d.role == ANY else own
            if d.hit and d.hit != hit:
                continue
            if not d.hit:
                self._taken += 1
                if self._taken > self._plan.hits:
                    continue
            return own, d.ms, d.give_up
        return None
