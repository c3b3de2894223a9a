import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Deletions } from '#core/endings/deletions.ts'
import type { FullClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import { account, accountContext, noting } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'

/** What the service makes of a request to delete; `effect`: it does it whatever it says. */
type Lie = 'none' | 'accepted' | 'error' | 'lost with effect' | 'refused' | 'no such'
/** What a list shows: the truth, an error, records that can't be read, or too few. */
type Listing = 'true' | 'error' | 'unread' | 'short'

function failure(fields: Partial<ConstructorParameters<typeof ServiceError>[0]>): ServiceError {
  return new ServiceError({ code: 'server_error', message: 'It failed.', advice: '', status: 500, ...fields })
}

/** A volume #5, a key #4 and a network, on a service that lies, and a Berth that may be killed. */
class World {
  readonly clock = new HandClock()
  readonly files = new MemoryFiles()
  readonly left = new Set(['volume', 'apiKey', 'overlay'])
  /** The instances in the network. */
  held: number[] | undefined = []
  lies: Lie[] = []
  always: Lie = 'none'
  listings: Listing[] = []
  requests = 0
  readonly said: string[] = []
  deletions: Deletions | undefined
  #quitting = new AbortController()
  #context = accountContext()

  shown() {
    return this.#context.store.get().accounts[account]?.deletions ?? {}
  }

  kill(): void {
    this.#quitting.abort()
    this.deletions = undefined
  }

  async start(): Promise<Deletions> {
    this.#quitting = new AbortController()
    const { signal } = this.#quitting
    const { said, ...heard } = noting()
    said.push = (...texts) => this.said.push(...texts)
    const context = accountContext({ clock: this.clock, files: this.files, ...heard, quitting: signal })
    this.#context = context
    const calls = (kind: string, record: () => object) => ({
      remove: () => this.#remove(kind, signal),
      list: ({ onUnread }: { onUnread: (unread: object[]) => void }) => this.#list(kind, record, onUnread),
    })
    const client = {
      volumes: calls('volume', () => ({ id: 5, label: 'data', machine_id: 1 })),
      apiKeys: calls('apiKey', () => ({ id: 4, name: 'Berth sync' })),
      overlays: calls('overlay', () => ({ overlay_id: 3, name: 'berth-1', instances: this.held })),
    } as unknown as FullClient
    this.deletions = await Deletions.open({ ...context, client: () => client })
    this.deletions.show()
    this.deletions.resume()
    return this.deletions
  }

  async pass(seconds: number): Promise<void> {
    await this.clock.passInSteps(seconds * 1000, async () => {
      for (let turn = 0; turn < 5; turn += 1) await flushPromises()
    })
  }

  async #remove(kind: string, signal: AbortSignal): Promise<void> {
    this.requests += 1
    const lie = this.lies.shift() ?? this.always
    await flushPromises()
    if (signal.aborted) throw failure({ ambiguous: true })
    if (lie === 'none' || lie === 'lost with effect') this.left.delete(kind)
    if (lie === 'error') throw failure({})
    if (lie === 'lost with effect') throw failure({ status: 0, code: 'timeout', ambiguous: true })
    if (lie === 'refused') throw failure({ status: 400, code: 'invalid_args', message: 'It is in use.' })
    if (lie === 'no such') throw failure({ status: 404, code: 'no_such_instance' })
  }

  async #list(
    kind: string,
    record: () => object,
    onUnread: (unread: object[]) => void,
  ): Promise<readonly object[]> {
    const listing = this.listings.shift()
    await flushPromises()
    if (listing === 'error') throw failure({})
    if (listing === 'unread') onUnread([{ path: '$', expected: 'must be readable', id: undefined }])
    return this.left.has(kind) && listing !== 'unread' && listing !== 'short' ? [record()] : []
  }
}

const targets = [
  { kind: 'volume', id: 5 },
  { kind: 'volume', name: 'data', machine: 1 },
  { kind: 'apiKey', id: 4 },
  { kind: 'apiKey', name: 'Berth sync' },
  { kind: 'overlay', name: 'berth-1' },
] as const

const lie = fc.constantFrom<Lie>('none', 'accepted', 'error', 'lost with effect', 'no such')
const listing = fc.constantFrom<Listing>('true', 'error', 'unread')

