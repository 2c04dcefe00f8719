'use strict';
// What to delay: the plan of one trial, and what it says of one site.
//
// The rules are those of the other engines, so that a plan means the same in
// all of them: the choice of sites and the doses depend on the seed and on the
// site's id, not on the process, so head and base agree.

const VERSION = 1;

// Limits where the plan names none.
const DEFAULT_HITS = 3;
const DEFAULT_BUDGET_MS = 20000;

const MASK = (1n << 64n) - 1n;

/** FNV-1a of a site's id, 64 bits. */
function fnv(text) {
  let h = 14695981039346656037n;
  for (const byte of Buffer.from(text, 'utf8')) h = ((h ^ BigInt(byte)) * 1099511628211n) & MASK;
  return h;
}

/** The finaliser of splitmix64 over two numbers. */
function mix(a, b) {
  let x = ((a * 0x9E3779B97F4A7C15n) & MASK) ^ ((b + 0x7F4A7C15BF58476Dn) & MASK);
  x = ((x ^ (x >> 30n)) * 0xBF58476D1CE4E5B9n) & MASK;
  x = ((x ^ (x >> 27n)) * 0x94D049BB133111EBn) & MASK;
  return x ^ (x >> 31n);
}

/** A number in [0, 1) from 64 random bits. */
const fraction = (x) => Number(x >> 11n) / 2 ** 53;

/** A plan as far as a process needs it. Times are in milliseconds. */
class Plan {
  constructor(text) {
    const o = JSON.parse(text);
    if (o.version !== VERSION) throw new Error(`plan version ${o.version} is not known here`);
    this.role = o.role || 'any';
    const seed = /"seed":\s*(\d+)/.exec(text); // 64 bits, more than JSON.parse keeps
    this.seed = BigInt(seed ? seed[1] : 0) & MASK;
    this.kinds = new Set(o.kinds || []);
    this.sites = new Set(o.sites || []);
    this.testSites = !!o.test_sites;
    this.least = o.min_ms || 0;
    this.most = Math.max(this.least, o.max_ms || 0);
    this.giveUp = !!o.yield;
    this.probability = o.probability || 0;
    this.hits = o.hits || DEFAULT_HITS;
    this.budget = o.budget_ms || DEFAULT_BUDGET_MS;
    const stretch = o.stretch || {};
    this.factor = { timeout: stretch.timeouts || 1, sleep: stretch.sleeps || 1 };
    this.cap = stretch.cap_ms || Infinity;
    this.clocks = new Set(stretch.sites || []);
    this.decisions = null;
    if (o.decisions && o.decisions.length) {
      this.decisions = new Map();
      for (const d of o.decisions) this.decisions.set(d.site, [...(this.decisions.get(d.site) || []), d]);
    }
  }

  /** Whether the plan does anything in a process of its own. */
  acts() {
    return this.decisions !== null || this.kinds.size > 0 || this.factor.timeout > 1 || this.factor.sleep > 1;
  }

  /** Whether the plan delays this site. One that the plan names is taken whatever its kind. */
  picks(id, kind, test) {
    if (this.decisions) return this.decisions.has(id);
    if (!concerns(this.role, roleOf(test))) return false;
    if (this.sites.size) {
      if (!this.names(id) || (this.kinds.size && !this.kinds.has(kind))) return false;
    } else if (!this.kinds.has(kind) || (test && !this.testSites)) return false;
    return !(this.probability > 0 && this.probability < 1) || fraction(mix(this.seed, fnv(id))) < this.probability;
  }

  /** Whether the plan's sites have this one: by its id, by its file and function, or by its folder and function. */
  names(id) {
    if (this.sites.has(id)) return true;
    const place = /^(.*):([^:]*):[^:]*:\d+$/s.exec(id);
    if (!place) return false;
    const [, file, fn] = place;
    const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '.';
    return this.sites.has(`${file}:${fn}`) || this.sites.has(`${folder}/:${fn}`);
  }

  /** Whether the plan stretches this clock. */
  stretches(id, kind) {
    return this.factor[kind] > 1 && (this.clocks.size === 0 || this.clocks.has(id));
  }

  /** What a stretch makes of a time in milliseconds. */
  longer(kind, ms) {
    return ms + Math.min(ms * (this.factor[kind] - 1), this.cap);
  }

  /** The delay of one hit, rounded down to a microsecond. */
  dose(id, hit) {
    if (this.most <= this.least) return this.least;
    const share = fraction(mix((this.seed + 13n) & MASK, (fnv(id) + BigInt(hit) * 0x9E3779B97F4A7C15n) & MASK));
    return Math.floor((this.least + (this.most - this.least) * share) * 1000) / 1000;
  }
}

/** Node has one thread of code: whose turn it is, is told by whose source it is. */
const roleOf = (test) => (test ? 'test' : 'worker');

/** Whether a role that a plan asks for takes in the role of a site. */
const concerns = (asked, role) => !asked || asked === 'any' || asked === role;

/** One place where time can be moved, and how often it was passed. */
class Site {
  constructor(plan, o) {
    this.plan = plan;
    this.id = o.id;
    this.kind = o.kind;
    this.line = o.line;
    this.text = o.text;
    this.test = o.test;
    this.role = roleOf(o.test);
    this.told = false; // whether the log has its line
    this.passes = 0;
    this.taken = 0;
    this.decisions = plan.decisions && plan.decisions.get(o.id);
    this.done = !plan.picks(o.id, o.kind, o.test);
  }

  /** The delay of this pass as {hit, ms, giveUp}, or null. */
  decide() {
    const hit = ++this.passes;
    if (this.decisions) return this.replay(hit);
    if (++this.taken > this.plan.hits) {
      this.done = true;
      return null;
    }
    if (this.plan.giveUp) return { hit, ms: 0, giveUp: true };
    const ms = this.plan.dose(this.id, hit);
    return ms > 0 ? { hit, ms, giveUp: false } : null;
  }

  replay(hit) {
    for (const d of this.decisions) {
      if (!concerns(d.role, this.role) || (d.hit && d.hit !== hit)) continue;
      if (!d.hit && ++this.taken > this.plan.hits) continue;
      return { hit, ms: d.ms || 0, giveUp: !!d.yield };
    }
    return null;
  }
}

module.exports = { Plan, Site, fnv, mix, fraction };
