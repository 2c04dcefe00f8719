module.exports = { setupFilesAfterEnv: ['./retry.js'] }
