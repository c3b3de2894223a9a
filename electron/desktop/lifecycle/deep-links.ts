import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { promisify } from 'node:util'
import { app } from 'electron'
import { introduceAppImage, withdrawAppImage, withdrawLinkHandler } from '#platform/autostart.ts'
import type { Links } from '#platform/platform.ts'
import { childEnv } from '#platform/programs.ts'
import { linkAmong } from '#start/flags.ts'

/** The desktop's request to a Berth that runs or is starting: show the window, follow a link, or answer a notice. */
type Call = { link?: string; notice?: string }

export interface DeepLinks {
  /** Answers calls from now on, and those that came before. */
  answer(answers: { show: () => void; follow: (link: string) => void; notice: (id: string) => void }): void
}

/**
 * Listens for links, second starts, and the notice whose click started Berth. Call it first: macOS sends links before
 * Electron is ready. A second start shows the window or follows its link; one with `--hidden` does nothing.
 */
export function hearDeepLinks(argv: readonly string[]): DeepLinks {
  const waiting: Call[] = []
  let call = (what: Call) => void waiting.push(what)
  const first = linkAmong(argv)
  if (first !== undefined) call({ link: first })

  app.once('ready', (_event, launch) => {
    const notice: unknown = launch && 'identifier' in launch ? launch['identifier'] : undefined
    if (typeof notice === 'string') call({ notice })
  })
  app.on('open-url', (event, link) => {
    event.preventDefault()
    call({ link })
  })
  app.on('second-instance', (_event, theirs) => {
    const link = linkAmong(theirs)
    if (link !== undefined) call({ link })
    else if (!theirs.includes('--hidden')) call({})
  })
  app.on('activate', () => call({}))

  return {
    answer({ show, follow, notice }) {
      call = what => {
        show()
        if (what.link !== undefined) follow(what.link)
        if (what.notice !== undefined) notice(what.notice)
      }
      for (const what of waiting.splice(0)) call(what)
    },
  }
}

/** The package's application id on Windows, and the COM class that Windows starts for a notification. */
const onWindows = { name: 'app.berth.Berth', activator: '{6F0B2C57-3D2E-4C0A-9B7C-5B8E2A1D94E3}' }

/**
 * Sets both on Windows, before the first notification is shown or heard: Electron registers the class for clicks, and
 * would otherwise choose another one at each start, which later clicks would not find.
 */
export function bearName(): void {
  if (process.platform !== 'win32') return
  app.setToastActivatorCLSID(onWindows.activator)
  app.setAppUserModelId(onWindows.name)
}

/**
 * Makes Berth the desktop's handler for `berth://` links, where it is installed. The desktop knows no AppImage, so that
 * gets its desktop entry first.
 */
export async function introduce(icon: string, log: (line: string) => void): Promise<void> {
  if (!app.isPackaged) return
  const { env, platform } = process
  try {
    if (platform === 'linux' && env['APPIMAGE'])
      await introduceAppImage(env['APPIMAGE'], icon, { env, home: homedir() })
  } catch (error) {
    log(`the AppImage was not made known to the desktop: ${String(error)}`)
  }
  // Electron asks xdg-settings, which knows neither XFCE nor some smaller desktops.
  if (app.setAsDefaultProtocolClient('berth') || (platform === 'linux' && (await handleByMime()))) return
  log('berth:// links do not lead here: the desktop does not know Berth')
}

/** Makes Berth the handler for its links in the list that all desktops on Linux read; gives whether that worked. */
function handleByMime(): Promise<boolean> {
  const args = ['default', 'berth.desktop', 'x-scheme-handler/berth']
  return promisify(execFile)('xdg-mime', args, { env: childEnv(process.env) }).then(
    () => true,
    () => false,
  )
}

/** Undoes `introduce`. */
export const systemLinks: Links = {
  async withdraw() {
    app.removeAsDefaultProtocolClient('berth')
    if (process.platform !== 'linux') return
    const user = { env: process.env, home: homedir() }
    await withdrawAppImage(user)
    await withdrawLinkHandler(user)
  },
}
