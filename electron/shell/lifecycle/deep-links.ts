import { homedir } from 'node:os'
import { app } from 'electron'
import { introduceAppImage, withdrawAppImage } from '../../local/autostart/own-entry.ts'
import { linkAmong } from '../../local/start/flags.ts'
import type { Links } from '../../ports/links.ts'

/** What the desktop asks of a Berth that is there already, or will be soon: to be shown, at a link or a notice. */
type Call = { link?: string; notice?: string }

export interface DeepLinks {
  /** From here on. What came before is done now. */
  answer(answers: { show: () => void; follow: (link: string) => void; notice: (id: string) => void }): void
}

/**
 * Hears links, second starts, and the notice that Berth was started for, from the program's first moment: macOS tells
 * them before anything is ready. A second start brings the window, or what its link leads to; a hidden one nothing.
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

/** Under which Windows knows the installed program, that of its package, and what it starts for a notification. */
const onWindows = { name: 'app.berth.Berth', activator: '{6F0B2C57-3D2E-4C0A-9B7C-5B8E2A1D94E3}' }

/**
 * Makes Windows know whose notifications these are. Before the first of them is shown or heard of: what starts Berth
 * for a click is written down with it, and would otherwise be another with each start, which finds nobody later.
 */
export function bearName(): void {
  if (process.platform !== 'win32') return
  app.setToastActivatorCLSID(onWindows.activator)
  app.setAppUserModelId(onWindows.name)
}

/**
 * Makes the desktop bring `berth://` links here. A Berth that is not installed leaves them to one that is; an AppImage
 * is known to no desktop by itself, and is made known first.
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
  if (!app.setAsDefaultProtocolClient('berth'))
    log('berth:// links do not lead here: the desktop does not know Berth')
}

/** Takes back what `introduce` did. */
export const systemLinks: Links = {
  async withdraw() {
    app.removeAsDefaultProtocolClient('berth')
    if (process.platform === 'linux') await withdrawAppImage({ env: process.env, home: homedir() })
  },
}
