// A client's environment, as those of a DOM are, without the DOM.
export default {
  name: 'client',
  transformMode: 'web', // vitest 3
  viteEnvironment: 'client', // vitest 4
  setup(global) {
    global.document = {};
    return { teardown() {} };
  },
};
