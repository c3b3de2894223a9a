import { readFile } from 'node:fs/promises'
import { TOTP, URI } from 'otpauth'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Service } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectForm } from '#test/e2e/account-steps.ts'
import { readQr } from '#test/e2e/qr.ts'

/**
 * Berth on its Account screen, with the simulator's account connected. The simulator runs at real speed: countdowns are
 * in this computer's time, which Berth would scale once it had measured a faster account.
 */
async function account(start: Start) {
  const sim = await start.simulator({ speed: 1 })
  const berth = await start.berth()
  const { page } = await start.page(berth.address)
  await connect(page, sim.baseUrl, sim.apiKey)
  await page.getByRole('link', { name: 'Account' }).click()
  return { sim, page }
}

async function connect(page: Page, baseUrl: string, key: string): Promise<void> {
  const dialog = await connectForm(page)
  await dialog.getByLabel('Base URL').fill(baseUrl)
  await dialog.getByLabel('API key').fill(key)
  await dialog.getByRole('button', { name: /^Connect/ }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** The last code that was sent. */
async function lastCode(sim: Service): Promise<string> {
  const { messages } = await sim.control<{ messages: { code: string }[] }>('GET', '/sim/outbox')
  const last = messages.at(-1)
  if (!last) throw new Error('nothing was sent')
  return last.code
}

/** Has a code sent from the dialog, and returns the code. */
async function send(sim: Service, dialog: Locator): Promise<string> {
  await dialog.getByRole('button', { name: 'Send code' }).click()
  await dialog.getByText(/^Sent/).waitFor()
  return lastCode(sim)
}

function wrongCode(app: TOTP): string {
  const now = Date.now()
  const right = new Set([-60, -30, 0, 30, 60].map(by => app.generate({ timestamp: now + by * 1000 })))
  for (let code = 100_000; ; code += 1) if (!right.has(String(code))) return String(code)
}

/** The text that would be printed. */
async function printed(page: Page, button: Locator): Promise<string> {
  await page.evaluate(() => {
    window.print = () => undefined
  })
  await button.click()
  await page.emulateMedia({ media: 'print' })
  await page.locator('.print-sheet').waitFor()
  const text = await page.locator('body').innerText()
  await page.emulateMedia({ media: 'screen' })
  expect(text).not.toContain('Instances')
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
  await page.locator('.print-sheet').waitFor({ state: 'detached' })
  return text
}

async function shownCodes(dialog: Locator): Promise<string[]> {
  const list = dialog.getByRole('list', { name: 'Backup codes' })
  await list.waitFor()
  return list.getByRole('listitem').allTextContents()
}

test('two-factor authentication, from nothing to the last method removed', async ({ start }) => {
  const { sim, page } = await account(start)
  const dialog = page.getByRole('dialog')
  const methods = page.getByRole('list', { name: 'Two-factor methods' })

  // The first method is authorized by email and set up from its QR code.
  await page.getByRole('button', { name: 'Add a method…' }).click()
  const authorize = dialog.getByRole('button', { name: 'Authorize' })
  const code = dialog.getByRole('textbox', { name: 'Code' })
  expect([await authorize.isDisabled(), await code.isDisabled()]).toEqual([true, true])
  await send(sim, dialog)
  // Ten minutes later it is no longer valid, and another one is sent.
  await sim.control('POST', '/sim/clock', { advance: 600 })
  await dialog.getByText('The code has expired. Send another one.').waitFor()
  await dialog.getByRole('button', { name: 'Send another code' }).click()
  await dialog.getByText(/^Sent/).waitFor()
  const sent = await lastCode(sim)
  await authorize.click()
  await dialog.getByText('A code has six digits.').waitFor()
  await code.fill(sent)
  await dialog.getByRole('button', { name: 'Authorize' }).click()
  const picture = dialog.getByRole('img', { name: /QR code/ })
  await picture.waitFor()
  await dialog.getByText(/You have 2\d:\d\d left to add/).waitFor()
  const app = URI.parse(await readQr(picture))
  if (!(app instanceof TOTP)) throw new Error('not an authenticator’s address')
  const spelled = await dialog.getByLabel('Secret of the authenticator').textContent()
  expect(spelled?.replaceAll(' ', '')).toBe(app.secret.base32)
  await dialog.getByLabel('Label').fill('a label that is longer than thirty characters')
  await dialog.getByText('A label has at most 30 characters.').waitFor()
  await dialog.getByLabel('Label').fill('phone app')
  await dialog.getByRole('textbox', { name: 'Code' }).fill(wrongCode(app))
  await dialog.getByRole('button', { name: 'Add method' }).click()
  await dialog.getByText('The code was not accepted.').waitFor()
  expect(await dialog.getByLabel('Label').inputValue()).toBe('phone app')
  await dialog.getByRole('textbox', { name: 'Code' }).fill(app.generate())
  await dialog.getByRole('button', { name: 'Add method' }).click()

  // The backup codes are shown once, and can be saved as a file.
  const codes = await shownCodes(dialog)
  expect(codes).toHaveLength(10)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Save as a file' }).click(),
  ])
  expect(await readFile(await download.path(), 'utf8')).toContain(codes.join('\n'))
  expect(await printed(page, dialog.getByRole('button', { name: 'Print' }))).toContain(codes.join('\n'))
  await page.keyboard.press('Escape')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByRole('button', { name: 'I have stored them' }).click()
  await dialog.waitFor({ state: 'detached' })
  await methods.getByText('phone app').waitFor()
  await page.getByText('10 backup codes are left.').waitFor()
  expect(await page.content()).not.toContain(codes[0])

  // After the 30 minutes a backup code authorizes a phone.
  await sim.control('POST', '/sim/clock', { advance: 1800 })
  await page.getByText(/left to add a method/).waitFor({ state: 'detached', timeout: 150_000 })
  await page.getByRole('button', { name: 'Add a method…' }).click()
  await dialog.getByRole('radio', { name: 'Backup code' }).check()
  await dialog.getByRole('textbox', { name: 'Backup code' }).fill('nonsense')
  await dialog.getByRole('button', { name: 'Authorize' }).click()
  await dialog.getByText('A backup code has the form XXXX-XXXX-XXXX.').waitFor()
  await dialog
    .getByLabel('Backup code')
    .last()
    .fill(codes[0]?.toLowerCase() ?? '')
  await dialog.getByRole('button', { name: 'Authorize' }).click()
  await dialog.getByText('Text message').click()
  await dialog.getByLabel('Phone number').fill('555 1234')
  await dialog.getByRole('button', { name: 'Send code' }).click()
  await dialog.getByText(/Write the number with \+ and the country/).waitFor()
  await dialog.getByLabel('Phone number').fill('+1 (555) 123-4567')
  await dialog.getByRole('textbox', { name: 'Code' }).fill(await send(sim, dialog))
  await dialog.getByRole('button', { name: 'Add method' }).click()
  await methods.getByText(/\*4567/).waitFor()
  await page.getByText('9 backup codes are left.').waitFor()

  // Backup codes are replaced; a used one cannot authorize that.
  await page.getByRole('button', { name: 'Replace backup codes…' }).click()
  await dialog.getByRole('radio', { name: 'Backup code' }).check()
  await dialog
    .getByLabel('Backup code')
    .last()
    .fill(codes[0] ?? '')
  await dialog.getByRole('button', { name: 'Replace codes' }).click()
  await dialog.getByText('This backup code is wrong or has been used before.').waitFor()
  await dialog
    .getByLabel('Backup code')
    .last()
    .fill(codes[1] ?? '')
  await dialog.getByRole('button', { name: 'Replace codes' }).click()
  const newCodes = await shownCodes(dialog)
  expect(newCodes).toHaveLength(10)
  expect(newCodes.filter(code => codes.includes(code))).toEqual([])
  await dialog.getByRole('button', { name: 'I have stored them' }).click()

  // Five wrong codes lock the method for 15 minutes of the account's time.
  await page.getByRole('button', { name: 'Replace backup codes…' }).click()
  await dialog.getByLabel(/phone app/).check()
  for (let attempts = 1; attempts <= 5; attempts += 1) {
    await dialog.getByRole('textbox', { name: 'Code' }).fill(wrongCode(app))
    await dialog.getByRole('button', { name: 'Replace codes' }).click()
    await methods
      .getByText(
        attempts === 5
          ? /Locked after too many wrong codes/
          : new RegExp(`${attempts === 1 ? 'One' : attempts} wrong code`),
      )
      .waitFor()
  }
  await dialog.getByText(/free again in 1\d:\d\d/).waitFor()
  expect(await dialog.getByRole('button', { name: 'Replace codes' }).isDisabled()).toBe(true)
  await sim.control('POST', '/sim/clock', { advance: 900 })
  await dialog.getByText(/free again/).waitFor({ state: 'detached', timeout: 150_000 })
  await dialog.getByRole('textbox', { name: 'Code' }).fill(app.generate())
  await dialog.getByRole('button', { name: 'Replace codes' }).click()
  expect(await shownCodes(dialog)).toHaveLength(10)
  await dialog.getByRole('button', { name: 'I have stored them' }).click()

  // The other method becomes the primary one.
  await methods.getByRole('button', { name: /^More for Text message/ }).click()
  await page.getByRole('menuitem', { name: 'Make primary' }).click()
  await methods.getByRole('listitem').filter({ hasText: '4567' }).getByText('primary').waitFor()

  // Both are removed, the last one with a warning.
  await methods.getByRole('button', { name: /^More for Text message/ }).click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  await dialog.getByLabel(/phone app/).check()
  await dialog.getByRole('textbox', { name: 'Code' }).fill(app.generate())
  await dialog.getByRole('button', { name: 'Remove method' }).click()
  await methods.getByText(/\*4567/).waitFor({ state: 'detached' })
  await methods.getByRole('button', { name: /^More for phone app/ }).click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  await dialog.getByText(/This is the last method/).waitFor()
  await dialog.getByRole('textbox', { name: 'Code' }).fill(app.generate())
  await dialog.getByRole('button', { name: 'Remove and switch off' }).click()
  await page.getByText('Two-factor authentication is off.').waitFor()
  await methods.getByText('There is no method yet.').waitFor()
  expect(await sim.api('GET', '/api/v0/tfa/status/')).toMatchObject({ tfa_enabled: false, methods: [] })
})

