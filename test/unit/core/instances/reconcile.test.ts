import { create } from 'mutative'
import { expect, test } from 'vitest'
import { applyChanges, compareInstances, type KnownRecords } from '#core/instances/reconcile.ts'
import type { Instance } from '#service/instances.ts'
import type { InstanceView } from '#shared/instance/instance.ts'

type Shown = Record<string, InstanceView>

const answer = (count: number): Instance[] =>
  Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    actual_status: 'running',
    intended_status: 'running',
    gpu_name: 'RTX 4090',
    num_gpus: 1,
    gpu_util: 50,
    dph_total: 0.4,
    dph_base: 0.35,
    ports: { '22/tcp': [{ HostPort: String(40_000 + index) }] },
    public_ipaddr: '203.0.113.9',
    extra_env: [['A', 'b']],
  }))

function poll(known: KnownRecords, shown: Shown, records: readonly Instance[], at: number) {
  const changes = compareInstances(known, shown, { instances: records, unconfirmed: [] }, at)
  const [after, patches] = create(shown, draft => applyChanges(draft as Shown, shown, changes), {
    enablePatches: true,
  })
  return { after: after as Shown, patches, changes }
}

test('expected traffic counts on the first day, until traffic is charged', () => {
  const record = { ...answer(1)[0], id: 7, start_date: 0, inet_up_cost: 0.01, inet_down_cost: 0.02 }
  const seen = (known: KnownRecords, shown: Shown, told: Instance, at: number) => {
    const listing = { instances: [told], unconfirmed: [] }
    const { changed } = compareInstances(known, shown, listing, at, undefined, undefined, () => ({
      traffic: 240,
    }))
    return { ...shown, ...Object.fromEntries(changed) }
  }
  const known: KnownRecords = new Map()
  const first = seen(known, {}, { ...record, inet_down_billed: 100 }, 60)
  // 240 GB at $0.02 over 24 hours.
  expect(first[7]?.traffic?.expectedPerHour).toBe(200_000)
  const measured = seen(known, first, { ...record, inet_down_billed: 10_000_000 }, 3660)
  expect(measured[7]?.traffic).not.toHaveProperty('expectedPerHour', expect.anything())
  expect(measured[7]?.traffic?.spent).toBeGreaterThan(0)
  const over = seen(new Map(known), first, { ...record, inet_down_billed: 100 }, 86_460)
  expect(over[7]?.traffic).not.toHaveProperty('expectedPerHour', expect.anything())
})

test('ten changes among a thousand give ten patches and keep other identities', () => {
  const known: KnownRecords = new Map()
  const { after } = poll(known, {}, answer(1000), 100)
  const changed = answer(1000).map(record => (record.id % 100 === 0 ? { ...record, gpu_util: 99 } : record))
  const second = poll(known, after, changed, 110)
  expect(second.patches).toHaveLength(10)
  expect(JSON.stringify(second.patches).length).toBeLessThan(10 * 200)
  expect(second.after[100]?.gpuLoad).toBe(99)
  expect(second.after[100]?.ports).toBe(after[100]?.ports)
  expect(second.after[101]).toBe(after[101])
})

test('a missing instance is removed and a new one is added', () => {
  const known: KnownRecords = new Map()
  const { after } = poll(known, {}, answer(3), 100)
  const [, ...rest] = answer(4)
  const second = poll(known, after, rest, 110)
  expect(second.changes.gone).toEqual([1])
  expect(Object.keys(second.after)).toEqual(['2', '3', '4'])
  expect(known.has(1)).toBe(false)
})

test('a field that leaves the record leaves the view', () => {
  const known: KnownRecords = new Map()
  const { after } = poll(known, {}, answer(1), 100)
  const bare = answer(1).map(({ gpu_util: _, ...record }) => record)
  expect(poll(known, after, bare, 110).after[1]).not.toHaveProperty('gpuLoad', expect.anything())
})

test('history and spending continue from an earlier session', () => {
  const { after } = poll(new Map(), {}, answer(1), 100)
  const restarted = poll(new Map(), after, answer(1), 3700)
  expect(restarted.patches).toEqual([])
  const stopped = answer(1).map(record => ({
    ...record,
    actual_status: 'stopped',
    intended_status: 'stopped',
  }))
  const later = poll(new Map(), after, stopped, 3700).after[1]
  expect(later?.spent).toEqual({ micros: 400_000, at: 3700, perHour: 50_000 })
  expect(later?.history.map(({ state }) => state)).toEqual(['running', 'stopped'])
})

test('a record without prices costs its rental’s price once found', () => {
  const known: KnownRecords = new Map()
  const listing = { instances: [{ id: 7, actual_status: 'running' }], unconfirmed: [] }
  const poll = (shown: Shown, at: number, pricePerHour?: number) => {
    const rented = () => (pricePerHour === undefined ? undefined : { agreed: { running: pricePerHour } })
    const { changed } = compareInstances(known, shown, listing, at, undefined, undefined, rented)
    return { ...shown, ...Object.fromEntries(changed) }
  }
  const unknown = poll({}, 0)
  expect(unknown[7]).toMatchObject({ costPerHour: 0, costUnknown: true })
  const found = poll(unknown, 3600, 300_000)
  expect(found[7]).toMatchObject({ costPerHour: 300_000, costUnknown: undefined })
})
