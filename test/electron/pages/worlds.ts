import { readFile } from 'node:fs/promises'
import { build } from 'vite'

/** The scripts for the two worlds of a page. */
export interface Worlds {
  page: string
  preload(builtPreload: string): Promise<string>
}

let built: Promise<{ page: string; preload: string }> | undefined

/** Bundles the scripts once for all pages. */
export async function worlds(): Promise<Worlds> {
  built ??= Promise.all([bundle('main-world.ts'), bundle('preload-world.ts')]).then(([page, preload]) => ({
    page,
    preload,
  }))
  const { page, preload } = await built
  return {
    page,
    preload: async path => {
      const source = await readFile(path, 'utf8')
      const wrapped = `globalThis.berthDoublePreload = require => {
        const module = { exports: {} }; const exports = module.exports
        ${source}
      };`
      return `${wrapped}\n${preload}`
    },
  }
}

async function bundle(entry: string): Promise<string> {
  const path = new URL(entry, import.meta.url).pathname
  const made = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2023',
      minify: false,
      lib: { entry: path, formats: ['iife'], name: 'world', fileName: () => 'world.js' },
    },
  })
  const [output] = Array.isArray(made) ? made : [made]
  if (output === undefined || !('output' in output)) throw new Error(`${entry} was not bundled`)
  return output.output[0].code
}
