import { rate } from '#contract/format/money.ts'
import { gpuWords } from '#contract/format/name.ts'
import type { ListedOffer } from '#contract/market/catalogue.ts'
import type { RentalView } from '#contract/market/rental.ts'
import { searchParts, searchPartWords } from '#contract/market/search-part.ts'
import type { Problem } from '#contract/problem.ts'
import { micros } from '#contract/spending/money.ts'
import type { AttemptSeries } from './model.ts'

/** Reasons for the user why attempts end. */
export const sentences = {
  late: {
    code: 'late',
    message: 'It was not running in time.',
  },
  noGpu: {
    code: 'no_gpu',
    message: 'No GPU was free for it in time.',
  },
  noSsh: {
    code: 'no_ssh',
    message: 'It runs, but Berth couldn’t log in over SSH in time.',
  },
  ceiling: {
    code: 'ceiling_reached',
    message: 'The attempts have cost what they may.',
    advice: 'Nothing is left of them. Allow more, or pick hosts with more reliability.',
  },
  attemptsUsedUp: {
    code: 'tries_used_up',
    message: 'None of the attempts came to anything.',
    advice: 'Nothing is left of them. Look at why each was dropped, or allow more attempts.',
  },
  crashedEverywhere: {
    code: 'tries_used_up',
    message: 'It crashed on every machine that was tried.',
    advice:
      'That speaks against the image or the start script rather than the hosts. Nothing is left of the attempts.',
  },
  noOffers: {
    code: 'no_offers',
    message: 'No further offer matches the search and its limits.',
    advice: 'Loosen the filter or the price, or forgive hosts that failed; nothing is left of the attempts.',
  },
  noneWithinReach: {
    code: 'no_offers',
    message: 'No offer matches the search within its limits, so none was tried.',
    advice: 'Loosen the filter, allow a higher price or bid, or forgive hosts that failed.',
  },
  pricesUnknown: {
    code: 'prices_unknown',
    message:
      'The service’s offers have no prices, so Berth can’t keep to a limit and rents nothing automatically.',
    advice: 'Rent an offer by hand, or bid.',
  },
  takenAway: {
    code: 'instance_gone',
    message: 'The instance was destroyed elsewhere while it was being tried.',
    advice: 'Nothing further is rented for it.',
  },
  stopped: {
    code: 'stopped',
    message: 'The instance was stopped elsewhere while it was being tried.',
    advice: 'It is kept, and its disk is charged: start or destroy it. Nothing further is rented.',
  },
  forgotten: {
    code: 'forgotten',
    message: 'Berth no longer knows how it had tried, since a file was lost.',
    advice: 'Look at your instances: one of them may be an attempt. Nothing further is rented.',
  },
} satisfies Record<string, Problem>

/** The recovery that waits shows it, so not every search does. */
export const nothingAsGoodCode = 'nothing_as_good'

/** The problem of a replacement for which the market has nothing as good. */
function nothingAsGood(
  instance: number,
  { search, request }: Pick<AttemptSeries, 'search' | 'request'>,
): Problem {
  const asked = searchParts(search).map(part => searchPartWords(search, part))
  const bid = request.bid === undefined ? [] : [`for a bid of at most ${rate(micros(request.bid))}`]
  return {
    code: nothingAsGoodCode,
    message: `No offer is as good as #${instance}: ${[...asked, ...bid].join(', ')}.`,
    advice: 'Nothing worse is rented. Berth looks again later; allow a higher bid, or rent another by hand.',
  }
}

/** The problem where none of the offers that match is suitable. */
export function nothingFound(series: AttemptSeries, offers: readonly ListedOffer[]): Problem {
  if (series.replaces !== undefined) return nothingAsGood(series.replaces, series)
  const untold = pricesUnknown(series.request, offers)
  return untold ?? (series.attempts.length === 0 ? sentences.noneWithinReach : sentences.noOffers)
}

/** The problem where no offer tells a price and none is bid for. */
export function pricesUnknown(
  { bid }: AttemptSeries['request'],
  offers: readonly Partial<Pick<ListedOffer, 'price'>>[],
): Problem | undefined {
  const untold = bid === undefined && offers.length > 0 && offers.every(({ price }) => price === undefined)
  return untold ? sentences.pricesUnknown : undefined
}

/** `1 × RTX 4090 in Sweden, SE, machine 10012`. */
export function attemptName({
  gpuName,
  gpuCount,
  location,
  machineId,
}: RentalView['offer'] & { machineId?: number }): string {
  const gpu = gpuName === undefined ? 'an offer' : gpuWords({ gpuCount, gpuName })
  const place = location === undefined ? '' : ` in ${location}`
  return `${gpu}${place}${machineId === undefined ? '' : `, machine ${machineId}`}`
}
