import { fieldsWith, type OfferView } from '#shared/market/offer.ts'

/** One fact of an offer. */
export interface OfferFact {
  readonly name: string
  readonly value: string
}

const facts = fieldsWith('fact').map(([, { fact }]) => fact)

/**
 * The facts of an offer in groups, as people compare them; missing ones are left out.
 * @param now epoch seconds of the account's time
 */
export function offerFacts(offer: OfferView, now: number): readonly (readonly OfferFact[])[] {
  return (['gpu', 'machine', 'price'] as const)
    .map(wanted =>
      facts.flatMap(({ group, name, words }) => {
        const value = group === wanted ? words(offer, now) : undefined
        return value === undefined ? [] : [{ name, value }]
      }),
    )
    .filter(group => group.length > 0)
}
