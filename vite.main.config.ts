import { fileURLToPath } from 'node:url'
import { defineConfig, esmExternalRequirePlugin } from 'vite'
import { noteLicences } from './build/licences.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * The main process, for both entries. Everything is bundled, since one file is read faster than a thousand, but what
 * is native or finds parts of itself beside its own files.
 */
export default defineConfig({
  root: at('.'),
  publicDir: false,
  // A CommonJS package that asks for Electron gets the one that everything else imports.
  plugins: [esmExternalRequirePlugin({ external: ['electron'] }), noteLicences('main')],
  ssr: { noExternal: true, external: ['electron', 'keytar', 'ssh2', 'cpu-features'] },
  // Some bundled packages are CommonJS and ask for their own place.
  define: { __filename: 'import.meta.filename', __dirname: 'import.meta.dirname' },
  build: {
    ssr: true,
    outDir: at('dist/main'),
    emptyOutDir: true,
    target: 'node20',
    sourcemap: true,
    minify: false,
    rolldownOptions: {
      input: { main: at('electron/main.ts'), browser: at('electron/browser.ts') },
      output: { entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' },
    },
  },
})
