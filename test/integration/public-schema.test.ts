import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Described, differences, readDescribed } from './openapi-differences.ts'
import { type Service, startService } from './simulator/service.ts'

/**
 * Compares the answers of the simulator's public profile with the public OpenAPI documents. It runs where
 * BERTH_VAST_DOCS names a checkout of them; elsewhere it is left out, with CI=true too.
 */
const checkout = process.env['BERTH_VAST_DOCS'] ?? ''
const missing = checkout === '' ? ' (skipped: BERTH_VAST_DOCS names no checkout)' : ''
const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHnqUFHT/g2YKfZ4It9BNBle4xzsgknad5PQ/Ahd+gfK someone@somewhere'

describe.skipIf(checkout === '')(`the public documents${missing}`, () => {
  let service: Service
  let described: Described
  beforeAll(async () => {
    service = await startService({ deployment: publicProfile })
    described = await readDescribed(join(checkout, 'api-reference', 'openapi', 'yaml'))
  })
  afterAll(() => service.sim.close())

  const found: string[] = []
  const checked = new Set<string>()

  /** Calls `path` with its `{name}` parameters filled, and compares the answer with its description. */
  async function ask(method: string, path: string, values: Record<string, unknown>, body?: unknown) {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
    const query = values['query']
    const words = query === undefined ? '' : `?${new URLSearchParams(query as Record<string, string>)}`
    const { status, body: answer } = await service.call(method, `${filled}${words}`, body)
    const name = `${method} ${path} ${status}`
    const schemas = described.get(name) ?? []
    if (schemas.length === 0) found.push(`${name}: not described`)
    const attempts = schemas.map(({ schema, document }) => differences(schema, answer, document))
    const best = attempts.toSorted((left, right) => left.length - right.length)[0] ?? []
    found.push(...best.map(difference => `${name}: ${difference}`))
    checked.add(name)
    return answer
  }

  /** The value at a path of names in an answer. */
  function part(answer: unknown, ...names: (string | number)[]): unknown {
    return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], answer)
  }

  test('describe every answer of the simulator, except for the explained differences', async () => {
    const one = await service.rent({ label: 'one' })
    const two = await service.rent({ price: 20 })
    await service.sim.controls.advance(4000)
    const { id } = one
    const [offer] = await service.offers({ limit: 1 })
    const range = { gte: 1, lte: 9_999_999_999 }
    const filters = (values: unknown) => ({ query: { select_filters: JSON.stringify(values) } })

    await ask('POST', '/api/v0/bundles/', {}, { limit: 3 })
    await ask('PUT', '/api/v0/asks/{id}/', { id: offer?.id }, { image: 'ubuntu' })
    await ask('PUT', '/api/v0/asks/{id}/', { id: offer?.id }, { image: 'ubuntu' })
    await ask('PUT', '/api/v0/asks/{id}/', { id: 1 }, { image: 'ubuntu' })
    await ask('GET', '/api/v1/instances/', {})
    await ask('GET', '/api/v1/instances/', filters({ dph_total: { gt: 1 } }))
    await ask('GET', '/api/v0/instances/{id}/', { id })
    await ask('PUT', '/api/v0/instances/{id}/', { id }, { label: 'two' })
    await ask('PUT', '/api/v0/instances/bid_price/{id}/', { id: two.id }, { client_id: 'me', price: 21 })
    await ask('PUT', '/api/v0/instances/bid_price/{id}/', { id: two.id }, { client_id: 'me', price: 0 })
    await ask('PUT', '/api/v0/instances/bid_price/{id}/', { id: 1 }, { client_id: 'me', price: 1 })
    await ask('PUT', '/api/v0/instances/reboot/{id}/', { id }, {})
    await ask('PUT', '/api/v0/instances/request_logs/{id}/', { id }, { tail: '10' })
    await ask('PUT', '/api/v0/instances/request_logs/{id}/', { id: 1 }, {})
    await service.sim.controls.advance(400)
    await ask(
      'PUT',
      '/api/v0/commands/copy_direct/',
      {},
      {
        ...{ src_id: `C.${id}`, src_path: '/a', dst_id: `C.${two.id}`, dst_path: '/b' },
      },
    )
    await ask('DELETE', '/api/v0/commands/copy_direct/', {}, { dst_id: `C.${two.id}` })

    const added = await ask('POST', '/api/v0/ssh/', {}, { ssh_key: PUBLIC_KEY })
    await ask('GET', '/api/v0/ssh/', {})
    await ask('POST', '/api/v0/instances/{id}/ssh/', { id }, { ssh_key: PUBLIC_KEY })
    await ask('GET', '/api/v0/instances/{instance_id}/ssh/', { instance_id: id })
    await ask('DELETE', '/api/v0/instances/{id}/ssh/{ssh_key_id}/', { id, ssh_key_id: 1 })
    await ask('PUT', '/api/v0/ssh/{id}/', { id: part(added, 'key', 'id') }, { ssh_key: PUBLIC_KEY })
    await ask('DELETE', '/api/v0/ssh/{id}/', { id: part(added, 'key', 'id') })
    await ask('DELETE', '/api/v0/ssh/{id}/', { id: part(added, 'key', 'id') })

    await ask('GET', '/api/v0/users/current/', {})
    const permissions = { api: { instance_read: {} } }
    const apiKey = await ask('POST', '/api/v0/auth/apikeys/', {}, { name: 'mine', permissions })
    await ask('POST', '/api/v0/auth/apikeys/', {}, { name: 'mine' })
    await ask('GET', '/api/v0/auth/apikeys/', {})
    await ask('DELETE', '/api/v0/auth/apikeys/{id}/', { id: apiKey['id'] })

    const made = await ask('POST', '/api/v0/template/', {}, { name: 'mine', image: 'ubuntu' })
    await ask('GET', '/api/v0/template/', filters({ name: { eq: 'mine' } }))
    const changes = { hash_id: part(made, 'template', 'hash_id'), name: 'ours' }
    const edited = await ask('PUT', '/api/v0/template/', {}, changes)
    await ask('DELETE', '/api/v0/template/', {}, { template_id: part(edited, 'template', 'id') })

    const rooms = await ask('POST', '/api/v0/volumes/search/', {}, { limit: 2 })
    await ask('PUT', '/api/v0/volumes/', {}, { id: part(rooms, 'offers', 0, 'id'), size: 10 })
    const rented = await ask('GET', '/api/v0/volumes/', {})
    await ask('DELETE', '/api/v0/volumes/', {}, { id: part(rented, 'volumes', 0, 'id') })
    await ask('DELETE', '/api/v0/volumes/', {}, { id: part(rented, 'volumes', 0, 'id') })

    await ask('GET', '/api/v0/charges/', filters({ day: range }))
    await ask('GET', '/api/v0/charges/', {})
    await ask('GET', '/api/v1/invoices/', filters({ when: range }))

    const hook = { webhook_url: 'https://example.com/hook', event_types: ['client:low_credit'] }
    const hooked = await ask('POST', '/api/v0/webhooks/', {}, hook)
    const at = { id: part(hooked, 'webhook', 'id') }
    await ask('GET', '/api/v0/webhooks/', {})
    await ask('PUT', '/api/v0/webhooks/{id}/', at, { name: 'hook' })
    await ask('POST', '/api/v0/webhooks/{id}/rotate-secret/', at, {})
    await ask('POST', '/api/v0/webhooks/{id}/test/', at, {})
    await ask('DELETE', '/api/v0/webhooks/{id}/', at)
    await ask('DELETE', '/api/v0/instances/{id}/', { id })

    expect(checked.size).toBeGreaterThan(45)
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(explained).toSorted())
  })
})

const onlyWhereThere = 'The document itself says that these keys are there only where the contract has them.'

/** The known differences between the simulator's public profile and the public documents, with reasons. */
const explained: Readonly<Record<string, string>> = {
  'GET /api/v0/charges/ 200: results[].metadata.endpoint_id is missing': onlyWhereThere,
  'GET /api/v0/charges/ 200: results[].metadata.label is missing': onlyWhereThere,
  'GET /api/v0/charges/ 200: results[].metadata.template_id is missing': onlyWhereThere,
  'GET /api/v0/charges/ 200: results[].metadata.workergroup_id is missing': onlyWhereThere,
  'GET /api/v0/charges/ 400: error is missing': 'The example of this answer has no code either.',
  'GET /api/v0/instances/{id}/ 200: instances.ports is no array':
    'The list describes an object of mappings, and every client reads that of a single instance too.',
  'GET /api/v0/users/current/ 200: ssh_key is null': 'Clients meet null where the account has no key.',
  'GET /api/v1/instances/ 200: instances[].onstart is null':
    'The same field of a single instance is described as nullable; a list of the same records cannot do better.',
}
