import * as v from 'valibot'
import { type LoadHistory, longestLoad, type MetricsHistory } from '#contract/instance/load.ts'
import type { ContainerLog, FollowedLog } from '#contract/instance/metrics.ts'
import { account, command, onInstance } from '../command.ts'

const minutes = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(longestLoad))

/** Metrics and logs of instances: over SSH while they are shown, or from the service. */
export const metricsCommands = {
  /** The load of all instances of an account in the last minutes. */
  instanceLoad: command({ account, minutes }).answers<LoadHistory>(),
  /** All metrics of one instance in the last minutes. */
  instanceMetrics: command({ ...onInstance, minutes }).answers<MetricsHistory>(),
  /** The metrics every few seconds while the stream is open: one `InstanceMetrics` as JSON on each line. */
  watchMetrics: command(onInstance).answers<{ stream: number }>(),
  /** Follows the start script's log, or another file of the instance. */
  followLog: command({
    ...onInstance,
    path: v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.regex(/^\//, 'give the path from the root, as /var/log/onstart.log'),
        v.maxLength(1024, 'at most 1024 characters'),
        v.regex(/^[^\p{Cc}]*$/u, 'without control characters'),
      ),
    ),
  }).answers<FollowedLog>(),
  /** The container's log, available before SSH is. Throws `not_supported` where the service has none. */
  readContainerLog: command({ ...onInstance, host: v.optional(v.boolean(), false) }).answers<ContainerLog>(),
}
