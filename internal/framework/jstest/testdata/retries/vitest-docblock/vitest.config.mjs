import { fileURLToPath } from 'node:url';

const env = fileURLToPath(new URL('../vitest-client/env.mjs', import.meta.url));
export default { resolve: { alias: { 'vitest-environment-client': env } }, test: { retry: 1 } };
