import { fileURLToPath } from 'node:url'
import { svelte, vitePreprocess } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite'
import { noteLicences } from './build/licences.ts'

/**
 * Names in the page the files of its first picture that a browser would find only once it has read others: Home, which
 * the first script asks for, and the font, which the style does.
 */
const namePreloads: Plugin = {
  name: 'name-preloads',
  transformIndexHtml: {
    order: 'post',
    handler(_, { bundle = {} }) {
      const link = (file: string, attrs: Record<string, string>): HtmlTagDescriptor => ({
        tag: 'link',
        injectTo: 'head',
        attrs: { ...attrs, crossorigin: true, href: `./${file}` },
      })
      return Object.keys(bundle).flatMap(file => {
        if (/\/(home|rolldown-runtime)-[^/]*\.js$/.test(file)) return link(file, { rel: 'modulepreload' })
        if (/\/home-[^/]*\.css$/.test(file)) return link(file, { rel: 'preload', as: 'style' })
        if (!/\/inter-latin-wght-normal-/.test(file)) return []
        return link(file, { rel: 'preload', as: 'font', type: 'font/woff2' })
      })
    },
  },
}

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
    namePreloads,
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
