import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { deferred } from '#platform/tasks.ts'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { connectAccount, openConnected, rentRunning } from './account-steps.ts'

test('the palette finds and runs a command by keyboard, within the content policy', async ({ start }) => {
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page(berth.address)
  await page.getByRole('link', { name: 'Offers' }).waitFor()
  await page.keyboard.press('Control+k')
  const input = page.getByRole('combobox', { name: 'What to do' })
  await input.waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.type('settings')
  const first = page.getByRole('option').first()
  await first.and(page.getByRole('option', { name: /settings/i, selected: true })).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  await page.keyboard.press('Control+k')
  await input.waitFor()
  await page.keyboard.type('export')
  await first.and(page.getByRole('option', { name: 'Settings: Another computer' })).waitFor()
  // Keys with which an input method chooses characters do nothing else.
  for (const key of ['Enter', 'Escape', 'ArrowDown'])
    await input.dispatchEvent('keydown', { key, isComposing: true, bubbles: true, cancelable: true })
  await first.and(page.getByRole('option', { selected: true })).waitFor()
  await input.fill('nothing is called this')
  await page.getByText('No results.').waitFor()
  await page.keyboard.press('Escape')
  await input.waitFor({ state: 'detached' })
})

test('closing the palette returns the focus to where it was', async ({ start }) => {
  const { page } = await start.page((await start.berth({ flags: ['--demo'] })).address)
  const link = page.getByRole('link', { name: 'Offers' })
  await link.focus()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('combobox', { name: 'What to do' }).waitFor({ state: 'detached' })
  await expect.poll(() => link.evaluate(each => each === document.activeElement)).toBe(true)
})

test('shortcuts do nothing while a dialog is open, and its input stays', async ({ start }) => {
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page(berth.address)
  // Without an open dialog the shortcuts work.
  await page.getByRole('link', { name: 'Offers' }).click()
  const rent = page.getByRole('button', { name: /^Rent \d/ }).first()
  await rent.waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await rent.click()
  const dialog = page.getByRole('dialog', { name: /^Rent/ })
  await dialog.getByLabel('Image').fill('mine/own')
  // On Cancel, a letter is not typed into a field.
  const cancel = dialog.getByRole('button', { name: 'Cancel' })
  await cancel.focus()
  for (const key of ['Control+k', 'Control+1', 'Control+,', '?', '/']) await page.keyboard.press(key)
  // The last one is handled once the next key has moved the focus.
  await page.keyboard.press('Shift+Tab')
  await expect.poll(() => cancel.evaluate(button => button === document.activeElement)).toBe(false)
  expect(await page.getByRole('dialog').count()).toBe(1)
  expect(await dialog.getByLabel('Image').inputValue()).toBe('mine/own')
  expect(new URL(page.url()).hash).toBe('#/offers')
})

/** Opens the demo on a page whose dialogs come once they are sent. */
async function withLateDialogs(start: Start) {
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page('about:blank')
  const { promise: sent, resolve: send } = deferred<true>()
  const held = page.waitForRequest('**/assets/dialogs-*.js')
  await page.route('**/assets/dialogs-*.js', async route => {
    await sent
    await route.continue()
  })
  await page.goto(berth.address)
  await held
  return { page, send }
}

