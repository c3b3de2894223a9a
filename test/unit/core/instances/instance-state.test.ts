import { expect, test } from 'vitest'
import { instanceState, type Past, type ServiceStatus } from '#core/instances/instance-state.ts'
import { type Capabilities, describedCapabilities, publicCapabilities } from '#shared/account/capabilities.ts'

const state = (actualStatus: string | null, more: Partial<ServiceStatus> = {}) =>
  instanceState({ actualStatus, interruptible: false, ...more })

test.each([
  [null, 'provisioning'],
  ['created', 'provisioning'],
  ['loading', 'loading'],
  ['running', 'running'],
  ['stopping', 'stopping'],
  ['stopped', 'stopped'],
  ['exited', 'ended'],
  ['unknown', 'silent'],
  ['offline', 'offline'],
  ['frozen', 'frozen'],
  ['hibernated', 'other'],
  ['rebooting', 'restarting'],
  ['recycling', 'restarting'],
  ['destroying', 'destroying'],
  ['', 'other'],
  ['constructor', 'other'],
])('%s alone is %s', (status, wanted) => {
  expect(state(status)).toBe(wanted)
})

test('an interruptible instance that stopped below the lowest bid was outbid', () => {
  const bidding = { interruptible: true, intendedStatus: 'running', bid: 0.2, minimumBid: 0.25 }
  expect(state('stopped', bidding)).toBe('outbid')
  expect(state(null, bidding)).toBe('outbid')
  expect(state('stopped', { ...bidding, bid: 0.25 })).toBe('provisioning')
  expect(state('stopped', { ...bidding, intendedStatus: 'stopped' })).toBe('stopped')
  expect(state('stopped', { ...bidding, interruptible: false })).toBe('provisioning')
  expect(state('stopped', { interruptible: true, intendedStatus: 'running' })).toBe('provisioning')
})

test('a stopped instance is stopping first, and its exit is no crash', () => {
  const stopping = { intendedStatus: 'stopped' }
  expect(state('running', stopping)).toBe('stopping')
  expect(state('loading', stopping)).toBe('stopping')
  expect(state('frozen', stopping)).toBe('stopping')
  expect(state('exited', stopping)).toBe('stopped')
  expect(state('offline', stopping)).toBe('offline')
})

const at = 1_800_000_000
/** Shown running a moment ago. */
const ran: Past = { state: 'running', since: at - 10, firstBoot: false, unbroken: true }
/** The state on a deployment that may restart exited instances; `past` is how it was shown before. */
const onDeployment = (
  status: Partial<ServiceStatus>,
  past?: Partial<Past>,
  habits: Capabilities = publicCapabilities,
) =>
  instanceState(
    { actualStatus: 'exited', interruptible: false, ...status },
    past && { ...ran, intendedStatus: 'running', ...past },
    at,
    habits,
  )
const stopped = { currentState: 'stopped', nextState: 'stopped', intendedStatus: 'stopped' }
const queued = { currentState: 'stopped', nextState: 'running', intendedStatus: 'running' }
const wanted = { currentState: 'running', nextState: 'running', intendedStatus: 'running' }
const tooLow = { interruptible: true, bid: 0.2, minimumBid: 0.25 }

const byBerth = (state: 'running' | 'stopped', ago: number) => ({ stateRequest: { state, at: at - ago } })

test.each<[string, Partial<Past> | undefined, string]>([
  ['seen for the first time', undefined, 'ended'],
  ['running a moment ago', {}, 'ended'],
  ['as before', { state: 'ended' }, 'ended'],
  ['stopped by Berth', byBerth('stopped', 5), 'stopped'],
  [
    'stopped by Berth long ago, before a restart',
    { state: 'crashed', unbroken: false, ...byBerth('stopped', 90_000) },
    'stopped',
  ],
  ['seen stopping', { state: 'stopping' }, 'stopped'],
  ['seen stopped, then not for long', { state: 'stopped', unbroken: false }, 'ended'],
  ['started by Berth 59 seconds ago', { state: 'stopped', ...byBerth('running', 59) }, 'provisioning'],
  ['started by Berth in vain', { state: 'provisioning', ...byBerth('running', 60) }, 'ended'],
  ['booting for the first time', { state: 'loading', firstBoot: true }, 'crashed'],
  ['crashed while it booted', { state: 'crashed', firstBoot: true, unbroken: false }, 'crashed'],
  [
    'booting for the first time, then not seen',
    { state: 'loading', firstBoot: true, unbroken: false },
    'ended',
  ],
  ['booting once more', { state: 'loading' }, 'ended'],
])('an exited instance whose record says nothing else: %s', (_, past, wanted) => {
  const status = { actualStatus: 'exited', interruptible: false }
  expect(instanceState(status, past && { ...ran, ...past }, at)).toBe(wanted)
})

