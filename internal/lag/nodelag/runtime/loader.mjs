// The loader thread of Node before 22.15: rewrites the modules that Node itself
// loads. The hooks that the new source calls are those of the main thread.
import { createRequire } from 'node:module';

let transform;

export async function initialize({ preload }) {
  transform = createRequire(import.meta.url)(preload).transform;
}

export async function load(url, context, next) {
  const r = await next(url, context);
  if (transform && r.format === 'module' && r.source != null) {
    r.source = transform(Buffer.from(r.source).toString(), url, 'module');
  }
  return r;
}
