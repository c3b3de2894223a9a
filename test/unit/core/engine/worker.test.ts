import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FailedTurn, type Next, Worker, type WorkerOptions } from '#core/engine/worker.ts'
import { deferred } from '#platform/tasks.ts'
import { HandClock } from '#test/berth/clocks.ts'

/** A worker whose turns begin when it says so, and end as the test decides. */
function worker(options: Partial<WorkerOptions<string>> = {}) {
  const clock = new HandClock()
  const quitting = new AbortController()
  const turns: { id: string; end: (next: Next) => void; fail: (error: Error) => void; isOver: boolean }[] = []
  const works = new Worker<string>({
    clock,
    quitting: quitting.signal,
    turn(id) {
      const { promise, resolve, reject } = deferred<Next>()
      const turn = {
        id,
        isOver: false,
        end(next: Next) {
          turn.isOver = true
          resolve(next)
        },
        fail(error: Error) {
          turn.isOver = true
          reject(error)
        },
      }
      turns.push(turn)
      return promise
    },
    ...options,
  })
  const running = (id?: string) => turns.filter(turn => !turn.isOver && (id === undefined || turn.id === id))
  /** Ends the only running turn of an id. */
  async function end(id: string, next: Next | Error): Promise<void> {
    const [turn, ...others] = running(id)
    expect(others).toEqual([])
    if (next instanceof Error) turn?.fail(next)
    else turn?.end(next)
    await clock.pass(0)
  }
  return { clock, quitting, turns, works, running, end }
}

test('a call during a turn is followed by another turn, and calls before it by one alone', async () => {
  const { turns, works, end } = worker()
  works.wake('a')
  works.wake('a')
  works.wake('a')
  expect(turns).toHaveLength(1)
  await end('a', 'rest')
  expect(turns).toHaveLength(2)
  await end('a', 'rest')
  expect(turns).toHaveLength(2)
  expect(works.isBusy('a')).toBe(false)
})

test('failures are retried after growing pauses, which a wake leaves and a hurry cuts', async () => {
  const { clock, turns, works, end } = worker()
  works.wake('a')
  for (const pause of [1000, 2000, 5000, 15_000, 60_000, 60_000]) {
    await end('a', new Error('it failed'))
    works.wake('a')
    expect(clock.waiting).toEqual([pause])
    await clock.pass(pause)
  }
  await end('a', new Error('it failed'))
  works.hurry('a')
  await clock.pass(0)
  expect(turns).toHaveLength(8)
  await end('a', 'again')
  await end('a', new Error('it failed'))
  expect(clock.waiting).toEqual([1000])
})

test('an error goes to what hinders the id, which may decide what follows', async () => {
  const seen: FailedTurn[] = []
  const { clock, turns, works, end } = worker({
    hindered(_, failure) {
      seen.push(failure)
      if (failure.fails === 1) throw new Error('it could not be noted')
      return failure.fails === 2 ? 'rest' : undefined
    },
  })
  works.wake('a')
  await end('a', new Error('secret'))
  expect(seen).toMatchObject([{ problem: { code: 'internal' }, fails: 0, pause: 1000 }])
  await clock.pass(1000)
  await end('a', new Error('secret'))
  expect(clock.waiting).toEqual([2000])
  await clock.pass(2000)
  await end('a', new Error('secret'))
  expect(clock.waiting).toEqual([])
  expect(works.isBusy('a')).toBe(false)
  expect(turns).toHaveLength(3)
})

test('what may be woken only later sleeps until then, and counts as at rest', async () => {
  const { clock, turns, works, end } = worker()
  works.wake('a')
  await end('a', { wokenAfter: 3000 })
  expect(works.isBusy('a')).toBe(false)
  works.wake('a')
  await clock.pass(3000)
  expect(turns).toHaveLength(1)
  works.wake('a')
  await clock.pass(0)
  expect(turns).toHaveLength(2)
  expect(works.isBusy('a')).toBe(true)
})

test('the account is polled for an id at rest, once for each moment', async () => {
  const { works, end } = worker()
  works.wake('a')
  works.wake('b')
  await end('a', { by: 70 })
  await end('b', { by: 50 })
  expect([works.dueAt(0), works.dueAt(50), works.dueAt(70)]).toEqual([50, 70, Number.POSITIVE_INFINITY])
  works.wake('b')
  expect(works.dueAt(0)).toBe(70)
  await end('b', { by: undefined })
  expect(works.dueAt(0)).toBe(70)
})

