// Two pages; the library comes from the installed package and is bundled with each.
export default {
  base: './',
  logLevel: 'warn',
  build: { rollupOptions: { input: ['index.html', 'deep.html', 'required.html'] } },
};
