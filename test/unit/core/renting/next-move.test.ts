import fc from 'fast-check'
import { expect, test } from 'vitest'
import { droppedAt, nextRentalMove, nextTryStep } from '#core/renting/next-move.ts'
import type { Attempt } from '#core/renting/rental.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'
import { retrying, someAttempt } from './some-rental.ts'

const step = (state: InstanceState, now = 1100) => nextTryStep(someAttempt(), instanceView({ state }), now)

test.each(['crashed', 'ended', 'silent', 'offline', 'outbid', 'stopped'] as const)(
  'a rental whose instance is %s has failed, with advice',
  state => {
    const { step: next, problem } = step(state)
    expect(next).toBe('failed')
    expect(problem?.code).toBe(state)
    expect(problem?.advice).toMatch(/^[A-Z].{10,}\.$/)
  },
)

const now = 1_800_000_000
const running = someAttempt({
  step: 'running',
  startedAt: now - 100,
  createdAt: now - 100,
  runningAt: now - 30,
})

test.each<[InstanceState, boolean]>([
  // Others bid more: not the machine’s fault.
  ['outbid', false],
  ['crashed', true],
  ['offline', true],
  ['silent', true],
])('an attempt that ran and is now %s is dropped; its machine is blamed: %s', (state, blame) => {
  const snapshot = { now, instance: instanceView({ state }), gone: false, ssh: 'silent' } as const
  expect(nextRentalMove(retrying(running), snapshot)).toMatchObject({
    do: 'drop',
    drop: { blame, last: false },
  })
})

test('an attempt that exited unexplained is dropped, but kept once it could have been in use', () => {
  const ended = instanceView({ state: 'ended' })
  const snapshot = { instance: ended, gone: false, ssh: 'silent' } as const
  const failed = someAttempt({ ...running, step: 'failed', problem: { code: 'ended', message: '' } })
  for (const attempt of [running, failed]) {
    const moveAt = (at: number) => nextRentalMove(retrying(attempt), { ...snapshot, now: at })
    expect(moveAt(now)).toMatchObject({ do: 'drop', drop: { why: { code: 'ended' }, blame: true } })
    expect(moveAt(now + 3600)).toMatchObject({
      do: 'end',
      instance: running.instance,
      problem: { code: 'stopped' },
    })
  }
})

test('an attempt whose machine is gone or stopped names the user where they did it in Berth', () => {
  const problemOf = (isByUser: boolean, state?: 'stopped') => {
    const instance = state && instanceView({ state })
    const gone = instance === undefined
    return nextRentalMove(retrying(running), { now, instance, gone, ssh: 'silent', isByUser })
  }
  for (const state of [undefined, 'stopped'] as const) {
    expect(problemOf(true, state)).toMatchObject({
      do: 'end',
      step: 'failed',
      problem: { message: expect.stringMatching(/^You (destroyed|stopped) the instance/) },
    })
    expect(problemOf(false, state)).toMatchObject({
      problem: { message: expect.stringMatching(/^The instance was (destroyed|stopped) elsewhere/) },
    })
  }
})

test('a machine that is gone or stopped once the watchdog that came with it was due was ended by its limit', () => {
  const came = (action: 'stop' | 'destroy', at: number) => ({ brought: { action, at } })
  const [due, later] = [now - 5, now + 60]
  const codeOf = (given: Partial<Attempt>, state?: 'stopped') =>
    nextTryStep(someAttempt(given), state && instanceView({ state }), now).problem?.code
  expect(codeOf(came('destroy', due))).toBe('limit_acted')
  expect(codeOf(came('stop', due), 'stopped')).toBe('limit_acted')
  expect(codeOf(came('destroy', later))).toBe('instance_gone')
  expect(codeOf(came('stop', due))).toBe('instance_gone')
  expect(codeOf(came('destroy', due), 'stopped')).toBe('stopped')

  const problem = { code: 'limit_acted', message: '' }
  const moveOf = (given: Partial<Attempt>, state?: 'stopped') =>
    nextRentalMove(retrying(someAttempt({ ...running, ...given })), {
      now,
      instance: state && instanceView({ state }),
      gone: state === undefined,
      ssh: 'silent',
    })
  for (const step of ['running', 'failed'] as const) {
    const gone = moveOf({ ...came('destroy', due), step, problem })
    expect(gone).toMatchObject({ do: 'end', step: 'failed', problem: { code: 'limit_acted' } })
    expect(gone).not.toHaveProperty('instance')
    const { instance } = running
    const kept = { do: 'end', step: 'failed', instance, problem: { code: 'limit_acted' } }
    expect(moveOf({ ...came('stop', due), step, problem }, 'stopped')).toMatchObject(kept)
  }
})

