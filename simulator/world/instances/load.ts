import { Draw } from '../draw.ts'
import type { Rates } from '../ledger.ts'
import type { Instance } from './instance.ts'

/** The host's figures for a running instance. */
export interface Load {
  /** % */
  gpuUtil: number
  /** °C */
  gpuTemp: number
  /** % */
  cpuUtil: number
  /** GB */
  memoryUsed: number
  /** GB */
  diskUsed: number
}

const PERIOD = 45 * 60_000

/** A plausible load at a moment of world time, in periods of 45 minutes: the first ones busy, some later ones idle. */
export function measure(seed: number, instance: Instance, now: number): Load {
  const age = Math.max(0, now - instance.created)
  const stretch = Math.floor(age / PERIOD)
  const draw = new Draw(seed, 'load', instance.id, stretch)
  const idle = stretch > 2 && draw.chance(0.35)
  const level = idle ? 0 : draw.between(0.7, 0.97)
  const ripple = Math.sin(age / 41_000) * 0.02
  const gpuUtil = idle ? 0 : Math.round((level + ripple) * 1000) / 10
  const { cpu_ram } = instance.offer.facts
  return {
    gpuUtil,
    gpuTemp: Math.round(34 + gpuUtil * 0.41),
    cpuUtil: Math.round((idle ? 0.4 : level * 30) * 10) / 10,
    memoryUsed: Math.round((cpu_ram / 1024) * (idle ? 0.03 : 0.1 + level * 0.25) * 100) / 100,
    diskUsed: Math.round(instance.launch.disk * Math.min(0.9, 0.2 + age / 86_400_000) * 100) / 100,
  }
}

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
