import { expect, test } from 'vitest'
import { bootLine, bootOutlook, bootTime, bootWords } from '#renderer/screens/instances/boot.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'

const now = 1_790_000_000
const minute = 60

function seen(startedAt: number, ...changes: [number, InstanceState][]) {
  return instanceView({
    id: startedAt,
    image: 'pytorch/pytorch',
    startedAt,
    state: changes.at(-1)?.[1] ?? 'running',
    history: changes.map(([at, state]) => ({ at, state, actualStatus: null })),
  })
}
const booted = (took: number) =>
  seen(now - 9000 - took, [now - 9000 - took + 5, 'loading'], [now - 9000, 'running'])

test('a boot time needs a boot seen from start to end', () => {
  expect(bootTime(booted(240))).toBe(240)
  expect(bootTime(seen(now - 9000, [now - 100, 'loading'], [now, 'running']))).toBeUndefined()
  expect(bootTime(seen(now - 9000, [now - 100, 'running']))).toBeUndefined()
  expect(bootTime(seen(now - 100, [now - 90, 'loading']))).toBeUndefined()
})

test('the expected boot time comes from boots of the same image, else there is none', () => {
  const booting = seen(now - 2 * minute, [now - 2 * minute, 'loading'])
  const outlook = (...others: ReturnType<typeof seen>[]) => bootOutlook(booting, [booting, ...others], now)
  expect(outlook()).toBeUndefined()
  expect(outlook({ ...booted(240), image: 'other/image' })).toBeUndefined()
  expect(outlook(booted(6 * minute))).toBe('about 4 min left: the last one took 6 min')
  expect(outlook(booted(6 * minute), booted(4 * minute), booted(20 * minute))).toBe(
    'about 4 min left: usually 6 min',
  )
  expect(outlook(booted(minute), booted(minute))).toBe('usually 1 min, now 2 min')
  const again = seen(now - 9000, [now - 8000, 'running'], [now - 700, 'stopped'], [now - minute, 'loading'])
  expect(bootOutlook(again, [again, booted(6 * minute)], now)).toMatch(/^about 5 min left/)
})

test('the boot step is given in a few words', () => {
  const words = (state: InstanceState, statusMessage?: string) =>
    bootWords(instanceView({ state, ...(statusMessage !== undefined && { statusMessage }) }))
  expect(words('provisioning', 'pulling 30 %')).toBe('being created')
  expect(words('loading', 'pulling image: 30 %')).toBe('image 30%')
  expect(words('loading', 'pulling 640%')).toBe('image')
})

test('a boot line leaves out the message of an earlier stop', () => {
  const line = (actualStatus: string | null) =>
    bootLine(instanceView({ id: 1, state: 'provisioning', statusMessage: 'Stopped', actualStatus }))
  expect([line('exited'), line('stopped')]).toEqual([undefined, undefined])
  expect(line('created')).toBe('Stopped')
})