test('whatever the service answers, a deletion is told only once it is true, and comes to be, over kills', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...targets),
      fc.array(lie, { maxLength: 6 }),
      fc.array(listing, { maxLength: 8 }),
      fc.array(fc.nat(80), { maxLength: 3 }),
      async (target, lies, listings, kills) => {
        const world = new World()
        Object.assign(world, { lies: [...lies], listings: [...listings] })
        const gone: boolean[] = []
        const follow = async () => {
          const { isGone } = await (await world.start()).delete(target)
          gone.push(isGone && !world.left.has(target.kind))
        }
        void follow().catch(() => undefined)
        for (const seconds of kills) {
          await world.pass(seconds)
          world.kill()
          void follow().catch(() => undefined)
        }
        await world.pass(900)
        expect(world.left.has(target.kind)).toBe(false)
        expect(gone.length).toBeGreaterThan(0)
        expect(gone).not.toContain(false)
        expect(world.shown()).toEqual({})
        world.kill()
      },
    ),
    { numRuns: 60 },
  )
})

test('a list that is short for a while ends no deletion for good, and none that got no answer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...targets),
      fc.array(lie, { maxLength: 4 }),
      fc.array(fc.constantFrom<Listing>('true', 'error', 'short'), { maxLength: 2 }),
      fc.boolean(),
      async (target, lies, listings, isAnswered) => {
        const world = new World()
        const unanswered: Lie[] = ['error', 'error', 'error', 'error', 'error', 'error']
        Object.assign(world, { lies: isAnswered ? [...lies] : unanswered, listings: [...listings] })
        let gone: boolean | undefined
        const follow = async () => {
          await (await world.start()).delete(target)
          gone ??= !world.left.has(target.kind)
        }
        void follow()
        await world.pass(1500)
        expect(world.left.has(target.kind)).toBe(false)
        if (!isAnswered) expect(gone).toBe(true)
        world.kill()
      },
    ),
    { numRuns: 60 },
  )
})

test('what the user deletes is shown until a list lacks it, requested again, and told as urgent if it lasts', async () => {
  const world = new World()
  world.always = 'accepted'
  const deletions = await world.start()
  expect(await deletions.request({ kind: 'volume', id: 5 })).toBe(false)
  expect(world.shown()).toMatchObject({ 'volume/5': { phase: 'requested' } })
  expect(world.said).toEqual([])
  await world.pass(400)
  expect(world.requests).toBeGreaterThan(5)
  expect(world.shown()).toMatchObject({ 'volume/5': { phase: 'urgent' } })
  expect(world.said).toEqual(['The volume #5 isn’t deleted yet'])
  world.kill()
  await world.start()
  world.always = 'none'
  await world.pass(61)
  expect(world.shown()).toEqual({})
  expect(world.said.slice(1)).toEqual(['Deleted volume #5', 'The volume #5 is deleted'])
})

test('a failure that passes is told to the user and tried again; a refusal is told and given up', async () => {
  const world = new World()
  const deletions = await world.start()
  world.lies = ['error']
  await expect(deletions.request({ kind: 'apiKey', id: 4 })).rejects.toMatchObject({
    problem: { message: 'It failed.', advice: 'Berth keeps trying.' },
  })
  expect(world.shown()).toMatchObject({ 'apiKey/4': { phase: 'retrying', problem: 'It failed.' } })
  await world.pass(5)
  expect(world.left.has('apiKey')).toBe(false)
  world.lies = ['refused']
  await expect(deletions.request({ kind: 'volume', id: 5 })).rejects.toMatchObject({
    problem: { message: 'It is in use.' },
  })
  await world.pass(120)
  expect(world.left.has('volume')).toBe(true)
  expect(world.shown()).toEqual({})
  expect(world.said).toEqual(['Deleted API key #4'])
})

test('what a refusal hid is deleted all the same if a list lacks it', async () => {
  const world = new World()
  const deletions = await world.start()
  world.left.delete('volume')
  world.lies = ['refused']
  expect(await deletions.request({ kind: 'volume', id: 5 })).toBe(true)
})

test.each([[[7]], [undefined]])('a network is not deleted while %j may be in it', async held => {
  const world = new World()
  world.held = held
  const deleted = (await world.start()).delete({ kind: 'overlay', name: 'berth-1' })
  await world.pass(300)
  expect(world.requests).toBe(0)
  expect(world.said).toEqual([])
  world.held = []
  await world.pass(61)
  expect(await deleted).toEqual({ isGone: true, ids: [3] })
})
