'use strict';
// Node's own functions that take a callback, call it once, in a later macrotask,
// and in no order with anything else: the work is done by the operating system or
// by a pool of threads. Such a callback may always come later still.
//
// Not here is what is an event of an emitter in disguise, for the order of the
// events of one emitter is fixed: listen and connect (connections and data come
// after), write and end of a stream, the response of a request (which could be
// aborted before it is listened to), close of a server (it comes in the tick of the
// call when there are no connections), exec, execFile and stream.pipeline (their
// own listeners come before the caller's, and an abort calls back at once).

// Those that had sites from the start: the ordinals of other sites follow from them.
// exec and execFile are counted still, and never late.
const FIRST = ['readFile', 'writeFile', 'appendFile', 'mkdir', 'mkdtemp', 'readdir', 'stat', 'lstat', 'unlink', 'rename', 'rm', 'rmdir',
  'copyFile', 'access', 'open', 'fsync', 'realpath', 'exec', 'execFile', 'lookup', 'resolve4', 'randomBytes', 'pbkdf2', 'scrypt',
  'gzip', 'gunzip', 'deflate', 'inflate'];

const NAMES = {
  fs: ['readFile', 'writeFile', 'appendFile', 'mkdir', 'mkdtemp', 'readdir', 'opendir', 'stat', 'lstat', 'fstat', 'statfs', 'unlink', 'rename', 'rm', 'rmdir',
    'copyFile', 'cp', 'access', 'exists', 'open', 'close', 'read', 'write', 'readv', 'writev', 'fsync', 'fdatasync', 'ftruncate', 'truncate', 'realpath',
    'link', 'symlink', 'readlink', 'chmod', 'fchmod', 'chown', 'fchown', 'utimes', 'futimes', 'lutimes'],
  dns: ['lookup', 'lookupService', 'resolve', 'resolve4', 'resolve6', 'resolveAny', 'resolveCname', 'resolveMx', 'resolveNs', 'resolveSrv', 'resolveTxt', 'reverse'],
  crypto: ['randomBytes', 'randomFill', 'randomInt', 'pbkdf2', 'scrypt', 'hkdf', 'generateKey', 'generateKeyPair', 'generatePrime', 'checkPrime'],
  zlib: ['gzip', 'gunzip', 'deflate', 'deflateRaw', 'inflate', 'inflateRaw', 'unzip', 'brotliCompress', 'brotliDecompress', 'zstdCompress', 'zstdDecompress'],
};

const LATE = new Set(Object.values(NAMES).flat());

let known = null; // the functions as they are when the runtime is installed

/** Remembers Node's functions, so that a test's double for one is not taken for it later. */
function remember() {
  known = new WeakSet();
  for (const [name, members] of Object.entries(NAMES)) {
    const module = require(name);
    for (const m of members) if (typeof module[m] === 'function') known.add(module[m]);
  }
}

/** Whether f is one of these functions, and not one of the project's that has the same name. */
function isNodes(f) {
  if (known === null) remember();
  return typeof f === 'function' && known.has(f);
}

module.exports = { FIRST: new Set(FIRST), LATE, isNodes, remember };
