import { describe, expect, test } from 'vitest'
import { emptyDraft, noRegistry } from '#renderer/features/market/rentDefaults.ts'
import type { RentDraft } from '#renderer/features/market/rentDraft.ts'
import { fieldOfPath, readDraft } from '#renderer/features/market/rentForm.ts'
import { publicCapabilities } from '#shared/account/capabilities.ts'
import { offer } from './listed.ts'

const draft = (changes: Partial<RentDraft> = {}): RentDraft => ({
  ...emptyDraft(),
  image: 'pytorch/pytorch',
  disk: '20',
  ...changes,
})
const row = (key: number, name: string, value = '') => ({ key, name, value, secret: false })
const login = (changes: Partial<RentDraft['registry']>) => ({
  server: 'ghcr.io',
  user: 'ada',
  token: 't',
  ...changes,
})
const read = (changes: Partial<RentDraft>, interruptible = false) =>
  readDraft(draft(changes), offer({ id: 7, disk: 400 }), interruptible)
const errors = (changes: Partial<RentDraft>, interruptible = false) => {
  const result = read(changes, interruptible)
  return 'errors' in result ? result.errors : {}
}

describe('a filled in form', () => {
  test('sends nothing optional that was left empty', () => {
    expect(read({})).toEqual({
      request: { offer: 7, image: 'pytorch/pytorch', access: 'ssh', disk: 20, env: [], ports: [] },
    })
  })

  test('sends the expected traffic, and refuses text that is no number', () => {
    expect(read({ traffic: '250 GB' })).toMatchObject({ request: { traffic: 250 } })
    expect(errors({ traffic: 'much' })).toHaveProperty('traffic')
  })

  test('sends what to do once outbid with a bid alone, and only what can have an effect', () => {
    const raise = { bid: '0.3', recovery: 'raise', ceiling: '0.45' } as const
    expect(read(raise, true)).toMatchObject({
      request: { recovery: { kind: 'raise', ceiling: 0.45, every: 600 } },
    })
    expect(read(raise)).toMatchObject({ request: { recovery: undefined } })
    expect(errors({ ...raise, ceiling: '0.30' }, true)).toHaveProperty('recovery')
    expect(errors({ ...raise, ceiling: 'much' }, true)).toHaveProperty('recovery')
    const move = { ...raise, recovery: 'replace' } as const
    expect(read(move, true)).toMatchObject({ request: { recovery: { limits: { attempts: 3 } } } })
    expect(errors({ ...move, registry: login({}) }, true)).toHaveProperty('recovery')
  })

  test('sends everything that was filled in', () => {
    const env = [row(1, ' A ', 'x y'), row(2, ''), { ...row(3, 'HF_TOKEN', 's'), secret: true }]
    expect(
      read(
        { disk: '32.5 GB', env, ports: '8080 53/UDP, 8080', onstart: 'echo', label: ' me ', bid: '$0.31' },
        true,
      ),
    ).toEqual({
      request: {
        offer: 7,
        image: 'pytorch/pytorch',
        access: 'ssh',
        disk: 32.5,
        env: [
          { name: 'A', value: 'x y', secret: false },
          { name: 'HF_TOKEN', value: 's', secret: true },
        ],
        ports: [
          { container: 8080, protocol: 'tcp' },
          { container: 53, protocol: 'udp' },
        ],
        onstart: 'echo',
        label: 'me',
        bid: 0.31,
      },
    })
  })

  test('sends no bid for an on-demand rental', () => {
    expect(read({ bid: '0.31' })).not.toHaveProperty('request.bid', expect.anything())
  })
})

test('a port from 70000 on, the same outside and inside, is taken where the service takes such ports', () => {
  const ports = (text: string) =>
    readDraft(
      draft({ ports: text }),
      offer({ id: 7, disk: 400 }),
      false,
      undefined,
      undefined,
      publicCapabilities,
    )
  expect(ports('70000 70001:70001/udp')).toMatchObject({
    request: {
      ports: [
        { container: 70_000, protocol: 'tcp' },
        { container: 70_001, protocol: 'udp' },
      ],
    },
  })
  for (const wrong of ['65536', '70000:80', '80:70000', '100000'])
    expect(ports(wrong)).toHaveProperty('errors.ports')
})

test('outside ports are sent where they differ from the container’s', () => {
  expect(read({ ports: '9000:80, 8080:8080 5353:53/udp' })).toMatchObject({
    request: {
      ports: [
        { container: 80, outside: 9000, protocol: 'tcp' },
        { container: 8080, protocol: 'tcp' },
        { container: 53, outside: 5353, protocol: 'udp' },
      ],
    },
  })
  expect(read({ ports: '8080:8080' })).not.toHaveProperty('request.ports.0.outside', expect.anything())
})

describe('the access', () => {
  test('names direct only where it is switched off', () => {
    expect(read({ direct: false })).toHaveProperty('request.direct', false)
    expect(read({ access: 'none', direct: false })).not.toHaveProperty('request.direct', expect.anything())
  })

  test('names Jupyter’s options only where Jupyter is started', () => {
    expect(read({ access: 'jupyter', jupyterLab: false, jupyterFolder: ' /data ' })).toHaveProperty(
      'request.jupyter',
      { lab: false, folder: '/data' },
    )
    expect(read({ jupyterFolder: '/data' })).not.toHaveProperty('request.jupyter', expect.anything())
  })
})

