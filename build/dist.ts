import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { lockFolder } from '../electron/start/home.ts'
import { at } from './places.ts'

const compress = promisify(brotliCompress)

/** The sources of the build: folders, and single files. */
const sources = ['electron', 'renderer', 'simulator', 'build/icons']
const single = [
  'build/bundled.ts',
  'build/icons.ts',
  'build/licences.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vite.cli.config.ts',
  'vite.main.config.ts',
  'vite.preload.config.ts',
  'vite.renderer.config.ts',
]
const stamp = at('dist/built-from')

/** Whether dist/ is missing or was built from other sources. */
export async function isStale(): Promise<boolean> {
  return (await builtFrom()) !== (await sourcesNow())
}

interface BuildOptions {
  quiet: boolean
  force: boolean
  /** Called as each part begins, with its name. */
  onPart?: (part: string) => void
}

/** Builds everything into dist/. Simultaneous builds take turns; unless forced, the later one finds the work done. */
export async function buildAll({ quiet, force, onPart }: BuildOptions): Promise<void> {
  await mkdir(at('dist'), { recursive: true })
  // Not in dist/, which others copy as soon as it is built.
  const unlock = await lockFolder(at('node_modules/.building-berth'), 300_000)
  try {
    const now = await sourcesNow()
    if (!force && (await builtFrom()) === now) return
    await build(quiet ? 'error' : 'info', onPart)
    await writeFile(stamp, now)
  } finally {
    await unlock()
  }
}

const parts = { main: 'program', cli: 'command', preload: 'bridge', renderer: 'page' }

async function build(logLevel: 'info' | 'error', onPart?: BuildOptions['onPart']): Promise<void> {
  // Always a production build: a test runner sets "test", for which Svelte would add its checks.
  process.env['NODE_ENV'] = 'production'
  const vite = await import('vite')
  for (const [part, name] of Object.entries(parts)) {
    onPart?.(name)
    await vite.build({ configFile: at(`vite.${part}.config.ts`), logLevel })
  }
  onPart?.('icons')
  await compressPage(at('dist/renderer'))
  const { drawPng, drawTrayIcons } = await import('./icons.ts')
  await drawTrayIcons(at('dist/icons'))
  await writeFile(
    at('dist/icons/app.png'),
    await drawPng(await readFile(at('build/icons/app.svg'), 'utf8'), 256),
  )
}

/** Compressed once at build time; browser mode sends these files as they are. Fonts are compressed already. */
async function compressPage(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true })
  const texts = entries.filter(name => /\.(js|css|html|svg|json)$/.test(name))
  await Promise.all(
    texts.map(async name => {
      const bytes = await readFile(join(folder, name))
      const small = await compress(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
      await writeFile(join(folder, `${name}.br`), small)
    }),
  )
}

async function builtFrom(): Promise<string> {
  return readFile(stamp, 'utf8').catch(() => '')
}

/** A digest of all sources' names, sizes and modification times: fast, and changed by any edit. */
async function sourcesNow(): Promise<string> {
  const folders = await Promise.all(
    sources.map(async folder => {
      const entries = await readdir(at(folder), { recursive: true, withFileTypes: true })
      return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
    }),
  )
  const files = [...folders.flat(), ...single.map(at)].sort()
  const lines = await Promise.all(
    files.map(async file => {
      const { size, mtimeMs } = await stat(file)
      return `${file} ${size} ${mtimeMs}`
    }),
  )
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}
