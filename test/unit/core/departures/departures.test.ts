import { expect, test } from 'vitest'
import { type Arrival, Departures } from '#core/departures/perform.ts'
import type { Departure, Leave } from '#core/departures/record.ts'
import { copyUntil, departureMove, isWorthKeeping, returnedDeparture } from '#core/departures/step.ts'
import { ServiceError } from '#service/service-error.ts'
import type { CopyRequest } from '#shared/account/transfer.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { account, accountContext, freshAnswer, noting } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const run = 'x0000000000000001'
const leave: Leave = {
  instance: 7,
  since: 1000,
  until: 8200,
  seconds: 1800,
  program: 'x0000000000000009',
  folder: '/root/berth/p1',
  paths: ['out', 'model.pt'],
  before: 100,
}
const departure: Departure = { ...leave, run, name: 'digits' }
const machine = (state: InstanceState, more: Partial<InstanceView> = {}) =>
  instanceView({ id: 7, state, diskPricePerHour: 4000, ...more })

test.each<[string, Partial<Departure>, InstanceView | 'gone' | undefined, number, object]>([
  ['stops one that may run again beside the next', {}, machine('outbid'), 1000, { do: 'stop' }],
  ['stops one that crashed, which is still meant to run', {}, machine('crashed'), 1000, { do: 'stop' }],
  [
    'lets one run that its user left, for its files',
    { runsUntil: 2800 },
    machine('running'),
    2799,
    { do: 'wait' },
  ],
  ['stops it then', { runsUntil: 2800 }, machine('running'), 2800, { do: 'stop' }],
  [
    'and once they can’t be taken',
    { runsUntil: 2800, fate: 'failed' },
    machine('running'),
    1200,
    { do: 'stop' },
  ],
  ['stops one that runs again', {}, machine('running'), 2000, { do: 'stop' }],
  ['keeps one that is stopped', {}, machine('stopped'), 8199, { do: 'wait' }],
  ['destroys it with its time', {}, machine('stopped'), 8200, { do: 'destroy', isLost: true }],
  ['and whatever its state is', {}, machine('offline'), 8200, { do: 'destroy', isLost: true }],
  [
    'destroys it once its files are there',
    { fate: 'brought' },
    machine('stopped'),
    1200,
    { do: 'destroy', isLost: false },
  ],
  [
    'and once nobody needs them',
    { fate: 'needless' },
    machine('outbid'),
    1200,
    { do: 'destroy', isLost: false },
  ],
  ['keeps it where the copy failed', { fate: 'failed' }, machine('stopped'), 1200, { do: 'wait' }],
  ['remembers one that is gone', {}, 'gone', 1200, { do: 'wait' }],
  ['and forgets it after a week', {}, 'gone', 1001 + 7 * 86_400, { do: 'forget' }],
  ['knows nothing without a poll', {}, undefined, 9999, { do: 'wait' }],
  [
    'leaves one to its user who started it since',
    {},
    machine('running', { stateRequest: { state: 'running', at: 1500 } }),
    1600,
    { do: 'forget' },
  ],
])('a machine that a run left: %s', (_, change, instance, now, move) => {
  expect(departureMove({ ...departure, ...change }, instance, now)).toEqual(move)
})

test('a copy may take as long as it may save, within bounds', () => {
  const withinOf = (seconds: number) => copyUntil({ ...departure, seconds }, 2000)
  expect([withinOf(90), withinOf(1000), withinOf(90_000)]).toEqual([2600, 3000, 3800])
  expect(copyUntil({ ...departure, copyingSince: 1500 }, 2000)).toBe(3300)
  expect(copyUntil({ ...departure, fate: 'torn' }, 2000)).toBeUndefined()
  expect(isWorthKeeping({ ...leave, seconds: 59 })).toBe(false)
  expect(isWorthKeeping({ ...leave, folder: undefined })).toBe(false)
  // Its user moves the run: then nothing is lost.
  expect(isWorthKeeping({ ...leave, seconds: 1, runsUntil: 2800 })).toBe(true)
})

