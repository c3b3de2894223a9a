import type { InstanceView } from '../../contract/instance/instance.ts'
import { canGetIn } from '../../contract/reading.ts'
import { outputOf } from '../../ssh/exec.ts'
import { gpuQuestion, readGpus } from '../../ssh/inside/look.ts'
import type { AutomationSurroundings } from '../automation/automation.ts'

/** The GPU load of instances whose service does not tell it, asked inside over SSH. */
export interface GpuLoads {
  /** Asks them, unless they were asked lately; `rate` is how fast the account's time runs. Not waited for. */
  ask(instances: readonly InstanceView[], rate: number): void
  /** Percent, by instance: what was heard within so many seconds before. */
  heard(within: number): ReadonlyMap<number, number>
}

/** Milliseconds of the account's time between two questions to one instance, at least so many here, and for an answer. */
const interval = 60_000
const shortestInterval = 2000
const patience = 10_000

export function createGpuLoads({
  account,
  access,
  machine: { clock },
  client,
  now,
  ending,
}: Pick<AutomationSurroundings, 'account' | 'access' | 'machine' | 'client' | 'now' | 'ending'>): GpuLoads {
  const loads = new Map<number, { load: number; at: number }>()
  const asked = new Map<number, number>()

  /** The busiest GPU counts. What cannot be asked stays unknown. */
  async function question(instance: InstanceView): Promise<void> {
    const lease = await access.connect({ account, instance, client: client() })
    try {
      const bounds = { clock, within: patience, most: 65_536 }
      const { text, code } = await outputOf(lease.connection, gpuQuestion, bounds)
      const known = readGpus(code === 0 ? text : '').flatMap(({ load }) => (load === undefined ? [] : [load]))
      if (known.length > 0) loads.set(instance.id, { load: Math.max(...known), at: now() })
    } finally {
      lease.release()
    }
  }

  return {
    ask(instances, rate) {
      const pause = Math.max(shortestInterval, interval / rate)
      for (const instance of instances) {
        const last = asked.get(instance.id)
        const soon = last !== undefined && clock.monotonic() - last < pause
        if (ending.aborted || soon || !canGetIn(instance)) continue
        asked.set(instance.id, clock.monotonic())
        void question(instance).catch(() => undefined)
      }
    },
    heard(within) {
      const since = now() - within
      return new Map([...loads].flatMap(([id, { load, at }]) => (at >= since ? [[id, load] as const] : [])))
    },
  }
}