test('a scoped key is made, shown once, and as an account of its own reads but does not write', async ({
  start,
}) => {
  const { sim, page } = await account(start)
  const dialog = page.getByRole('dialog')
  const keys = page.getByRole('list', { name: 'API keys' })
  await keys.getByText('used by Berth').waitFor()

  await page.getByRole('button', { name: 'Create key…' }).click()
  await dialog.getByLabel('Name').fill('reader')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('Choose at least one permission, or full access.').waitFor()
  await dialog.getByRole('button', { name: 'Read-only' }).click()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const secret = (await dialog.getByLabel('Secret').textContent()) ?? ''
  expect(secret.length).toBeGreaterThan(20)
  await dialog.getByText(/It can search offers, read the account.* but not change the account/).waitFor()
  const asked = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  await (await asked).dismiss()
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  await dialog.waitFor({ state: 'detached' })
  await keys.getByText('reader').waitFor()
  expect(await page.content()).not.toContain(secret)

  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Connect an account…' }).click()
  await connect(page, sim.baseUrl.replace('127.0.0.1', 'localhost'), secret)
  await page.getByRole('button', { name: 'Account: localhost' }).waitFor()
  await page.getByRole('link', { name: 'Account' }).click()
  await keys.getByRole('listitem').filter({ hasText: 'reader' }).getByText('used by Berth').waitFor()
  await page.getByRole('button', { name: 'Create key…' }).click()
  await dialog.getByLabel('Name').fill('another')
  await dialog.getByRole('button', { name: 'Read-only' }).click()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog
    .getByText('Berth’s key for this account can’t change the account: it lacks the permission user_write.')
    .waitFor()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('another')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Save preferences' }).click()
  await page.getByText(/it lacks the permission user_write/).waitFor()
})

