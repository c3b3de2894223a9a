import { fileURLToPath } from 'node:url'
import { defineConfig, esmExternalRequirePlugin } from 'vite'
import { bundled } from './build/bundled.ts'
import { noteLicences } from './build/licences.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The main process, for both entries. */
export default defineConfig({
  root: at('.'),
  publicDir: false,
  // A CommonJS package that asks for Electron gets the one that everything else imports.
  plugins: [esmExternalRequirePlugin({ external: ['electron'] }), noteLicences('main')],
  ...bundled,
  build: {
    ssr: true,
    outDir: at('dist/main'),
    emptyOutDir: true,
    target: 'node20',
    sourcemap: true,
    minify: false,
    rolldownOptions: {
      input: { main: at('electron/main.ts'), browser: at('electron/browser.ts') },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'parts/[name]-[hash].js',
        // Node keeps the text of all that it runs: a third as long with short names, and half of that without a “ or a ’.
        minify: {
          compress: { keepNames: { function: true, class: true } },
          mangle: { keepNames: { function: true, class: true } },
          codegen: { removeWhitespace: true },
        },
        charset: 'ascii',
      },
    },
  },
})
