import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * Two programs of one small file each, after the main process, beside which they lie: the command `berth` under Node,
 * since each call reads it, and the thread that watches the main one, which can't read a package's other files.
 */
export default defineConfig({
  root: at('.'),
  publicDir: false,
  // What only checks a command's arguments isn't needed here, since the Berth that runs checks them.
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: at('dist/main'),
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    rolldownOptions: {
      // What only `berth mcp` needs.
      output: { chunkFileNames: 'cli/[name]-[hash].js' },
      input: { cli: at('electron/cli.ts'), watcher: at('electron/start/heartbeat/watcher.ts') },
      treeshake: { manualPureFunctions: ['v'] },
    },
  },
})
