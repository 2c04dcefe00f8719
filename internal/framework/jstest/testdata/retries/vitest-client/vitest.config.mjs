export default { test: { environment: './env.mjs', retry: 1 } };