/** An account with the machine that a run leaves, whose copies answer as `copies` says. */
function place(
  copies: (request: CopyRequest, signal: AbortSignal) => Promise<string | undefined> = async () => undefined,
) {
  const [files, clock] = [new MemoryFiles(), new HandClock()]
  let instances: Record<string, InstanceView> = { 7: machine('outbid') }
  const ended: string[] = []
  const copied: string[] = []
  async function open() {
    const quitting = new AbortController()
    const { said, ...noted } = noting()
    const end = async (instance: number, action: 'stop' | 'destroy', cause: { detail?: string }) => {
      ended.push(`${action} ${instance}`)
      said.push(cause.detail ?? 'nothing')
      instances = action === 'stop' ? { 7: machine('stopped') } : {}
      return true
    }
    const context = accountContext({
      files,
      clock,
      quitting: quitting.signal,
      ...noted,
      now: () => clock.monotonic() / 1000,
    })
    context.endings = { ...context.endings, begin: end, end } as unknown as typeof context.endings
    const show = () =>
      context.store.change(state => {
        state.accounts[account] = {
          ...accountView({ id: account }),
          instances: { 8: machine('running'), ...instances },
        }
      })
    show()
    const departures = await Departures.open(context, {
      async copyToEnd(request, _since, signal) {
        const answer = await copies(request, signal)
        copied.push(`${request.from}:${request.fromPath} ${request.to}:${request.toPath}`)
        return answer
      },
    })
    return {
      departures,
      said,
      async show(shown: Record<string, InstanceView>) {
        instances = shown
        show()
      },
      async poll() {
        show()
        departures.onPoll(freshAnswer(context, instances))
        await flushPromises()
      },
      kill: () => quitting.abort(),
    }
  }
  const ends: string[] = []
  const arrival = (
    answer: string,
    side = '/root/.berth/left/7',
    sent?: number,
    began = 'began\n',
  ): Arrival => ({
    hadEnded: async () => void ends.push([...ended].join()),
    handOver: async () => (sent === undefined ? undefined : { files: sent, isDirect: true }),
    instance: 8,
    folder: 'berth/p1',
    ask: async script =>
      script.includes('pwd -P') ? `${side}\n` : script.includes('echo began') ? began : answer,
  })
  return { open, clock, ended, ends, copied, arrival }
}

const signal = new AbortController().signal

test('a machine is stopped, and destroyed once the next one has its newer files', async () => {
  const { open, ended, copied, arrival } = place()
  const { departures, poll, said } = await open()
  await departures.leave(run, 'digits', leave)
  await poll()
  expect(ended).toEqual(['stop 7'])
  expect(departures.copyEnds(run)).toBeDefined()
  // A minute and a half of its half an hour was after the newest whole file.
  const saved = await departures.bring(run, arrival('taken over 3 3 5000 5090 0 - 0\n'), signal)
  expect(saved).toEqual({ seconds: 1800 - 90, isUpTo: false })
  expect(copied).toEqual([
    '7:/root/.berth/runs/x0000000000000009/alive 8:/root/.berth/left/7/alive/',
    '7:/root/berth/p1/out 8:/root/.berth/left/7/0/',
    '7:/root/berth/p1/model.pt 8:/root/.berth/left/7/1/',
  ])
  await poll()
  expect(ended).toEqual(['stop 7', 'destroy 7'])
  expect(said).toEqual(
    expect.arrayContaining([
      'It must not run beside the next one.',
      'Copied the results of digits from #7',
      'The next machine has its results.',
    ]),
  )
})

test('that the command had ended well is told before the old machine may go, and saves all', async () => {
  for (const [answer, saved, tells] of [
    ['taken over 3 3 5000 5090 0 0 0\n', 1800, 1],
    ['taken over 3 3 5000 5090 0 1 0\n', 1800 - 90, 0],
    ['taken over 3 2 5000 5090 1 0 1\n', 1800 - 90, 0],
  ] as const) {
    const { open, ends, arrival } = place()
    const { departures, poll } = await open()
    await departures.leave(run, 'digits', leave)
    await poll()
    const isUpTo = answer.endsWith(' 1 0 1\n')
    expect(await departures.bring(run, arrival(answer), signal)).toEqual({ seconds: saved, isUpTo })
    expect(ends).toEqual(Array.from({ length: tells }, () => 'stop 7'))
  }
})

