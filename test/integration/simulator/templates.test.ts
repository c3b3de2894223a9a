import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

type Template = Record<string, unknown> & { id: number; hash_id: string; name: string }

const path = '/api/v0/template/'
const bare = {
  name: 'mine',
  image: 'ubuntu',
  docker_login_repo: '',
  docker_login_user: '',
  docker_login_pass: '',
}

async function create(more: Record<string, unknown> = {}): Promise<Template> {
  const answer = await service.call('POST', path, { ...bare, ...more })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body['template'] as Template
}

const find = (filters?: unknown) =>
  service.call(
    'GET',
    filters === undefined ? path : `${path}?select_filters=${encodeURIComponent(JSON.stringify(filters))}`,
  )
const found = async (filters?: unknown) => (await find(filters)).body['templates'] as Template[]

test('the catalogue has at least 40 templates with readmes and unique hashes', async () => {
  const templates = await found()
  expect(templates.length).toBeGreaterThanOrEqual(40)
  for (const word of ['PyTorch', 'vLLM', 'ComfyUI', 'TensorFlow', 'Ollama']) {
    expect(
      templates.some(({ name }) => name.includes(word)),
      word,
    ).toBe(true)
  }
  expect(templates.every(({ readme }) => String(readme).startsWith('# '))).toBe(true)
  expect(new Set(templates.map(({ hash_id }) => hash_id)).size).toBe(templates.length)
})

test('foreign private templates are not found, and foreign public ones cannot be changed', async () => {
  expect((await found()).filter(template => template['private'] === true)).toEqual([])
  const [other] = await found({ recommended: { eq: true } })
  const edit = await service.call('PUT', path, { hash_id: other?.hash_id, desc: 'x' })
  expect(edit).toMatchObject({ status: 403, body: { error: 'forbidden' } })
  const remove = await service.call('DELETE', path, { template_id: other?.id })
  expect(remove).toMatchObject({ status: 403, body: { error: 'forbidden' } })
  expect(await service.call('DELETE', path, { template_id: 1 })).toMatchObject({ status: 404 })
})

test('a template has the interface’s defaults', async () => {
  const template = await create({ docker_login_user: 'me', private: true })
  expect(template).toMatchObject({
    ...{ tag: 'latest', runtype: 'args', recommended_disk_space: 8, jupyter_dir: null, private: true },
    docker_login_user: 'me',
    creator_id: service.sim.userId,
    count_created: 0,
  })
})

test.each([
  {},
  { ...bare, name: '' },
  { ...bare, image: ' ' },
  { name: 'x', image: 'ubuntu' },
  { ...bare, runtype: 'telnet' },
  { ...bare, extra_filters: { gpu_ram: 5 } },
  { ...bare, recommended_disk_space: 0 },
])('a creation with %j is refused', async body => {
  expect(await service.call('POST', path, body)).toMatchObject({
    status: 400,
    body: { error: 'invalid_args' },
  })
})

test('an instance created from a template is counted, and has what its request doesn’t name', async () => {
  const stored = { image: 'pytorch/pytorch', tag: '2.5', onstart: 'echo stored', runtype: 'ssh' }
  const { id, hash_id } = await create({ ...stored, recommended_disk_space: 21, env: '-e A="1 2" -e B=3' })
  const request = { template_hash_id: hash_id, image: undefined, disk: undefined }
  const kept = await service.rent(request)
  expect(await service.instance(kept.id)).toMatchObject({
    ...{ image_uuid: 'pytorch/pytorch:2.5', onstart: 'echo stored', image_runtype: 'ssh', disk_space: 21 },
    extra_env: expect.arrayContaining([
      ['A', '1 2'],
      ['B', '3'],
    ]),
  })
  const named = await service.rent({
    ...request,
    onstart: 'echo asked',
    runtype: 'args',
    disk: 9,
    env: { B: '4' },
  })
  expect(await service.instance(named.id)).toMatchObject({
    ...{ onstart: 'echo asked', image_runtype: 'args', disk_space: 9 },
    extra_env: expect.arrayContaining([
      ['A', '1 2'],
      ['B', '4'],
    ]),
  })
  const other = await service.rent({ template_hash_id: hash_id, extra_filters: { num_gpus: { eq: 1 } } })
  expect(await service.instance(other.id)).toMatchObject({ image_uuid: 'ubuntu' })
  expect((await found({ id: { eq: id } }))[0]).toMatchObject({ count_created: 3 })
})

test.each([
  [{ nothing: { eq: 1 } }],
  [{ name: 'Ollama' }],
  [{ name: { like: 'Oll%' } }],
  [{ name: { eq: 5 } }],
  [{ id: { in: 5 } }],
  [{ recommended: { eq: 'true' } }],
  [[]],
  ['text'],
])('select_filters %j are refused', async filters => {
  expect(await find(filters)).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
})

test('select_filters that are not JSON are refused', async () => {
  expect((await service.call('GET', `${path}?select_filters=%7B`)).status).toBe(400)
})

const fields = (
  'creator_id created_at count_created default_tag docker_login_repo id image jup_direct hash_id name ' +
  'recent_create_date recommended_disk_space recommended ssh_direct tag use_ssh'
).split(' ')
type Value = string | number | boolean
const operators: Record<string, (value: Value, bound: Value) => boolean> = {
  eq: (value, bound) => value === bound,
  neq: (value, bound) => value !== bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
}

test('every operator works on every searchable field', async () => {
  await create({ docker_login_repo: 'registry.example' })
  const all = await found()
  const values = (field: string) => all.map(template => template[field] as Value)
  const condition = fc
    .record({
      field: fc.constantFrom(...fields),
      operator: fc.constantFrom(...Object.keys(operators), 'in', 'notin'),
      picks: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
    })
    .map(({ field, operator, picks }) => {
      const bounds = picks.map(pick => values(field)[pick % all.length] ?? '')
      return { field, operator, bounds }
    })
  await fc.assert(
    fc.asyncProperty(fc.array(condition, { minLength: 1, maxLength: 3 }), async conditions => {
      const filters: Record<string, Record<string, Value | Value[]>> = {}
      for (const { field, operator, bounds } of conditions) {
        const [first = ''] = bounds
        filters[field] = { ...filters[field], [operator]: operator.endsWith('in') ? bounds : first }
      }
      const holds = (template: Template) =>
        Object.entries(filters).every(([field, tests]) =>
          Object.entries(tests).every(([operator, bound]) => {
            const value = template[field] as Value
            if (Array.isArray(bound)) return bound.includes(value) === (operator === 'in')
            return operators[operator]?.(value, bound)
          }),
        )
      const ids = (templates: Template[]) => templates.map(({ id }) => id)
      expect(ids(await found(filters))).toEqual(ids(all.filter(holds)))
    }),
    { numRuns: 250 },
  )
})
