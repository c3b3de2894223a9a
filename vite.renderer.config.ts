import { fileURLToPath } from 'node:url'
import { svelte, vitePreprocess } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { noteLicences } from './build/licences.ts'

/**
 * The page. Its server sends `default-src 'self'`, so nothing may be inlined: no scripts, no styles, and no
 * `data:` addresses for fonts or pictures.
 */
export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL('renderer', import.meta.url)),
  base: './',
  plugins: [
    svelte({ configFile: false, preprocess: vitePreprocess({ script: false }) }),
    noteLicences('renderer'),
  ],
  build: {
    outDir: fileURLToPath(new URL('dist/renderer', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    // All of these know light-dark(): compiled away, it would no longer follow the theme that is chosen on the page.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: mode === 'development',
    reportCompressedSize: true,
    rolldownOptions: {
      output: {
        // A text of one byte a character is read faster.
        charset: 'ascii',
        codeSplitting: {
          // A browser asks for six files at a time: what the first picture needs is one, and so is what Home needs beside it.
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            { name: 'home', test: /renderer\/screens\/home\// },
          ],
        },
      },
    },
  },
}))
