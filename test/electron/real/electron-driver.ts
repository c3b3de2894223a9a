import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { _electron, type Page } from 'playwright-core'
import { build } from 'vite'
import type { Driver, Start } from '../driver.ts'
import type { Watch } from './watch.ts'

const root = new URL('../../../', import.meta.url).pathname

/** Berth's built main process in a real Electron, whose program is given. */
export async function driveElectron(program: string, { env, flags }: Start): Promise<Driver> {
  const watch = await bundleWatch(env['TMPDIR'] ?? '/tmp')
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const electron = await _electron.launch({
    executablePath: program,
    args: ['-r', watch, root, ...flags],
    cwd: root,
    env: Object.fromEntries(given),
  })
  const child = electron.process()
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const errors: string[] = []
  electron.on('window', page => listen(page, errors))

  /** Asks what was loaded into the main process (watch.ts). */
  function ask<Name extends keyof Watch>(
    name: Name,
    ...args: Parameters<Watch[Name]>
  ): Promise<Awaited<ReturnType<Watch[Name]>>> {
    return electron.evaluate(
      (_electronModule, [asked, given]) => {
        const call = globalThis.berthWatch?.[asked] as ((...all: unknown[]) => never) | undefined
        if (call === undefined) throw new Error('the watch was not loaded')
        return call(...given)
      },
      [name, args] as const,
    )
  }

  return {
    page: () => electron.firstWindow(),
    errors: () => errors,
    windowVisible: () => ask('windowVisible'),
    closeWindow: async () => void (await ask('closeWindow')),
    trayMenu: () => ask('trayMenu'),
    clickTray: () => ask('clickTray'),
    clickMenu: path => ask('clickMenu', path),
    notifications: () => ask('notifications'),
    clickNotification: at => ask('clickNotification', at),
    clickAction: (at, label) => ask('clickAction', at, label),
    copied: () => ask('copied'),
    questions: () => ask('questions'),
    answer: label => ask('answer', label),
    async startAgain(args = []) {
      const second = spawn(program, [root, ...args], { cwd: root, env, stdio: 'ignore' })
      const [code] = await once(second, 'exit')
      return code
    },
    handlers: {
      navigates: (kind, url) => ask('navigates', kind, url),
      opens: url => ask('opens', url),
      attachesWebview: src => ask('attachesWebview', src),
      grants: (permission, url) => ask('grants', permission, url),
    },
    // Its answer may not come any more.
    quit: () => ask('quit').catch(() => undefined),
    ended,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function listen(page: Page, errors: string[]): void {
  page.on('pageerror', error => errors.push(error.message))
  page.on('console', message => message.type() === 'error' && errors.push(message.text()))
}

/** As one CommonJS file, which is what `-r` takes; gives its path. */
async function bundleWatch(folder: string): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      target: 'node20',
      lib: { entry: new URL('watch.ts', import.meta.url).pathname, formats: ['cjs'] },
      rolldownOptions: { external: ['electron'] },
    },
  })
  const [output] = Array.isArray(made) ? made : [made]
  if (output === undefined || !('output' in output)) throw new Error('watch.ts was not bundled')
  const path = join(await mkdtemp(join(folder, 'watch-')), 'watch.cjs')
  await writeFile(path, output.output[0].code)
  return path
}
