import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { noteLicences } from './build/licences.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The bridge. A sandboxed preload is one CommonJS file that may ask for nothing but Electron's own few modules. */
export default defineConfig({
  root: at('.'),
  publicDir: false,
  plugins: [noteLicences('preload')],
  build: {
    outDir: at('dist/preload'),
    emptyOutDir: true,
    target: 'es2023',
    minify: false,
    lib: { entry: at('electron/preload.ts'), formats: ['cjs'], fileName: () => 'preload.cjs' },
    rolldownOptions: { external: ['electron'] },
  },
})
