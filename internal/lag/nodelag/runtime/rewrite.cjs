'use strict';
// Rewrites a source so that it passes through our hooks where time can be moved.
//
// Only what the plan picks is rewritten, but every site is counted, so that the
// ids do not depend on the plan. Nothing is inserted that holds a line break:
// the lines of a stack stay what they were.

const fs = require('fs');
const Module = require('module');
const acorn = require('./acorn.cjs');
const callbacks = require('./callbacks.cjs');

const HOOKS = '__zzlag';
const MAX_TEXT = 160;

// Worth parsing at all?
const WORTH = new RegExp([
  String.raw`\bawait\b|\.(then|catch|finally)\b|\bset(Timeout|Immediate|Interval)\b|\b[tT]ime[oO]ut\b|\.now\(|\b(sleep|delay)\b`,
  String.raw`\b(${[...callbacks.LATE].join('|')})\)?\s*\(`,
].join('|'));

const SLEEP_CALL = /^(sleep|delay|pause|setTimeoutPromise)(Ms|For)?$/i;
const TIMEOUT_KEY = /^(timeout|timeoutMs|timeoutMillis|deadlineMs|maxWait|ttl|ttlMs)$/;
const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const LOOP = /^(For|While|DoWhile)/;

/** The name that a callee ends with. */
function calleeName(callee) {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression' && !callee.computed) return callee.property.name;
  if (callee.type === 'SequenceExpression') return calleeName(callee.expressions[callee.expressions.length - 1]); // (0, x.sleep)(5)
  return '';
}

const isFunction = (n) => !!n && FUNCTION.test(n.type);
const isNumber = (n) => !!n && ((n.type === 'Literal' && typeof n.value === 'number') || (n.type === 'BinaryExpression' && isNumber(n.left) && isNumber(n.right)));
const isNow = (n) => n.type === 'CallExpression' && n.callee.type === 'MemberExpression' && calleeName(n.callee) === 'now' && n.arguments.length === 0;
const isElapsed = (n) => n.type === 'BinaryExpression' && n.operator === '-' && isNow(n.left);

/** Whether an argument may be a function by its name: done, this.done, done.bind(x). */
const isNamed = (n) => !!n && (n.type === 'Identifier' || n.type === 'MemberExpression' || (n.type === 'CallExpression' && calleeName(n.callee) === 'bind'));

/** A callee that can be read twice, on one line: names, members of them, and require of a name; else ''. */
function chain(n) {
  if (n.type === 'Identifier') return n.name;
  if (n.type === 'ThisExpression') return 'this';
  if (n.type === 'SequenceExpression') return chain(n.expressions[n.expressions.length - 1]);
  if (n.type === 'CallExpression' && n.callee.name === 'require' && n.arguments.length === 1 && typeof n.arguments[0].value === 'string') {
    return `require(${JSON.stringify(n.arguments[0].value)})`;
  }
  if (n.type !== 'MemberExpression' || n.computed || n.property.type !== 'Identifier') return '';
  const object = chain(n.object);
  return object && `${object}.${n.property.name}`;
}

/** Whether a part of the tree, nested functions left out, has a node for which test holds. */
function contains(n, test, into = false) {
  if (!n || typeof n.type !== 'string') return false;
  if (test(n)) return true;
  return children(n).some(([, c]) => (into || !isFunction(c)) && contains(c, test, into));
}

function children(n) {
  const found = [];
  for (const key in n) {
    const v = n[key];
    if (Array.isArray(v)) for (const x of v) { if (x && typeof x.type === 'string') found.push([key, x]); }
    else if (v && typeof v.type === 'string') found.push([key, v]);
  }
  return found;
}

/** The name that a parent gives to an unnamed function or class. */
function nameFor(parent, key) {
  const of = (n) => n && (n.name || (typeof n.value === 'string' && n.value)) || '';
  if (key === 'value' && parent.key) return of(parent.key);
  if (key === 'init') return of(parent.id);
  if (parent && parent.type === 'CallExpression' && parent.callee.name === '__name') return of(parent.arguments[1]); // esbuild, when it keeps names
  if (key === 'right' && parent.type === 'AssignmentExpression') return parent.left.type === 'MemberExpression' ? of(parent.left.property) : of(parent.left);
  return '';
}

