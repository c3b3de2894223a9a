import type { Page } from '#renderer/bridge/page.svelte.ts'
import type { Action } from '#renderer/components/menu/menu.ts'
import {
  canBeAsleep,
  hasEnded,
  type Limit,
  type LimitWhen,
  type StopKind,
  type StopOf,
  stopKinds,
} from '#shared/automation/limit.ts'
import { defaultStops, defaultWarning } from '#shared/automation/limit-defaults.ts'
import { instanceName } from '#shared/format/name.ts'
import { duration } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { AccountView } from '#shared/state.ts'

/** A limit that stops on a condition, while this computer is awake. */
export function stopOn(when: LimitWhen): Limit {
  return { when, action: 'stop', asleep: false }
}

/** The default stops of a new rental: those of the last one, possibly none; the first has eight hours. */
export function firstStops(account: AccountView | undefined): readonly Limit[] {
  return account?.lastRental?.stops ?? [stopOn(defaultStops.duration)]
}

/** The settings of a limit that a click sets, without the form. */
export const clicked = { action: 'stop', warning: defaultWarning, missed: 'act' } as const

/** The chosen condition of a kind. */
export function stopOf<Kind extends StopKind>(stops: readonly Limit[], kind: Kind): StopOf<Kind> | undefined {
  return stops.map(({ when }) => when).find((when): when is StopOf<Kind> => when.kind === kind)
}

/** The chosen limits in their order, with the one of that kind replaced, or removed without `when`. */
export function withStop(stops: readonly Limit[], kind: StopKind, when: LimitWhen | undefined): Limit[] {
  const chosen = stopKinds.flatMap(each => (each === kind ? when : stopOf(stops, each)) ?? [])
  return allAs(chosen.map(stopOn), { action: stops[0]?.action ?? 'stop', asleep: isAsleep(stops) })
}

/** Whether a watchdog is to keep the limits, too. */
export function isAsleep(stops: readonly Limit[]): boolean {
  return stops.some(({ asleep }) => asleep)
}

/** The chosen limits with another action, or with a watchdog that keeps them, too, as far as it can. */
export function allAs(
  stops: readonly Limit[],
  { action, asleep }: Pick<Limit, 'action' | 'asleep'>,
): Limit[] {
  const watched = asleep || stops.some(({ when }) => when.kind === 'away')
  return stops.map(({ when }) => ({ when, action, asleep: watched && canBeAsleep(when) }))
}

/** Sets the limit that stops an instance when it is idle, with the figures that were chosen last, or takes it back. */
export function idleStop(instance: InstanceView, page: Page): Action {
  const { account, berth } = page
  const limit = Object.values(account?.limits ?? {}).find(
    ({ instance: on, when }) => on === instance.id && when.kind === 'idle',
  )
  if (limit && !hasEnded(limit))
    return {
      id: 'idle-stop',
      label: 'Keep running when idle',
      run: () => page.attempt(berth.switchLimit({ limit: limit.id, on: false })),
    }
  const when = stopOf(limit ? [limit] : (account?.lastRental?.stops ?? []), 'idle') ?? defaultStops.idle
  return {
    id: 'idle-stop',
    label: `When idle for ${duration(when.seconds)}, stop`,
    async run() {
      const set = await page.attempt(
        berth.setLimit({ instance: instance.id, when, ...clicked, ...(limit && { limit: limit.id }) }),
      )
      if (set !== undefined)
        page.say(
          `${instanceName(instance)} stops when idle for ${duration(when.seconds)}.`,
          'To undo it: More › Keep running when idle.',
        )
    },
  }
}
