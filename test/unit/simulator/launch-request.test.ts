import { expect, test } from 'vitest'
import { Fields, type JsonObject } from '#simulator/fields.ts'
import { readLaunch } from '#simulator/routes/launch-request.ts'
import type { LaunchTemplates } from '#simulator/world/instances/launch.ts'

const templates: LaunchTemplates = {
  find: hashId =>
    hashId === 'abc'
      ? {
          hashId,
          name: 'Torch',
          fields: {
            image: 'pytorch/pytorch',
            tag: '2.4',
            env: '-e A=1 -e B=2 -p 8080:8080',
            onstart: 'echo template',
            runtype: 'jupyter',
            recommended_disk_space: 40,
            extra_filters: { num_gpus: { eq: 1 }, verified: { eq: true } },
          },
        }
      : undefined,
  launched: () => undefined,
}

const launch = (body: JsonObject) => readLaunch(new Fields({ template_hash_id: 'abc', ...body }), templates)

test('a template fills in what the request leaves out', () => {
  expect(launch({})).toMatchObject({
    image: 'pytorch/pytorch:2.4',
    disk: 40,
    onstart: 'echo template',
    runtype: 'jupyter',
    env: { A: '1', B: '2', '-p 8080:8080': '1' },
    template: { hashId: 'abc', name: 'Torch' },
  })
})

test('the request overrides scalars; env and extra_filters are merged, the request wins', () => {
  const merged = launch({
    disk: 10,
    onstart: 'echo request',
    env: { B: '3', C: '4' },
    extra_filters: { num_gpus: { eq: 2 } },
  })
  expect(merged).toMatchObject({ disk: 10, onstart: 'echo request', runtype: 'jupyter' })
  expect(merged.env).toEqual({ A: '1', B: '3', C: '4', '-p 8080:8080': '1' })
  expect(merged.extraFilters).toEqual({ num_gpus: { eq: 2 }, verified: { eq: true } })
})

test('the template’s tag does not apply to another image', () => {
  expect(launch({ image: 'ubuntu' }).image).toBe('ubuntu')
  expect(launch({ image: 'ubuntu', tag: '24.04' }).image).toBe('ubuntu:24.04')
  expect(launch({ image: 'host:5000/ubuntu', tag: '24.04' }).image).toBe('host:5000/ubuntu:24.04')
  expect(launch({ tag: '2.5' }).image).toBe('pytorch/pytorch:2.5')
})
