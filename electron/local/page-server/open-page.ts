import type { Clock } from '#ports/clock.ts'
import type { Opener } from '#ports/opener.ts'
import type { PageServer } from './page-server.ts'

/** Milliseconds for the browser to open the page. */
const patience = 10_000

/**
 * Opens the page in the user's browser. Some browsers do not resolve names below `localhost`: where no page joins in
 * time, the server also listens on 127.0.0.1, and that address is said. Rejects where there is no browser.
 */
export async function openPage(
  server: Pick<PageServer, 'address' | 'joined' | 'openNumericAddress'>,
  opener: Opener,
  clock: Clock,
  say: (line: string) => void,
): Promise<void> {
  await opener.openPrivately(server.address)
  const inTime = await new Promise<boolean>(resolve => {
    const forget = clock.after(patience, () => resolve(false))
    void server.joined.then(() => {
      forget()
      resolve(true)
    })
  })
  if (inTime) return
  const address = await server.openNumericAddress()
  say(
    'No browser has opened the page within ten seconds. Some cannot find names that end in .localhost; if yours is one of them, open this address instead.',
  )
  say(`Berth is ready at ${address}`)
}
