import type { Log } from '#machine/machine.ts'

/** A log that no test reads. */
export const silentLog: Log = {
  line: () => undefined,
  learn: () => undefined,
  mask: text => text,
  recent: () => [],
}
