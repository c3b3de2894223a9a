import { hasEnded } from '#contract/automation/guard.ts'
import { instanceName } from '#contract/format/name.ts'
import { duration } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import type { Action } from '../instances/action.ts'
import { usualStops } from './stopWhen.ts'

/** Sets the guard that stops an instance when it is idle, with the figures that were chosen last, or takes it back. */
export function idleStop(instance: InstanceView, page: Page): Action {
  const { account, berth } = page
  const guard = Object.values(account?.guards ?? {}).find(
    ({ instance: on, condition }) => on === instance.id && condition.kind === 'idle',
  )
  if (guard && !hasEnded(guard))
    return {
      id: 'idle-stop',
      label: 'Keep running when idle',
      run: () => page.attempt(berth.switchGuard({ guard: guard.id, on: false })),
    }
  const chosen = guard?.condition ?? account?.lastRental?.stops.find(({ kind }) => kind === 'idle')
  const when = chosen?.kind === 'idle' ? chosen : usualStops.idle
  return {
    id: 'idle-stop',
    label: `When idle for ${duration(when.seconds)}, stop`,
    async run() {
      const settings = { when, action: 'stop', warning: 900, missed: 'act' } as const
      const set = await page.attempt(
        berth.setGuard({ instance: instance.id, ...settings, ...(guard && { guard: guard.id }) }),
      )
      if (set !== undefined)
        page.say(
          `${instanceName(instance)} stops when idle for ${duration(when.seconds)}.`,
          'To undo it: More › Keep running when idle.',
        )
    },
  }
}