/** Adds an authenticator to the account without Berth. */
async function addAuthenticator(sim: Service): Promise<TOTP> {
  const { secret: challenge } = await sim.api<{ secret: string }>(
    'POST',
    '/api/v0/tfa/authorize-new-method/',
    {},
  )
  const code = await lastCode(sim)
  await sim.api('PUT', '/api/v0/tfa/authorize-new-method/', { code, secret: challenge })
  const { secret } = await sim.api<{ secret: string }>('POST', '/api/v0/tfa/totp-setup/')
  const app = new TOTP({ secret })
  await sim.api('POST', '/api/v0/tfa/confirm-new/', { tfa_method: 'totp', code: app.generate(), secret })
  return app
}

test('an account whose key is refused comes online after a two-factor login', async ({ start }) => {
  const { sim, page } = await account(start)
  const app = await addAuthenticator(sim)
  const faults = (rules: object[]) => sim.control('POST', '/sim/faults', { rules })
  await faults([
    { method: 'GET', path: 'users/current|instances|tfa', kind: 'status', status: 403, times: 99 },
  ])
  const note = page.getByRole('main').getByRole('alert').first()
  await note.getByRole('button', { name: 'Log in with two factors…' }).click({ timeout: 150_000 })
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Method id (optional)').waitFor()
  await dialog.getByRole('textbox', { name: 'Code' }).fill(app.generate())
  await faults([])
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('You’re logged in.').waitFor()
  await page.getByText('Online', { exact: true }).waitFor()
})

