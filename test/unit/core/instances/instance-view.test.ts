import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instanceView, maskRecord } from '#core/instances/instance-view.ts'
import type { Instance } from '#service/instances.ts'
import { anyCharacter } from '#test/unit/any-character.ts'

const rented: Instance = {
  id: 4711,
  actual_status: 'running',
  intended_status: 'running',
  label: 'llama berth:r0123456789abcdef',
  ssh_host: 'ssh4.gpu.example',
  ssh_port: 14711,
  public_ipaddr: '203.0.113.9',
  ports: { '22/tcp': [{ HostIp: '0.0.0.0', HostPort: '40022' }], '8080/tcp': [{ HostPort: 40080 }] },
  gpu_name: 'RTX 4090',
  num_gpus: 2,
  gpu_ram: 24_564,
  dph_total: 0.5,
  dph_base: 0.45,
  start_date: 1000,
}

test('a complete record fills the whole view', () => {
  const view = instanceView(rented, undefined, 4600)
  expect(view).toMatchObject({
    id: 4711,
    label: 'llama',
    state: 'running',
    gpu: { name: 'RTX 4090', count: 2, memory: 24_564 },
    pricePerHour: 500_000,
    diskPricePerHour: 50_000,
    costPerHour: 500_000,
    spent: { micros: 500_000, at: 4600, perHour: 500_000 },
    ssh: { direct: { host: '203.0.113.9', port: 40022 }, proxy: { host: 'ssh4.gpu.example', port: 14711 } },
    history: [{ at: 4600, state: 'running', actualStatus: 'running' }],
  })
  expect(view.ports).toHaveLength(2)
})

test('a record with only an id is shown as provisioning', () => {
  expect(instanceView({ id: 1 }, undefined, 10)).toMatchObject({
    id: 1,
    state: 'provisioning',
    actualStatus: null,
    costPerHour: 0,
    costUnknown: true,
    ports: [],
  })
})

test('a view has no secrets of its record', () => {
  const secrets = {
    jupyter_token: 'token-secret-1',
    extra_env: [['HF_TOKEN', 'env-secret-2']] as [string, string][],
    instance_api_key: 'key-secret-3',
    docker_login_pass: 'pass-secret-4',
    onstart: 'export A=start-secret-5',
  }
  const text = JSON.stringify(instanceView({ ...rented, ...secrets }, undefined, 4600))
  expect(text).not.toContain('secret')
})

test('the whole record is shown with its secrets masked, wherever they are', () => {
  const record = {
    ...rented,
    jupyter_token: 'token-secret',
    instance_api_key: 'key-secret',
    docker_login_pass: 'pass-secret',
    extra_env: [['HF_TOKEN', 'env-secret']],
    env: { WANDB: 'env-secret' },
    nested: [{ access_token: 'deep-secret', plain: 7 }],
  }
  const masked = maskRecord(record)
  expect(JSON.stringify(masked)).not.toContain('-secret')
  expect(masked).toMatchObject({
    gpu_name: 'RTX 4090',
    extra_env: [['HF_TOKEN', expect.anything()]],
    nested: [{ plain: 7 }],
  })
  expect(maskRecord({ env: '-e A=env-secret' })).not.toEqual({ env: '-e A=env-secret' })
})

test.each(['-oProxyCommand=touch /tmp/x', 'a b', 'host\nHost *', '127.1', '', '$(id)', 'a'.repeat(300)])(
  'an ssh_host %j gives no SSH address',
  host => {
    const view = instanceView({ ...rented, ssh_host: host, public_ipaddr: host }, undefined, 0)
    expect(view.ssh?.direct).toBeUndefined()
    expect(view.ssh?.proxy).toBeUndefined()
    expect(view.ports).toEqual([])
    if (host !== '') expect(view.ssh?.problem).toMatch(/ssh_host/)
  },
)

test('an invalid public address leaves only the proxy’s address', () => {
  const view = instanceView({ ...rented, public_ipaddr: '-x' }, undefined, 0)
  expect(view.ssh).toEqual({ proxy: { host: 'ssh4.gpu.example', port: 14711 } })
})

test.each([
  { ssh_host: 'ssh4.example:22' },
  { ssh_host: '[2001:db8::1]' },
  { ssh_host: 'ssh4..example' },
  { ssh_host: '0' },
  { ssh_host: '-oProxyCommand=id' },
  { ssh_port: 70_000 },
  { ssh_port: 0 },
])('the direct address is used where the proxy’s is refused: %j', proxy => {
  const direct = { host: '203.0.113.9', port: 40022 }
  expect(instanceView({ ...rented, ...proxy }, undefined, 0).ssh).toEqual({ direct })
  expect(instanceView({ ...rented, ports: {}, ...proxy }, undefined, 0).ssh).toEqual({
    problem: expect.stringMatching(/ssh_(host|port)/),
  })
})

