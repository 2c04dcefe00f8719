'use strict';
// Catches every way by which a runner compiles the project's code: Node's own
// loaders, and the vm functions that vitest and jest use.

const vm = require('vm');
const Module = require('module');
const modules = require('./modules.cjs');
const { strip } = require('./types.cjs');
const { HOOKS } = require('./rewrite.cjs');

/** Installs the transform (code, filename, type) => code. */
function install(transform, hooks) {
  show(globalThis, hooks);
  patchVM(transform, hooks);
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (code, filename, format, ...rest) {
    const plain = strip(code, format);
    const now = transform(plain.code, filename, 'script');
    return now === plain.code ? compile.call(this, code, filename, format, ...rest) : compile.call(this, now, filename, plain.format, ...rest);
  };
  modules.install(transform);
  Module.syncBuiltinESMExports();
}

function show(realm, hooks) {
  Object.defineProperty(realm, HOOKS, { value: hooks, enumerable: false, configurable: true, writable: true });
}

const nameOf = (options) => (typeof options === 'string' ? options : options && options.filename);

function patchVM(transform, hooks) {
  const { runInThisContext, runInContext, compileFunction, createContext, Script, SourceTextModule } = vm;
  const text = (code, options) => (typeof code === 'string' ? transform(code, nameOf(options), 'script') : code);
  vm.runInThisContext = function (code, options) { return runInThisContext.call(this, text(code, options), options); };
  vm.runInContext = function (code, context, options) { return runInContext.call(this, text(code, options), context, options); };
  vm.compileFunction = function (code, params, options) { return compileFunction.call(this, text(code, options), params, options); };
  vm.Script = class extends Script {
    constructor(code, options) { super(text(code, options), options); }
  };
  Object.defineProperty(vm.Script, 'name', { value: 'Script' });
  vm.createContext = function (...args) {
    const context = createContext.apply(this, args);
    try {
      show(context, hooks);
    } catch { /* a frozen context has no lag */ }
    return context;
  };
  if (SourceTextModule) {
    vm.SourceTextModule = class extends SourceTextModule {
      constructor(code, options) { super(transform(String(code), options && options.identifier, 'module'), options); }
    };
  }
}

module.exports = { install, show };
