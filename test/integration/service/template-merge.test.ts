import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NewInstance } from '#service/new-instance.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect, failure } from './connected.ts'

/** Few names, so that template and request often share them. */
const environment = fc.dictionary(
  fc.constantFrom('A', 'B_2', 'PATH_TO', '-p 80:80', '-p 8080:80', '-p 53:53/udp'),
  fc.string({ unit: fc.constantFrom(...'aZ0 =:"\'\\$é'), maxLength: 6 }),
  { maxKeys: 4 },
)
const asMappings = (env: Record<string, string>) =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, name.startsWith('-p') ? '1' : value]))

/** The string form of a template's environment: values in double quotes, escaped for a shell. */
const asFlags = (env: Record<string, string>) =>
  Object.entries(env)
    .map(([name, value]) =>
      name.startsWith('-p') ? name : `-e ${name}="${value.replace(/["\\]/g, '\\$&')}"`,
    )
    .join(' ')

const scalars = fc.record(
  {
    image: fc.constantFrom('ubuntu:22.04', 'pytorch/pytorch:2.5'),
    onstart: fc.constantFrom('', 'echo one', 'echo "two"'),
    runtype: fc.constantFrom('ssh' as const, 'jupyter' as const, 'args' as const),
  },
  { requiredKeys: [] },
)
const disk = fc.option(fc.integer({ min: 1, max: 30 }))

/** How each profile shows an empty start script. */
const none = { interface: '', public: undefined }

describe.each(profileNames)('on the %s profile', name => {
  let service: Connected
  beforeAll(async () => {
    service = await connect({ deployment: profiles[name] })
  })
  afterAll(() => service.simulator.close())

  test('for any template and any request, the client’s creation is merged as section 4.2 says', async () => {
    const { client } = service
    const { id: offer } = await service.cheapest()
    const side = fc.record({ scalars, env: environment.map(asMappings), disk })
    await fc.assert(
      fc.asyncProperty(side, side, async (stored, wanted) => {
        const own = { image: 'ubuntu:20.04', onstart: '', runtype: 'args' as const }
        const { hash_id } = await client.templates.create({
          ...{ name: 't', docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
          ...own,
          ...stored.scalars,
          env: asFlags(stored.env),
          recommended_disk_space: stored.disk ?? 8,
        })
        const body: NewInstance = { template_hash_id: hash_id, env: wanted.env, ...wanted.scalars }
        if (wanted.disk !== null) body.disk = wanted.disk
        const { new_contract } = await client.offers.createInstance(offer, body)
        const instance = await client.instances.one(new_contract)
        await client.instances.destroy(new_contract)
        const scalar = { ...own, ...stored.scalars, ...wanted.scalars }
        expect(instance).toMatchObject({
          template_hash_id: hash_id,
          image_uuid: scalar.image,
          onstart: scalar.onstart === '' ? none[name] : scalar.onstart,
          image_runtype: scalar.runtype,
          disk_space: wanted.disk ?? stored.disk ?? 8,
        })
        expect(Object.fromEntries(instance.extra_env ?? [])).toEqual({ ...stored.env, ...wanted.env })
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  test('a template named by its numeric id is an error', async () => {
    const [template] = await service.client.templates.search({})
    const byId = { image: 'ubuntu', template_id: template?.id }
    await expect(service.rent(byId)).rejects.toMatchObject(failure('invalid_args', 400))
  })
})
