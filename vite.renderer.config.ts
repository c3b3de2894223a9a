import { fileURLToPath } from 'node:url'
import { svelte, vitePreprocess } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type Plugin } from 'vite'
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
    fetchAtOnce('show'),
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
          // A browser asks for six files at a time: what the first picture needs is one beside the connection, and so
          // is what Home needs besides.
          groups: [
            { name: 'main', test: /renderer\/main\.ts$/, priority: 4 },
            { name: 'show', test: /renderer\/show\.ts$/, priority: 3 },
            { name: 'home', test: /renderer\/screens\/home\//, priority: 2 },
            { name: 'dialogs', test: /AllDialogs\.svelte/, priority: 1 },
          ],
        },
      },
    },
  },
}))

/**
 * Has the browser fetch a chunk, with its imports and styles, beside the entry, which imports it once it runs, and the
 * font of all words, which it else asks for once it has laid the page out in another.
 */
function fetchAtOnce(name: string): Plugin {
  return {
    name: 'fetch-at-once',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunk = Object.values(bundle).find(file => file.type === 'chunk' && file.name === name)
        if (chunk?.type !== 'chunk') return []
        const link = (rel: string, file: string, more = {}) => ({
          tag: 'link',
          attrs: { rel, crossorigin: true, href: `./${file}`, ...more },
          injectTo: 'head' as const,
        })
        const scripts = [chunk.fileName, ...chunk.imports].filter(file => !html.includes(file))
        const styles = [...(chunk.viteMetadata?.importedCss ?? [])]
        const fonts = Object.keys(bundle).filter(file => /\/inter-latin-wght-normal-.*\.woff2$/.test(file))
        return [
          ...scripts.map(file => link('modulepreload', file)),
          ...styles.map(file => link('stylesheet', file)),
          ...fonts.map(file => link('preload', file, { as: 'font', type: 'font/woff2' })),
        ]
      },
    },
  }
}
