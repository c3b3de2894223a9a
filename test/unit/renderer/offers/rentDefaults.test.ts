import { expect, test } from 'vitest'
import { draftFrom, freshDraft, usualDisk } from '#renderer/features/market/rentDefaults.ts'
import { noVolume } from '#renderer/features/market/rentDraft.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { PastRental } from '#shared/market/rental-view.ts'
import { accountView, instanceView, pastRental } from '#test/unit/views.ts'
import { offer } from './listed.ts'

const account = accountView()
const instance = (id: number, changes: Partial<InstanceView>) => instanceView({ id, ...changes })

test('a first rental starts with a public image over SSH', () => {
  expect(freshDraft(account, offer({ id: 1 }))).toMatchObject({
    image: 'pytorch/pytorch:latest',
    access: 'ssh',
    disk: '20',
  })
})

test('a first rental stops after eight hours, and later ones stop as the last one does, or never', () => {
  const eightHours = { when: { kind: 'duration', seconds: 28_800 }, action: 'stop', asleep: true }
  expect(freshDraft(account, offer({ id: 1 })).limits).toEqual([eightHours])
  const pastRentals = [pastRental('llama')]
  expect(freshDraft({ ...account, pastRentals }, offer({ id: 1 })).limits).toEqual([])
})

test('limits that a command line set are no model for the next rental', () => {
  const when = { kind: 'duration', seconds: 3600 } as const
  const limits = [{ when, action: 'destroy', asleep: true } as const]
  const byCommand = { ...pastRental('script'), limits, byCommand: true } as const
  const limitsAfter = (...pastRentals: PastRental[]) =>
    freshDraft({ ...account, pastRentals }, offer({ id: 1 })).limits
  expect(limitsAfter(byCommand, pastRental('llama'))).toEqual([])
  expect(limitsAfter(byCommand)).toMatchObject([{ when: { seconds: 28_800 }, action: 'stop' }])
})

test('a rental without SSH, which can have no watchdog, leaves that to what was chosen before it', () => {
  const when = { kind: 'duration', seconds: 3600 } as const
  const rented = (asleep: boolean) => ({
    ...pastRental('q4'),
    limits: [{ when, action: 'stop' as const, asleep }],
  })
  const without = { ...rented(false), withoutSsh: true } as const
  const asleepAfter = (...pastRentals: PastRental[]) =>
    freshDraft({ ...account, pastRentals }, offer({ id: 1 })).limits.map(({ asleep }) => asleep)
  expect(asleepAfter(without)).toEqual([true])
  expect(asleepAfter(without, without, rented(true))).toEqual([true])
  expect(asleepAfter(without, rented(false))).toEqual([false])
})

test('the next rental starts like the newest instance', () => {
  const before = {
    ...account,
    instances: {
      '1': instance(1, { startedAt: 10, image: 'old', disk: { size: 5 } }),
      '2': instance(2, {
        startedAt: 20,
        image: 'mine:2',
        disk: { size: 64 },
        runtype: 'jupyter_direc ssh_proxy',
      }),
    },
  }
  expect(freshDraft(before, offer({ id: 1 }))).toMatchObject({
    image: 'mine:2',
    access: 'jupyter',
    disk: '64',
  })
  expect(usualDisk(before)).toBe(64)
  expect(freshDraft(before, offer({ id: 1, disk: 40.7 })).disk).toBe('40')
})

test('an instance from a template is no model for the next rental', () => {
  const mine = instance(1, { startedAt: 10, image: 'mine:1', disk: { size: 5 }, runtype: 'ssh' })
  const templated = instance(2, {
    startedAt: 20,
    image: 'vllm:latest',
    disk: { size: 64 },
    runtype: 'jupyter',
    template: 'vLLM',
  })
  const both = { ...account, instances: { '1': mine, '2': templated } }
  expect(freshDraft(both, offer({ id: 1 }))).toMatchObject({ image: 'mine:1', access: 'ssh', disk: '5' })
  expect(freshDraft({ ...account, instances: { '2': templated } }, offer({ id: 1 }))).toMatchObject({
    image: 'pytorch/pytorch:latest',
    access: 'ssh',
    disk: '20',
  })
})

test('another attempt keeps the whole request, with a bid for the new machine', () => {
  const draft = draftFrom(
    {
      image: 'a/b',
      access: 'none',
      disk: 33,
      env: [{ name: 'A', value: '1', secret: true }],
      ports: [{ container: 53, protocol: 'udp' }],
      onstart: 'x',
      label: 'l',
      bid: 0.1,
      traffic: 250,
    },
    offer({ id: 2, minimumBid: 300_000 }),
  )
  expect(draft).toEqual({
    args: '',
    recovery: 'tell',
    ceiling: '',
    volume: noVolume,
    image: 'a/b',
    access: 'none',
    direct: true,
    jupyterLab: true,
    jupyterFolder: '',
    registry: { server: '', user: '', token: '' },
    disk: '33',
    env: [{ key: 0, name: 'A', value: '1', secret: true }],
    ports: '53/udp',
    onstart: 'x',
    label: 'l',
    bid: '0.360',
    traffic: '250',
    limits: [],
  })
})
