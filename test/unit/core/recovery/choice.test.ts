import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { Failovers } from '../../../../electron/core/failover/failovers.ts'
import { createRecoveries } from '../../../../electron/core/recovery/recoveries.ts'
import { Recovery } from '../../../../electron/core/recovery/recovery.ts'
import { openDocument } from '../../../../electron/core/remember/document.ts'
import type { ServiceClient } from '../../../../electron/service/client.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { MemoryFiles } from '../memory-files.ts'
import { instanceView } from '../views.ts'

const limits = { tries: 3, ceiling: 1, deadline: 600 }
const outbid = instanceView({
  state: 'outbid',
  interruptible: true,
  bid: 100_000,
  minimumBid: 200_000,
  gpu: { name: 'RTX 4090', count: 1 },
})

/** One instance that was outbid, whose replacement is being rented. */
async function replacing() {
  const bids: number[] = []
  let step: 'trying' | 'cancelled' | undefined
  const recoveries = createRecoveries({
    document: await openDocument({
      files: new MemoryFiles(),
      clock: new HandClock(),
      onBroken: () => undefined,
      name: 'recoveries.json',
      schema: v.record(v.string(), Recovery),
      empty: {},
    }),
    failovers: {
      async start(_wish, id = '') {
        step = 'trying'
        return id
      },
      async cancel() {
        step = 'cancelled'
      },
      find: () => (step ? ({ step, tries: [] } as unknown as ReturnType<Failovers['find']>) : undefined),
    },
    rentals: { requestOf: () => undefined, knows: () => false },
    client: () =>
      ({
        instances: { changeBid: async (_id: number, price: number) => void bids.push(price) },
      }) as unknown as ServiceClient,
    record: () => undefined,
    ending: new AbortController().signal,
    now: () => 1000,
    newId: () => '0000000000000001',
    changed: () => undefined,
    look: () => undefined,
    tell: () => undefined,
  })
  const look = async () => {
    recoveries.looked({ instances: { [outbid.id]: outbid }, records: [] })
    await settled()
  }
  await recoveries.choose(outbid, { kind: 'replace', ceiling: 2, every: 60, limits })
  await look()
  expect(step).toBe('trying')
  return { recoveries, bids, look, cancel: () => (step = 'cancelled') }
}

test('another choice while a replacement is being rented holds', async () => {
  const { recoveries, bids, look } = await replacing()
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 0 })
  await look()
  await look()
  expect(recoveries.view()[outbid.id]?.choice.kind).toBe('raise')
  expect(bids).toHaveLength(1)
})

test('a replacement that the user cancels is not rented anew', async () => {
  const { recoveries, look, cancel } = await replacing()
  cancel()
  await look()
  await look()
  expect(recoveries.view()[outbid.id]).toMatchObject({ choice: { kind: 'tell' }, step: 'watching' })
})
