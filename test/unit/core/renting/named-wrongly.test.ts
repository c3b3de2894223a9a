import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Ledger } from '#core/ledger/perform.ts'
import { isProven, isUnderWay } from '#core/renting/rental.ts'
import { openRentals, type Rentals } from '#core/renting/rentals.ts'
import type { Instance } from '#service/instances.ts'
import { spenderOf } from '#shared/spending/spender.ts'
import { accountContext, freshAnswer } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'
import { neighbours } from './some-rental.ts'

const mark = 'r00000000000000aa'
const by = spenderOf('project', 'guest')
const request = { offer: 1, image: 'ubuntu', access: 'ssh' as const, disk: 10, env: [], ports: [] }

/** The machine that was created, and others that came since the request; what the answer names is any of them, or none. */
const own: Instance = { id: 5001, label: `mine berth:${mark}`, extra_env: [['BERTH_RENTAL', mark]] }
const others: Instance[] = [
  { id: 6001, label: 'made in the console', extra_env: [] },
  { id: 6002, label: 'berth:rfedcba9876543210', extra_env: [['BERTH_RENTAL', 'rfedcba9876543210']] },
  { id: 6003, label: '' },
]

async function world() {
  const clock = new HandClock()
  const there = new Map<number, Instance>()
  const listed = new Map<number, Instance>()
  const destroyed: number[] = []
  const limited = new Map<string, number>()
  const state: { named: number; asked: number; rentals?: Rentals } = { named: 0, asked: 0 }
  const client = {
    instances: {
      async destroy(id: number) {
        destroyed.push(id)
        there.delete(id)
        listed.delete(id)
      },
      one: async (id: number) => there.get(id) ?? Promise.reject(new Error('none')),
      list: async () => ({ instances: [...listed.values()], unread: [] }),
    },
    offers: {
      async createInstance() {
        state.asked += 1
        return { new_contract: state.named, success: true }
      },
    },
  }
  const context = accountContext({
    clock,
    client: () => client as never,
    record: id => listed.get(id),
    now: () => 1000 + clock.monotonic() / 1000,
    newId: () => mark.slice(1),
  })
  const ledger = await Ledger.open(context, found => {
    const attempt = state.rentals?.attempt(found)
    return attempt && { instance: attempt.instance, isOpen: isUnderWay(attempt) && !isProven(attempt) }
  })
  const rentals = await openRentals(
    context,
    {
      ...neighbours,
      ledger,
      limit: async (rental, instance) => void limited.set(rental, instance),
    },
    { actedOn: () => undefined },
  )
  state.rentals = rentals
  async function poll(): Promise<void> {
    const records = [...listed.values()]
    const views = Object.fromEntries(records.map(({ id }) => [id, instanceView({ id, state: 'loading' })]))
    context.store.change(draft => {
      for (const account of Object.values(draft.accounts)) account.instances = views
    })
    const answer = freshAnswer(context, views, records, context.now())
    ledger.onPoll(answer)
    rentals.onPoll(answer)
    await flushPromises()
    await clock.pass(5000)
    await flushPromises()
  }
  return { there, listed, destroyed, limited, state, ledger, rentals, poll }
}

const answers = fc.record({
  /** What the answer to the creation names. */
  named: fc.constantFrom(999_999_999, 6001, 6002, 6003, 5001),
  /** The polls until the list shows the machine that was created, and the others. */
  ownAfter: fc.nat(4),
  othersAfter: fc.nat(4),
  cancelled: fc.constantFrom(undefined, 0, 2, 8),
})

test('whatever instance the answer to a creation names, the one with its mark gets limit, cap and end', async () => {
  await fc.assert(
    fc.asyncProperty(answers, async ({ named, ownAfter, othersAfter, cancelled }) => {
      const { there, listed, destroyed, limited, state, ledger, rentals, poll } = await world()
      state.named = named
      for (const one of [own, ...others]) there.set(one.id, one)
      const id = await rentals.rent(request, undefined, { by })
      await flushPromises()
      let isCancelled = false
      for (let round = 0; round < 12; round += 1) {
        if (round === ownAfter && there.has(own.id)) listed.set(own.id, own)
        if (round === othersAfter) for (const one of others) listed.set(one.id, one)
        if (round === cancelled) {
          isCancelled = rentals.get(id).step === 'trying'
          await rentals.cancel(id)
        }
        await poll()
      }
      expect(destroyed.filter(id => others.some(other => other.id === id))).toEqual([])
      if (isCancelled) {
        expect([there.has(own.id), rentals.lastAttempt(id).step]).toEqual([false, 'cancelled'])
        return
      }
      expect(rentals.lastAttempt(id)).toMatchObject({ step: 'waiting', instance: own.id })
      expect(limited.get(id)).toBe(own.id)
      expect(ledger.payer(own.id)).toBe(by)
    }),
    { numRuns: 80 },
  )
})

test.each([
  ['since the service cuts labels', { label: 'mine b', extra_env: [] }, 'unclear'],
  ['since it’s another rental’s', { label: 'berth:rfedcba9876543210' }, 'failed'],
] as const)(
  'a machine that the service named and that shows no mark of its own, %s, is never rented again',
  async (_, shown, step) => {
    for (const isCancelled of [false, true]) {
      const { listed, destroyed, state, rentals, poll } = await world()
      state.named = own.id
      const id = await rentals.rent(request, undefined, { by })
      await flushPromises()
      for (let round = 0; round < 40; round += 1) {
        if (round === 1) listed.set(own.id, { id: own.id, ...shown } as Instance)
        if (round === 8 && isCancelled) await rentals.cancel(id)
        await poll()
      }
      const ends = isCancelled && step === 'failed' ? 'cancelled' : step
      expect(rentals.lastAttempt(id).step).toBe(ends)
      if (step === 'unclear') expect(rentals.lastAttempt(id).candidates).toEqual([own.id])
      expect([state.asked, destroyed]).toEqual([1, []])
      if (step === 'failed') continue
      // The user says that it's this one: it's kept, or destroyed as was wanted.
      await rentals.resolve(id, own.id)
      for (let round = 0; round < 8; round += 1) await poll()
      expect(rentals.lastAttempt(id).step).toBe(isCancelled ? 'cancelled' : 'waiting')
      expect(destroyed).toEqual(isCancelled ? [own.id] : [])
    }
  },
)
