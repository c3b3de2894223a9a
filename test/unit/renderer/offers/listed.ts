import type { OfferView } from '#shared/market/offer.ts'

/** A complete offer with the given changes. */
export function offer(changes: Partial<OfferView> & { id: number }): OfferView {
  return {
    gpuName: 'H100 SXM',
    gpuCount: 1,
    gpuMemory: 81_559,
    price: 2_000_000,
    minimumBid: 1_000_000,
    storagePrice: 10_000,
    scorePerDollar: 100,
    cpuCores: 32,
    disk: 1000,
    down: 5000,
    up: 2000,
    reliability: 0.99,
    location: 'Sweden, SE',
    ...changes,
  }
}
