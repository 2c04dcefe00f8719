globalThis.ownSetUp = true
