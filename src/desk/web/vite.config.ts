import { defineConfig } from 'vite';

/**
 * Builds the desk's pages as static files. Every file comes from this host and none is inlined, so that the strictest
 * content security policy (script-src 'self'; style-src 'self') holds.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  logLevel: 'warn',
  // Development JSX would write source paths of the building machine into the pages.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: '../../../dist/desk/web',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL would need an exception in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
});
