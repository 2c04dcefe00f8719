'use strict';
// TypeScript that Node itself runs (22.18, 23.6 and newer): Node strips the types
// behind our hooks, so we strip them before, with Node's own function. Positions
// stay what they were.

const Module = require('module');

/** What Node calls a source once its types are gone; "typescript" is told apart later. */
const PLAIN = { 'module-typescript': 'module', 'commonjs-typescript': 'commonjs', typescript: undefined };

const isTyped = (format) => typeof format === 'string' && format in PLAIN;

/** {code, format} without types. What Node cannot strip stays as it is: Node says why. */
function strip(code, format) {
  if (!isTyped(format) || !Module.stripTypeScriptTypes) return { code, format };
  const mode = transforms() ? 'transform' : 'strip';
  try {
    return { code: quietly(() => Module.stripTypeScriptTypes(code, mode === 'strip' ? { mode } : { mode, sourceMap: true })), format: PLAIN[format] };
  } catch {
    return { code, format };
  }
}

/** Whether the process was told to run what is more than types: enums and the like. */
const transforms = () => `${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS || ''}`.includes('--experimental-transform-types');

/** Runs f without the warning that its function is an experiment: the project does not call it. */
function quietly(f) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return f();
  } finally {
    process.emitWarning = emitWarning;
  }
}

module.exports = { strip, isTyped };
