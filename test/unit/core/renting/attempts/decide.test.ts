import { expect, test } from 'vitest'
import type { InstanceState } from '#contract/instance/instance.ts'
import { nextAttemptMove } from '#core/renting/attempts/decide.ts'
import type { Attempt, AttemptSeries } from '#core/renting/attempts/model.ts'
import type { Rental } from '#core/renting/rentals/model.ts'
import { instanceView } from '#test/unit/views.ts'

const now = 1_800_000_000
const request = { image: 'ubuntu', access: 'ssh', disk: 20, env: [], ports: [] } as const
const rental: Rental = {
  id: 'r0000000000000001',
  account: 'a00000001',
  request: { ...request, offer: 1, env: [], ports: [] },
  offer: { id: 1, machineId: 10 },
  step: 'running',
  before: [],
  asked: 1,
  instance: 4711,
  startedAt: now - 100,
  createdAt: now - 100,
  deadline: 600,
}
const running: Attempt = { rental: rental.id, offer: rental.offer, startedAt: now - 100, runningAt: now - 30 }
const series = (...attempts: Attempt[]): AttemptSeries => ({
  id: 'f0000000000000001',
  search: {
    query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 },
    filter: {},
    order: { column: 'price', descending: false },
  },
  request: { ...request, env: [], ports: [] },
  limits: { attempts: 5, ceiling: 1, deadline: 600 },
  step: 'trying',
  attempts,
  startedAt: now - 100,
})

test.each<[InstanceState, boolean]>([
  // Others bid more: not the machine’s fault.
  ['outbid', false],
  ['crashed', true],
  ['offline', true],
  ['silent', true],
])('an attempt that ran and is now %s is dropped; its machine is blamed: %s', (state, blame) => {
  const snapshot = { now, rental, instance: instanceView({ state }), gone: false, ssh: 'silent' } as const
  expect(nextAttemptMove(series(running), snapshot)).toMatchObject({
    do: 'drop',
    drop: { blame, last: false },
  })
})

test('an attempt that exited unexplained is dropped, but kept once it could have been in use', () => {
  const ended = instanceView({ state: 'ended' })
  const snapshot = { rental, instance: ended, gone: false, ssh: 'silent' } as const
  const failed = { ...rental, step: 'failed', problem: { code: 'ended', message: '' } } as const
  for (const moveAt of [
    (at: number) => nextAttemptMove(series(running), { ...snapshot, now: at }),
    (at: number) => nextAttemptMove(series(running), { ...snapshot, now: at, rental: failed }),
  ]) {
    expect(moveAt(now)).toMatchObject({ do: 'drop', drop: { why: { code: 'ended' }, blame: true } })
    expect(moveAt(now + 3600)).toMatchObject({
      do: 'end',
      instance: rental.instance,
      problem: { code: 'stopped' },
    })
  }
})

test('no further machine is rented once past attempts have cost the ceiling', () => {
  const snapshot = { now, rental: undefined, instance: undefined, gone: false, ssh: 'unasked' } as const
  const gone = (cost: number): Attempt => ({
    ...running,
    cost,
    drop: { why: { code: 'crashed', message: '' }, at: now, blame: true, last: false },
  })
  expect(nextAttemptMove(series(gone(500_000), gone(499_999)), snapshot)).toEqual({ do: 'search' })
  expect(nextAttemptMove(series(gone(500_000), gone(500_000)), snapshot)).toMatchObject({
    do: 'end',
    step: 'failed',
    problem: { code: 'ceiling_reached' },
  })
})

/** The move while SSH is silent, that many seconds after it began to run and 900 after its creation. */
const probed = (seconds: number, ssh: 'silent' | 'asking' = 'silent') =>
  nextAttemptMove(series({ ...running, runningAt: now - seconds }), {
    now,
    rental: { ...rental, startedAt: now - 900, createdAt: now - 900 },
    instance: instanceView({ state: 'running' }),
    gone: false,
    ssh,
  })

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
  const refused: Rental = { ...rental, step: 'failed', problem: { code, message: 'No.' } }
  const { instance: _, ...nothing } = refused
  const snapshot = { now, rental: nothing, instance: undefined, gone: false, ssh: 'unasked' } as const
  expect(nextAttemptMove(series(running), snapshot)).toMatchObject({
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
      rental,
      instance: instanceView({ state: 'running' }),
      gone: false,
      ssh: 'silent',
      stopper,
    } as const
    expect(nextAttemptMove(series(running), snapshot)).toMatchObject({
      do: 'drop',
      drop: { blame: false, last: alone },
    })
  },
)

test('crashes on every machine are reported as such, since the image is suspect', () => {
  const snapshot = { now, rental: undefined, instance: undefined, gone: false, ssh: 'unasked' } as const
  const dropped = (code: string): Attempt => ({
    ...running,
    cost: 0,
    drop: { why: { code, message: '' }, at: now, blame: true, last: false },
  })
  const five = (last: string) => series(...[1, 2, 3, 4].map(() => dropped('crashed')), dropped(last))
  expect(nextAttemptMove(five('crashed'), snapshot)).toMatchObject({
    problem: { message: 'It crashed on every machine that was tried.' },
  })
  expect(nextAttemptMove(five('ended'), snapshot)).toMatchObject({
    problem: { message: 'It crashed on every machine that was tried.' },
  })
  expect(nextAttemptMove(five('late'), snapshot)).toMatchObject({
    problem: { message: 'None of the attempts came to anything.' },
  })
})
