'use strict';
// Carries delays out, within the plan's budget, and logs them as they happen.
// Rewritten code calls the short names of the object that hooks() returns.
//
// Only what is legal is delayed. A promise that was settled within the macrotask
// in which it was awaited continues in an order that the language fixes, so it is
// left alone; one that crossed into a later macrotask, as I/O and timers do, may
// always be later still. (Two macrotasks of one phase of the event loop may count
// as one: then a delay is left out that would have been legal.)

const fs = require('fs');
const { executionAsyncResource } = require('async_hooks');
const { Site } = require('./plan.cjs');
const { isNodes } = require('./callbacks.cjs');

// A log of one process is bounded; the reader's own bounds are wider.
const MAX_RECORDS = 20000;

// Captured before a test can replace them.
const { setTimeout, clearTimeout, setInterval, setImmediate, clearImmediate, WeakSet, WeakMap, Map, JSON } = globalThis;
const writeSync = fs.writeSync;

/** Whether the timers of a realm are fake: a real delay beside a frozen clock would be no legal order. */
function faked(realm) {
  const s = realm.setTimeout;
  return typeof s === 'function' && !!(s.clock || s._isMockFunction || s.name === 'bound #createTimer');
}

/** Whether this code is called by the end of a native request, other than the one that it was asked within. */
function isRequest(resource, within) {
  return resource !== within && !!resource && !!resource.constructor && /(ReqCallback|ReqWrap|Job)$/.test(resource.constructor.name);
}

/** Notes the turn of each step over an asynchronous iterable, and changes nothing else. What is not one is left alone. */
function stepped(over, turn) {
  const step = { y: over, t: null };
  if (over === null || over === undefined || typeof over[Symbol.asyncIterator] !== 'function') return step;
  step.y = {
    [Symbol.asyncIterator]() {
      const it = over[Symbol.asyncIterator]();
      const { next } = it; // read once, as the loop does
      return {
        next() {
          step.t = turn();
          return next.call(it);
        },
        get return() { return it.return && (() => it.return()); },
      };
    },
  };
  return step;
}

class Engine {
  constructor(plan, fd) {
    this.plan = plan;
    this.fd = fd;
    this.records = 0;
    this.spent = 0;
    this.sites = new Map();
    this.realIO = new WeakSet(); // promises of operating-system work: late even under fake timers
    this.immediates = new WeakMap(); // delayed immediates: handle -> timer
  }

  /** The site that a key of the rewritten source describes. */
  site(key) {
    let s = this.sites.get(key);
    if (s === undefined) {
      const [id, kind, line, test, text] = key.split('\0');
      s = new Site(this.plan, { id, kind, line: +line, test: test === '1', text });
      this.sites.set(key, s);
    }
    return s;
  }

  /** What this pass is worth, logged and paid for; null for nothing. */
  decide(site) {
    if (site.done) return null;
    const d = site.decide();
    if (d === null) return null;
    if (!d.giveUp) {
      if (this.spent + d.ms > this.plan.budget) return null;
      this.spent += d.ms;
    }
    const record = { site: site.id, kind: site.kind, role: site.role, hit: d.hit, ms: d.ms };
    if (d.giveUp) record.yield = true;
    this.log(record, site);
    return d;
  }

  log(record, site) {
    if (this.fd < 0 || ++this.records > MAX_RECORDS) return;
    if (!site.told) {
      site.told = true;
      Object.assign(record, { line: site.line, text: site.text, test: site.test });
    }
    try {
      writeSync(this.fd, JSON.stringify(record) + '\n');
    } catch {
      this.fd = -1;
    }
  }

  /** Resolves after the delay; the process stays alive for it, as for any other work. */
  pause(d) {
    return new Promise((resolve) => (d.giveUp ? setImmediate(resolve) : setTimeout(resolve, d.ms)));
  }

  /** A function that runs late when it is called in a later macrotask than now. */
  late(f, site, realm, turn) {
    const engine = this;
    const began = turn();
    return function (...args) {
      const d = turn() === began || faked(realm) ? null : engine.decide(site);
      return d ? engine.pause(d).then(() => f.apply(this, args)) : f.apply(this, args);
    };
  }

  /**
   * The callback of a function of Node's that runs late, as an event of its own: what
   * it throws is not caught by a promise. Real work may be late under fake timers.
   */
  lateCallback(f, site, turn) {
    const engine = this;
    const began = turn();
    const within = executionAsyncResource();
    return function (...args) {
      const later = turn() !== began || isRequest(executionAsyncResource(), within);
      const d = later ? engine.decide(site) : null;
      if (d === null) return f.apply(this, args);
      const run = () => f.apply(this, args);
      if (d.giveUp) setImmediate(run);
      else setTimeout(run, d.ms);
    };
  }

  /** Stretches a clock that is a number of milliseconds, and logs it once. */
  stretch(ms, site, realm) {
    if (typeof ms !== 'number' || !(ms > 0) || faked(realm)) return ms;
    if (!site.told) this.log({ stretched: site.id }, site);
    return this.plan.longer(site.kind, ms);
  }

