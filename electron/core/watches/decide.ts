import type { Watch } from './model.ts'

/** Whether the market is to be looked at; `now` in epoch seconds of the account's time. */
export function isDue(watch: Moving, now: number): boolean {
  const next = nextLook(watch)
  return next !== undefined && now >= next
}

type Moving = Pick<Watch, 'paused' | 'notesPrices' | 'wish'> & { lookedAt?: number }

/** When it is looked at next; undefined where it is not. For the prices alone, no more than one look an hour. */
export function nextLook({ paused, notesPrices, lookedAt, wish }: Moving): number | undefined {
  if (paused && !notesPrices) return undefined
  const every = paused ? Math.max(wish.every, 60) : wish.every
  return lookedAt === undefined ? 0 : lookedAt + every * 60
}
