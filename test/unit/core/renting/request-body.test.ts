import { describe, expect, test } from 'vitest'
import { withoutSecrets } from '#core/market/request-secrets.ts'
import { checkLengths, requestBody } from '#core/renting/create.ts'
import { type RentalAttempt, requestOf } from '#core/renting/rental.ts'
import { rentalBody } from '#service/dialect.ts'
import { type Capabilities, describedCapabilities, publicCapabilities } from '#shared/account/capabilities.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'

const plain: RentRequest = {
  offer: 7,
  image: 'pytorch/pytorch',
  access: 'ssh',
  disk: 20,
  env: [],
  ports: [],
}
const template = { hash: 'abc', name: 'Trainer' }
const registry = { server: 'ghcr.io', user: 'ada', token: 'hidden-token' }
const id = 'r0123456789abcdef'
const onInterface = (changes: Partial<RentRequest>) =>
  rentalBody({}, requestBody({ ...plain, ...changes }, id))
const beyond = (changes: Partial<RentRequest>) =>
  rentalBody({ pricesByPart: true }, requestBody({ ...plain, ...changes }, id))

test('the request carries the mark in label and environment, and its ports as flags', () => {
  const request: Partial<RentRequest> = {
    label: 'llama',
    bid: 0.2,
    env: [
      { name: 'PLAIN', value: 'shown', secret: false },
      { name: 'TOKEN', value: 'hidden', secret: true },
    ],
    ports: [
      { container: 8080, protocol: 'tcp' },
      { container: 80, outside: 9000, protocol: 'tcp' },
      { container: 53, protocol: 'udp' },
    ],
  }
  const body = {
    image: 'pytorch/pytorch',
    disk: 20,
    price: 0.2,
    label: `llama berth:${id}`,
    env: {
      PLAIN: 'shown',
      TOKEN: 'hidden',
      '-p 8080:8080': '1',
      '-p 9000:80': '1',
      '-p 53:53/udp': '1',
      BERTH_RENTAL: id,
    },
  }
  expect(onInterface(request)).toMatchObject(body)
  expect(beyond(request)).toMatchObject(body)
})

describe('the access to an instance', () => {
  test('is a runtype and its fields on the interface, unless a template sets them', () => {
    expect(onInterface({})).toMatchObject({ runtype: 'ssh', use_ssh: true, ssh_direct: true })
    expect(onInterface({ access: 'none' })).toMatchObject({ runtype: 'args' })
    expect(onInterface({ template })).not.toHaveProperty('ssh_direct', expect.anything())
  })

  test.each<[RentRequest['access'], boolean | undefined, string]>([
    ['ssh', undefined, 'ssh_direc ssh_proxy'],
    ['ssh', true, 'ssh_direc ssh_proxy'],
    ['ssh', false, 'ssh_proxy'],
    ['jupyter', true, 'jupyter_direc ssh_direc ssh_proxy'],
    ['jupyter', false, 'jupyter_proxy ssh_proxy'],
    ['none', true, 'args'],
    ['none', false, 'args'],
  ])('is all in the runtype beyond the interface: %s, direct %s', (access, direct, runtype) => {
    const body = beyond({ access, ...(direct === undefined ? {} : { direct }) })
    expect(body.runtype).toBe(runtype)
    for (const field of ['use_ssh', 'ssh_direct']) expect(body).not.toHaveProperty(field, expect.anything())
  })
})

describe('a registry’s login', () => {
  test('is three fields on the interface and one text beyond it', () => {
    expect(onInterface({ registry })).toMatchObject({
      docker_login_repo: 'ghcr.io',
      docker_login_user: 'ada',
      docker_login_pass: 'hidden-token',
    })
    expect(onInterface({ registry })).not.toHaveProperty('image_login', expect.anything())
    expect(beyond({ registry })).toMatchObject({ image_login: '-u ada -p hidden-token ghcr.io' })
    expect(beyond({ registry })).not.toHaveProperty('docker_login_pass', expect.anything())
  })

  test('is not sent if none is given', () => {
    expect(JSON.stringify([onInterface({}), beyond({})])).not.toMatch(/login/)
  })
})

describe('Jupyter', () => {
  test('defaults to JupyterLab, with a template to the template’s own choice', () => {
    expect(onInterface({ access: 'jupyter' })).toMatchObject({ use_jupyter_lab: true })
    expect(onInterface({ access: 'jupyter', template })).not.toHaveProperty(
      'use_jupyter_lab',
      expect.anything(),
    )
  })

  test('starts as requested, and its folder overrides the template’s, even if empty', () => {
    const jupyter = { lab: false, folder: '/data' }
    expect(beyond({ access: 'jupyter', jupyter })).toMatchObject({
      use_jupyter_lab: false,
      jupyter_dir: '/data',
    })
    expect(beyond({ access: 'jupyter', jupyter: { lab: true, folder: '' } })['jupyter_dir']).toBeUndefined()
    const emptied = beyond({ access: 'jupyter', template, jupyter: { lab: true, folder: '' } })
    expect(emptied).toMatchObject({ jupyter_dir: null })
    expect(beyond({ access: 'ssh', jupyter })).not.toHaveProperty('use_jupyter_lab', expect.anything())
  })
})

test('the stored form of a request has no secret value', () => {
  const env = [
    { name: 'PLAIN', value: 'shown', secret: false },
    { name: 'TOKEN', value: 'hidden-value', secret: true },
  ]
  const written = withoutSecrets({ ...plain, env, registry })
  expect(JSON.stringify(written)).not.toContain('hidden')
  expect(written).toMatchObject({ env: [env[0], { value: '' }], registry: { ...registry, token: '' } })
})

test('a start script that is longer than the service takes is refused', () => {
  const check = (length: number, capabilities: Capabilities) =>
    checkLengths({ onstart: 'x'.repeat(length) }, { capabilities })
  check(4048, publicCapabilities)
  expect(() => check(4049, publicCapabilities)).toThrow(/at most 4,048 characters/i)
  check(16_384, describedCapabilities)
  expect(() => check(16_385, describedCapabilities)).toThrow(/at most 16,384 characters/i)
})

test('a new volume is made by the volume offer of the rented machine, under its name', () => {
  const { offer, ...request } = plain
  const volume = { create: true as const, name: 'datasets', size: 50, mountPath: '/data' }
  const rental = { request: { ...request, volume } } as RentalAttempt['rental']
  const asked = requestOf({ rental, offer: { id: offer, volumeOffer: 31 } })
  expect(requestBody(asked, id).volume_info).toEqual({
    create_new: true,
    volume_id: 31,
    mount_path: '/data',
    size: 50,
    name: 'datasets',
  })
})
