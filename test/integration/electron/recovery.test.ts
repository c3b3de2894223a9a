import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import type { MainMessage } from '../../../electron/contract/bridge/messages.ts'
import { startUnderDouble } from '../../electron/start-under-double.ts'

/** A Berth of the test's own, whose window is shown. */
async function start({ expect, onTestFinished }: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'berth-recovery-'))
  let loads = 0
  const env = {
    ...process.env,
    BERTH_HOME: join(folder, 'home'),
    TMPDIR: folder,
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  }
  const berth = await startUnderDouble(env, [], ({ event }) => {
    if (event === 'load') loads += 1
  })
  onTestFinished(async () => {
    berth.kill()
    await berth.ended
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
  })
  await expect.poll(() => berth.ask('windows'), { timeout: 45_000 }).toMatchObject([{ visible: true }])

  /** The errors in Activity, oldest first, read by a page that asks for the whole State. */
  async function failures(): Promise<string[]> {
    const sent = async () =>
      ((await berth.ask('sent')) as [string, MainMessage][]).map(([, message]) => message)
    const before = (await sent()).length
    await berth.ask('post', { kind: 'sync' })
    const whole = async () => (await sent()).slice(before).find(message => message.kind === 'state')
    await expect.poll(whole).toBeDefined()
    const found = await whole()
    const entries = found?.kind === 'state' ? Object.values(found.state.activity) : []
    return entries.filter(({ kind }) => kind === 'error').map(({ text }) => text)
  }

  return { berth, folder, failures, loads: () => loads }
}

// Two of them wait for Berth's five seconds.
test.concurrent('a page that crashes is brought back with a line about it, up to three times; then the user is asked', async context => {
  const { expect } = context
  const { berth, folder, loads, failures } = await start(context)
  expect(loads()).toBe(1)
  for (const round of [1, 2, 3]) {
    await berth.ask('crashPage')
    await expect.poll(loads).toBe(1 + round)
    expect(await failures()).toEqual(Array(round).fill('The page crashed and was brought back'))
  }
  await berth.ask('crashPage')
  await expect.poll(() => berth.ask('questions')).toMatchObject([{ buttons: ['Try again', 'Quit Berth'] }])
  expect(loads(), 'no loop').toBe(4)

  await berth.ask('answer', 'Try again')
  await expect.poll(loads).toBe(5)
  expect((await failures()).at(-1)).toBe('The page keeps crashing')
  const log = () => readFile(join(folder, 'home/logs/berth.log'), 'utf8')
  await expect.poll(log).toContain('brought back: crashed, 139')
})

test.concurrent('after four crashes the user can quit Berth', async context => {
  const { expect } = context
  const { berth } = await start(context)
  for (let crash = 0; crash < 4; crash++) await berth.ask('crashPage')
  await expect.poll(async () => (await berth.ask('questions')).length).toBe(1)
  await berth.ask('answer', 'Quit Berth')
  expect(await berth.ended).toBe(0)
})

test.concurrent('a page that hangs is reloaded, unless it responds in time', async context => {
  const { expect } = context
  const { berth, loads, failures } = await start(context)
  await berth.ask('pageHangs', true)
  await berth.ask('pageHangs', false)
  await berth.ask('pageHangs', true)
  await expect.poll(loads, { timeout: 45_000 }).toBe(2)
  expect(await failures()).toEqual(['The page hung and was brought back'])
})

test.concurrent('a reload that begins no new process is done once more', async context => {
  const { expect } = context
  const { berth, loads } = await start(context)
  await berth.ask('loseReloads', 1)
  await berth.ask('crashPage')
  expect(loads()).toBe(1)
  await expect.poll(loads, { timeout: 45_000 }).toBe(2)
})
