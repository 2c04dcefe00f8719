'use strict';
// Whose code a file is: the project's, its tests', or neither.

const fs = require('fs');
const path = require('path');
const { fileURLToPath } = require('url');

// What counts as test code: by directory, or by name.
const TEST = new RegExp([
  String.raw`(^|/)(__tests__|__mocks__|tests?|specs?|e2e|fakes?|mocks?|fixtures|testing)/`,
  String.raw`[._-](test|spec)\.[cm]?[jt]sx?$`,
  String.raw`(^|/)(test|spec)([-_.][^/]*)?\.[cm]?[jt]sx?$`,
].join('|'), 'i');

// Configuration and set-up of the runners: neither delayed nor stretched.
const CONFIG = /(^|\/)(vite|vitest|jest|mocha|babel|webpack|rollup|playwright)[^/]*[.-](config|setup|workspace|global)[^/]*$|(^|\/)\.[^/]+$|\.config\.[cm]?[jt]s$/;

// What a command line of Node names to be loaded first: loaders and set-up.
const FIRST = /^(?:--import|--require|-r|--loader|--experimental-loader)(?:=(.*))?$/s;

/** The files that options of Node load first, as far as they name files. */
function preloaded(options) {
  const found = [];
  for (let i = 0; i < options.length; i++) {
    const m = FIRST.exec(options[i]);
    const name = m && (m[1] !== undefined ? m[1] : options[i + 1]);
    if (name && name.startsWith('file:')) found.push(pathOf(name));
    else if (name && /^\.{0,2}[/\\]|^[A-Za-z]:[/\\]/.test(name)) found.push(path.resolve(name));
  }
  return found.filter(Boolean);
}

function pathOf(url) {
  try {
    return fileURLToPath(url);
  } catch {
    return '';
  }
}

/** Names the files below one root; those of first, which may lack an extension, are no project's. */
class Places {
  constructor(root, first = []) {
    this.first = first.flatMap((f) => [f, real(f)]);
    this.roots = [...new Set([path.resolve(root), real(root)])].map((r) => r + path.sep);
    this.known = new Map();
  }

  /** The file's place, {file, test} with the path relative to the root; null when it is no project's. */
  of(name) {
    if (typeof name !== 'string' || name === '') return null;
    let place = this.known.get(name);
    if (place === undefined) {
      place = this.find(name);
      this.known.set(name, place);
    }
    return place;
  }

  find(name) {
    const full = name.startsWith('file:') ? pathOf(name) : name.replace(/\?.*$/, '');
    const root = path.isAbsolute(full) && this.roots.find((r) => full.startsWith(r));
    if (!root) return null;
    const file = full.slice(root.length).split(path.sep).join('/');
    if (/(^|\/)(node_modules|\.git|\.yarn|\.pnpm)\//.test(file) || CONFIG.test(file)) return null;
    if (this.first.some((f) => full === f || (full.startsWith(f) && /^\.[cm]?[jt]s$/.test(full.slice(f.length))))) return null;
    return { full, file, test: TEST.test(file) };
  }
}

function real(p) {
  try {
    return fs.realpathSync(p);
  } catch {
    return p;
  }
}

module.exports = { Places, preloaded };