test('keys pressed while a dialog loads do nothing behind it', async ({ start }) => {
  const { page, send } = await withLateDialogs(start)
  const settings = page.getByRole('link', { name: 'Settings' })
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await settings.focus()
  await page.keyboard.press('?')
  await page.keyboard.press('Enter')
  send(true)
  await dialog.waitFor()
  expect(new URL(page.url()).hash).not.toContain('settings')
  // The dialog returns the focus to the link, where Enter works again.
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.locator('a:focus', { hasText: 'Settings' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
})

test('text typed while the palette loads is searched', async ({ start }) => {
  const { page, send } = await withLateDialogs(start)
  await page.getByRole('link', { name: 'Settings' }).focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('activity')
  expect(await page.getByRole('dialog').count()).toBe(0)
  send(true)
  await page.getByRole('option', { name: /activity/i, selected: true }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('What to do')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor()
})

test('Enter pressed while the palette loads runs what was typed before', async ({ start }) => {
  const { page, send } = await withLateDialogs(start)
  await page.getByRole('link', { name: 'Settings' }).focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('activity')
  await page.keyboard.press('Enter')
  send(true)
  await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('what can be done now comes first', async ({ start }) => {
  const sim = await start.simulator()
  const stopped = await rentRunning(sim, { label: 'aaa-stopped' })
  const running = await rentRunning(sim, { label: 'zzz-running' })
  await sim.api('PUT', `/api/v0/instances/${stopped}/`, { state: 'stopped' })
  const { page } = await start.page((await start.berth()).address)
  await connectAccount(page, sim)
  await page.getByText('zzz-running').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('stop')
  const first = page.getByRole('option').first()
  await expect.poll(() => first.textContent()).toMatch(new RegExp(`^\\s*Stop.*zzz-running #${running}`))
  const input = page.getByRole('combobox', { name: 'What to do' })
  await input.fill('forward 7860 zzz')
  await page.getByRole('option', { name: /^Open port 7860 zzz-running/, selected: true }).waitFor()
  await input.fill('remove zzz')
  await page.getByRole('option', { name: /^Destroy/, selected: true }).waitFor()
  await input.fill('emove zzz')
  await page.getByText('No results.').waitFor()
  // What it leads to gets the focus.
  await input.fill('activity')
  await page.getByRole('option', { name: /activity/i, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await input.waitFor({ state: 'detached' })
  await page.locator('main:focus, main :focus').waitFor()
})

test('a bug report shows what goes with it before anything is copied', async ({ start }) => {
  const { page } = await start.page((await start.berth({ flags: ['--demo'] })).address)
  await page.getByRole('link', { name: 'Offers' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).waitFor()
  await page.keyboard.type('feedback')
  await page.getByRole('option', { name: /Report a bug/, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Report a bug' })
  await dialog.getByLabel('What happened').fill('The list jumped.')
  const parts = dialog.getByRole('region', { name: /^Goes with it/ })
  await expect.poll(() => parts.textContent()).toMatch(/^Berth\n.*in a browser.*"pollInterval": \d+/s)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Save as file' }).click(),
  ])
  expect(await readFile(await download.path(), 'utf8')).toMatch(
    /^What happened\nThe list jumped\.\n\nBerth\n/,
  )
})

test('in a browser, Quit names what goes on costing, and ends Berth', async ({ start }) => {
  const sim = await start.simulator()
  await rentRunning(sim, { label: 'night-batch' })
  const { page } = await start.page((await start.berth()).address)
  await connectAccount(page, sim)
  await page.getByText('night-batch').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).waitFor()
  await page.keyboard.type('exit')
  await page.getByRole('option', { name: /Quit Berth/, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  const question = page.getByRole('alertdialog', { name: 'Quit Berth?' })
  await question.getByText(/1 instance keeps costing.*night-batch/s).waitFor()
  await question.getByRole('button', { name: 'Quit' }).click()
  await page.getByText('Berth has quit', { exact: true }).waitFor()
})

test('credit and projects are found by what people call them', async ({ start }) => {
  const sim = await start.simulator()
  const { page } = await start.page((await start.berth()).address)
  await connectAccount(page, sim)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).waitFor()
  await page.keyboard.type('top up')
  await page.getByRole('option', { name: /Add credit on 127/, selected: true }).waitFor()
})

test('the palette offers to stop what runs or may run, and not what has ended', async ({ start }) => {
  const { sim, page, ids } = await openConnected(start, {
    instances: [{ label: 'works' }, { label: 'broken' }],
  })
  await sim.control('POST', `/sim/instances/${ids[1]}`, { actual_status: 'exited', status_msg: 'error' })
  await sim.control('POST', '/sim/clock', { advance: 3600 })
  await page
    .getByRole('row', { name: /broken/ })
    .getByText('Crashed', { exact: true })
    .waitFor({ timeout: 150_000 })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('stop')
  await page.getByRole('option', { name: /^Stop works/ }).waitFor()
  expect(await page.getByRole('option', { name: /^Stop broken/ }).count()).toBe(0)

  // Offers and templates, also where no screen that lists them was opened in this page.
  await page.reload()
  await page.getByRole('row', { name: /works/ }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('rent 4090')
  await page.getByRole('option', { name: /^Search offers: 4090 from \$/ }).waitFor()
  await page.getByRole('combobox', { name: 'What to do' }).fill('pytorch')
  await page
    .getByRole('option', { name: /^PyTorch/ })
    .first()
    .waitFor()
})
