'use strict';
// The modules that Node itself loads. Our load hook has to be the outermost one:
// a project's own loader turns TypeScript and the like into JavaScript, and what
// comes out of it is what we can read. Hooks that are registered later stand
// further out, so ours are registered anew behind every one of them.

const path = require('path');
const Module = require('module');
const { pathToFileURL } = require('url');
const { strip, isTyped } = require('./types.cjs');

/** Installs the transform (code, url, type) => code: in the thread where that can be done, else on the loader thread. */
function install(transform) {
  if (Module.registerHooks) inThread(transform);
  else if (Module.register) onLoaderThread();
}

function inThread(transform) {
  const { register, registerHooks } = Module;
  const load = (url, context, next) => loaded(next(url, context), url, transform);
  let ours = registerHooks({ load });
  const outermost = () => {
    ours.deregister();
    ours = registerHooks({ load });
  };
  Module.registerHooks = behind(registerHooks, outermost);
  if (register) Module.register = behind(register, outermost);
}

/** Before 22.15. Each thread has a loader thread of its own, and only the last of our registrations there is not idle. */
function onLoaderThread() {
  const { register } = Module;
  const loader = pathToFileURL(path.join(__dirname, 'loader.mjs')).href;
  let turn = 0;
  const outermost = () => {
    turn++;
    register.call(Module, `${loader}?${turn}`, { data: { preload: path.join(__dirname, 'preload.cjs'), turn } });
  };
  Module.register = behind(register, outermost);
  outermost();
}

function behind(real, then) {
  const patched = function (...args) {
    const r = real.apply(this, args);
    then();
    return r;
  };
  Object.defineProperty(patched, 'name', { value: real.name });
  return patched;
}

/** What a load hook gave, with the source transformed. A source of CommonJS is there only when a hook gave it. */
function loaded(r, url, transform) {
  if (r.source == null || !(r.format === 'module' || r.format === 'commonjs' || isTyped(r.format))) return r;
  const { code, format } = strip(textOf(r.source), r.format);
  const now = transform(code, url, format === 'module' ? 'module' : 'script');
  return now === code ? r : { ...r, format, source: now };
}

const textOf = (source) => (typeof source === 'string' ? source : Buffer.from(source).toString());

module.exports = { install, loaded };
