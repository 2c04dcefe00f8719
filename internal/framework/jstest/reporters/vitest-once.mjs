// Set-up of every test file: the first attempt of a test is its only one, whatever { retry: n } it was given.
const { beforeAll } = await import('vitest').catch(() => ({})); // without it the reporter still tells of the first

/** The tests below a describe. */
const below = (task) => (task.tasks || []).flatMap((t) => (t.type === 'suite' ? below(t) : [t]));

if (beforeAll) {
  beforeAll((...given) => { // vitest 4 hands over a context before the file
    for (const t of given.flatMap((g) => below(g || {}))) t.retry = 0;
  });
}
