import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createGpuLoads } from '../../../../electron/core/guards/gpu-loads.ts'
import type { ServiceClient } from '../../../../electron/service/client.ts'
import type { Connection } from '../../../../electron/ssh/connection/connection.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { instanceView } from '../views.ts'

/** Asks of an instance whose nvidia-smi prints these loads, in the order of its GPUs; none where it cannot be asked. */
function asking() {
  const clock = new HandClock()
  const inside: { loads: readonly number[] | undefined } = { loads: undefined }
  function exec(_command: string, ready: (error: undefined, channel: unknown) => void): void {
    const channel = Object.assign(new EventEmitter(), {
      stderr: { resume: () => undefined },
      close: () => undefined,
    })
    ready(undefined, channel)
    const lines = inside.loads?.map((load, index) => `${index}, ${load}, 1, 2, 3, 4, 5, H100\n`) ?? []
    channel.emit('data', Buffer.from(lines.join('')))
    channel.emit('exit', inside.loads ? 0 : 127)
    channel.emit('close')
  }
  const address = { host: 'gpu.example', port: 22, user: 'root', direct: true }
  const connection = { client: { exec }, address } as unknown as Connection
  const now = () => clock.monotonic() / 1000
  const loads = createGpuLoads({
    account: 'a00000001',
    access: { connect: async () => ({ connection, release: () => undefined }) },
    machine: { clock },
    client: () => ({}) as ServiceClient,
    now,
    ending: new AbortController().signal,
  } as unknown as Parameters<typeof createGpuLoads>[0])
  const ssh = { direct: { host: 'gpu.example', port: 22 } }
  const instance = instanceView({ ssh })
  return {
    clock,
    loads,
    async ask(told: readonly number[] | undefined) {
      inside.loads = told
      loads.ask([instance], 1)
      await settled()
    },
    heard: (within: number) => loads.heard(within).get(instance.id),
  }
}

test('the busiest of its GPUs counts, wherever it is among them', async () => {
  const { ask, heard, clock } = asking()
  await ask([3, 80, 0])
  expect(heard(600)).toBe(80)
  await clock.pass(60_000)
  await ask([0, 2, 4])
  expect(heard(600)).toBe(4)
})

test('what was heard too long ago is not known any more, and what cannot be asked never was', async () => {
  const { ask, heard, clock } = asking()
  await ask([7])
  await clock.pass(599_000)
  expect(heard(600)).toBe(7)
  await clock.pass(2000)
  expect(heard(600)).toBeUndefined()
  // It is there, but does not know its load: that it was idle once says nothing.
  await ask(undefined)
  expect(heard(600)).toBeUndefined()
})
