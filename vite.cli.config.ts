import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The command `berth` under Node: one small file, since each call reads it. After the main process, beside which it lies. */
export default defineConfig({
  root: at('.'),
  publicDir: false,
  // What only checks a command's arguments isn't needed here, since the Berth that runs checks them.
  ssr: { noExternal: ['valibot'] },
  build: {
    ssr: at('electron/cli.ts'),
    outDir: at('dist/main'),
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    rolldownOptions: { treeshake: { manualPureFunctions: ['v'] } },
  },
})
