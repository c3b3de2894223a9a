import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openCharges } from '#core/money/charges.ts'
import { emptyDay, localDay, nextMidnight } from '#core/money/days.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect } from '../service/connected.ts'

const hour = 3600

describe.each(profileNames)('charges of the %s', name => {
  let service: Connected
  beforeEach(async () => {
    service = await connect({ deployment: profiles[name] })
  })
  afterEach(() => service.simulator.close())

  const now = () => service.simulator.controls.ledger().now
  const asked = () =>
    service.simulator.controls
      .requests()
      .filter(({ path }) => path.startsWith('/api/v0/charges/') || path.startsWith('/api/v1/invoices/'))
      .length

  /** Advances the world to two hours after the next midnight. */
  async function throughMidnight(): Promise<void> {
    await service.simulator.controls.advance(nextMidnight(now()) - now() + 2 * hour)
  }

  const open = (files: MemoryFiles) =>
    openCharges({
      platform: { clock: new HandClock() } as never,
      files,
      folder: 'accounts/a00000001',
      onBroken: setAside => expect.fail(`broken: ${setAside}`),
      client: () => service.client,
      quitting: new AbortController().signal,
      now,
    })

  test('a past day has the service’s charges by instance and kind, if listed', async () => {
    const { controls } = service.simulator
    const began = now()
    const { id } = await service.rent({ disk: 40, image: 'pytorch/pytorch' })
    controls.topUp(40)
    await throughMidnight()
    const day = localDay(began)
    const counted = { ...emptyDay(day), spent: 7, toppedUp: 25_000_000, estimated: true as const }
    const charges = await open(new MemoryFiles())
    await charges.onPoll(now())
    const [shown] = charges.asCharged([counted], { [id]: { gpu: 'H100' } })
    if (name === 'interface') {
      expect(shown).toEqual(counted)
      return
    }
    const kind = (wanted: readonly string[]) =>
      controls
        .ledger()
        .charges.filter(charge => charge.instance_id === id && wanted.includes(charge.kind))
        .reduce((sum, { from, to, micro_dollars }) => {
          const within = Math.max(0, Math.min(to, nextMidnight(began)) - from)
          return sum + (to > from ? (micro_dollars * within) / (to - from) : 0)
        }, 0)
    const { gpu = 0, disk = 0, traffic = 0 } = shown?.charged?.[id] ?? {}
    // The service rounds to tenths of cents.
    expect(Math.abs(gpu - kind(['gpu']))).toBeLessThan(2500)
    expect(Math.abs(disk - kind(['disk']))).toBeLessThan(2500)
    expect(Math.abs(traffic - kind(['upload', 'download']))).toBeLessThan(5000)
    expect(gpu).toBeGreaterThan(0)
    expect(shown).toMatchObject({
      spent: gpu + disk + traffic,
      toppedUp: 40_000_000,
      instances: { [id]: gpu + disk + traffic },
      models: { H100: gpu + disk + traffic },
    })
    expect(shown).not.toHaveProperty('estimated', expect.anything())
  })

  test('final days are not read again, nor is a missing list until the key changes', async () => {
    const files = new MemoryFiles()
    await throughMidnight()
    const charges = await open(files)
    await charges.onPoll(now())
    const first = asked()
    expect(first).toBe(name === 'public' ? 8 : 2)
    await charges.onPoll(now() + 60)
    await service.simulator.controls.advance(5 * hour)
    await charges.onPoll(now())
    await charges.flush()
    const again = await open(files)
    await again.onPoll(now())
    expect(asked(), 'final, or not there').toBe(first)
    if (name === 'interface') {
      again.keyChanged()
      await again.onPoll(now())
      expect(asked(), 'another key may see them').toBe(first + 2)
      return
    }
    await service.simulator.controls.advance(25 * hour)
    await again.onPoll(now())
    expect(asked()).toBe(first + 2)
  })
})
