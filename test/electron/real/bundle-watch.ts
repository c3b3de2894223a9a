import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'

/** Bundles watch.ts as one script that expects Electron as `electron`. */
export async function bundleWatch(): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      target: 'node20',
      lib: { entry: new URL('watch.ts', import.meta.url).pathname, formats: ['iife'], name: 'watch' },
      rolldownOptions: { external: ['electron'], output: { globals: { electron: 'electron' } } },
    },
  })
  const [output] = Array.isArray(made) ? made : [made]
  if (output === undefined || !('output' in output)) throw new Error('watch.ts was not bundled')
  return output.output[0].code
}

/** Writes the script as a CommonJS file for `-r`; gives its path. */
export async function writeWatch(script: string, folder: string): Promise<string> {
  const path = join(await mkdtemp(join(folder, 'watch-')), 'watch.cjs')
  await writeFile(path, `const electron = require('electron')\n${script}`)
  return path
}
