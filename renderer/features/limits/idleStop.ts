import { hasEnded } from '#contract/automation/limit.ts'
import { instanceName } from '#contract/format/name.ts'
import { duration } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import type { Action } from '../instances/action.ts'
import { usualStops } from './stopWhen.ts'

/** Sets the limit that stops an instance when it is idle, with the figures that were chosen last, or takes it back. */
export function idleStop(instance: InstanceView, page: Page): Action {
  const { account, berth } = page
  const limit = Object.values(account?.limits ?? {}).find(
    ({ instance: on, condition }) => on === instance.id && condition.kind === 'idle',
  )
  if (limit && !hasEnded(limit))
    return {
      id: 'idle-stop',
      label: 'Keep running when idle',
      run: () => page.attempt(berth.switchLimit({ limit: limit.id, on: false })),
    }
  const chosen = limit?.condition ?? account?.lastRental?.stops.find(({ kind }) => kind === 'idle')
  const when = chosen?.kind === 'idle' ? chosen : usualStops.idle
  return {
    id: 'idle-stop',
    label: `When idle for ${duration(when.seconds)}, stop`,
    async run() {
      const settings = { when, action: 'stop', warning: 900, missed: 'act' } as const
      const set = await page.attempt(
        berth.setLimit({ instance: instance.id, ...settings, ...(limit && { limit: limit.id }) }),
      )
      if (set !== undefined)
        page.say(
          `${instanceName(instance)} stops when idle for ${duration(when.seconds)}.`,
          'To undo it: More › Keep running when idle.',
        )
    },
  }
}
