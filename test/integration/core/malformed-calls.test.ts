import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BuiltFiles } from '#browser/page-files.ts'
import { openPageServer, type PageServer } from '#browser/page-server.ts'
import type { MainMessage } from '#contract/messages.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { joinBerth } from '#test/page-client.ts'
import { storedFiles } from '#test/stored-files.ts'
import { describeCall, malformedCalls } from './malformed-calls.ts'

const seed = Number(process.env['BERTH_TEST_SEED'] ?? 4711)

let world: World
let under: BerthUnderTest
let server: PageServer

beforeEach(async () => {
  world = await createWorld()
  under = await world.start()
  // No second poll falls into the test.
  await under.run('changeSettings', { settings: { pollInterval: 300 } })
  await under.run('connectAccount', { baseUrl: world.sim.baseUrl, key: world.sim.apiKey })
  await under.until(() => under.account().connection.status === 'online')
  await untilQuiet()
  server = await openPageServer(new BuiltFiles(world.platform.home), 0)
  server.serve(under.berth)
})
afterEach(async () => {
  await server.close()
  await world.close()
})

/** All that a call could have changed: State, the service, the keychain, the files, and the user’s alerts. */
async function traces() {
  const files = await storedFiles(world.platform.home)
  return {
    state: structuredClone(under.berth.state()),
    requests: await requestsSeen(),
    secrets: Object.fromEntries(world.keychain.entries),
    files: [...files].map(([file, bytes]) => [file, bytes.toString('utf8')]),
    told: world.notifier.shown.length,
  }
}

/** Waits until nothing has changed for two seconds, since some files are written a second late. */
async function untilQuiet(): Promise<void> {
  const seen: string[] = []
  const sameFiveTimes = async () => {
    seen.push(JSON.stringify(await traces()))
    return seen.length >= 5 && new Set(seen.slice(-5)).size === 1
  }
  await expect.poll(sameFiveTimes, { timeout: 150_000, interval: 500 }).toBe(true)
}

async function requestsSeen(): Promise<unknown> {
  const answer = await fetch(`${world.sim.baseUrl}/sim/requests`)
  expect(answer.status).toBe(200)
  return answer.json()
}

test('ten thousand malformed calls over the socket are rejected without effect', async () => {
  const asJson = (args: unknown) => JSON.parse(JSON.stringify(args) ?? 'null')
  const calls = malformedCalls(10_000, seed, asJson)
  const socket = await joinBerth(server.address)
  const before = await traces()
  const answers = new Map<number, MainMessage>()
  await new Promise<void>((resolve, reject) => {
    socket.on('message', data => {
      const message: MainMessage = JSON.parse(String(data))
      if (!('call' in message)) return
      if (answers.has(message.call)) reject(new Error(`answered twice: ${message.call}`))
      answers.set(message.call, message)
      if (answers.size === calls.length) resolve()
    })
    socket.once('close', code => reject(new Error(`the socket was closed with ${code}`)))
    for (const [call, { name, args }] of calls.entries())
      socket.send(JSON.stringify({ kind: 'command', call, name, args }))
  })
  for (const [call, answer] of answers) {
    const code = answer.kind === 'refusal' ? answer.problem.code : answer.kind
    if (code !== 'invalid_argument' && code !== 'unknown_command')
      expect.fail(`${describeCall(calls[call], seed)}: ${JSON.stringify(answer).slice(0, 400)}`)
  }
  expect(await traces(), `seed ${seed}`).toEqual(before)
  socket.close()
})

test('invalid messages are ignored, and the socket stays open', async () => {
  const socket = await joinBerth(server.address)
  const before = await traces()
  const rubbish = [
    '',
    '{',
    'null',
    '[]',
    '"sync"',
    '{"kind":"nothing"}',
    '{"kind":"command","name":"refresh"}',
  ]
  for (const text of rubbish) socket.send(text)
  socket.send(new Uint8Array([0, 0, 0]))
  socket.send(new Uint8Array([255, 255, 255, 255, 1, 2, 3]))
  const [data] = await Promise.all([
    once(socket, 'message'),
    socket.send(JSON.stringify({ kind: 'command', call: 1, name: 'nothing', args: {} })),
  ])
  expect(JSON.parse(String(data[0]))).toMatchObject({ kind: 'refusal', call: 1 })
  expect(await traces()).toEqual(before)
  socket.close()
})
