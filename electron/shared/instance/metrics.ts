/** An instance's own metrics, read over SSH. Missing values are left out. */
export interface InstanceMetrics {
  /** Epoch milliseconds of this machine. */
  at: number
  gpus: readonly GpuMetrics[]
  /** Why there are no `gpus`, as a clause. */
  gpusUnread?: string
  disks: readonly DiskMetrics[]
  /** Undefined until there are two readings. */
  traffic?: TrafficMetrics
}

/** Bytes per second. */
export interface TrafficMetrics {
  received: number
  sent: number
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

/** The most minutes of an instance's past that Berth knows: a day. */
export const longestLoad = 1440

/** The course of a figure, one value a minute, oldest first; null for minutes without a value. */
export type Course = readonly (number | null)[]

/** The load of instances by id; those without any value are left out. */
export interface LoadHistory {
  /** The minute of the last values, in whole minutes since the epoch of the account's time. */
  minute: number
  /** Percent, the mean of an instance's GPUs as the service reports it. All courses have the same length. */
  load: Readonly<Record<string, Course>>
}

/** All metrics of one instance, as courses of the same length; those without any value are left out. */
export interface MetricsHistory {
  /** The minute of the last values, in whole minutes since the epoch of the account's time. */
  minute: number
  /** The service's values for the whole instance: percent, and degrees Celsius. */
  load?: Course
  temperature?: Course
  machine?: MachineCourses
  /** The instance's own values over SSH, only while Berth was connected: by the GPU's index. */
  gpus: Readonly<Record<string, GpuCourses>>
}

/** CPU and memory as the service reports them; traffic over SSH, only while Monitor was open. */
export interface MachineCourses {
  /** Percent. */
  cpu?: Course
  /** GB. */
  ram?: Course
  /** Bytes per second. */
  received?: Course
  sent?: Course
}

export interface GpuCourses {
  /** Percent. */
  load?: Course
  /** MiB. */
  memoryUsed?: Course
  /** Degrees Celsius. */
  temperature?: Course
  /** Watts. */
  power?: Course
}
