import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MainMessage } from '#contract/messages.ts'
import { type SimulatorProcess, startSimulatorProcess } from '#test/berth/browser.ts'
import { describeCall, malformedCalls } from '#test/integration/core/malformed-calls.ts'
import { storedFiles } from '#test/stored-files.ts'
import { useDesk } from '../desk.ts'

declare global {
  interface Window {
    /** Messages since the test took over the bridge. */
    heard?: MainMessage[]
  }
}

const seed = Number(process.env['BERTH_TEST_SEED'] ?? 815)
const desk = useDesk()
let sim: SimulatorProcess

beforeAll(async () => {
  sim = await startSimulatorProcess()
})
afterAll(() => sim.stop())

/** Takes over the bridge, as a script injected into the page would. */
async function takeBridge(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.heard = []
    window.berth?.listen(message => window.heard?.push(message))
  })
}

/** Posts calls together, numbered from `first`; gives their answers. */
function post(page: Page, first: number, calls: { name: string; args: unknown }[]): Promise<MainMessage[]> {
  return page.evaluate(
    async ({ first, text }) => {
      const calls: { name: string; args: unknown }[] = JSON.parse(text)
      for (const [at, { name, args }] of calls.entries())
        window.berth?.post({ kind: 'command', call: first + at, name, args })
      const answers = () => (window.heard ?? []).filter(message => 'call' in message && message.call >= first)
      while (answers().length < calls.length) await new Promise(resolve => setTimeout(resolve, 5))
      return answers()
    },
    // As text, since `evaluate` would lose a field named `__proto__`.
    { first, text: JSON.stringify(calls) },
  )
}

/** An argument as the page gets it. */
const asJson = (args: unknown): unknown => JSON.parse(JSON.stringify(args))

/** Everything a call could change: State, requests to the service, Berth's files and opened URLs. */
async function traces(page: Page) {
  const state = await page.evaluate(async () => {
    const before = window.heard?.length ?? 0
    window.berth?.post({ kind: 'sync' })
    for (;;) {
      const whole = window.heard?.slice(before).find(message => message.kind === 'state')
      if (whole !== undefined) return whole
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  })
  // Chromium's files and the running demo change without a call.
  const { demo: _, ...accounts } = state.state.accounts
  const others = ['electron', 'demo'].map(name => join(desk.home, name))
  const files = await storedFiles(desk.home, path => !others.some(folder => path.startsWith(folder)))
  return {
    state: { ...state.state, accounts },
    requests: await sim.control('GET', '/sim/requests'),
    files: [...files].map(([file, bytes]) => [file, bytes.toString('utf8')]),
    opened: await desk.opened(),
  }
}

test('two thousand malformed IPC calls are rejected without effect', async () => {
  const berth = await desk.start()
  const page = await berth.page()
  await takeBridge(page)
  // With an interval of 300 s no second poll happens during the test.
  const account = { baseUrl: sim.baseUrl, key: sim.apiKey }
  const [settings] = await post(page, 1, [
    { name: 'changeSettings', args: { settings: { pollInterval: 300 } } },
  ])
  const [connected] = await post(page, 2, [{ name: 'connectAccount', args: account }])
  expect([settings, connected]).toMatchObject([{ kind: 'answer' }, { kind: 'answer' }])
  const seen: string[] = []
  const sameFiveTimes = async () => {
    seen.push(JSON.stringify(await traces(page)))
    // Longer than Berth delays its writes.
    return seen.length >= 5 && new Set(seen.slice(-5)).size === 1
  }
  await expect.poll(sameFiveTimes, { timeout: 150_000, interval: 500 }).toBe(true)

  const calls = malformedCalls(2000, seed, asJson)
  const before = await traces(page)
  const inOneGo = 500
  for (let first = 0; first < calls.length; first += inOneGo) {
    const answers = await post(page, 1000 + first, calls.slice(first, first + inOneGo))
    for (const answer of answers) {
      const code = answer.kind === 'refusal' ? answer.problem.code : answer.kind
      const call = 'call' in answer ? calls[answer.call - 1000] : undefined
      if (code !== 'invalid_argument' && code !== 'unknown_command')
        expect.fail(`${describeCall(call, seed)}: ${JSON.stringify(answer).slice(0, 400)}`)
    }
    expect(answers, `seed ${seed}`).toHaveLength(Math.min(inOneGo, calls.length - first))
  }
  expect(await traces(page), `seed ${seed}`).toEqual(before)
})
