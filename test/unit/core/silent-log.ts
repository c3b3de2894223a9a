import type { Log } from '#ports/log.ts'

/** A log that no test reads. */
export const silentLog: Log = {
  line: () => undefined,
  learn: () => undefined,
  mask: text => text,
  recent: () => [],
}
