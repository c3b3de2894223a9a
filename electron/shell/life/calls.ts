import { app } from 'electron'
import { linkAmong } from '../../local/start/flags.ts'

/** What the desktop asks of a Berth that is there already, or will be soon: to be shown, at a link or a notice. */
type Call = { link?: string; notice?: string }

export interface Calls {
  /** From here on. What came before is done now. */
  answer(answers: { show: () => void; follow: (link: string) => void; notice: (id: string) => void }): void
}

/**
 * Hears links, second starts, and the notice that Berth was started for, from the program's first moment: macOS tells
 * them before anything is ready. A second start brings the window, or what its link leads to; a hidden one nothing.
 */
export function hearCalls(argv: readonly string[]): Calls {
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

/** The name under which Windows knows the installed program: that of its package. */
const windowsName = 'app.berth.Berth'

/**
 * Makes the desktop know Berth: whose notifications these are on Windows, and where `berth://` links lead. A Berth that
 * is not installed leaves links to one that is.
 */
export function introduce(): void {
  app.setAppUserModelId(windowsName)
  if (app.isPackaged) app.setAsDefaultProtocolClient('berth')
}