test.each<[string, Partial<ServiceStatus>, Partial<Past> | undefined, string]>([
  ['stopped by its user', stopped, {}, 'stopped'],
  [
    'stopped in the market alone',
    { ...wanted, currentState: 'stopped', nextState: 'stopped' },
    {},
    'stopped',
  ],
  ['stopped, and seen for the first time', stopped, undefined, 'stopped'],
  ['started a moment ago', queued, { state: 'stopped' }, 'provisioning'],
  ['without a GPU for 29 seconds', queued, { state: 'provisioning', since: at - 29 }, 'provisioning'],
  ['without a GPU for 30 seconds', queued, { state: 'provisioning', since: at - 30 }, 'waiting'],
  ['still without a GPU', queued, { state: 'waiting', since: at - 1 }, 'waiting'],
  [
    'queued, as the service said',
    queued,
    { state: 'stopped', stateRequest: { state: 'running', at, queued: true } },
    'waiting',
  ],
  [
    'queued, the intention not shown yet',
    { ...queued, intendedStatus: 'stopped' },
    { state: 'stopped', stateRequest: { state: 'running', at } },
    'provisioning',
  ],
  ['called off', stopped, { state: 'waiting' }, 'stopped'],
  ['started, the last exit still shown', wanted, { state: 'stopped' }, 'provisioning'],
  ['started, and its exit shown for a minute', wanted, { state: 'provisioning', since: at - 60 }, 'exited'],
  ['exited a moment ago', wanted, {}, 'exited'],
  ['exited 59 seconds ago', wanted, { state: 'exited', since: at - 59 }, 'exited'],
  ['exited a minute ago', wanted, { state: 'exited', since: at - 60 }, 'crashed'],
  ['crashed before', wanted, { state: 'crashed', since: at - 1 }, 'crashed'],
])('an exited instance that is %s', (_, status, past, state) => {
  expect(onDeployment(status, past)).toBe(state)
})

test.each([{}, tooLow])('an exit is final where containers are not started again: %o', bid => {
  expect(onDeployment({ ...wanted, ...bid }, {}, describedCapabilities)).toBe('crashed')
})

test.each<[string, Partial<ServiceStatus>, Partial<Past> | undefined, string]>([
  ['still meant to run', { ...stopped, intendedStatus: 'running' }, {}, 'outbid'],
  ['as if its user had stopped it', stopped, {}, 'outbid'],
  ['as if stopped, not meant to run', { currentState: 'stopped', nextState: 'stopped' }, {}, 'outbid'],
  ['as if stopped, in the word of others', { ...stopped, actualStatus: 'stopped' }, {}, 'outbid'],
  ['as if stopped, while it loaded', stopped, { state: 'loading' }, 'outbid'],
  ['as judged before', stopped, { state: 'outbid', intendedStatus: 'stopped', unbroken: false }, 'outbid'],
  [
    'until it bids enough',
    { ...stopped, bid: 0.25 },
    { state: 'outbid', intendedStatus: 'stopped' },
    'stopped',
  ],
  ['then stopped by its user', stopped, { state: 'outbid', intendedStatus: 'running' }, 'stopped'],
  ['but stopped by Berth', stopped, { stateRequest: { state: 'stopped', at } }, 'stopped'],
  ['but seen while it was being stopped', stopped, { state: 'stopping' }, 'stopped'],
  ['but stopped before', stopped, { state: 'stopped' }, 'stopped'],
  ['but not seen for long', stopped, { unbroken: false }, 'stopped'],
  ['but seen for the first time', stopped, undefined, 'stopped'],
  ['but on demand', { ...stopped, interruptible: false }, {}, 'stopped'],
])('with too low a bid, an instance is outbid or stopped: %s', (_, status, past, state) => {
  expect(onDeployment({ ...tooLow, ...status }, past)).toBe(state)
})

test.each([
  ['OCI runtime create failed: unable to start', 'unstartable'],
  ['manifest unknown: manifest tagged by "nope" is not found', 'unstartable'],
  ['Error: pull access denied for secret/image', 'unstartable'],
  ['Pulling image', 'provisioning'],
  [undefined, 'provisioning'],
])('an instance created with status line %s is %s', (statusMessage, wanted) => {
  expect(state('created', statusMessage === undefined ? {} : { statusMessage })).toBe(wanted)
  expect(state('loading', statusMessage === undefined ? {} : { statusMessage })).toBe('loading')
})
