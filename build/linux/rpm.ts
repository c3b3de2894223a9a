import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../run.ts'
import type { Asked } from './payload.ts'

export interface RpmOptions {
  summary: string
  /** By fpm's name: `xzmt`, `gzip`. */
  compression: string
}

/** rpm's own names for how its payload is compressed. */
const payloads: Readonly<Record<string, string>> = {
  xz: 'w6.xzdio',
  xzmt: 'w6T0.xzdio',
  gzip: 'w6.gzdio',
}
/** rpm's own names of processors, by Debian's, which electron-builder gives. */
const architectures: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' }

/** Makes an rpm with `rpmbuild`. Throws where that fails. */
export async function makeRpm(asked: Asked, options: RpmOptions): Promise<void> {
  const file = join(asked.folder, 'berth.spec')
  await writeFile(file, await spec(asked, options))
  const defines = Object.entries({
    _topdir: asked.folder,
    _rpmdir: asked.folder,
    _rpmfilename: 'made.rpm',
    _binary_payload: payloads[options.compression],
    _build_id_links: 'none',
    debug_package: '%{nil}',
    // Electron's files stay as they are: not stripped, and not searched for what they need.
    __os_install_post: '%{nil}',
  }).flatMap(([name, value]) => ['--define', `${name} ${value}`])
  const args = [
    '-bb',
    '--quiet',
    '--target',
    architectures[asked.architecture] ?? asked.architecture,
    ...defines,
    file,
  ]
  if ((await run('rpmbuild', args)) !== 0) throw new Error('rpmbuild failed')
  await copyFile(join(asked.folder, 'made.rpm'), asked.package)
}

async function spec(asked: Asked, { summary }: RpmOptions): Promise<string> {
  const [install, remove] = await Promise.all(
    [asked.afterInstall, asked.afterRemove].map(async path => withoutFirst(await readFile(path, 'utf8'))),
  )
  return `${[
    `Name: ${asked.name}`,
    `Version: ${asked.version}`,
    `Release: ${asked.iteration}`,
    `Summary: ${plain(summary)}`,
    `License: ${asked.license}`,
    `Vendor: ${plain(asked.vendor)}`,
    `Packager: ${plain(asked.maintainer)}`,
    `URL: ${plain(asked.url)}`,
    'AutoReqProv: no',
    ...asked.depends.map(name => `Requires: ${name}`),
    '',
    '%description',
    plain(asked.description),
    '',
    '%install',
    `cp -a ${join(asked.folder, 'root')}/. %{buildroot}/`,
    '',
    '%files',
    '%defattr(-,root,root,-)',
    ...places(asked).map(path => `"/${plain(path)}"`),
    '',
    '%post -p /bin/bash',
    plain(install ?? ''),
    '',
    // An upgrade runs the old version's script after the new one's, with 1: what that installed must stay.
    '%postun -p /bin/bash',
    '[ "$1" = 0 ] || exit 0',
    plain(remove ?? ''),
  ].join('\n')}\n`
}

/** The folder of the program with all in it, and each file elsewhere: those folders belong to the system. */
function places({ files }: Asked): string[] {
  return [...new Set(files.map(({ path }) => /^opt\/[^/]+/.exec(path)?.[0] ?? path))]
}

function withoutFirst(script: string): string {
  return script.slice(script.indexOf('\n') + 1)
}

/** With what rpm would read as one of its macros. */
function plain(text: string): string {
  return text.replaceAll('%', '%%')
}
