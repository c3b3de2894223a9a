import * as v from 'valibot'
import { type LoadHistory, longestLoad, type MetricsHistory } from '../../instance/load.ts'
import type { ContainerLog, FollowedLog } from '../../instance/metrics.ts'
import { account, command, onInstance } from '../command.ts'

const minutes = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(longestLoad))

/** What goes on inside an instance: over SSH while it is shown, or as the service tells it. */
export const metricsCommands = {
  /** How busy every instance of an account was in the last so many minutes. */
  instanceLoad: command({ account, minutes }).answers<LoadHistory>(),
  /** All that was measured of one instance in the last so many minutes. */
  instanceMetrics: command({ ...onInstance, minutes }).answers<MetricsHistory>(),
  /** The metrics every few seconds for as long as the stream is open: one `InstanceMetrics` as JSON on each line. */
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
  /** The container's log, which is there before SSH is. Refused with `not_supported` where the service has none. */
  readContainerLog: command({ ...onInstance, host: v.optional(v.boolean(), false) }).answers<ContainerLog>(),
}