test.each([
  [{ ports: { '22/tcp': [{ HostPort: '' }, { HostPort: '40022' }] } }, [['22/tcp', 40022]]],
  [{ ports: { '22/tcp': [{ HostPort: '70000' }, { HostPort: 40022 }] } }, [['22/tcp', 40022]]],
  [{ ports: { '70001/tcp': [{ HostPort: '40001' }] } }, [['70001/tcp', 40001]]],
  [
    { public_ipaddr: '203.0.113.9 10.0.0.4', ports: { '22/tcp': [{ HostPort: '40022' }] } },
    [['22/tcp', 40022]],
  ],
  [
    { public_ipaddr: '10.0.0.x, 203.0.113.9\n', ports: { '22/tcp': [{ HostPort: '40022' }] } },
    [['22/tcp', 40022]],
  ],
])('a port is the first place that is one, at the first address: %j', (fields, ports) => {
  const view = instanceView({ ...rented, ...fields }, undefined, 0)
  expect(view.ports.map(({ container, port }) => [container, port])).toEqual(ports)
  expect(view.ports[0]?.host).toBe('203.0.113.9')
})

test('texts of a record become one line without control or direction characters', () => {
  const hostile = 'good\u001b[2J\r\nBAD\u202egnp\u0007'
  const view = instanceView(
    {
      ...rented,
      label: hostile,
      status_msg: hostile,
      gpu_name: hostile,
      geolocation: hostile,
      actual_status: hostile,
    },
    undefined,
    0,
  )
  for (const text of [view.label, view.statusMessage, view.gpu?.name, view.location, view.actualStatus])
    expect(text).toMatch(/^[\x20-\x7e]+$/)
  expect(
    instanceView({ ...rented, status_msg: '\u001b[32m64%\u001b[0m pulled' }, undefined, 0).statusMessage,
  ).toBe('64% pulled')
  expect(
    instanceView({ ...rented, status_msg: 'x'.repeat(100_000) }, undefined, 0).statusMessage,
  ).toHaveLength(500)
})

test('the history grows with each change of state and keeps the last fifty', () => {
  const first = instanceView({ ...rented, actual_status: 'loading' }, undefined, 1)
  const same = instanceView({ ...rented, actual_status: 'loading', gpu_util: 50 }, first, 2)
  expect(same.history).toBe(first.history)
  let view = same
  for (let at = 3; at < 200; at += 1)
    view = instanceView({ ...rented, actual_status: at % 2 ? 'running' : 'loading' }, view, at)
  expect(view.history).toHaveLength(50)
  expect(view.history.at(-1)?.at).toBe(199)
})

test('any record gives a valid view with JSON-safe numbers', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0)
  const text = fc.oneof(fc.string(), fc.string({ unit: anyCharacter }))
  const record = fc.record(
    {
      id: fc.integer({ min: 1 }),
      actual_status: fc.oneof(fc.constant(null), text, fc.constantFrom('running', 'stopped')),
      intended_status: text,
      label: text,
      status_msg: text,
      is_bid: fc.boolean(),
      min_bid: number,
      dph_base: number,
      dph_total: number,
      gpu_name: text,
      num_gpus: number,
      ssh_host: fc.oneof(fc.constant(null), text),
      ssh_port: fc.oneof(fc.constant(null), fc.integer()),
      public_ipaddr: text,
      ports: fc.dictionary(text, fc.array(fc.record({ HostPort: fc.oneof(text, number) }))),
      start_date: fc.integer({ min: 0, max: 4e9 }),
      image_runtype: text,
    },
    { requiredKeys: ['id'] },
  )
  fc.assert(
    fc.property(record, hostile => {
      const view = instanceView(hostile, undefined, 1_700_000_000)
      expect(JSON.parse(JSON.stringify(view))).toEqual({ ...view })
    }),
    { numRuns: 2000 },
  )
})

test('zero load at 0 degrees means not measured, not an idle GPU', () => {
  const idle = instanceView({ ...rented, gpu_util: 0, gpu_temp: 31 }, undefined, 4600)
  expect(idle).toMatchObject({ gpuLoad: 0, gpuTemperature: 31 })
  const silent = instanceView({ ...rented, gpu_util: 0, gpu_temp: 0 }, idle, 4610)
  expect(silent).not.toHaveProperty('gpuLoad', expect.anything())
  expect(silent).not.toHaveProperty('gpuTemperature', expect.anything())
})

test('a request is kept until the instance runs, or until contradicted after 120 s', () => {
  const stopped = { ...rented, actual_status: 'stopped', intended_status: 'stopped' }
  const before = instanceView(rented, undefined, 1000)
  const stopping = { ...before, stateRequest: { state: 'stopped', at: 1000 } as const }
  expect(instanceView(stopped, stopping, 1010).stateRequest).toEqual(stopping.stateRequest)
  // An answer from before the stop may still show it running.
  expect(instanceView(rented, stopping, 1010).stateRequest).toEqual(stopping.stateRequest)
  expect(instanceView(rented, stopping, 1200).stateRequest).toBeUndefined()
  const started = {
    ...instanceView(stopped, before, 1000),
    stateRequest: { state: 'running', at: 1000 } as const,
  }
  expect(instanceView(stopped, started, 1010).stateRequest).toEqual(started.stateRequest)
  expect(instanceView(stopped, started, 1200).stateRequest).toBeUndefined()
  expect(instanceView(rented, started, 1010).stateRequest).toBeUndefined()
})
