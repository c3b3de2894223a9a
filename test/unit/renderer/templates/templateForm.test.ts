import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conditionRows, readConditions } from '#renderer/features/templates/conditions.ts'
import { extraWords, readExtraFilters } from '#renderer/features/templates/extraFilters.ts'
import { sorted, whoseOnly } from '#renderer/features/templates/listing.ts'
import { changesSince, draftOf, newDraft, readTemplate } from '#renderer/features/templates/templateForm.ts'
import { readFilter, typedValue } from '#renderer/screens/templates/list/filterFields.ts'
import type { TemplateView } from '#shared/market/template.ts'

const view: TemplateView = {
  name: 'Trainer',
  hash: 'abc',
  image: 'me/trainer',
  env: '-e A=1',
  registryUser: 'me',
  volumeInfo: { create_new: true, size: 10, mount_path: '/data', colour: 'blue' },
}

describe('an edit', () => {
  test('sends only changes, and never an untouched token', () => {
    const before = draftOf(view)
    const draft = { ...before, env: '-e A=2', disk: '32 GB' }
    const read = readTemplate(draft)
    expect('fields' in read && changesSince(before, draft, read.fields)).toEqual({ env: '-e A=2', disk: 32 })
  })

  test('sends a typed token, and an empty one to remove it', () => {
    const before = draftOf(view)
    for (const registryToken of ['s3cret', '']) {
      const draft = { ...before, registryToken }
      const read = readTemplate(draft)
      expect('fields' in read && changesSince(before, draft, read.fields)).toEqual({ registryToken })
    }
  })

  test('keeps unknown fields of a volume hint', () => {
    const read = readTemplate(draftOf(view))
    expect(read).toMatchObject({ fields: { volumeInfo: view.volumeInfo } })
    const volumeInfo = { ...view.volumeInfo, volume_id: 30, name: 'data' }
    const draft = draftOf({ ...view, volumeInfo })
    expect(readTemplate(draft)).toMatchObject({ fields: { volumeInfo } })
    // The offer of a new volume is no volume to link.
    draft.volumeInfo.mode = 'link'
    expect(readTemplate(draft)).not.toHaveProperty('fields.volumeInfo.volume_id')
  })

  test('shows each mistake at its field', () => {
    const draft = { ...draftOf({}), href: 'javascript:alert(1)', disk: 'much' }
    expect(readTemplate(draft)).toMatchObject({
      errors: {
        name: expect.any(String),
        image: expect.any(String),
        href: expect.any(String),
        disk: expect.any(String),
      },
    })
  })
})

test('a new template has SSH access and is private', () => {
  const read = readTemplate({ ...newDraft(), name: 'Trainer', image: 'me/trainer' })
  expect(read).toMatchObject({
    fields: { runtype: 'ssh', useSsh: true, sshDirect: true, disk: 20, private: true },
  })
})

test('machine filters are the same after conversion to rows and back', () => {
  const scalar = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(n => n || 0),
    fc.string({ minLength: 1 }),
    fc.boolean(),
  )
  const conditions = fc.oneof(
    fc.record({ gte: scalar }),
    fc.record({ eq: scalar, neq: scalar }),
    fc.record({ in: fc.array(scalar, { minLength: 1 }) }),
  )
  const filters = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/), conditions, {
    noNullPrototype: true,
  })
  fc.assert(
    fc.property(filters, given => {
      expect(readConditions(conditionRows(given))).toEqual({ filters: given })
    }),
  )
})

test('known conditions become the page’s filter, all others go to the service', () => {
  expect(
    readExtraFilters({
      gpu_name: { in: ['H100', 'A100'] },
      num_gpus: { gte: 2, lt: 9 },
      verified: { eq: true },
      rentable: { eq: true },
      cuda_max_good: { gte: 12.4 },
      static_ip: { eq: true },
      compute_cap: { gte: 800 },
      gpu_ram: { gte: 24_000 },
      geolocation: { like: 'SE' },
    }),
  ).toEqual({
    filter: { gpus: ['H100', 'A100'], countFrom: 2, cudaFrom: 12.4, staticIp: true },
    extra: { num_gpus: { lt: 9 }, compute_cap: { gte: 800 }, gpu_ram: { gte: 24_000 } },
    verifiedOnly: true,
    unread: ['geolocation'],
  })
})

test('a filter is read by its field’s type, and shown again as typed', () => {
  expect(readFilter('count_created', 'gte', '100')).toEqual({
    filter: { field: 'count_created', condition: { operator: 'gte', value: 100 } },
  })
  expect(readFilter('id', 'in', '1, 2')).toEqual({
    filter: { field: 'id', condition: { operator: 'in', value: [1, 2] } },
  })
  expect(readFilter('id', 'eq', '1.5')).toHaveProperty('error')
  expect(readFilter('created_at', 'gte', 'yesterday')).toHaveProperty('error')
  const time = readFilter('created_at', 'gte', '2026-05-03 14:02')
  expect('filter' in time && typedValue(time.filter)).toBe('2026-05-03 14:02:00')
})

test('templates are sorted with unknown figures last, and filtered by owner', () => {
  const all = [
    { ...view, name: 'b', used: 1, own: true },
    { ...view, name: 'a' },
    { ...view, name: 'c', used: 5, own: false },
  ]
  expect(sorted(all, { column: 'used', descending: true }).map(({ name }) => name)).toEqual(['c', 'b', 'a'])
  expect(sorted(all, { column: 'used', descending: false }).map(({ name }) => name)).toEqual(['b', 'c', 'a'])
  expect(whoseOnly(all, 'own').map(({ name }) => name)).toEqual(['b'])
})

test('conditions of a template are in the words of Offers', () => {
  const words = extraWords({
    gpu_ram: { gte: 12_000 },
    inet_down: { gte: 500 },
    reliability2: { gt: 0.985 },
    compute_cap: { gte: 890 },
    duration: { gte: 604_800 },
    gpu_name: { in: ['RTX 4090', 'L4'] },
    static_ip: { eq: true },
    bundle_id: { neq: 7 },
  })
  expect(words).toEqual([
    'VRAM ≥ 12 GB',
    'Download ≥ 0.5 Gb/s',
    'Reliability > 98.5 %',
    'Compute capability ≥ 8.9',
    'Duration ≥ 7 days',
    'GPU in RTX 4090, L4',
    'Static IP = true',
    'bundle_id ≠ 7',
  ])
})
