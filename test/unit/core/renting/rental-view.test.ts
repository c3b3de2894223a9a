import { expect, test } from 'vitest'
import { requestSecrets } from '#core/market/request-secrets.ts'
import { adoptInstance, type CreationParts } from '#core/renting/adopt.ts'
import { openStoredRentals, type Rental, rentedWith } from '#core/renting/rental.ts'
import { pastRentals } from '#core/renting/rental-view.ts'
import { endRetries } from '#core/renting/retrying.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { neighbours, retrying, someAttempt, someRental } from './some-rental.ts'

test('the last rental is the last one that the user chose and got', () => {
  const when = { kind: 'duration' as const, seconds: 3600 }
  const request = { ...someRental().request, limits: [{ when, action: 'stop' as const, asleep: false }] }
  const named = (rental: Rental, id: string): Rental => ({
    ...rental,
    id,
    request: { ...request, label: id },
  })
  const chosen = named(someRental({ step: 'ready', instance: 4711 }), 'chosen')
  const others = [
    named({ ...chosen, why: 'run' }, 'project'),
    named({ ...chosen, by: 'agent:claude' }, 'agent'),
    named(someRental({ attempts: [someAttempt({ unwanted: true })] }), 'unwanted'),
    named(someRental({ step: 'failed', attempts: [someAttempt({ instance: undefined })] }), 'failed'),
    named(retrying(someAttempt()), 'trying'),
  ]
  expect(pastRentals([chosen, ...others])).toMatchObject([
    { id: 'chosen', what: 'chosen', setup: 'ubuntu', disk: 20, limits: request.limits },
  ])
  expect(pastRentals(others)).toBeUndefined()
  const attempt = named({ ...retrying(someAttempt()), step: 'ready', instance: 4711 }, 'tried')
  expect(pastRentals([chosen, attempt])?.[0]?.id).toBe('tried')
  const typed: Rental = { ...named(chosen, 'typed'), byCommand: true }
  expect(pastRentals([chosen, typed])?.map(({ byCommand }) => byCommand)).toEqual([true, undefined])
  const closed = { ...chosen, request: { ...chosen.request, access: 'none' as const } }
  expect([chosen, closed].map(one => pastRentals([one])?.[0]?.withoutSsh)).toEqual([undefined, true])
})

test('past setups are listed once each, the last one first, with what they were last rented with', () => {
  const rental = (id: string, label: string, image: string, gpuName: string, disk = 20): Rental => ({
    ...someRental({ step: 'ready', instance: 4711, attempts: [someAttempt({ offer: { id: 1, gpuName } })] }),
    id,
    request: { ...someRental().request, label, image, disk },
  })
  const past = pastRentals([
    rental('1', 'llama', 'vllm', 'RTX 4090'),
    rental('2', 'eval', 'pytorch', 'RTX 3090'),
    rental('3', 'llama', 'vllm', 'RTX 4090', 80),
    rental('4', 'llama', 'vllm', 'A100'),
  ])
  expect(past?.map(({ id, what, offer, disk }) => [id, what, offer.gpuName, disk])).toEqual([
    ['4', 'llama', 'A100', 20],
    ['3', 'llama', 'RTX 4090', 80],
    ['2', 'eval', 'RTX 3090', 20],
  ])
  const many = Array.from({ length: 50 }, (_, at) => rental(String(at), `box-${at}`, 'ubuntu', 'A40'))
  expect(pastRentals(many)?.map(({ what }) => what)).toEqual(['box-49'])
  const distinct = many.map(({ request, ...one }, at) => ({
    ...one,
    request: { ...request, image: `v${at}` },
  }))
  expect(
    pastRentals(distinct)
      ?.map(({ what }) => what)
      .slice(0, 2),
  ).toEqual(['box-49', 'box-48'])
  expect(pastRentals(distinct)).toHaveLength(20)
})

test('an instance was rented with the variables that the service shows, and else with those of its rental', () => {
  const { request } = someRental()
  const env = [
    { name: 'RENTED_WITH', value: 'yes', secret: false },
    { name: 'HF_TOKEN', value: '', secret: true },
  ]
  const rental = { request: { ...request, env } }
  expect(rentedWith(rental, {})).toEqual({ RENTED_WITH: 'yes' })
  const record = {
    extra_env: [['HF_TOKEN', 'hf_x'] as [string, string], ['-p 8080:8080', '1'] as [string, string]],
  }
  expect(rentedWith(rental, record)).toEqual({ RENTED_WITH: 'yes', HF_TOKEN: 'hf_x' })
  expect(rentedWith(undefined, undefined)).toEqual({})
})

test('an instance’s own key, sent only once, is stored before its record', async () => {
  const context = accountContext()
  const rentals = await openStoredRentals(context)
  const rental = someRental({ attempts: [someAttempt({ step: 'asking', instance: undefined })] })
  await rentals.add(rental)
  const calls: unknown[] = []
  const parts = {
    ...neighbours,
    onCreated: (instance: number, key: string | undefined) => calls.push([instance, key]),
    limit: async () => void calls.push('limit'),
    context,
    attempts: rentals.attempts,
    secrets: { forget: async () => undefined },
  } as unknown as CreationParts
  await adoptInstance(parts, rental.id, 7, { instanceKey: 'own' })
  expect(calls).toEqual([[7, 'own'], 'limit'])
})

test('a rental ends with its last attempt, so that a kill in between attempts no other machine', async () => {
  const files = new MemoryFiles()
  const context = accountContext({ files, now: () => 1000 })
  const rentals = await openStoredRentals(context)
  const rental = retrying(someAttempt({ instance: undefined }))
  await rentals.add(rental)
  await endRetries({ context, rentals, secrets: requestSecrets(context.keychain) }, rental, {
    step: 'failed',
  })
  const written = files.writes.map(({ text }) => JSON.parse(text)[0] as Rental)
  expect(written.map(({ step, attempts: [first] }) => [step, first?.endedAt])).toEqual([
    ['trying', undefined],
    ['failed', 1000],
  ])
})
