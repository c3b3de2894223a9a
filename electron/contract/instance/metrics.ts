/** An instance's own metrics, read over SSH. Missing values are left out. */
export interface InstanceMetrics {
  /** Epoch milliseconds of this machine. */
  at: number
  gpus: readonly GpuMetrics[]
  /** Why there are no `gpus`, as a clause. */
  gpusUnread?: string
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

/** A log that is followed; without `stream`, there was none at any of the paths. */
export interface FollowedLog {
  /** Lines of plain text. */
  stream?: number
  path?: string
  /** The paths that Berth tried, in this order. */
  looked: readonly string[]
}

/** A container's output, or its host's log of pulling and starting it, as the service stores it. */
export interface ContainerLog {
  /** The last lines, as plain text. */
  lines: readonly string[]
  /** Whether the log was longer than Berth reads. */
  cut: boolean
}