test('a machine that nobody could log in to is dropped with the last error', () => {
  const snapshot = { instance: instanceView({ state: 'running' }), gone: false, ssh: 'silent' } as const
  const problem = { code: 'ssh_refused', message: 'Nothing listens on port 22.' }
  const attempt = someAttempt({ ...running, problem })
  expect(nextRentalMove(retrying(attempt), { ...snapshot, now: now + 3600 })).toMatchObject({
    drop: {
      why: { code: 'no_ssh', message: expect.stringMatching(/ in time\. Nothing listens on port 22\.$/) },
    },
  })
})

test('no further machine is rented once past attempts have cost the ceiling', () => {
  const snapshot = { now, instance: undefined, gone: false, ssh: 'unasked' } as const
  const gone = (cost: number): Attempt => ({
    ...running,
    cost,
    drop: { why: { code: 'crashed', message: '' }, at: now, blame: true, last: false },
  })
  expect(nextRentalMove(retrying(gone(500_000), gone(499_999)), snapshot)).toEqual({ do: 'search' })
  expect(nextRentalMove(retrying(gone(500_000), gone(500_000)), snapshot)).toMatchObject({
    do: 'end',
    step: 'failed',
    problem: { code: 'ceiling_reached' },
  })
})

/** The move while SSH is silent, that many seconds after it began to run and 900 after its creation. */
const probed = (seconds: number, ssh: 'silent' | 'asking' = 'silent') =>
  nextRentalMove(
    retrying({ ...running, startedAt: now - 900, createdAt: now - 900, runningAt: now - seconds }),
    {
      now,
      instance: instanceView({ state: 'running' }),
      gone: false,
      ssh,
    },
  )

test('SSH has three minutes once the instance runs, however late that was', () => {
  expect(probed(179)).toEqual({ do: 'probeSsh' })
  expect(probed(179, 'asking')).toEqual({ do: 'wait', until: now + 1 })
  expect(probed(180)).toMatchObject({ do: 'drop', drop: { blame: true, last: false } })
})

test.each([
  ['unauthorized', true],
  ['forbidden', true],
  ['invalid_args', true],
  ['no_such_ask', false],
])('a refusal with %s makes this attempt the last: %s', (code, last) => {
  const { instance: _, ...refused } = someAttempt({ step: 'failed', problem: { code, message: 'No.' } })
  const snapshot = { now, instance: undefined, gone: false, ssh: 'unasked' } as const
  expect(nextRentalMove(retrying(refused), snapshot)).toMatchObject({
    do: 'drop',
    drop: { blame: false, last },
  })
})

test.each([true, false])(
  'an attempt that a limit would stop is dropped; a limit on it alone makes it the last: %s',
  alone => {
    const stopper = { why: { code: 'limited', message: 'A limit would stop it.' }, alone }
    const snapshot = {
      now,
      instance: instanceView({ state: 'running' }),
      gone: false,
      ssh: 'silent',
      stopper,
    } as const
    expect(nextRentalMove(retrying(running), snapshot)).toMatchObject({
      do: 'drop',
      drop: { blame: false, last: alone },
    })
  },
)

test('crashes on every machine are reported as such, since the image is suspect', () => {
  const snapshot = { now, instance: undefined, gone: false, ssh: 'unasked' } as const
  const dropped = (code: string): Attempt => ({
    ...running,
    cost: 0,
    drop: { why: { code, message: '' }, at: now, blame: true, last: false },
  })
  const five = (last: string) => retrying(...[1, 2, 3, 4].map(() => dropped('crashed')), dropped(last))
  expect(nextRentalMove(five('crashed'), snapshot)).toMatchObject({
    problem: { message: 'It crashed on every machine tried.' },
  })
  expect(nextRentalMove(five('ended'), snapshot)).toMatchObject({
    problem: { message: 'It crashed on every machine tried.' },
  })
  expect(nextRentalMove(five('late'), snapshot)).toMatchObject({
    problem: { message: 'All attempts failed.' },
  })
})

test('a machine that SSH doesn’t let in is dropped at the time that is shown, and not before', () => {
  const attempt = fc.record({
    runningAt: fc.integer({ min: 1000, max: 3000 }),
    deadline: fc.integer({ min: 60, max: 1200 }),
    spent: fc.option(
      fc.record({
        micros: fc.constant(0),
        at: fc.constant(1000),
        perHour: fc.integer({ min: 0, max: 20_000_000 }),
      }),
      { nil: undefined },
    ),
  })
  fc.assert(
    fc.property(attempt, given => {
      const current = someAttempt({ ...given, step: 'running' })
      const rental = retrying(current)
      const at = droppedAt(rental, current) ?? 0
      const moveAt = (now: number) =>
        nextRentalMove(rental, { now, instance: instanceView(), gone: false, ssh: 'silent' }).do
      expect(moveAt(at)).toBe('drop')
      expect(moveAt(at - 1)).not.toBe('drop')
    }),
  )
})
