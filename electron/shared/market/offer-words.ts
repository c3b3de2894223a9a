import { rate } from '../format/money.ts'
import { gpuWords } from '../format/name.ts'
import { count, figure, gigabits, gpuMemory } from '../format/size.ts'
import type { Micros } from '../spending/money.ts'

interface Gpus {
  gpuName?: string
  gpuCount?: number
  /** MB of each. */
  gpuMemory?: number
}

/** An offer's name; without a price it includes the number, as little else may distinguish it. */
export function offerName(listed: { offer: Gpus & { id: number }; price?: Micros | undefined }): string {
  const { offer, price } = listed
  return `${gpuWords(offer)}${price === undefined ? `, offer ${offer.id}` : ''}`
}

/** The VRAM of all GPUs, from MB of each: `80 GB`, `8 × 80 GB`. */
export function memoryWords(memory: number, gpuCount = 1): string {
  return gpuCount === 1 ? gpuMemory(memory) : `${gpuCount} × ${gpuMemory(memory)}`
}

/** GB of VRAM in all. */
export function totalMemory(memory: number, gpuCount: number): string {
  return count(Math.round(memory / 1024) * gpuCount)
}

/** `640 GB of VRAM in all`, where that is more than one GPU's. */
export function totalMemoryWords({ gpuMemory: memory, gpuCount = 1 }: Gpus): string | undefined {
  return memory === undefined || gpuCount === 1
    ? undefined
    : `${totalMemory(memory, gpuCount)} GB of VRAM in all`
}

/** Of one GPU and of all: `80 GB each, 640 GB`. */
export function eachAndTotal({ gpuMemory: memory, gpuCount = 1 }: Gpus): string | undefined {
  if (memory === undefined) return undefined
  return gpuCount === 1 ? gpuMemory(memory) : `${gpuMemory(memory)} each, ${totalMemory(memory, gpuCount)} GB`
}

/** A price of a column, whose title has the unit, from micro-dollars: `1.719`. */
export function bareRate(price: Micros): string {
  return rate(price).replace(/^\$|\/h$/g, '')
}

/** From Mb/s: `5.0 Gb/s down, 0.09 Gb/s up`. */
export function speeds(down: number | undefined, up: number | undefined): string | undefined {
  if (down === undefined && up === undefined) return undefined
  const [received, sent] = [down, up].map(speed => (speed === undefined ? '–' : `${gigabits(speed)} Gb/s`))
  return `${received} down, ${sent} up`
}

/** A GPU's PCIe link: `PCIe 5.0 × 16, 52 GB/s`. */
export function pcieWords(link: { generation?: number; lanes?: number; bandwidth?: number } = {}) {
  const { generation, lanes, bandwidth } = link
  const name = [generation && `PCIe ${figure(generation, 0)}.0`, lanes && `× ${lanes}`]
    .filter(Boolean)
    .join(' ')
  return joinedWords(
    ', ',
    name,
    known(bandwidth, speed => `${figure(speed, 1)} GB/s`),
  )
}

/** Those parts that are there; undefined if none is. */
export function joinedWords(between: string, ...parts: readonly (string | undefined)[]): string | undefined {
  return parts.filter(Boolean).join(between) || undefined
}

/** The words of a value; undefined if it's unknown. */
export function known<Value>(value: Value | undefined, words: (value: Value) => string): string | undefined {
  return value === undefined ? undefined : words(value)
}

/** Without the unit, from MB: `80`. */
export function wholeGigabytes(megabytes: number): string {
  return count(megabytes / 1024)
}

/** The least MB for so many GB: nominal sizes are rounded (an 80 GB card has 81,559 MB), so 6% less also passes. */
export function roundedMegabytes(gigabytes: number): number {
  return Math.floor(gigabytes * 1024 * 0.94)
}

/** The cell of an unknown value. */
export const unknownCell = { text: '–', none: true } as const
