import { expect, test } from 'vitest'
import { createGpuMetricsReader } from '#core/accounts/gpu-metrics.ts'
import { createLoadHistory } from '#core/instances/load-history.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { account, accountContext } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const way = { direct: true, address: 'root@192.0.2.1:22' }
const ssh = { direct: { host: '192.0.2.1', port: 22 } }
const instances = [1, 2].map(id => instanceView({ id, ssh }))

function reading() {
  const clock = new HandClock()
  const context = accountContext({ clock })
  const history = createLoadHistory()
  const asked: number[] = []
  let used = 9000
  const reader = createGpuMetricsReader(context, history, async ({ id }: InstanceView) => {
    asked.push(id)
    return `0, 97, ${used}, 24564, 61, 300, 350, RTX 4090\n1, 95, ${used}, 24564, 64, 310, 350, RTX 4090\n`
  })
  const shown = () => context.store.get().accounts[account]?.gpuMemory
  return {
    asked,
    clock,
    history,
    shown,
    uses: (next: number) => {
      used = next
    },
    poll: async (ways: Record<string, typeof way>, seen = instances) => {
      reader.onPoll({ account: { ...accountView({ id: account, ways, gpuMemory: shown() ?? {} }, ...seen) } })
      await flushPromises()
    },
    now: context.now,
  }
}

test('only connected instances are read, once a minute', async () => {
  const { asked, clock, history, shown, poll, now } = reading()
  await poll({ 1: way })
  await poll({ 1: way })
  expect(asked).toEqual([1])
  expect(shown()).toEqual({ 1: 18_000 })
  expect(history.metrics(1, 1, now()).gpus[1]).toEqual({
    load: [95],
    memoryUsed: [9000],
    temperature: [64],
    power: [310],
  })
  await clock.pass(60_000)
  await poll({ 1: way })
  expect(asked).toEqual([1, 1])
})

test('small changes are ignored, and disconnected or stopped instances are dropped', async () => {
  const { clock, shown, uses, poll } = reading()
  await poll({ 1: way, 2: way })
  uses(9010)
  await clock.pass(60_000)
  await poll({ 1: way, 2: way })
  expect(shown()).toEqual({ 1: 18_000, 2: 18_000 })
  uses(12_000)
  await clock.pass(60_000)
  await poll({ 1: way, 2: way })
  expect(shown()).toEqual({ 1: 24_000, 2: 24_000 })
  await poll({ 2: way })
  expect(shown()).toEqual({ 2: 24_000 })
  await poll({ 2: way }, [instanceView({ id: 2, ssh, state: 'stopped' })])
  expect(shown()).toEqual({})
})
