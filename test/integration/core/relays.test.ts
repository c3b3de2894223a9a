import { createHmac } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { poster } from '#core/relays/post.ts'
import { type RelayKind, relayKinds } from '#shared/relay.ts'
import { receiver, relayForm } from '#test/berth/relays.ts'
import { test as base } from '#test/berth/world.ts'

// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
const test = base.extend('stub', async ({}, { onCleanup }) => {
  const stub = await receiver()
  onCleanup(() => stub.close())
  return stub
})

const paths: Record<RelayKind, string> = {
  ntfy: '/gpu-topic',
  slack: '/services/T0/B0/slackpath',
  discord: '/api/webhooks/1/discordpath',
  teams: '/workflows/teamspath',
  webhook: '/hook/plainpath?code=querysecret',
}

test('each kind of receiver gets an alert once, also over a restart; its address is in the keychain alone', async ({
  connected,
  stub,
}) => {
  const { world, under: first } = await connected()
  let secret = ''
  for (const kind of relayKinds) {
    const form = relayForm({ kind, name: `my ${kind}` })
    const added = await first.run('addRelay', { form, address: `${stub.url}${paths[kind]}` })
    if (kind === 'webhook') secret = added.secret ?? ''
    else expect(added.secret).toBeUndefined()
  }
  world.sim.controls.setCredit(3)
  await first.poll(2)
  await first.until(({ relays }) => Object.values(relays).every(({ waiting }) => waiting > 0))
  // Before the first message is sent.
  const second = await world.restart(first)
  await stub.until(5)
  await second.until(({ relays }) => Object.values(relays).every(({ sentAt }) => sentAt !== undefined))
  expect(stub.got.map(({ path }) => path).sort()).toEqual(
    ['/', ...Object.values(paths).filter(path => path !== paths.ntfy)].sort(),
  )
  for (const { body } of stub.got) expect(body).toContain('$3.00 of credit left')
  const { headers, body } = stub.got.find(({ path }) => path === paths.webhook) ?? {}
  const signed = `${headers?.['webhook-id']}.${headers?.['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  expect(headers?.['webhook-signature']).toBe(
    `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  )

  const secrets = [...Object.values(paths), 'querysecret', secret, world.sim.apiKey]
  const exported = await second.run('exportBerth', {})
  const diagnostics = await second.run('diagnostics', {})
  const state = JSON.stringify(second.berth.state())
  const files = await filesBelow(join(world.platform.home, 'berth'))
  const sent = stub.got.map(one => one.body)
  for (const one of secrets)
    for (const text of [exported, diagnostics, state, ...files, ...sent]) expect(text).not.toContain(one)
})

test('an alert that fails with 500 is sent again, and once it is accepted no more', async ({
  connected,
  stub,
}) => {
  const { world, under } = await connected()
  stub.answers((response, { body }) =>
    response.writeHead(stub.got.filter(one => one.body === body).length < 2 ? 500 : 204).end(),
  )
  await under.run('addRelay', { form: relayForm(), address: `${stub.url}/hook` })
  world.sim.controls.setCredit(3)
  await under.poll(2)
  await under.until(({ relays }) => Object.values(relays)[0]?.failure?.problem.code === 'server_error')
  const [failing] = Object.values(under.berth.state().relays)
  expect(failing).toMatchObject({ failure: { problem: { message: 'The receiver failed (500).' } } })
  await under.until(({ relays }) => Object.values(relays)[0]?.sentAt !== undefined)
  expect(stub.got).toHaveLength(2)
  expect(stub.got[0]?.headers['idempotency-key']).toBe(stub.got[1]?.headers['idempotency-key'])
})

test('a test says at once why it was not accepted', async ({ connected, stub }) => {
  const { under } = await connected()
  await under.run('addRelay', { form: relayForm(), address: `${stub.url}/hook` })
  const [relay = ''] = Object.keys(under.berth.state().relays)
  await under.run('testRelay', { relay })
  expect(stub.got[0]?.body).toContain('A test by Berth')
  stub.answers(response => response.writeHead(404).end())
  await expect(under.run('testRelay', { relay })).rejects.toMatchObject({ problem: { code: 'refused' } })
  const changed = { relay, form: relayForm({ name: 'New' }), address: 'https://192.168.1.1/hook' }
  await expect(under.run('changeRelay', changed)).rejects.toMatchObject({
    problem: { code: 'wrong_address', field: 'address' },
  })
})

describe('a message', () => {
  const quitting = new AbortController().signal
  const delivery = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: '{}' })

  test('follows no redirect', async ({ stub }) => {
    stub.answers(response => response.writeHead(307, { location: `${stub.url}/elsewhere` }).end())
    // Tried again soon, since a gateway may redirect for a moment.
    const outcome = await poster()(delivery(`${stub.url}/hook`), quitting)
    expect(outcome).toEqual({ problem: expect.objectContaining({ code: 'redirected' }) })
    expect(stub.got.map(({ path }) => path)).toEqual(['/hook'])
  })

  test('ends with a receiver that hangs, or sends without end', async ({ stub }) => {
    stub.answers(() => undefined)
    expect(await poster(300)(delivery(stub.url), quitting)).toMatchObject({ problem: { code: 'timeout' } })
    stub.answers(response => {
      const more = () => void (response.destroyed || response.write('x'.repeat(65_536), more))
      response.writeHead(200)
      more()
    })
    expect(await poster()(delivery(stub.url), quitting)).toBe('accepted')
  })

  test('whose answer is lost, or that meets nobody, says so', async ({ stub }) => {
    stub.answers(response => response.destroy())
    expect(await poster()(delivery(stub.url), quitting)).toMatchObject({
      problem: { code: 'connection_lost' },
    })
    await stub.close()
    expect(await poster()(delivery(stub.url), quitting)).toMatchObject({ problem: { code: 'offline' } })
  })

  test('that a receiver accepts and in its words did not deliver, was not accepted', async ({ stub }) => {
    const failed = 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error'
    const refused = { problem: { code: 'refused' }, refused: true }
    stub.answers(response => response.writeHead(200).end(`${failed} 413 with ContextId tcid=6.`))
    expect(await poster()(delivery(stub.url), quitting)).toMatchObject(refused)
    stub.answers(response => response.writeHead(200).end(`${failed} 429 with ContextId tcid=6.`))
    expect(await poster()(delivery(stub.url), quitting)).toMatchObject({ refused: false })
    stub.answers(response => void response.writeHead(200).write('1'))
    expect(await poster()(delivery(stub.url), quitting)).toBe('accepted')
  })

  test('waits as long as the receiver asks', async ({ stub }) => {
    stub.answers(response => response.writeHead(429, { 'retry-after': '90' }).end())
    expect(await poster()(delivery(stub.url), quitting)).toEqual({
      problem: { code: 'rate_limited', message: 'The receiver got too many messages (429).' },
      refused: false,
      asked: 90_000,
    })
  })
})

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(
    entries.filter(one => one.isFile()).map(one => readFile(join(one.parentPath, one.name), 'utf8')),
  )
}
