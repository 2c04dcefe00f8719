import { appendFileSync } from 'node:fs';
import { test } from 'vitest';

test('config', () => {
  appendFileSync(`${process.env.ATTEMPTS}/config`, '.');
  if (typeof document !== 'object') throw new Error('there is no document');
  throw new Error('config is red at first');
});

test('document', () => {
  if (typeof document !== 'object') throw new Error('there is no document');
});