test('a machine is kept for a file that may be half and is nowhere else, whether others came or not', async () => {
  for (const [came, saved] of [
    // It may be what the command goes by.
    ['taken over 3 2 5000 5090 1 - 1\n', { seconds: 1800 - 90, isUpTo: true }],
    ['taken over 1 0 0 5090 1 - 1\n', undefined],
  ] as const) {
    const { open, ended, arrival } = place()
    const { departures, poll } = await open()
    await departures.leave(run, 'digits', leave)
    await poll()
    expect(await departures.bring(run, arrival(came), signal)).toEqual(saved)
    await poll()
    expect(ended).toEqual(['stop 7'])
  }
})

test('what could not be copied as the next machine was stopped is copied once that runs again', async () => {
  const refused = new ServiceError({ code: 'refused', status: 400, message: '', advice: '' })
  let isUp = false
  const { open, ended, clock, arrival } = place(async () => {
    if (!isUp) throw refused
    return undefined
  })
  const { departures, poll, show } = await open()
  await departures.leave(run, 'digits', leave)
  await show({ 7: machine('stopped'), 8: machine('stopped') })
  await expect(departures.bring(run, arrival(''), signal)).rejects.toMatchObject({
    problem: { code: 'not_running' },
  })
  // As long as a copy may take.
  await clock.pass(1_800_000)
  isUp = true
  await show({ 7: machine('stopped'), 8: machine('running') })
  expect(await departures.bring(run, arrival('taken over 3 3 5000 5090 0 - 0\n'), signal)).toEqual({
    seconds: 1800 - 90,
    isUpTo: false,
  })
  await poll()
  expect(ended.at(-1)).toBe('destroy 7')
})

test('a machine that its user leaves runs until its files were handed over, by whichever way is left', async () => {
  const planned = { ...leave, runsUntil: 2800, whole: true }
  const whole = 'taken over 2 2 5080 5090 0 - 0\n'
  for (const [sent, answer, saved, copies] of [
    [2, whole, 1790, 0],
    // Links alone.
    [1, 'taken over 0 0 0 5090 0 - 0\n', 0, 0],
    [undefined, whole, 1790, 3],
  ] as const) {
    const { open, ended, copied, arrival } = place()
    const { departures, poll, show } = await open()
    await show({ 7: machine('running') })
    await departures.leave(run, 'digits', planned)
    await poll()
    expect(ended).toEqual([])
    expect(await departures.bring(run, arrival(answer, undefined, sent), signal)).toEqual({
      seconds: saved,
      isUpTo: false,
    })
    expect(copied).toHaveLength(copies)
    await poll()
    expect(ended).toEqual(['destroy 7'])
  }
})

test('a machine that its user leaves is kept for files whose names the next one can’t be told', async () => {
  for (const [files, answer, saved] of [
    [0, '', 0],
    [2, 'taken over 2 2 5080 5090 0 - 0\n', 1790],
  ] as const) {
    const { open, ended, arrival } = place()
    const { departures, poll, show } = await open()
    await show({ 7: machine('running') })
    await departures.leave(run, 'digits', { ...leave, runsUntil: 2800, whole: true })
    await poll()
    const handOver = async () => ({ files, isDirect: true, unnamed: 1 })
    expect(await departures.bring(run, { ...arrival(answer), handOver }, signal)).toEqual({
      seconds: saved,
      isUpTo: false,
    })
    await poll()
    expect(ended).toEqual(['stop 7'])
  }
})

test('nothing is destroyed while it has the only copy, until its time is over, whoever is killed between', async () => {
  const refused = new ServiceError({ code: 'invalid_args', status: 400, message: 'not running', advice: '' })
  const { open, ended, clock, arrival } = place(async () => Promise.reject(refused))
  const first = await open()
  await first.departures.leave(run, 'digits', { ...leave, since: 0, until: 7200 })
  first.kill()
  const second = await open()
  await second.poll()
  expect(await second.departures.bring(run, arrival(''), signal)).toBeUndefined()
  // Once refused, it isn't asked for again.
  expect(second.departures.copyEnds(run)).toBeUndefined()
  second.kill()
  const third = await open()
  await third.departures.leave(run, 'digits', { ...leave, since: 0, until: 7200 })
  await third.poll()
  expect(ended).toEqual(['stop 7'])
  expect(third.departures.dueAt(0)).toBe(7200)
  await clock.pass(7_200_000)
  await third.poll()
  expect(ended).toEqual(['stop 7', 'destroy 7'])
  expect(third.said).toEqual(['Its time was over.', '#7 is destroyed, which digits left'])
})

