import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alertOf, type EventName, eventNames } from '#core/alerts/events.ts'
import type { Relays } from '#core/relays/perform.ts'
import type { Outcome, Post } from '#core/relays/post.ts'
import { createMask } from '#platform/mask.ts'
import { type AlertKind, alertKinds } from '#shared/alert-kinds.ts'
import { relayKinds } from '#shared/relay.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles, testKeychain } from '#test/berth/machine.ts'
import { alert, relayForm, relaysContext } from '#test/berth/relays.ts'

const account = 'a00000001'
const address = 'https://hooks.example/T0/very-secret-path'
const failed: Outcome = { problem: { code: 'offline', message: 'The receiver couldn’t be reached.' } }

/** Receivers' answers in turn, and the messages that they got. */
function answering(...outcomes: Outcome[]) {
  const got: { id: string; title: string; titles: string[]; text: string }[] = []
  const post: Post = async ({ body }) => {
    const { id, title, text, alerts } = JSON.parse(body) as {
      id: string
      title: string
      text: string
      alerts: { title: string }[]
    }
    got.push({ id, title, text, titles: alerts.map(one => one.title) })
    return outcomes.shift() ?? 'accepted'
  }
  return { post, got }
}

async function opened(...outcomes: Outcome[]) {
  const { post, got } = answering(...outcomes)
  const clock = new HandClock()
  const given = relaysContext({ post, clock })
  const relays = await given.open()
  await relays.add(relayForm(), address)
  const [id = ''] = Object.keys(given.context.store.get().relays)
  return { ...given, relays, clock, got, id, view: () => given.context.store.get().relays[id] }
}

test('sixty alerts of a few seconds are one message, and unwanted kinds and the demo’s none', async () => {
  const { relays, clock, got, view } = await opened()
  relays.tell(
    account,
    Array.from({ length: 59 }, (_, index) => alert(`llama ${index}`)),
  )
  await clock.pass(3000)
  relays.tell(account, [alert('llama 59'), alert('news', { kind: 'watch' })])
  relays.tell('demo', [alert('in the demo')])
  expect(got).toEqual([])
  await clock.pass(2000)
  expect(got).toMatchObject([{ title: '60 alerts', text: expect.stringContaining('Host gone: 60.') }])
  await clock.pass(86_400_000)
  expect(got).toHaveLength(1)
  expect(view()).toMatchObject({ waiting: 0, sentAt: expect.any(Number) })
})

test('an address that the keychain has lost is told at the start, and mended by another one', async () => {
  const { relays, context, said, id, open, view } = await opened()
  await relays.close()
  const again = await open()
  await flushPromises()
  expect(view()?.failure).toBeUndefined()
  await again.close()
  await context.keychain.delete(`relay/${id}`)
  const later = await open()
  await expect.poll(() => view()?.failure?.problem.code).toBe('address_missing')
  expect(said.at(-1)).toMatch(/^No alerts go to “?Phone/)
  await later.change(id, relayForm(), address)
  expect(view()?.failure).toBeUndefined()
})

test('a failed message is sent again under its id; those told since then follow as one', async () => {
  const { relays, clock, got, view } = await opened(failed, failed)
  relays.tell(account, [alert('first')])
  await clock.pass(5000)
  expect(view()).toMatchObject({ failure: { problem: { code: 'offline' }, again: clock.now() + 10_000 } })
  relays.tell(account, [alert('second')])
  await clock.pass(9000)
  relays.tell(account, [alert('third')])
  expect(got).toHaveLength(1)
  await clock.pass(31_000)
  expect(got.map(({ titles }) => titles)).toEqual([['first'], ['first'], ['first'], ['second', 'third']])
  expect(new Set(got.slice(0, 3).map(({ id }) => id)).size).toBe(1)
  expect(view()).toMatchObject({ waiting: 0, failure: undefined })
})

test('a critical alert in quiet hours leaves those that wait for the end of them', async () => {
  const { relays, clock, got, id } = await opened()
  const at = (minutes: number) => new Date(clock.now() + minutes * 60_000).toTimeString().slice(0, 5)
  const quietHours = { on: true, from: at(-60), to: at(60), critical: true }
  await relays.change(id, relayForm({ quietHours }), undefined)
  relays.tell(account, [alert('a run ended', { urgency: 'normal' }), alert('llama')])
  await clock.pass(20 * 60_000)
  expect(got.map(({ titles }) => titles)).toEqual([['llama']])
  await clock.pass(60 * 60_000)
  expect(got.map(({ titles }) => titles)).toEqual([['llama'], ['a run ended']])
})

test('a message that was refused for a day is given up, and Activity says so', async () => {
  const { relays, clock, got, said, view } = await opened(...Array<Outcome>(100).fill(failed))
  relays.tell(account, [alert('llama')])
  await clock.pass(30 * 3_600_000)
  const tries = got.length
  expect(tries).toBeGreaterThan(20)
  expect(said.at(-1)).toBe('1 alert could not be sent to Phone (Webhook) for a day')
  expect(view()).toMatchObject({ waiting: 0, failure: { again: undefined } })
  await clock.pass(30 * 3_600_000)
  expect(got).toHaveLength(tries)
})

