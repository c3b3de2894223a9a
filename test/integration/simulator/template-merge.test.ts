import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const variable = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,6}$/)
const mapping = fc
  .tuple(fc.integer({ min: 1, max: 65_535 }), fc.integer({ min: 1, max: 65_535 }))
  .map(([host, container]) => `-p ${host}:${container}`)
const text = fc.string({ unit: fc.constantFrom(...'aZ09 =:/"\'$\\-_.,é'), maxLength: 8 })
/** The environment of a creation. Few names, so that both sides often share them. */
const environment = fc
  .array(
    fc.oneof(
      fc.tuple(fc.oneof(fc.constantFrom('A', 'B', 'PATH_TO'), variable), text),
      fc.tuple(fc.oneof(fc.constant('-p 80:80'), mapping), fc.constant('1')),
    ),
    { maxLength: 5 },
  )
  .map(entries => Object.fromEntries(entries) as Record<string, string>)

/** The string form of an environment. */
function flags(env: Record<string, string>): string {
  return Object.entries(env)
    .map(([name, value]) =>
      name.startsWith('-p') ? name : `-e ${name}="${value.replace(/["\\]/g, '\\$&')}"`,
    )
    .join(' ')
}

const scalars = fc.record(
  {
    image: fc.constantFrom('ubuntu:22.04', 'pytorch/pytorch:2.5', 'a/b:c'),
    onstart: text,
    runtype: fc.constantFrom('ssh', 'jupyter', 'args'),
  },
  { requiredKeys: [] },
)

test('scalars of the request win, environments are merged, and the request wins there too', async () => {
  const [offer] = await service.offers({ limit: 1 })
  const template = fc.record({ scalars, env: environment, disk: fc.integer({ min: 1, max: 30 }) })
  const request = fc.record({ scalars, env: environment, disk: fc.option(fc.integer({ min: 1, max: 30 })) })
  await fc.assert(
    fc.asyncProperty(template, request, async (stored, wanted) => {
      const made = await service.call('POST', '/api/v0/template/', {
        ...{ name: 't', image: 'ubuntu:20.04', docker_login_repo: '', docker_login_user: '' },
        docker_login_pass: '',
        ...stored.scalars,
        env: flags(stored.env),
        recommended_disk_space: stored.disk,
      })
      const { hash_id } = made.body['template'] as { hash_id: string }
      const body = {
        template_hash_id: hash_id,
        ...wanted.scalars,
        env: wanted.env,
        ...(wanted.disk === null ? {} : { disk: wanted.disk }),
      }
      const rented = await service.call('PUT', `/api/v0/asks/${offer?.id}/`, body)
      expect(rented.status).toBe(200)
      const id = rented.body['new_contract'] as number
      const instance = await service.instance(id)
      await service.call('DELETE', `/api/v0/instances/${id}/`)
      const scalar = {
        image: 'ubuntu:20.04',
        onstart: '',
        runtype: 'args',
        ...stored.scalars,
        ...wanted.scalars,
      }
      expect(instance).toMatchObject({
        image_uuid: scalar.image,
        onstart: scalar.onstart,
        image_runtype: scalar.runtype,
        disk_space: wanted.disk ?? stored.disk,
      })
      expect(Object.fromEntries(instance['extra_env'] as [string, string][])).toEqual({
        ...stored.env,
        ...wanted.env,
      })
    }),
    { numRuns: 120 },
  )
})
