import type { WatchView } from '#contract/automation/watch.ts'
import type { OfferView } from '#contract/market/offer.ts'
import type { Problem } from '#contract/problem.ts'
import { withoutSecrets } from '../renting/secrets.ts'
import type { Watch } from './model.ts'

/** The last search's result, in memory only. */
export interface LastResult {
  matching: number
  best?: OfferView
  problem?: Problem
}

export function watchView(
  { id, request, run, paused, notesPrices, searchedAt, rented, renting, waits }: Watch,
  last: LastResult | undefined,
): WatchView {
  const { rents, ...rest } = request
  return {
    ...rest,
    rents: rents ? { ...rents, request: withoutSecrets(rents.request) } : undefined,
    run,
    id,
    paused,
    notesPrices: paused && notesPrices === true,
    matching: last?.matching ?? 0,
    rented,
    renting: renting !== undefined,
    waits,
    searchedAt,
    best: last?.best,
    problem: last?.problem,
  }
}