test('an alert that can’t be written is not sent before it can', async () => {
  const { relays, clock, got, context } = await opened()
  const files = context.files as MemoryFiles
  files.refusing = 'ENOSPC'
  relays.tell(account, [alert('llama')])
  await clock.pass(60_000)
  expect(got).toEqual([])
  files.refusing = undefined
  await clock.pass(60_000)
  expect(got.map(({ titles }) => titles)).toEqual([['llama']])
})

test('a removed address gets nothing more, and its entry in the keychain is gone', async () => {
  const { relays, clock, got, context, id } = await opened(failed)
  relays.tell(account, [alert('llama')])
  await clock.pass(5000)
  await relays.remove(id)
  await clock.pass(86_400_000)
  expect(got).toHaveLength(1)
  expect(await context.keychain.get(`relay/${id}`)).toBeUndefined()
  await expect(relays.test(id)).rejects.toMatchObject({ problem: { code: 'no_such_relay' } })
})

test('instances get an address of their own that can only send, with a message to fill in', async () => {
  const { relays, clock, got, context, view } = await opened()
  expect(await relays.linesFor(account, 'llama #4711')).toBe('')
  const form = relayForm({ kind: 'ntfy', name: 'Away', fromInstances: true })
  await expect(relays.add({ ...form, kind: 'discord' }, address)).rejects.toMatchObject({
    problem: { code: 'more_than_sends', field: 'address' },
  })
  await expect(relays.add(form, 'https://ntfy.sh/topic?auth=secret')).rejects.toMatchObject({
    problem: { code: 'more_than_sends' },
  })
  expect(await relays.add({ ...form, kind: 'webhook' }, address)).toEqual({ secret: undefined })
  await expect(relays.add(form, 'https://ntfy.sh/topic')).rejects.toMatchObject({
    problem: { code: 'one_for_instances' },
  })
  const [url, body, ...rest] = (await relays.linesFor(account, 'llama “A\n\\”')).split('\n')
  expect([url, rest]).toEqual([address, []])
  expect(JSON.parse(body ?? '')).toMatchObject({ title: 'llama “A\n\\”', text: '@TEXT@', alerts: [] })
  expect(await relays.linesFor('demo', 'llama')).toBe('')
  // Berth itself sends nothing there.
  relays.tell(account, [alert('llama')])
  await clock.pass(86_400_000)
  expect(got.map(({ titles }) => titles)).toEqual([['llama']])
  expect(view()?.waiting).toBe(0)
  expect([...(context.files as MemoryFiles).texts.values()].join()).not.toContain('very-secret-path')
})

test('a test is sent at once, throws what failed, and hurries what waits', async () => {
  const { relays, clock, got, id } = await opened(failed, failed)
  relays.tell(account, [alert('llama')])
  await clock.pass(5000)
  await expect(relays.test(id)).rejects.toMatchObject({ problem: { code: 'offline' } })
  await relays.test(id)
  await flushPromises()
  expect(got.map(({ title }) => title)).toEqual(['llama', 'A test by Berth', 'A test by Berth', 'llama'])
})

test('no known secret and no address is in a message, a file or State', async () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9"\\/+=-]{8,40}$/)
  await fc.assert(
    fc.asyncProperty(
      fc.array(secret, { minLength: 1, maxLength: 4 }),
      fc.string(),
      async (secrets, words) => {
        const mask = createMask()
        const bodies: string[] = []
        const files = new MemoryFiles()
        const clock = new HandClock()
        const post: Post = async ({ body }) => {
          bodies.push(body)
          return bodies.length === 1 ? failed : 'accepted'
        }
        const { context, open, said } = relaysContext({ mask, files, clock, post })
        const relays = await open()
        for (const kind of ['ntfy', 'slack', 'discord', 'teams', 'webhook'] as const)
          await relays.add(relayForm({ kind }), address)
        const [late = '', ...known] = secrets
        for (const one of known) mask.learn(one)
        relays.tell(
          account,
          known.map(one => alert(`${words} ${one}`, { body: `TOKEN=${one} ${words}` })),
        )
        relays.tell(account, [alert(`learned later: ${late}`)])
        await flushPromises()
        mask.learn(late)
        await clock.pass(20_000)
        expect(bodies.length).toBeGreaterThanOrEqual(5)
        const sent = bodies.flatMap(textsOf).join('\n')
        for (const one of secrets) expect(sent).not.toContain(one)
        const kept = [...files.texts.values(), JSON.stringify(context.store.get()), ...said].join('\n')
        for (const one of [...known, 'very-secret-path', 'whsec_']) expect(kept).not.toContain(one)
      },
    ),
    { numRuns: 40 },
  )
})

