import { expect, test } from 'vitest'
import { everything } from '#shared/automation/limits-that-block.ts'
import { recordedMoment, runningSince } from '#shared/derived.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { isPassing, outageWords } from '#shared/outage.ts'
import { accountView, instanceView } from '../views.ts'

const history = (...states: InstanceState[]) =>
  states.map((state, index) => ({ at: (index + 1) * 100, state, actualStatus: null }))

test('an instance runs since its last change to running', () => {
  const again = history('loading', 'running', 'outbid', 'loading', 'running', 'running')
  expect(runningSince(instanceView({ id: 7, startedAt: 50, history: again }))).toBe(500)
})

test('a stopped instance has no such time', () => {
  const stopped = instanceView({
    id: 7,
    state: 'stopped',
    startedAt: 50,
    history: history('running', 'stopped'),
  })
  expect(runningSince(stopped)).toBeUndefined()
})

test('an instance that was already running when first seen runs since its creation', () => {
  expect(runningSince(instanceView({ id: 7, startedAt: 50, history: history('running') }))).toBe(50)
  expect(runningSince(instanceView({ id: 7, history: history('running') }))).toBe(100)
})

test('an unknown state has no traits', () => {
  expect(hasTrait('hibernating' as InstanceState, 'stoppable')).toBe(false)
  expect(hasTrait('running', 'stoppable')).toBe(true)
})

test.each<[string, string, number | undefined]>([
  ['Service is failing (500)', 'server_error', 500],
  ['Service is failing (503)', 'service_unavailable', 503],
  ['Service sends invalid answers', 'bad_answer', 200],
  ['Service answers for another account', 'other_user', 200],
  ['Service sends invalid answers', 'bad_answer', undefined],
  ['Service sends invalid answers', 'not_found', 404],
  ['Service is getting too many requests', 'rate_limited', 429],
  ['Service isn’t answering', 'timeout', undefined],
  ['Connection is not secure', 'untrusted_certificate', undefined],
  ['Service can’t be reached', 'offline', undefined],
  ['Service can’t be reached', 'connection_lost', undefined],
])('“%s” is shown for %s, answered with %s', (words, code, answered) => {
  const connection = { status: 'offline', problem: { code, message: 'x' } } as const
  expect(outageWords(answered === undefined ? connection : { ...connection, answered })).toBe(words)
})

test('a named service is the subject, and only temporary errors need no advice', () => {
  const offline = (code: string, answered?: number) =>
    ({
      status: 'offline',
      problem: { code, message: 'x' },
      ...(answered !== undefined && { answered }),
    }) as const
  expect(outageWords(offline('timeout'), 'Vast.ai')).toBe('Vast.ai isn’t answering')
  expect(outageWords(offline('untrusted_certificate'), 'Vast.ai')).toBe(
    'The connection to Vast.ai is not secure',
  )
  const passing = [
    offline('timeout'),
    offline('offline'),
    offline('server_error', 503),
    offline('rate_limited', 429),
  ]
  expect(passing.map(isPassing)).toEqual([true, true, true, true])
  const lasting = [offline('untrusted_certificate'), offline('redirected'), offline('not_found', 404)]
  expect(lasting.map(isPassing)).toEqual([false, false, false])
})

test('Stop everything stops what is charged or would run again', () => {
  const stops = (state: InstanceState) =>
    everything(accountView({}, instanceView({ state }))).instances.length > 0
  // Outbid, it would run again once its bid is enough; offline, once its machine is back.
  const running = ['provisioning', 'loading', 'running', 'frozen', 'waiting', 'outbid', 'offline'] as const
  expect(running.filter(state => !stops(state))).toEqual([])
  const ended = ['stopping', 'stopped', 'ended', 'crashed', 'unstartable', 'destroying'] as const
  expect(ended.filter(stops)).toEqual([])
})

test('an offline instance that was stopped before is not stopped again', () => {
  const given = { state: 'offline', intendedStatus: 'stopped' } as const
  expect(everything(accountView({}, instanceView(given))).instances).toEqual([])
})

const clock = { serverAt: 7_200_000, localAt: 1_000_000, rate: 20 }

test('activity of the demo has the demo’s time, all other activity this machine’s', () => {
  expect(recordedMoment({ demo: true, clock }, 1_001_000)).toBe(7_220_000)
  expect(recordedMoment({ demo: false, clock }, 1_001_000)).toBe(1_001_000)
  expect(recordedMoment(undefined, 1_001_000)).toBe(1_001_000)
})