describe('the registry login', () => {
  const registry = { server: 'ghcr.io', user: 'ada', token: 'secret-token' }
  const keeping = (kept: typeof registry, now: typeof registry) =>
    readDraft(draft({ registry: now }), offer({ id: 7, disk: 400 }), false, undefined, {
      secrets: new Set(),
      registry: kept,
    })

  test('is sent once it is filled in', () => {
    expect(read({ registry: { ...registry, server: ' ghcr.io ' } })).toHaveProperty(
      'request.registry',
      registry,
    )
    expect(read({ registry: noRegistry })).not.toHaveProperty('request.registry', expect.anything())
  })

  test('may keep a stored token only for the same user and registry', () => {
    const known = { ...registry, token: '' }
    expect(keeping(known, known)).toHaveProperty('request.registry', known)
    for (const other of [{ server: 'docker.io' }, { user: 'bob' }])
      expect(keeping(known, { ...known, ...other })).toHaveProperty(['errors', 'registry.token'])
  })
})

describe('a mistake is shown at its field', () => {
  test.each<[string, Partial<RentDraft>, string]>([
    ['no image', { image: '  ' }, 'image'],
    ['an image with a space', { image: 'a b' }, 'image'],
    ['an image that would be an option', { image: '--privileged' }, 'image'],
    ['no disk', { disk: '' }, 'disk'],
    ['a disk of 0', { disk: '0' }, 'disk'],
    ['a negative disk', { disk: '-5' }, 'disk'],
    ['a disk in words', { disk: 'lots' }, 'disk'],
    ['a disk with two decimal commas', { disk: '20,5,1' }, 'disk'],
    ['a disk larger than the machine offers', { disk: '401' }, 'disk'],
    ['a port beyond the last', { ports: '70000' }, 'ports'],
    ['port 0', { ports: '0' }, 'ports'],
    ['a range of ports', { ports: '80-90' }, 'ports'],
    ['one port outside for two inside', { ports: '9000:80, 9000:81' }, 'ports'],
    ['a port outside beyond the last', { ports: '70000:80' }, 'ports'],
    ['a folder that is none', { access: 'jupyter', jupyterFolder: 'data' }, 'jupyter'],
    ['a login without its registry', { registry: login({ server: '' }) }, 'registry.server'],
    ['a registry that would be an option', { registry: login({ server: '-v' }) }, 'registry.server'],
    ['a login without its user', { registry: login({ user: ' ' }) }, 'registry.user'],
    ['a login without its token', { registry: login({ token: '' }) }, 'registry.token'],
    ['a token of two words', { registry: login({ token: 'two words' }) }, 'registry.token'],
    ['a long label', { label: 'x'.repeat(129) }, 'label'],
    ['a variable beginning with a digit', { env: [row(5, '1A', 'x')] }, 'env.5'],
    ['a value without a name', { env: [row(5, '', 'x')] }, 'env.5'],
    ['a name given twice', { env: [row(4, 'A'), row(5, 'A')] }, 'env.5'],
    ['a secret without its value', { env: [{ ...row(5, 'HF_TOKEN'), secret: true }] }, 'env.5'],
    ['the name Berth marks with', { env: [row(5, 'BERTH_RENTAL', 'x')] }, 'env.5'],
  ])('%s', (_, changes, field) => {
    expect(Object.keys(errors(changes))).toEqual([field])
  })

  test.each(['', '0', '0.0009', '128.01', 'ten'])('a bid of “%s”', bid => {
    expect(Object.keys(errors({ bid }, true))).toEqual(['bid'])
  })

  test.each(['0.001', '32.01', '128'])('a bid of %s is within bounds', bid => {
    expect(errors({ bid }, true)).toEqual({})
  })

  test('all mistakes at once, as sentences', () => {
    const told = errors({ image: '', disk: '', ports: 'x', bid: '' }, true)
    expect(Object.keys(told).sort()).toEqual(['bid', 'disk', 'image', 'ports'])
    for (const message of Object.values(told)) expect(message).toMatch(/^[A-Z“].*\.$/)
    expect(errors({ access: 'jupyter', jupyterFolder: 'data' })['jupyter']).toBe('A folder begins with /.')
  })
})

test('a refusal by the service is shown at its field, or at none if unknown', () => {
  const sent = [row(3, 'A'), row(9, 'B')]
  expect(fieldOfPath('request.env.1.name', sent)).toBe('env.9')
  expect(fieldOfPath('bid', sent)).toBe('bid')
  expect(fieldOfPath('request.ports.0.container', sent)).toBe('ports')
  expect(fieldOfPath('env.7', sent)).toBe('env')
  expect(fieldOfPath('request.registry.token', sent)).toBe('registry.token')
  expect(fieldOfPath('request.jupyter.folder', sent)).toBe('jupyter')
  expect(fieldOfPath('offer', sent)).toBe('')
})
