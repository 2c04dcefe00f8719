export default { test: { retry: 3, setupFiles: ['./own-setup.js'] } }
