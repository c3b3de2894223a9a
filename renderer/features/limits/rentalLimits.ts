import type { Page } from '#renderer/bridge/page.svelte.ts'
import type { Action } from '#renderer/components/menu/menu.ts'
import {
  canBeAsleep,
  hasEnded,
  type Limit,
  type LimitWhen,
  type RentalLimitKind,
  rentalLimitKinds,
  type WhenOf,
} from '#shared/automation/limit.ts'
import { defaultLimits, defaultWarning } from '#shared/automation/limit-defaults.ts'
import { instanceName } from '#shared/format/name.ts'
import { duration } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { AccountView } from '#shared/state.ts'

/** A limit that stops on a condition, while this computer is awake. */
export function stopLimit(when: LimitWhen): Limit {
  return { when, action: 'stop', asleep: false }
}

/**
 * The default stops of a new rental: those of the last one, possibly none; the first has eight hours, kept by a watchdog too,
 * since its sum must hold however soon the lid is closed. What a command line set counts only for that rental. Of one without
 * SSH it isn't known whether a watchdog was wanted, so the one before it tells.
 */
export function firstLimits(account: AccountView | undefined): readonly Limit[] {
  const past = account?.pastRentals?.filter(({ byCommand }) => !byCommand) ?? []
  const [last] = past
  if (!last) return [{ ...stopLimit(defaultLimits.duration), asleep: true }]
  const [first] = last.limits
  if (!last.withoutSsh || !first) return last.limits
  const before = past.find(({ withoutSsh, limits }) => !withoutSsh && limits.length > 0)
  return withAction(last.limits, { action: first.action, asleep: !before || isAsleep(before.limits) })
}

/** Whether any of them destroys its instance. */
export function isDestroying(limits: readonly Limit[]): boolean {
  return limits.some(({ action }) => action === 'destroy')
}

/** Before the conditions of a rental's limits. */
export function endsWhen(limits: readonly Limit[]): string {
  return isDestroying(limits) ? 'Destroy when' : 'Stop when'
}

/** The settings of a limit that a click sets, without the form. */
export const clicked = { action: 'stop', warning: defaultWarning, missed: 'act' } as const

/** The chosen condition of a kind. */
export function whenOf<Kind extends RentalLimitKind>(
  limits: readonly Limit[],
  kind: Kind,
): WhenOf<Kind> | undefined {
  return limits.map(({ when }) => when).find((when): when is WhenOf<Kind> => when.kind === kind)
}

/** The hours that are a click away, with the chosen ones among them where they're others. */
export function durationChoices(limits: readonly Limit[]): WhenOf<'duration'>[] {
  const { seconds: usual } = defaultLimits.duration
  const seconds = new Set([3600, 3 * 3600, usual, whenOf(limits, 'duration')?.seconds ?? usual])
  return [...seconds].sort((a, b) => a - b).map(each => ({ kind: 'duration', seconds: each }))
}

/** The chosen limits in their order, with the one of that kind replaced, or removed without `when`. The first is kept asleep, too. */
export function withLimit(
  limits: readonly Limit[],
  kind: RentalLimitKind,
  when: LimitWhen | undefined,
): Limit[] {
  const chosen = rentalLimitKinds.flatMap(each => (each === kind ? when : whenOf(limits, each)) ?? [])
  const asleep = limits.length === 0 || isAsleep(limits)
  return withAction(chosen.map(stopLimit), { action: limits[0]?.action ?? 'stop', asleep })
}

/** Whether a watchdog is to keep the limits, too. */
export function isAsleep(limits: readonly Limit[]): boolean {
  return limits.some(({ asleep }) => asleep)
}

/** The chosen limits with another action, or with a watchdog that keeps them, too, as far as it can. */
export function withAction(
  limits: readonly Limit[],
  { action, asleep }: Pick<Limit, 'action' | 'asleep'>,
): Limit[] {
  const watched = asleep || limits.some(({ when }) => when.kind === 'away')
  return limits.map(({ when }) => ({ when, action, asleep: watched && canBeAsleep(when) }))
}

/** Sets the limit that stops an instance when it is idle, with the figures that were chosen last, or takes it back. */
export function idleLimit(instance: InstanceView, page: Page): Action {
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
  const when =
    whenOf(limit ? [limit] : (account?.pastRentals?.[0]?.limits ?? []), 'idle') ?? defaultLimits.idle
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