test.for([
  ['has brought no file', 'taken over 0 0 0 5090 0 - 0\n', undefined],
  ['doesn’t say when the machine ended', 'taken over 3 0 0 0 0 - 0\n', undefined],
  ['would go into another folder', 'taken over 3 3 5000 5090 0 - 0\n', '/root/'],
  ['would go into another machine’s folder', 'taken over 3 3 5000 5090 0 - 0\n', '/root/.berth/left/17'],
] as const)('a machine stays where its copy %s', async ([, answer, side]) => {
  const { open, ended, copied, arrival } = place()
  const { departures, poll } = await open()
  await departures.leave(run, 'digits', leave)
  await poll()
  expect(await departures.bring(run, arrival(answer, side), signal)).toBeUndefined()
  await poll()
  expect(ended).toEqual(['stop 7'])
  expect(copied.length > 0).toBe(side === undefined)
})

test('a machine on which the command never began is kept without waiting for a copy of its results', async () => {
  const { open, ended, copied, arrival } = place()
  const { departures, poll } = await open()
  await departures.leave(run, 'digits', leave)
  await poll()
  const next = arrival('taken over 3 0 0 0 0 - 0\n', undefined, undefined, '')
  expect(await departures.bring(run, next, signal)).toBeUndefined()
  expect(copied).toEqual(['7:/root/.berth/runs/x0000000000000009/alive 8:/root/.berth/left/7/alive/'])
  expect(ended).toEqual(['stop 7'])
})

test('a copy that doesn’t end in its time is given up, and one during an outage is tried again', async () => {
  const outage = new ServiceError({ code: 'unreachable' as never, status: 0, message: '', advice: '' })
  let fails = true
  const { open, clock, arrival } = place((_, aborted) =>
    fails
      ? Promise.reject(outage)
      : new Promise((_resolve, reject) =>
          aborted.addEventListener('abort', () => reject(aborted.reason), { once: true }),
        ),
  )
  const { departures } = await open()
  await departures.leave(run, 'digits', { ...leave, since: 0, until: 7200 })
  await expect(departures.bring(run, arrival(''), signal)).rejects.toBe(outage)
  fails = false
  const bringing = departures.bring(run, arrival(''), signal)
  await flushPromises()
  await clock.pass(1_800_000)
  expect(await bringing).toBeUndefined()
})

test('is destroyed at once where only little would be saved, or its run is over', async () => {
  const { open, ended } = place()
  const { departures, poll } = await open()
  await departures.leave(run, 'digits', { ...leave, seconds: 30 })
  expect(ended).toEqual(['destroy 7'])
  const { open: openOther, ended: endedThere } = place()
  const other = await openOther()
  await other.departures.leave(run, 'digits', { ...leave, since: 0, until: 7200 })
  other.departures.keepOnlyFor(new Set())
  await other.poll()
  expect(endedThere.at(-1)).toBe('destroy 7')
  await poll()
})

test.each([leave, { ...leave, seconds: 5 }])(
  'a machine that was gone and runs again is stopped and kept, until its run no longer needs it',
  async left => {
    const { open, ended, copied, arrival, clock } = place()
    const { departures, poll, show, said } = await open()
    await clock.pass(1_000_000)
    await show({})
    await departures.leave(run, 'digits', left)
    // Its time passes while nobody sees it.
    await clock.pass(9_000_000)
    await poll()
    expect([ended, departures.machinesOf(run)]).toEqual([[], []])
    // The run goes on without it meanwhile.
    expect(await departures.bring(run, arrival('taken over 3 3 5000 5090 0 - 0\n'), signal)).toBeUndefined()
    await show({ 7: machine('running') })
    await poll()
    await poll()
    expect([ended, copied]).toEqual([['stop 7'], []])
    expect(departures.machinesOf(run)).toEqual([7])
    expect(said).toContain('#7 is listed again, which digits left, and is kept')
    departures.keepOnlyFor(new Set())
    await flushPromises()
    expect(ended).toEqual(['stop 7', 'destroy 7'])
  },
)

test('what only it has is at most what it did before and while it was gone', () => {
  const missing = { ...departure, missing: true as const, runsUntil: 1100 }
  expect(returnedDeparture(missing, machine('running'), 1600)).toEqual({
    ...departure,
    seconds: 2400,
    since: 1600,
    until: 8800,
  })
  expect(returnedDeparture(missing, machine('stopped'), 1600).seconds).toBe(1800)
})
