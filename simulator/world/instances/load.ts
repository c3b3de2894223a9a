import { Draw } from '../draw.ts'
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