test('who asks for a turn hears of the next one, even if one was running', async () => {
  const { works, end } = worker()
  works.wake('a')
  const asked = [works.once('a'), works.once('a')].map(turn => turn.catch((error: Error) => error.message))
  await end('a', new Error('the earlier one'))
  await end('a', new Error('this one'))
  expect(await Promise.all(asked)).toEqual(['this one', 'this one'])
})

test('a pause within a turn ends early if the turn is hurried, before it or in it', async () => {
  const clock = new HandClock()
  const said: string[] = []
  const begun = deferred<void>()
  const works: Worker<string> = new Worker({
    clock,
    quitting: new AbortController().signal,
    async turn(id) {
      await begun.promise
      for (const name of ['first', 'second', 'third']) {
        await works.pause(id, 1000)
        said.push(name)
      }
      return 'rest'
    },
  })
  works.wake('a')
  works.hurry('a')
  begun.resolve()
  await clock.pass(0)
  expect(said).toEqual(['first'])
  works.wake('a')
  await clock.pass(0)
  works.hurry('a')
  await clock.pass(0)
  expect(said).toEqual(['first', 'second'])
  await clock.pass(1000)
  expect(said).toEqual(['first', 'second', 'third'])
  await works.settled('a')
})

test('its end waits for what runs, and lets nothing begin', async () => {
  const { clock, quitting, turns, works, end } = worker()
  works.wake('a')
  works.wake('b')
  works.wake('c')
  await end('b', { after: 1000 })
  await end('c', { wokenAfter: 0 })
  const asked = works.once('a')
  quitting.abort()
  await asked
  let isOver = false
  const flushed = works.flush().then(() => {
    isOver = true
  })
  await clock.pass(5000)
  expect(isOver).toBe(false)
  await end('a', 'again')
  await flushed
  works.wake('d')
  works.hurry('a')
  await works.once('b')
  expect(turns.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
})

type Event =
  | { do: 'wake' | 'hurry'; id: string }
  | { do: 'end'; id: string; next: Next | Error }
  | { do: 'pass'; milliseconds: number }

const ids = fc.constantFrom('a', 'b')
const events: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ do: fc.constantFrom('wake' as const, 'hurry' as const), id: ids }),
  fc.record({
    do: fc.constant('end' as const),
    id: ids,
    next: fc.constantFrom<Next | Error>(
      'again',
      'rest',
      { by: 5 },
      { after: 700 },
      { wokenAfter: 400 },
      new Error('it failed'),
    ),
  }),
  fc.record({ do: fc.constant('pass' as const), milliseconds: fc.constantFrom(0, 300, 1000, 70_000) }),
)

test('no id ever has two turns, and no call goes unanswered, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(events, { maxLength: 40 }), async history => {
      const { clock, works, turns, running, end } = worker()
      /** Ids that were called, in what way, since their last turn began. */
      const called = new Map<string, 'wake' | 'hurry'>()
      /** From when on a wake counts, by id that waits. */
      const opens = new Map<string, number>()
      for (const event of history) {
        const before = turns.length
        if (event.do === 'pass') await clock.pass(event.milliseconds)
        else if (event.do === 'end') {
          if (running(event.id).length === 0) continue
          const { next, id } = event
          const call = called.get(id)
          await end(id, next)
          const isOpen = next === 'rest' || (typeof next === 'object' && 'by' in next)
          const follows = next === 'again' || call === 'hurry' || (isOpen && call !== undefined)
          expect(running(id)).toHaveLength(follows ? 1 : 0)
          const isWoken = typeof next === 'object' && 'wokenAfter' in next
          opens.set(id, isWoken ? clock.monotonic() + next.wokenAfter : isOpen ? 0 : Number.POSITIVE_INFINITY)
        } else {
          const { id, do: how } = event
          const wasRunning = running(id).length > 0
          works[how](id)
          await clock.pass(0)
          if (wasRunning) called.set(id, called.get(id) === 'hurry' ? 'hurry' : how)
          else {
            const counts = how === 'hurry' || clock.monotonic() >= (opens.get(id) ?? 0)
            expect(running(id)).toHaveLength(counts ? 1 : 0)
          }
        }
        for (const { id } of turns.slice(before)) called.delete(id)
        for (const id of ['a', 'b']) expect(running(id).length).toBeLessThan(2)
      }
      // Whatever has failed or asked for a pause comes again by itself.
      await clock.pass(70_000)
      for (const id of ['a', 'b'])
        if (opens.get(id) === Number.POSITIVE_INFINITY) expect(running(id)).toHaveLength(1)
    }),
  )
})
