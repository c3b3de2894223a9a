import type { AccountContext } from '#core/account-context.ts'
import type { LoadRecorder } from '#core/instances/load-history.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { InstanceMetrics } from '#shared/instance/metrics.ts'
import type { AccountView } from '#shared/state.ts'
import { readGpus } from '#ssh/monitor/metrics.ts'

/** Milliseconds between two reads of an instance: of the account's time, and at least on this computer's clock. */
const interval = 60_000
const shortestInterval = 5000
/** MiB; smaller changes are not shown. */
const noticeable = 100

/**
 * Reads the GPUs of instances over SSH, into the load history and, for their memory, into State. `question` resolves with
 * the output of `gpuQuestion` on an instance.
 */
export function createGpuMetricsReader(
  { account: id, store, platform: { clock }, quitting, now }: AccountContext,
  history: Pick<LoadRecorder, 'onMetrics'>,
  question: (instance: InstanceView) => Promise<string>,
) {
  const askedAt = new Map<number, number>()

  function heard(instance: number, metrics: Pick<InstanceMetrics, 'gpus' | 'traffic'>): void {
    history.onMetrics(instance, metrics, now())
    const used = usedMemory(metrics)
    const shown = store.get().accounts[id]?.gpuMemory[instance]
    if (quitting.aborted || used === undefined) return
    if (shown !== undefined && Math.abs(shown - used) < noticeable) return
    store.change(draft => {
      const target = draft.accounts[id]
      if (target) target.gpuMemory[instance] = used
    })
  }

  return {
    heard,
    /** Reads connected instances once a minute of the account's time, without waiting for the answers. */
    onPoll({
      account: {
        instances,
        ways,
        gpuMemory,
        clock: { rate },
      },
    }: {
      account: AccountView
    }): void {
      const stale = Object.keys(gpuMemory).filter(key => !ways[key] || instances[key]?.state !== 'running')
      if (stale.length > 0)
        store.change(draft => {
          for (const old of stale) delete draft.accounts[id]?.gpuMemory[old]
        })
      const pause = Math.max(shortestInterval, interval / rate)
      for (const connected of Object.keys(ways)) {
        const instance = instances[connected]
        if (!instance || !canGetIn(instance)) continue
        const last = askedAt.get(instance.id)
        if (last !== undefined && clock.monotonic() - last < pause) continue
        askedAt.set(instance.id, clock.monotonic())
        void question(instance)
          .then(printed => heard(instance.id, { gpus: readGpus(printed) }))
          .catch(() => undefined)
      }
    },
  }
}

/** MiB used in all GPUs together; undefined where one is unknown. */
function usedMemory({ gpus }: Pick<InstanceMetrics, 'gpus'>): number | undefined {
  const used = gpus.map(({ memoryUsed }) => memoryUsed)
  if (used.length === 0 || used.includes(undefined)) return undefined
  return used.reduce<number>((sum, one) => sum + (one ?? 0), 0)
}