  /** Marks the promises of an object's methods as operating-system work. */
  markIO(object, names) {
    for (const name of names) {
      const real = object[name];
      if (typeof real !== 'function') continue;
      const engine = this;
      object[name] = function (...args) {
        const p = real.apply(this, args);
        if (p && typeof p.then === 'function') engine.realIO.add(p);
        return p;
      };
      Object.defineProperty(object[name], 'name', { value: name });
    }
  }

  /**
   * setTimeout, setInterval and setImmediate, late by one decision, when real is Node's
   * own: a stub may call back at once, and a spy sees what it was given.
   */
  timer(real, site, realm) {
    if (faked(realm)) return real;
    if (real === setTimeout) {
      return (f, ms, ...args) => {
        const d = this.decide(site);
        return real(f, d ? Math.max(1, +ms || 0) + (d.ms || 1) : ms, ...args);
      };
    }
    if (real === setInterval) return (f, ...rest) => this.interval(real, site, f, rest);
    if (real !== setImmediate) return real; // of the project, a double, or one of jsdom's
    return (f, ...args) => {
      const d = typeof f === 'function' ? this.decide(site) : null;
      if (!d) return real(f, ...args);
      let handle = null;
      handle = real(() => this.immediates.set(handle, d.giveUp ? real(f, ...args) : setTimeout(f, d.ms, ...args)));
      return handle;
    };
  }

  /**
   * An interval whose ticks may be late, as those of a busy process are: no tick comes
   * before a late one, and the next comes a whole interval after it.
   */
  interval(real, site, f, rest) {
    if (typeof f !== 'function') return real(f, ...rest);
    const engine = this;
    let waits = false;
    let handle = null;
    handle = real(function (...args) {
      if (waits) return;
      const d = handle && typeof handle.refresh === 'function' ? engine.decide(site) : null;
      if (d === null) {
        f.apply(this, args);
        return;
      }
      waits = true;
      const late = setTimeout(() => {
        waits = false;
        if (handle._destroyed) return; // cleared in the meantime
        handle.refresh();
        f.apply(this, args);
      }, d.ms);
      if (!handle.hasRef()) late.unref();
    }, ...rest);
    return handle;
  }

  /** The names that rewritten code calls. */
  hooks() {
    let id = 0;
    let armed = false;
    let value;
    let delay = null;
    const bump = () => { id++; armed = false; };
    // t: the number of the present macrotask.
    const turn = () => {
      if (!armed) {
        armed = true;
        setImmediate(bump).unref();
      }
      return id;
    };
    const hooks = {
      t: turn,
      // w: after an await that began at turn began; true when d() is to be awaited, else v() is the value.
      w: (began, v, key, realm) => {
        value = v;
        if (turn() === began) return false;
        const site = this.site(key);
        if (site.done || faked(realm)) return false;
        delay = this.decide(site);
        return delay !== null;
      },
      v: () => {
        const v = value;
        value = undefined;
        return v;
      },
      d: () => {
        const v = value;
        value = undefined;
        return this.pause(delay).then(() => v);
      },
      // a: what "for await" goes over, as {y: it, t: the turn of its last step}; n: w for a step.
      a: (over) => stepped(over, turn),
      n: (step, key, realm) => step.t !== null && hooks.w(step.t, undefined, key, realm),
      // x: the operand of an await; real I/O may be late although the timers are fake.
      x: (p, key, realm) => {
        if (!faked(realm) || p === null || typeof p !== 'object' || !this.realIO.has(p)) return p;
        const d = this.decide(this.site(key));
        return d ? p.finally(() => this.pause(d)) : p;
      },
      // c: a callback of a promise; b: that of a function, if it is one of Node's; T: a timer function; C: clearImmediate; k: a clock.
      c: (f, key, realm) => (typeof f === 'function' ? this.late(f, this.site(key), realm, turn) : f),
      b: (f, key, callee) => (typeof f === 'function' && isNodes(callee) ? this.lateCallback(f, this.site(key), turn) : f),
      T: (real, key, realm) => this.timer(real, this.site(key), realm),
      C: (real) => (handle) => {
        const t = handle && this.immediates.get(handle);
        if (t) (t.constructor.name === 'Immediate' ? clearImmediate : clearTimeout)(t);
        return real(handle);
      },
      k: (ms, key, realm) => this.stretch(ms, this.site(key), realm),
    };
    return hooks;
  }
}

/** The hooks where nothing is to be late. */
const idle = {
  t: () => 0,
  w: (began, v) => { idle.value = v; return false; },
  v: () => idle.value,
  a: (y) => ({ y, t: null }),
  n: () => false,
  x: (p) => p,
  c: (f) => f,
  b: (f) => f,
  T: (real) => real,
  C: (real) => real,
  k: (ms) => ms,
};

module.exports = { Engine, faked, idle };
