import { gpuWords } from '../format/name.ts'
import { count, gpuMemory } from '../format/size.ts'
import type { ListedOffer } from './catalogue.ts'
import type { OfferView } from './offer.ts'

/** An offer's name; without a price it includes the number, as little else may distinguish it. */
export function offerName({ offer, price }: Pick<ListedOffer, 'offer' | 'price'>): string {
  return `${gpuWords(offer)}${price === undefined ? `, offer ${offer.id}` : ''}`
}

/** The VRAM of all GPUs, from MB of each: `80 GB`, `8 × 80 GB`. */
export function memoryWords(memory: number, gpuCount = 1): string {
  return gpuCount === 1 ? gpuMemory(memory) : `${gpuCount} × ${gpuMemory(memory)}`
}

/** `640 GB of VRAM in all`, where that is more than one GPU's. */
export function totalMemoryWords({ gpuMemory: memory, gpuCount = 1 }: OfferView): string | undefined {
  return memory === undefined || gpuCount === 1
    ? undefined
    : `${count(Math.round(memory / 1024) * gpuCount)} GB of VRAM in all`
}
