import { Draw } from '../draw.ts'
import type { Rates } from '../ledger.ts'
import type { Instance } from './instance.ts'

const KIB_PER_GB = 1024 * 1024

/** GB an hour received while an image is pulled. */
const PULLING = 60

type Traffic = Required<Pick<Rates, 'upload' | 'download'>>

/** An instance's traffic in its present status, in KiB an hour. */
export function trafficNow(seed: number, { id, status }: Instance): Traffic {
  if (status === 'loading') return { upload: 0, download: PULLING * KIB_PER_GB }
  if (status !== 'running') return { upload: 0, download: 0 }
  const draw = new Draw(seed, 'traffic', id)
  return {
    upload: Math.round(draw.between(0.1, 2) * KIB_PER_GB),
    download: Math.round(draw.between(0.5, 6) * KIB_PER_GB),
  }
}

/** Milliseconds of a wave in the traffic that a machine itself measures. */
const WAVE = 90_000

/** The bytes that an instance counts at its network, at a moment of world time: a rate that rises and falls. */
export function movedSoFar(
  seed: number,
  instance: Instance,
  now: number,
): { received: number; sent: number } {
  const { upload, download } = trafficNow(seed, instance)
  const age = Math.max(0, now - instance.created)
  const hours = (age + 0.6 * WAVE * (1 - Math.cos(age / WAVE))) / 3_600_000
  return { received: Math.round(download * 1024 * hours), sent: Math.round(upload * 1024 * hours) }
}

/** The cost of that traffic, in micro-dollars an hour. */
export function trafficRates({ offer: { facts } }: Instance, { upload, download }: Traffic): Traffic {
  const cost = (kib: number, dollarsPerGb: number) =>
    Math.round((kib / KIB_PER_GB) * dollarsPerGb * 1_000_000)
  return {
    upload: cost(upload, facts.inet_up_cost),
    download: cost(download, facts.inet_down_cost),
  }
}
