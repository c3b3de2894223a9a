/** Minutes of an instance's past that Berth knows at most: a day of them. */
export const longestLoad = 1440

/** How a figure went, a value a minute, oldest first; null where nothing was told in that minute. */
export type Course = readonly (number | null)[]

/** How busy instances were, by id; one of which nothing is known is left out. */
export interface LoadHistory {
  /** The minute of the last values, in whole minutes since the epoch of the account's time. */
  minute: number
  /** Percent, the mean of an instance's GPUs, as the service tells it. All courses are of one length. */
  load: Readonly<Record<string, Course>>
}

/** All that was measured of one instance, every course of one length; those of which nothing is known are left out. */
export interface MetricsHistory {
  /** The minute of the last values, in whole minutes since the epoch of the account's time. */
  minute: number
  /** As the service tells it of the whole instance: percent, and degrees Celsius. */
  load?: Course
  temperature?: Course
  /** As the instance itself told over SSH, while somebody was connected to it: by the GPU's index. */
  gpus: Readonly<Record<string, GpuCourses>>
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
