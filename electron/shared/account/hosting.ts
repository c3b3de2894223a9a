import * as v from 'valibot'
import { given, ServiceId, text } from '../fields.ts'
import type { Micros } from '../spending/money.ts'

/** A new network disk or, with `disk`, an existing one for further machines (section 4.4). */
export const NetworkDiskRequest = v.object({
  mountPoint: given('the mount point', 1024),
  machines: v.pipe(v.array(ServiceId), v.minLength(1, 'enter at least one machine'), v.maxLength(1000)),
  disk: v.optional(ServiceId),
})
export type NetworkDiskRequest = v.InferOutput<typeof NetworkDiskRequest>

/** Section 2.9. */
export const WorkergroupRequest = v.object({
  endpointName: v.optional(given('the endpoint’s name', 256)),
  endpointId: v.optional(ServiceId),
  templateHash: v.optional(given('the template’s hash', 256)),
  templateId: v.optional(ServiceId),
  searchParams: v.optional(text(4096)),
  launchArgs: v.optional(text(4096)),
  minLoad: v.optional(
    v.pipe(v.number('a load is a number'), v.finite(), v.minValue(0, 'a load is not below 0')),
  ),
  targetUtilisation: v.optional(
    v.pipe(v.number('a utilisation is a number'), v.finite(), v.minValue(0, 'not below 0')),
  ),
})
export type WorkergroupRequest = v.InferOutput<typeof WorkergroupRequest>

export interface WorkergroupView extends WorkergroupRequest {
  id?: number
}

/** A machine that the user owns. */
export interface MachineView {
  id?: number
  hostname?: string
  gpuName?: string
  gpuCount?: number
  location?: string
  /** 0 to 1. */
  reliability?: number
  listed?: boolean
  verification?: string
  /** Whether maintenance is scheduled, and from when (epoch seconds); absent where the service doesn't say. */
  maintenance?: { is: boolean; from?: number }
}

export interface NetworkDiskView {
  id?: number
  mountPoint?: string
  machines: readonly number[]
}

/** The service's answer to a cancelled maintenance or a clean-up. `at` in epoch seconds. */
export interface MachineAnswer {
  at?: number
  message?: string
  /** Of a clean-up: the number of expired contracts it deleted. */
  deleted?: number
}

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
