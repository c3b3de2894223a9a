import type { Page } from '../../berth/page.svelte.ts'
import { snoozeOptions } from '../../features/guards/guardWords.ts'
import type { Action } from '../../features/instances/action.ts'
import { whatIsDue } from '../../features/instances/whatIsDue.ts'
import { route } from '../../place/route.svelte.ts'

/** Entries for the automatic actions that come next: to open the guard behind each, or to snooze it. */
export function dueActions(page: Page): Action[] {
  const { berth, state } = page
  return whatIsDue(Object.values(state?.accounts ?? {}), Date.now()).flatMap(
    ({ account, guard, label, whose }) => [
      {
        id: `due-${guard.id}`,
        label,
        async run() {
          if (account !== state?.shown) await page.attempt(berth.showAccount({ account }))
          route.go(guard.instance === undefined ? 'account/guards' : `instances/${guard.instance}/automation`)
        },
      },
      ...snoozeOptions.map(({ minutes, label: span }) => ({
        id: `snooze-${guard.id}-${minutes}`,
        label: `Snooze for ${span}: ${guard.sentence}${whose}`,
        run: () => page.attempt(berth.snoozeGuard({ account, guard: guard.id, minutes })),
      })),
    ],
  )
}
