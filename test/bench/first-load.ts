import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Row } from './row.ts'

const folder = new URL('../../dist/renderer', import.meta.url).pathname

/** The JavaScript loaded before the page draws: files in index.html and their static imports. */
export async function firstLoadRows(): Promise<Row[]> {
  const html = await readFile(join(folder, 'index.html'), 'utf8')
  const wanted = [...html.matchAll(/(?:src|href)="\.?\/?(assets\/[^"]+\.js)"/g)].flatMap(
    ([, name]) => name ?? [],
  )
  const loaded = new Map<string, number>()
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (loaded.has(name)) continue
    const code = await readFile(join(folder, name))
    loaded.set(name, gzipSync(code).length)
    const imports = code.toString().matchAll(/(?:import|from)\s*"\.\/([^"]+\.js)"/g)
    for (const [, imported] of imports) if (imported) wanted.push(`assets/${imported}`)
  }
  const kilobytes = [...loaded.values()].reduce((sum, size) => sum + size, 0) / 1000
  const all = await readdir(join(folder, 'assets'))
  return [
    {
      what: "the page's first load",
      compared: `JavaScript, gzip, ${loaded.size} of ${all.filter(name => name.endsWith('.js')).length} files`,
      measured: `${kilobytes.toFixed(0)} KB`,
      budget: 'at most 150 KB',
      kept: kilobytes <= 150,
    },
  ]
}
