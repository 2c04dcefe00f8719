// A test's attempt: red the first time, green from the second on. Each is noted in ATTEMPTS.
const fs = require('fs'), path = require('path')
module.exports = (name) => {
  const file = path.join(process.env.ATTEMPTS, name)
  fs.appendFileSync(file, 'x')
  const n = fs.readFileSync(file, 'utf8').length
  if (n === 1) throw new Error(`${name} is red at first`)
}
