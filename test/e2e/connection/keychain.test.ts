import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Service } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, connectForm, recordFrames } from '#test/e2e/account-steps.ts'
import { startKeyring, unlockKeyring } from '#test/integration/platform/keyring.ts'
import { startSession, type TestSession } from '#test/integration/platform/session-bus.ts'
import { lacks } from '#test/needs.ts'
import { storedFiles } from '#test/stored-files.ts'

let sim: Service
let session: TestSession
const lacking = lacks('chromium', 'dbus-daemon', 'gnome-keyring-daemon', 'secret-tool')

/** Starts a simulator and a user's session bus, with a keychain on it when a password is given. */
async function desktop(start: Start, password?: string): Promise<{ home: string }> {
  sim = await start.simulator()
  session = await startSession()
  start.atEnd(() => session.end())
  if (password !== undefined) await startKeyring(session, password)
  return { home: await start.folder() }
}

interface Opened {
  page: Page
  received(): string
  output(): string
  stop(): Promise<void>
}

async function openBerth(
  start: Start,
  home: string,
  bus = session.env['DBUS_SESSION_BUS_ADDRESS'],
): Promise<Opened> {
  const berth = await start.berth({
    home,
    env: { DBUS_SESSION_BUS_ADDRESS: bus ?? '', XDG_RUNTIME_DIR: session.home },
  })
  const { page } = await start.page('about:blank')
  const received = recordFrames(page)
  await page.goto(berth.address)
  return { page, received, output: berth.output, stop: berth.stop }
}

/** The names of Berth's entries in the keychain, as another program sees them. */
async function entries(): Promise<string[]> {
  const { output } = await session.run('secret-tool', ['search', '--all', 'service', 'berth'])
  return [...output.matchAll(/^attribute\.account = (.*)$/gm)].map(([, name]) => name ?? '')
}

function lookup(entry: string): Promise<{ code: number | null; output: string }> {
  return session.run('secret-tool', ['lookup', 'service', 'berth', 'account', entry])
}

/** The files in a folder that hold a text, as it is or in Base64 or hex. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const files = [...(await storedFiles(folder))]
  expect(files.length).toBeGreaterThan(2)
  const forms = [
    Buffer.from(text),
    ...(['base64', 'hex'] as const).map(form => Buffer.from(Buffer.from(text).toString(form))),
  ]
  return files.filter(([, bytes]) => forms.some(form => bytes.includes(form))).map(([file]) => file)
}

/** Expects the key in no file, in no output, and in nothing that the page received or stores. */
async function expectNoTrace(home: string, { page, received, output }: Opened): Promise<void> {
  expect(await filesWith(home, sim.apiKey)).toEqual([])
  expect(output()).not.toContain(sim.apiKey)
  expect(received()).toContain(`"baseUrl":"${sim.baseUrl}"`)
  expect(received()).not.toContain(sim.apiKey)
  expect(await page.content()).not.toContain(sim.apiKey)
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
  expect(stored).not.toContain(sim.apiKey)
}

/** No session bus listens here: there is no keychain. */
const noBus = 'unix:path=/nonexistent/bus'

const header = (page: Page) => page.getByRole('banner')

async function expectOnline(page: Page): Promise<void> {
  await header(page).getByText('Online', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Connect your account' }).waitFor({ state: 'detached' })
}

describe.skipIf(lacking !== '')(`where API keys are kept${lacking}`, () => {
  test('only the keychain holds the key, also after a restart, until the account is removed', async ({
    start,
  }) => {
    const { home } = await desktop(start, 'password')
    const first = await openBerth(start, home)
    await connectAccount(first.page, sim)
    await expectOnline(first.page)

    const [entry = '', ...others] = await entries()
    expect(others).toEqual([])
    expect(await lookup(entry)).toEqual({ code: 0, output: sim.apiKey })
    await expectNoTrace(home, first)
    await first.page.context().close()
    await first.stop()
    await expectNoTraceIn(home)

    const second = await openBerth(start, home)
    await expectOnline(second.page)
    await expectNoTrace(home, second)
    await second.page.getByRole('link', { name: 'Settings' }).click()
    await second.page.getByText('API keys are saved in this computer’s keychain only.').waitFor()
    await second.page.getByRole('button', { name: /^More for/ }).click()
    await second.page.getByRole('menuitem', { name: 'Remove…' }).click()
    await second.page.getByRole('alertdialog').getByRole('button', { name: 'Remove account' }).click()
    await expect.poll(entries).toEqual([])
    expect((await lookup(entry)).code).toBe(1)
  })

  test('without a keychain the page says so and no key is written', async ({ start }) => {
    const { home } = await desktop(start)
    const first = await openBerth(start, home, noBus)
    const form = await connectForm(first.page)
    await form.getByText('Why?').click()
    await form.getByText(/API keys stay in memory/).waitFor()
    expect(await form.getByText(/saved in this computer’s keychain/).count()).toBe(0)
    await connectAccount(first.page, sim)
    await expectOnline(first.page)
    await expectNotStored(first.page)
    await expectNoTrace(home, first)
    await first.page.context().close()
    await first.stop()
    await expectNoTraceIn(home)

    const second = await openBerth(start, home, noBus)
    await header(second.page).getByText('Key missing').waitFor()
    await second.page
      .getByText(/The keychain isn’t available, so Berth doesn’t have this account’s API key/)
      .first()
      .waitFor()
    await expectNoTrace(home, second)
  })

  test('a locked keychain leaves the account without a key until it is unlocked', async ({ start }) => {
    const { home } = await desktop(start)
    const unlocked = await startKeyring(session, 'password')
    const first = await openBerth(start, home)
    await connectAccount(first.page, sim)
    await expectOnline(first.page)
    await first.page.context().close()
    await first.stop()

    await unlocked.end()
    await startKeyring(session)
    const second = await openBerth(start, home)
    await header(second.page).getByText('Key missing').waitFor()
    await second.page
      .getByText(/Unlock the keychain and try again, or enter the key once more/)
      .first()
      .waitFor()
    await expectNoTrace(home, second)

    await unlockKeyring(session, 'password')
    await second.page.getByRole('button', { name: 'Try again' }).click()
    await expectOnline(second.page)
  })

  test('a keychain that starts after Berth is used once it is there', async ({ start }) => {
    const { home } = await desktop(start)
    const early = await startKeyring(session, 'password')
    const first = await openBerth(start, home)
    await connectAccount(first.page, sim)
    await expectOnline(first.page)
    await first.page.context().close()
    await first.stop()
    await early.end()

    const second = await openBerth(start, home)
    await header(second.page).getByText('Key missing').waitFor()
    await startKeyring(session, 'password')
    await expectOnline(second.page)
    await second.page.getByRole('link', { name: 'Settings' }).click()
    await second.page.getByText('API keys are saved in this computer’s keychain only.').waitFor()
  })
})

async function expectNoTraceIn(home: string): Promise<void> {
  expect(await filesWith(home, sim.apiKey)).toEqual([])
}

async function expectNotStored(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('API keys aren’t saved on this computer:').waitFor()
}