/** What the code at a place stands in. */
class Scope {
  constructor(o) { Object.assign(this, o); }
  with(o) { return new Scope({ ...this, ...o }); }
}

/** A text to insert that is known only later. */
class Text {
  constructor() { this.text = ''; }
  toString() { return this.text; }
}

/** One pass over one source. */
class Rewriter {
  constructor(code, place, plan) {
    this.code = code;
    this.place = place;
    this.plan = plan;
    this.counts = new Map();
    this.inserts = new Map();
    this.later = [];
    this.lines = null;
    this.map = inlineMap(code);
  }

  run(ast) {
    this.statements = statementStarts(ast);
    this.visit(ast, new Scope({ fn: '', cls: '', loop: false, race: false, params: [] }), null, '');
    for (const number of this.later) number();
    if (this.inserts.size === 0) return this.code;
    let out = '';
    let last = 0;
    for (const pos of [...this.inserts.keys()].sort((a, b) => a - b)) {
      const { open, close } = this.inserts.get(pos);
      out += this.code.slice(last, pos) + close.join('') + open.join('');
      last = pos;
    }
    return out + this.code.slice(last);
  }

  /** Puts text around [start, end): what is put first stands outermost. */
  around(start, end, before, after) {
    this.at(start).open.push(before);
    this.at(end).close.unshift(after);
  }

  at(pos) {
    let e = this.inserts.get(pos);
    if (!e) this.inserts.set(pos, e = { open: [], close: [] });
    return e;
  }

  visit(n, scope, parent, key) {
    if (isFunction(n)) {
      const name = (n.id && n.id.name) || nameFor(parent, key) || '';
      const executor = parent && parent.type === 'NewExpression' && calleeName(parent.callee) === 'Promise'; // runs at once
      scope = scope.with({
        fn: [scope.cls || scope.fn, name].filter(Boolean).join('.'), cls: '', loop: executor && scope.loop, race: executor && scope.race,
        params: n.params.map((p) => (p.type === 'AssignmentPattern' ? p.left.name : p.name)),
      });
    } else if (/^Class(Decl|Expr)/.test(n.type)) {
      scope = scope.with({ cls: [scope.fn, (n.id && n.id.name) || nameFor(parent, key)].filter(Boolean).join('.') });
    } else if (LOOP.test(n.type)) {
      scope = scope.with({ loop: true });
    } else if (n.type === 'CallExpression' && calleeName(n.callee) === 'race') {
      scope = scope.with({ race: true });
    }
    if (n.type === 'AwaitExpression') this.awaited(n, scope);
    else if (n.type === 'ForOfStatement' && n.await) this.each(n, scope);
    else if (n.type === 'CallExpression') this.call(n, scope);
    else if (n.type === 'Property' && parent.type === 'ObjectExpression') this.option(n, scope);
    else if (n.type === 'BinaryExpression') this.deadline(n, scope);
    for (const [k, c] of children(n)) {
      this.visit(c, scope, n, k);
    }
  }

  awaited(n, scope) {
    const x = n.argument;
    const callee = (x.callee && x.callee.name) || '';
    if (/^__vi/.test(callee) || x.type === 'ImportExpression') return; // vite's own imports, and dynamic ones
    if (contains(x, (c) => c.type === 'AwaitExpression')) return; // what is awaited inside would count as its own crossing
    const k = this.key('wake', n, scope);
    if (!k) return;
    // A statement may not begin with a bracket: the line above need not end with a semicolon.
    const guard = this.statements.has(n.start) ? 'void 0,' : '';
    this.around(n.start, n.end, `${guard}(${HOOKS}.w(${HOOKS}.t(),`, `,${k},globalThis)?await ${HOOKS}.d():${HOOKS}.v())`);
    this.around(x.start, x.end, `${HOOKS}.x((`, `),${k},globalThis)`);
  }