test('where the service lists nothing, the page says so, and takes an id by hand', async ({ start }) => {
  const { sim, page } = await account(start)
  const hook = { name: 'pager', webhook_url: 'https://example.com/hook', event_types: ['client:outbid'] }
  const { webhook } = await sim.api<{ webhook: { id: number } }>('POST', '/api/v0/webhooks/', hook)
  const rule = { kind: 'status', status: 404, times: 99 }
  await sim.control('POST', '/sim/faults', {
    rules: [
      { ...rule, method: 'GET', path: 'webhooks|notification-prefs' },
      // Deployments answer 404 when there is no SSH key.
      { ...rule, method: 'GET', path: '/ssh', status: 405 },
      { ...rule, method: 'DELETE', path: 'apikeys' },
    ],
  })
  await page.reload()
  await page.getByText('This service doesn’t list the webhooks.').waitFor()
  await page.getByText('This service doesn’t list the account’s SSH keys.').waitFor()
  await page.getByText(/doesn’t report its current preferences\.\s+Saving replaces all of them/).waitFor()

  const dialog = page.getByRole('dialog')
  await page.getByLabel('Webhook id', { exact: true }).fill(String(webhook.id))
  await page.getByRole('button', { name: 'Change…' }).click()
  await dialog.getByLabel('Name').fill('siren')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Webhook changed.').waitFor()
  await sim.control('POST', '/sim/faults', {
    rules: [{ ...rule, method: 'DELETE', path: 'apikeys' }],
  })
  expect(await sim.api('GET', '/api/v0/webhooks/')).toMatchObject({
    webhooks: [{ ...hook, name: 'siren' }],
  })

  await page
    .getByRole('list', { name: 'API keys' })
    .getByRole('button', { name: /^Delete/ })
    .click()
  const question = page.getByRole('alertdialog')
  await question.getByText(/Berth uses this key/).waitFor()
  await question.getByRole('button', { name: 'Delete key' }).click()
  await question.getByText('The service doesn’t support this.').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('This service can’t delete keys').waitFor()
})

test('a webhook is made with an event of the user’s own, changed and deleted', async ({ start }) => {
  const { page } = await account(start)
  const dialog = page.getByRole('dialog')
  const webhooks = page.getByRole('list', { name: 'Webhooks' })
  await page.getByRole('button', { name: 'Create webhook…' }).click()
  await dialog.getByLabel('Name').fill('pager')
  await dialog.getByLabel('Address').fill('not an address')
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await dialog.getByText('Enter a whole address, such as https://example.com/hook.').waitFor()
  await dialog.getByText('Choose at least one event.').waitFor()
  await dialog.getByLabel('Address').fill('https://example.com/hook')
  await dialog.getByLabel('The credit runs low').check()
  await dialog.getByLabel('Another event').fill('client:outbid')
  await dialog.getByRole('button', { name: 'Add event' }).click()
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await webhooks.getByText('client:low_credit, client:outbid').waitFor()
  await webhooks.getByRole('button', { name: 'Test pager' }).click()
  await page.getByText('This service can’t test webhooks.').waitFor()
  await webhooks.getByRole('button', { name: 'Test pager' }).waitFor({ state: 'detached' })

  await webhooks.getByRole('button', { name: 'Change pager' }).click()
  await dialog.getByLabel('Name').fill('siren')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await webhooks.getByText('siren').waitFor()
  await webhooks.getByRole('button', { name: 'Delete siren' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete webhook' }).click()
  await webhooks.getByText('None yet.').waitFor()
})
