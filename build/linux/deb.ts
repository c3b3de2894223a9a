import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../run.ts'
import type { Asked } from './payload.ts'

export interface DebOptions {
  recommends: readonly string[]
  /** Debian's section, such as `net`. */
  section: string
  priority: string
  /** By fpm's name: `xz`, `gz`. */
  compression: string
}

/** Makes a deb with `dpkg-deb`. Throws where that fails. */
export async function makeDeb(asked: Asked, options: DebOptions): Promise<void> {
  const root = join(asked.folder, 'root')
  const debian = join(root, 'DEBIAN')
  await mkdir(debian, { mode: 0o755 })
  await writeFile(join(debian, 'control'), control(asked, options))
  await writeFile(join(debian, 'md5sums'), await sums(asked, root))
  await writeScript(join(debian, 'postinst'), await readFile(asked.afterInstall, 'utf8'))
  await writeScript(join(debian, 'postrm'), onlyAtRemoval(await readFile(asked.afterRemove, 'utf8')))
  const compression = options.compression === 'gz' ? 'gzip' : options.compression
  const args = ['--root-owner-group', `-Z${compression}`, '--build', root, asked.package]
  if ((await run('dpkg-deb', args)) !== 0) throw new Error('dpkg-deb failed')
}

function control(asked: Asked, { recommends, section, priority }: DebOptions): string {
  const [summary = '', ...rest] = asked.description.split('\n').map(line => line.trim())
  const size = asked.files.reduce((sum, file) => sum + Math.ceil(file.size / 1024), 0)
  return `${[
    `Package: ${asked.name}`,
    `Version: ${asked.version}${asked.iteration === '1' ? '' : `-${asked.iteration}`}`,
    `Architecture: ${asked.architecture}`,
    `Maintainer: ${asked.maintainer}`,
    `Installed-Size: ${size}`,
    ...(asked.depends.length > 0 ? [`Depends: ${asked.depends.join(', ')}`] : []),
    ...(recommends.length > 0 ? [`Recommends: ${recommends.join(', ')}`] : []),
    `Section: ${section}`,
    `Priority: ${priority}`,
    `Homepage: ${asked.url}`,
    `Description: ${summary}`,
    ...rest.map(line => ` ${line || '.'}`),
  ].join('\n')}\n`
}

async function sums({ files }: Asked, root: string): Promise<string> {
  let lines = ''
  for (const { path, isLink } of files)
    if (!isLink) {
      const sum = createHash('md5').update(await readFile(join(root, path)))
      lines += `${sum.digest('hex')}  ${path}\n`
    }
  return lines
}

/** An upgrade runs the old version's script before the new one's: what both install stays meanwhile. */
function onlyAtRemoval(script: string): string {
  const check = 'case "$1" in remove|purge|disappear) ;; *) exit 0 ;; esac'
  return script.replace('\n', `\n${check}\n`)
}

async function writeScript(path: string, script: string): Promise<void> {
  await writeFile(path, script.endsWith('\n') ? script : `${script}\n`)
  await chmod(path, 0o755)
}
