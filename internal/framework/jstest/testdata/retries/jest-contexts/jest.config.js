module.exports = { setupFilesAfterEnv: ['../jest/retry.js'] }