  call(n, scope) {
    const name = calleeName(n.callee);
    const args = n.arguments;
    if (args.some((a) => a.type === 'SpreadElement')) return;
    const last = args[args.length - 1];
    if (name === 'setTimeout' && isNumber(args[0])) { // that of timers/promises, under its own name, as a compiled import has it
      this.clock(scope.race ? 'timeout' : 'sleep', n, scope, args[0]);
      return;
    }
    if (n.callee.type === 'Identifier' && (name === 'setTimeout' || name === 'setImmediate')) {
      this.wrap('start', n, scope, n.callee, 'T');
      if (name === 'setTimeout') this.timerClock(n, scope);
    } else if (n.callee.type === 'Identifier' && name === 'setInterval') {
      this.wrapLast('start', n, scope, n.callee, 'T', ',globalThis');
    } else if (n.callee.type === 'Identifier' && name === 'clearImmediate') {
      this.around(n.callee.start, n.callee.end, `${HOOKS}.C(`, ')');
    } else if (n.callee.type === 'MemberExpression' && /^(then|catch|finally)$/.test(name)) {
      for (const a of args.slice(0, 2)) this.wrap('wake', a, scope, a, 'c');
    } else if ((callbacks.LATE.has(name) || callbacks.FIRST.has(name)) && args.length > 1 && (isFunction(last) || isNamed(last))) {
      this.callback(n, scope, last);
    } else if (SLEEP_CALL.test(name) && args.length >= 1 && !isFunction(args[0])) {
      this.clock(scope.race ? 'timeout' : 'sleep', n, scope, args[0]);
    } else if (name === 'timeout' && n.callee.type === 'MemberExpression' && n.callee.object.name === 'AbortSignal' && args.length === 1) {
      this.clock('timeout', n, scope, args[0]);
    }
  }

  /**
   * The callback of what may be a function of Node's: whether it is, and whether a
   * name stands for a function, is told when it runs.
   */
  callback(n, scope, last) {
    const callee = callbacks.LATE.has(calleeName(n.callee)) ? chain(n.callee) : '';
    if (!isFunction(last) || !callbacks.FIRST.has(calleeName(n.callee))) {
      if (callee) this.wrapLast('wake', last, scope, last, 'b', `,${callee}`);
      return;
    }
    const k = this.key('wake', last, scope);
    if (k && callee) this.around(last.start, last.end, `${HOOKS}.b(`, `,${k},${callee})`);
  }

  /** The body of "for await" begins late; which turn the loop stepped in is kept in a variable of the function. */
  each(n, scope) {
    const [open, close, head, tail] = [new Text(), new Text(), new Text(), new Text()];
    this.around(n.right.start, n.right.end, open, close);
    this.around(n.body.start, n.body.end, head, tail);
    this.later.push(() => {
      const k = this.key('wake', n, scope);
      if (!k) return;
      const step = `${HOOKS}_${n.start}`;
      open.text = `(${step}=${HOOKS}.a((`;
      close.text = '))).y';
      head.text = `{var ${step};if(${HOOKS}.n(${step},${k},globalThis))await ${HOOKS}.d();`;
      tail.text = '}';
    });
  }

  /**
   * Wraps a target for which earlier versions had no site: it is numbered behind all
   * other sites of its function, so that theirs stay what they were.
   */
  wrapLast(kind, n, scope, target, hook, more) {
    const before = new Text();
    const after = new Text();
    this.around(target.start, target.end, before, after);
    this.later.push(() => {
      const k = this.key(kind, n, scope);
      if (!k) return;
      before.text = `${HOOKS}.${hook}(`;
      after.text = `,${k}${more})`;
    });
  }

  /** A timer that resolves is a sleep, one that rejects or aborts bounds a wait; any other is neither. */
  timerClock(n, scope) {
    const [f, ms] = n.arguments;
    if (!ms || !f) return;
    const inHelper = SLEEP_CALL.test(scope.fn.split('.').pop()); // its callers are the sites
    const fails = contains(f, (c) => c.type === 'ThrowStatement' || (c.type === 'CallExpression' && /^(reject|abort|rej|fail)$/.test(calleeName(c.callee))), true)
      || (f.type === 'Identifier' && /^rej/.test(f.name));
    if (fails || scope.race) this.clock('timeout', n, scope, ms);
    else if (scope.params.length > 0 && !inHelper && contains(f, (c) => c.type === 'Identifier' && c.name === scope.params[0], true)) {
      this.clock('sleep', n, scope, ms);
    }
  }

