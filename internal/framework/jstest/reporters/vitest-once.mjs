// Set-up of every test file: the first attempt of a test is its only one, whatever { retry: n } it was given.
// Where this does not work, the reporter still tells of the first.
const { beforeAll } = await import('vitest').catch(() => ({}));

/** The tests below a describe. */
const below = (task) => (task.tasks || []).flatMap((t) => (t.type === 'suite' ? below(t) : [t]));

try {
  // vitest 3 hands over the file, 4 a context before it, and 4.1 takes a parameter's name for a fixture's.
  beforeAll(function () {
    for (const given of arguments) for (const t of below(given || {})) t.retry = 0;
  });
} catch {
  // as said above
}
