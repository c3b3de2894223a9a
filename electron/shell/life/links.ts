import { app } from 'electron'
import { linkAmong } from '../../local/flags.ts'

/** What the desktop asks of a Berth that is there already, or will be soon. */
export interface Calls {
  /** From here on. What came before is done now. */
  answer(answers: { follow: (link: string) => void; show: () => void }): void
}

/**
 * Hears links and second starts, from the program's first moment: macOS sends the link that it started Berth for
 * before anything is ready. A second start brings the window, or what its link leads to; a hidden one nothing.
 */
export function hearCalls(argv: readonly string[]): Calls {
  const waiting: (string | undefined)[] = []
  let call = (link: string | undefined) => void waiting.push(link)
  const first = linkAmong(argv)
  if (first !== undefined) call(first)

  app.on('open-url', (event, url) => {
    event.preventDefault()
    call(url)
  })
  app.on('second-instance', (_event, theirs) => {
    const link = linkAmong(theirs)
    if (link !== undefined || !theirs.includes('--hidden')) call(link)
  })
  app.on('activate', () => call(undefined))

  return {
    answer({ follow, show }) {
      call = link => {
        show()
        if (link !== undefined) follow(link)
      }
      for (const link of waiting.splice(0)) call(link)
    },
  }
}

/** Makes the desktop bring `berth://` links here. A Berth that is not installed leaves that to one that is. */
export function offerLinks(): void {
  if (app.isPackaged) app.setAsDefaultProtocolClient('berth')
}
