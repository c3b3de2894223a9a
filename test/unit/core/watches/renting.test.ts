import * as v from 'valibot'
import { expect, test } from 'vitest'
import { openDocument } from '../../../../electron/core/remember/document.ts'
import { KeptPrices } from '../../../../electron/core/watches/prices.ts'
import { Watch } from '../../../../electron/core/watches/watch.ts'
import { createWatches } from '../../../../electron/core/watches/watches.ts'
import type { ServiceClient } from '../../../../electron/service/client.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { MemoryFiles } from '../memory-files.ts'

const start = 1_800_000_000

/** A watch that may rent one machine, on a market where one offer matches. Failovers begin when they are let go. */
async function renting() {
  const clock = new HandClock()
  const files = new MemoryFiles()
  const kept = { files, clock, onBroken: () => undefined }
  const secrets = new Map<string, string>()
  const begun: string[] = []
  let letKeychainGo: () => void = () => undefined
  let letFailoverGo: () => void = () => undefined
  const held = { keychain: false, failover: false }
  let ids = 0
  const client = { offers: { search: async () => [{ id: 1, machine_id: 10, dph_total: 0.5 }] } }
  const watches = createWatches({
    account: 'a00000001',
    document: await openDocument({ ...kept, name: 'watches.json', schema: v.array(Watch), empty: [] }),
    prices: await openDocument({
      ...kept,
      name: 'prices.json',
      schema: v.record(v.string(), KeptPrices),
      empty: {},
    }),
    keychain: {
      persistent: true,
      problem: undefined,
      async get(name) {
        if (held.keychain) await new Promise<void>(resolve => (letKeychainGo = resolve))
        return secrets.get(name)
      },
      set: async (name, secret) => void secrets.set(name, secret),
      delete: async name => void secrets.delete(name),
    },
    failovers: {
      async start(_wish, id = '') {
        if (held.failover) await new Promise<void>(resolve => (letFailoverGo = resolve))
        begun.push(id)
        return id
      },
      find: id =>
        begun.includes(id)
          ? ({ step: 'trying' } as ReturnType<Parameters<typeof createWatches>[0]['failovers']['find']>)
          : undefined,
    },
    client: () => client as unknown as ServiceClient,
    ending: new AbortController().signal,
    now: () => start + clock.monotonic() / 1000,
    newId() {
      ids += 1
      return String(ids).padStart(16, '0')
    },
    changed: () => undefined,
    note: () => undefined,
    alert: () => undefined,
    withdraw: () => undefined,
  })
  const begin = async () => {
    const id = await watches.save(undefined, {
      name: 'Bargain',
      search: {
        query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10 },
        filter: {},
        order: { column: 'price', descending: false },
      },
      every: 1,
      rents: {
        request: {
          image: 'ubuntu',
          access: 'ssh',
          disk: 20,
          env: [{ name: 'TOKEN', value: 'x', secret: true }],
          ports: [],
        },
        limits: { tries: 1, ceiling: 1, deadline: 600 },
        most: 1,
      },
    })
    await settled()
    return id
  }
  return {
    watches,
    begun,
    held,
    begin,
    clock,
    letKeychainGo: () => letKeychainGo(),
    letFailoverGo: () => letFailoverGo(),
  }
}

test('what it is about to rent is not taken for what never began, however long that takes', async () => {
  const { watches, begun, held, begin, clock, letFailoverGo } = await renting()
  held.failover = true
  await begin()
  for (let look = 0; look < 3; look += 1) {
    await clock.pass(60_000)
    watches.looked()
    await settled()
  }
  held.failover = false
  letFailoverGo()
  await settled()
  for (let look = 0; look < 3; look += 1) {
    await clock.pass(60_000)
    watches.looked()
    await settled()
  }
  expect(begun).toHaveLength(1)
})

for (const [how, act] of [
  [
    'paused',
    (watches: Awaited<ReturnType<typeof renting>>['watches'], id: string) => watches.pause(id, true),
  ],
  ['deleted', (watches: Awaited<ReturnType<typeof renting>>['watches'], id: string) => watches.delete(id)],
] as const)
  test(`one that is ${how} while the keychain is asked rents nothing`, async () => {
    const { watches, begun, held, begin, letKeychainGo } = await renting()
    held.keychain = true
    const id = await begin()
    await act(watches, id)
    letKeychainGo()
    await settled()
    expect(begun).toEqual([])
  })
