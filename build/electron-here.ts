import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { at } from './places.ts'

/** Electron's program, or why there is none, as the end of a sentence. */
export type ElectronHere = { program: string } | { why: string }

/** Milliseconds for downloading Electron's program. */
const patience = 120_000

/** Finds Electron's program, and downloads it where it is missing. Never rejects. */
export async function findElectron(): Promise<ElectronHere> {
  const why = cannotShow()
  if (why !== undefined) return { why }
  const found = installed()
  if (found !== undefined) return { program: found }
  // Its sandbox refuses root, so it is not worth a download.
  if (process.getuid?.() === 0) return { why: 'it does not run as root' }
  const failure = await fetchElectron()
  const program = installed()
  return program === undefined ? { why: `its program could not be fetched (${failure})` } : { program }
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
