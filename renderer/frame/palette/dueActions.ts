import { dueNext } from '../../../electron/contract/automation/guard.ts'
import { accountNow } from '../../../electron/contract/reading.ts'
import type { Page } from '../../berth/page.svelte.ts'
import { momentWords, snoozeOptions } from '../../components/guards/guardWords.ts'
import { route } from '../place/route.svelte.ts'
import type { Action } from './actions.ts'

/** Guards that the palette names: those that are due next, on whichever account. */
const most = 5

/** What Berth does next by itself, as ways to the guards that do it, and the snoozes of each. */
export function dueActions(page: Page): Action[] {
  const { berth, state } = page
  const accounts = Object.values(state?.accounts ?? {})
  const due = accounts
    .flatMap(account => dueNext(account.guards).map(next => ({ account, ...next })))
    .sort((a, b) => a.dueAt - b.dueAt)
    .slice(0, most)
  return due.flatMap(({ account, guard, dueAt }, index) => {
    const { id, name, clock } = account
    const whose = accounts.length > 1 ? ` (${name})` : ''
    const sure = guard.condition.kind === 'time' || guard.condition.kind === 'duration'
    const at = sure ? '' : `, at ${momentWords(dueAt, accountNow(clock, Date.now()))}`
    const place = guard.instance === undefined ? 'account/guards' : `instances/${guard.instance}/guards`
    return [
      {
        id: `due-${guard.id}`,
        label: `${index === 0 ? 'Next' : 'Then'}${at}: ${lower(guard.sentence)}${whose}`,
        async run() {
          if (id !== state?.shown) await page.attempt(berth.showAccount({ account: id }))
          route.go(place)
        },
      },
      ...snoozeOptions.map(({ minutes, label }) => ({
        id: `snooze-${guard.id}-${minutes}`,
        label: `Snooze for ${label}: ${guard.sentence}${whose}`,
        run: () => page.attempt(berth.snoozeGuard({ account: id, guard: guard.id, minutes })),
      })),
    ]
  })
}

function lower(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`
}
