// The loader thread of Node before 22.15: rewrites the modules that Node itself
// loads. The hooks that the new source calls are those of the thread it is for.
import { createRequire } from 'node:module';

const LAST = Symbol.for('triagebot.lag.loader');

let mine;
let transform;
let loaded;

export async function initialize({ preload, turn }) {
  const require = createRequire(import.meta.url);
  mine = turn;
  globalThis[LAST] = turn; // what was registered before stands further in, and is idle from now on
  transform = require(preload).transform;
  loaded = require('./modules.cjs').loaded;
}

export async function load(url, context, next) {
  const r = await next(url, context);
  return transform && mine === globalThis[LAST] ? loaded(r, url, transform) : r;
}
