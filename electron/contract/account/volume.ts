import type { Micros } from '../spending/money.ts'

/** A part of one machine's disk that outlives the instances it is mounted in. */
export interface VolumeView {
  id: number
  label?: string
  status?: string
  /** GB. */
  size?: number
  machineId?: number
  location?: string
  costPerHour?: Micros
  /** Instances that mount it, stopped ones included. */
  instances: readonly number[]
}