/** All texts in JSON. */
function textsOf(json: string): string[] {
  const texts: string[] = []
  JSON.parse(json, (_key, value: unknown) => {
    if (typeof value === 'string') texts.push(value)
    return value
  })
  return texts
}

test('every event that Berth reports reaches each receiver that wants its kind once, over a kill before each message', async () => {
  const clock = new HandClock()
  const keychain = testKeychain()
  const got: { url: string; body: string }[] = []
  const post: Post = async one => {
    got.push(one)
    return 'accepted'
  }
  const seeds = seeded(7)
  const random = { hex: (digits: number) => hex(seeds, digits) }
  let files = new MemoryFiles()
  const reopened = () => relaysContext({ clock, files, keychain, post, random }).open()
  let relays = await reopened()
  const kinds = Object.keys(alertKinds) as AlertKind[]
  for (const kind of relayKinds)
    await relays.add(relayForm({ kind, alerts: kinds }), `https://${kind}.example/topic`)
  // As many as there may be.
  const alone = kinds.slice(relayKinds.length - 20)
  for (const kind of alone) await relays.add(relayForm({ alerts: [kind] }), `https://of.example/${kind}`)
  const titleOf = (event: EventName) => `This is ${event} here`
  for (const event of eventNames) {
    relays.tell(account, [alertOf(event, { id: `${account}/${event}`, title: titleOf(event), body: 'Why' })])
    await flushPromises()
    // Killed before the message is sent, with what is on disk by then.
    const disk = [...files.texts]
    files.write = () => new Promise(() => undefined)
    void relays.close()
    files = new MemoryFiles()
    for (const [file, text] of disk) files.texts.set(file, text)
    relays = await reopened()
    await clock.pass(6000)
  }
  for (const event of eventNames) {
    const { kind } = alertOf(event, { id: event, title: event, body: '' })
    const urls = got.filter(({ body }) => body.includes(titleOf(event))).map(({ url }) => url)
    expect(urls.toSorted(), event).toEqual(
      [
        ...relayKinds.map(each => `https://${each}.example/${each === 'ntfy' ? '' : 'topic'}`),
        ...(alone.includes(kind) ? [`https://of.example/${kind}`] : []),
      ].toSorted(),
    )
  }
})

test('over 200 kills, each alert arrives, and twice only where an answer was lost', async () => {
  const random = seeded(51)
  const clock = new HandClock()
  const keychain = testKeychain()
  let disk = new Map<string, string>()
  /** What the receiver accepted: the titles by id, and how often each id came. */
  const accepted = new Map<string, { titles: string; times: number }>()
  const answersLost = new Set<string>()
  const told: string[] = []
  let name = 0
  for (let life = 0; life < 200; life += 1) {
    let isKilled = false
    const files = new MemoryFiles()
    for (const [file, text] of disk) files.texts.set(file, text)
    const write = files.write.bind(files)
    files.write = async (file, text) => (isKilled ? new Promise(() => undefined) : write(file, text))
    const post: Post = async ({ body }) => {
      const { id, alerts } = JSON.parse(body) as { id: string; alerts: { title: string }[] }
      const titles = alerts.map(({ title }) => title).join()
      if (random() < 0.2) return failed
      if (isKilled) return failed
      const before = accepted.get(id)
      if (before) expect(titles).toBe(before.titles)
      accepted.set(id, { titles, times: (before?.times ?? 0) + 1 })
      if (random() < 0.2) isKilled = true
      if (!isKilled && random() < 0.9) return 'accepted'
      answersLost.add(id)
      return failed
    }
    const { open } = relaysContext({
      clock,
      files,
      keychain,
      post,
      random: { hex: digits => hex(random, digits) },
    })
    const relays: Relays = await open()
    if (life === 0) await relays.add(relayForm(), address)
    const moments = Math.floor(random() * 6)
    for (let moment = 0; moment < moments && !isKilled; moment += 1) {
      if (random() < 0.6) {
        name += 1
        relays.tell(account, [alert(`alert ${name}`)])
        await flushPromises()
        if (!isKilled) told.push(`alert ${name}`)
      }
      await clock.pass(random() * 20_000)
    }
    isKilled = true
    disk = files.texts
    void relays.close()
    await flushPromises()
  }
  const files = new MemoryFiles()
  for (const [file, text] of disk) files.texts.set(file, text)
  const end = answering()
  const last = await relaysContext({ clock, files, keychain, post: end.post }).open()
  await clock.pass(200_000)
  await last.close()
  for (const { id, titles } of end.got) {
    const before = accepted.get(id)
    accepted.set(id, { titles: titles.join(), times: (before?.times ?? 0) + 1 })
  }
  const arrived = [...accepted.values()].flatMap(({ titles }) => titles.split(','))
  expect(new Set(arrived).size).toBe(arrived.length)
  expect(told.filter(one => !arrived.includes(one))).toEqual([])
  expect(told.length).toBeGreaterThan(100)
  for (const [id, { times }] of accepted) if (times > 1) expect(answersLost).toContain(id)
})

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

function hex(random: () => number, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
}
