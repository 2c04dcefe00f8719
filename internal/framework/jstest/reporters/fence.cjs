'use strict';
// What our reporters share: records go to the standard output, one line each,
// behind a random word (the fence) that the environment names and that is taken
// out of it at once. So no output of a test can be taken for a record, and no
// runner that a test starts can write one.

const fs = require('fs');
const path = require('path');

const fence = process.env.TRIAGEBOT_JS_FENCE || '';
delete process.env.TRIAGEBOT_JS_FENCE;
const tree = process.env.TRIAGEBOT_TREE || process.cwd();

const writeSync = fs.writeSync;
const stringify = JSON.stringify;

// What one text may hold, in characters: the beginning has the message.
const MOST_TEXT = 8000;

/** A path below the tree, with forward slashes; any other as it is. */
function relative(file) {
  const name = String(file || '').replace(/^file:\/\//, '');
  for (const root of [tree, real(tree)]) {
    const rel = path.relative(root, name);
    if (name && !rel.startsWith('..') && !path.isAbsolute(rel)) return rel.split(path.sep).join('/');
  }
  return name;
}

function real(p) {
  try {
    return fs.realpathSync(p);
  } catch {
    return p;
  }
}

/** A record's form of an error, whatever was thrown. */
function error(e) {
  if (e === null || typeof e !== 'object') return { name: 'thrown', message: String(e) };
  return {
    name: String(e.name || ''),
    message: String(e.message || e.stack || e).slice(0, MOST_TEXT),
    stack: String(e.stack || '').slice(0, MOST_TEXT),
  };
}

function write(record) {
  if (!fence) return;
  let data = Buffer.from(`\n${fence} ${stringify(record)}\n`);
  while (data.length > 0) {
    try {
      data = data.subarray(writeSync(1, data));
    } catch (e) {
      if (e.code !== 'EAGAIN') return;
    }
  }
}

module.exports = { relative, error, write };
