import type { AccountView } from '#contract/state.ts'
import type { Expected } from '#core/instances/verified-poll.ts'

/** Seconds after its creation in which a deployment may not list an instance. */
const youngFor = 60

/**
 * The instances that an answer should list: those that are shown and those that were rented. `now` in epoch seconds of
 * the account's time.
 */
export function expectedInstances(
  { limits, instances }: Pick<AccountView, 'limits' | 'instances'>,
  shown: readonly number[],
  rented: readonly { instance: number; createdAt: number }[],
  now: number,
): Expected[] {
  const limited = new Set(Object.values(limits).map(({ instance }) => instance))
  return [
    ...shown.map(id => ({ id, isLimited: limited.has(id) })),
    ...rented
      .filter(({ instance }) => !(instance in instances))
      .map(({ instance, createdAt }) => ({ id: instance, isYoung: now - createdAt < youngFor })),
  ]
}

/** The shortest time before a poll because something is due, in milliseconds. */
const soonestPoll = 500

/**
 * Milliseconds until the next poll. Polls begin an interval apart, but the pause between them is at least half of it.
 * Earlier where something is due in `due` milliseconds.
 */
export function untilNextPoll(interval: number, took: number, due: number): number {
  const usual = Math.max(interval - took, interval / 2)
  return due <= 0 ? usual : Math.min(usual, Math.max(soonestPoll, due))
}
