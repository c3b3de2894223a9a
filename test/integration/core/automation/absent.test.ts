import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tunnelKey } from '#shared/instance/tunnel.ts'
import { askByName } from '#test/ask-by-name.ts'
import type { BerthUnderTest } from '#test/berth/world.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { listen } from '#test/loopback.ts'
import { lacks } from '#test/needs.ts'
import { type Inside, openInside } from './inside.ts'

const lacking = lacks(sshd, 'curl')

/** An instance with an accepted host key and an open tunnel. */
async function entered() {
  const inside = await openInside()
  const page = createServer((_, response) => response.end('hello'))
  onTestFinished(() => {
    page.closeAllConnections()
    page.close()
  })
  const port = await listen(page)
  const { under, instance, world } = inside
  await under.run('changeSettings', { settings: { pollInterval: 300 } })
  const { url = '' } = await under.run('openPort', { instance, port })
  // Polls under way have ended.
  await under.run('refresh', {})
  const answers = async () => (await askByName(url)).text
  expect(await answers()).toBe('hello')
  const keyEntry = `${under.account().id} instance ${instance}`
  expect(world.keychain.entries.has(keyEntry)).toBe(true)
  const tunnel = (berth = under) => berth.account().tunnels[tunnelKey(instance, port)]
  return { ...inside, answers, tunnel, keyEntry }
}

const pins = ({ world }: Pick<Inside, 'world'>) => world.platform.files.read('known_hosts')
const alias = (under: BerthUnderTest, instance: number) => `berth-${under.account().id}-${instance}`
const texts = (under: BerthUnderTest) => under.texts()

describe.skipIf(lacking)(`an answer without instances${lacking}`, () => {
  test('changes and reports nothing while the instance itself still answers', async () => {
    const inside = await entered()
    const { under, instance, hide, answers, tunnel } = inside
    const before = under.account().instances[instance]
    const seen: boolean[] = []
    onTestFinished(under.berth.onChange(() => void seen.push(instance in under.account().instances)))
    hide(1, true)
    await under.run('refresh', {})
    expect(seen).not.toContain(false)
    const after = under.account().instances[instance]
    expect(after?.history).toEqual(before?.history)
    // The instance's own answer may tell of traffic.
    expect(after?.spent.micros).toBeGreaterThanOrEqual(before?.spent.micros ?? Number.POSITIVE_INFINITY)
    expect(tunnel()?.step).toBe('open')
    expect(await answers()).toBe('hello')
    expect(await pins(inside)).toContain(alias(under, instance))
    expect(texts(under).filter(text => /destroyed|gone/.test(text))).toEqual([])
  })

  test('for one poll keeps tunnel, history and cost until the instance is back', async () => {
    const inside = await entered()
    const { under, instance, hide, answers, tunnel, world, keyEntry } = inside
    const before = under.account().instances[instance]
    hide(1)
    await under.run('refresh', {})
    expect(under.account().instances).toEqual({})
    expect(tunnel()?.step).toBe('open')
    await under.run('refresh', {})
    const { spent, history } = under.account().instances[instance] ?? {}
    expect(history?.slice(0, before?.history.length)).toEqual(before?.history)
    expect(spent?.micros).toBeGreaterThanOrEqual(before?.spent?.micros ?? Number.POSITIVE_INFINITY)
    expect(await answers()).toBe('hello')
    expect(world.keychain.entries.has(keyEntry)).toBe(true)
  })

  test('that lasts closes tunnels and keeps the keys for a week, across a restart', async () => {
    const inside = await entered()
    const { under, instance, hide, tunnel, world, keyEntry, restart } = inside
    const name = alias(under, instance)
    hide(2)
    await under.poll(2)
    await under.until(() => tunnel() === undefined)
    expect(await pins(inside)).toContain(name)
    await under.close()
    const again = await restart()
    await again.until(() => again.account().instances[instance] !== undefined)
    expect(await pins(inside)).toContain(name)

    hide(2)
    await again.poll(3)
    expect(again.account().instances[instance]?.history.length).toBeGreaterThan(1)

    // Destroyed elsewhere, its keys are deleted after a week.
    await destroyElsewhere(inside)
    await again.run('refresh', {})
    expect(again.account().instances).toEqual({})
    expect(world.keychain.entries.has(keyEntry)).toBe(true)
    expect(await pins(inside)).toContain(name)
    await world.sim.controls.advance(7 * 86_400 + 60)
    await again.run('refresh', {})
    await expect.poll(() => pins(inside)).not.toContain(name)
    await expect.poll(() => world.keychain.entries.has(keyEntry)).toBe(false)
  })
})

test.skipIf(lacking)(`what Berth destroys itself is forgotten with the next poll${lacking}`, async () => {
  const inside = await entered()
  const { under, instance, tunnel, world, keyEntry } = inside
  const name = alias(under, instance)
  const lists = () => world.requests('GET', /\/instances\/?$/)
  expect(await pins(inside)).toContain(name)
  const before = lists().length
  await under.run('destroyInstance', { instance })
  expect(under.account().instances).toEqual({})
  // Nothing is uncertain, so the list is read once.
  expect(lists().length).toBe(before + 1)
  await under.until(() => tunnel() === undefined)
  await expect.poll(() => pins(inside)).not.toContain(name)
  await expect.poll(() => world.keychain.entries.has(keyEntry)).toBe(false)
})

async function destroyElsewhere({ world, instance }: Inside): Promise<void> {
  await world.api('DELETE', `/api/v0/instances/${instance}/`)
}