  /** {timeout: ms} */
  option(n, scope) {
    const name = n.key.name || n.key.value;
    if (!n.computed && !n.shorthand && TIMEOUT_KEY.test(name) && n.kind === 'init' && !n.method && !isFunction(n.value)) {
      this.clock('timeout', n, scope, n.value);
    }
  }

  /** Date.now() + ms, and Date.now() - start > ms */
  deadline(n, scope) {
    if (n.operator === '+' && (isNow(n.left) || isNow(n.right))) this.clock('timeout', n, scope, isNow(n.left) ? n.right : n.left);
    else if (/^[<>]=?$/.test(n.operator) && isElapsed(n.left)) this.clock('timeout', n, scope, n.right);
    else if (/^[<>]=?$/.test(n.operator) && isElapsed(n.right)) this.clock('timeout', n, scope, n.left);
  }

  wrap(kind, n, scope, target, hook) {
    const k = this.key(kind, n, scope);
    if (k) this.around(target.start, target.end, `${HOOKS}.${hook}(`, `,${k},globalThis)`);
  }

  clock(kind, n, scope, ms) {
    // In a loop it is the interval of a poll, and in the project's own code it is what the project does.
    if (kind === 'sleep' && (scope.loop || !this.place.test)) return;
    const k = this.key(kind, n, scope);
    if (k) this.around(ms.start, ms.end, `${HOOKS}.k((`, `),${k},globalThis)`);
  }

  /** Counts a site, and is the string literal that describes it when the plan wants it. */
  key(kind, n, scope) {
    const fn = scope.fn || '<module>';
    const slot = `${fn}:${kind}`;
    const ordinal = (this.counts.get(slot) || 0) + 1;
    this.counts.set(slot, ordinal);
    const id = `${this.place.file}:${slot}:${ordinal}`;
    const clock = kind === 'timeout' || kind === 'sleep';
    if (!(clock ? this.plan.stretches(id, kind) : this.plan.picks(id, kind, this.place.test))) return '';
    const { line, text } = this.line(n.loc.start);
    return JSON.stringify([id, kind, line, this.place.test ? 1 : 0, text].join('\0')).replace(/\u2028|\u2029/g, ' ');
  }

  /** The line of the original source. */
  line(loc) {
    let line = loc.line;
    const e = this.map && this.map.findEntry(line - 1, loc.column);
    if (e && e.originalLine !== undefined) line = e.originalLine + 1;
    if (this.lines === null) this.lines = (this.map ? original(this.map, this.place.full) : this.code).split('\n');
    return { line, text: (this.lines[line - 1] || '').trim().slice(0, MAX_TEXT) };
  }
}

function inlineMap(code) {
  const at = code.lastIndexOf('sourceMappingURL=data:application/json');
  const m = at < 0 ? null : /^[^,]*;base64,([A-Za-z0-9+/=]+)/.exec(code.slice(at));
  try {
    return m && new Module.SourceMap(JSON.parse(Buffer.from(m[1], 'base64').toString()));
  } catch {
    return null;
  }
}

function original(map, full) {
  const { sources, sourcesContent } = map.payload;
  if (sources && sources.length === 1 && sourcesContent && sourcesContent[0]) return sourcesContent[0];
  try {
    return fs.readFileSync(full, 'utf8');
  } catch {
    return '';
  }
}

/** Where expression statements begin. */
function statementStarts(n, found = new Set()) {
  if (n.type === 'ExpressionStatement') found.add(n.start);
  for (const [, c] of children(n)) statementStarts(c, found);
  return found;
}

/**
 * The source with hooks, or the source itself when there is nothing to do or it
 * cannot be parsed, which is told to note. Type is "module" or "script"; a
 * script may be the wrapped text of a module, with awaits of its own.
 */
function rewrite(code, place, plan, type, note = () => {}) {
  if (!WORTH.test(code) || code.includes(HOOKS + '.')) return code;
  let ast;
  try {
    ast = acorn.parse(code, {
      ecmaVersion: 'latest', sourceType: type, locations: true, allowHashBang: true, allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true, allowSuperOutsideMethod: true, allowImportExportEverywhere: true,
    });
  } catch (e) {
    note(`${place.file} is not delayed: it cannot be parsed: ${e.message}`);
    return code;
  }
  return new Rewriter(code, place, plan).run(ast);
}

module.exports = { rewrite, HOOKS };
