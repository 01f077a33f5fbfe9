import { defineConfig } from 'vite';

/**
 * The desk's pages as static files: everything comes from this host, nothing is inlined into the page, so
 * that the strictest content security policy (script-src 'self'; style-src 'self') holds.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  logLevel: 'warn',
  // Development JSX would write the path of every source file, and so of the building machine, into the pages.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: '../../../dist/desk/web',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL would need its own hole in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
});
