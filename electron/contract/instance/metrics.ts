/** What an instance measures of itself, as it tells over SSH. What it does not tell is left out. */
export interface InstanceMetrics {
  /** Epoch milliseconds of this machine. */
  at: number
  /** Empty where there is no `nvidia-smi`. */
  gpus: readonly GpuMetrics[]
  disks: readonly DiskMetrics[]
}

export interface GpuMetrics {
  index: number
  name: string
  /** Percent. */
  load?: number
  /** MiB */
  memoryUsed?: number
  memoryTotal?: number
  /** Degrees Celsius. */
  temperature?: number
  /** Watts. */
  power?: number
  powerLimit?: number
}

export interface DiskMetrics {
  mount: string
  /** Bytes. */
  size: number
  used: number
}

/** A log that is followed; without `stream`, none of the places had one. */
export interface FollowedLog {
  /** Lines of plain text. */
  stream?: number
  path?: string
  /** Where Berth looked, in this order. */
  looked: readonly string[]
}

/** What a container printed, or what its host said of pulling and starting it, as the service keeps it. */
export interface ContainerLog {
  /** The last ones, as plain text. */
  lines: readonly string[]
  /** Whether there was more than is read. */
  cut: boolean
}
