import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, openConnected, rentRunning } from '#test/e2e/account-steps.ts'
import { countClicks } from '#test/e2e/click-count.ts'

/** Instances with twelve running, and how often the mouse was clicked since. */
async function openTwelve(start: Start) {
  const sim = await start.simulator()
  await sim.control('POST', '/sim/credit', { credit: 1000 })
  for (let at = 1; at <= 12; at++) await rentRunning(sim, { label: `${at <= 6 ? 'sweep' : 'eval'}-${at}` })
  const berth = await start.berth()
  const { page } = await start.page(berth.address, { viewport: { width: 1280, height: 800 } })
  await connectAccount(page, sim)
  await page.getByRole('link', { name: 'Instances', exact: true }).click()
  await expect.poll(() => page.getByText('Running', { exact: true }).count()).toBe(12)
  const clicks = await countClicks(page)
  return { sim, page, clicks }
}
const box = (page: Page, label: string) =>
  page.getByRole('checkbox', { name: new RegExp(`^Select ${label} #`) })
const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selected instances' })
const stopped = (page: Page) => page.getByText('Stopped', { exact: true }).count()

test('seven clicks stop five of twelve; keys stop all; one question lists the savings', async ({ start }) => {
  const { page, clicks } = await openTwelve(start)
  for (const at of [1, 3, 5, 7, 9]) await box(page, at <= 6 ? `sweep-${at}` : `eval-${at}`).click()
  await bar(page).getByText('5 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Stop…' }).click()
  const question = page.getByRole('alertdialog', { name: 'Stop 5 instances?' })
  await question.getByText(/^Saves \$\d+\.\d{3}\/h\.$/).waitFor()
  expect(await question.getByRole('listitem').count()).toBe(5)
  await question.getByRole('button', { name: 'Stop 5 instances' }).click()
  await expect.poll(() => stopped(page)).toBe(5)
  expect(await clicks()).toBe(7)
  await bar(page).waitFor({ state: 'detached' })

  // By keyboard: the first two by Space and Shift, then all, then none.
  await page.locator('[data-row]').first().focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowDown')
  await bar(page).getByText('2 selected').waitFor()
  await page.keyboard.press('Control+a')
  await bar(page).getByText('12 selected').waitFor()
  await page.keyboard.press('Escape')
  await bar(page).waitFor({ state: 'detached' })

  // By Control and Shift: a click on a row then opens nothing.
  const cells = page.getByText('Stopped', { exact: true })
  await cells.first().click({ modifiers: ['Control'] })
  await cells.last().click({ modifiers: ['Shift'] })
  expect(await bar(page).count()).toBe(1)
  expect(new URL(page.url()).hash).toBe('#/instances')
})

test('a group is destroyed by one question; tags are kept, grouped by and found', async ({ start }) => {
  const { page } = await openTwelve(start)
  await page.getByLabel(/^Groups: /).click()
  await page.getByRole('option', { name: 'By name' }).click()
  const sweep = page.getByRole('row', { name: /sweep 6 instances · \$\d+\.\d{3}\/h · \$\d+\.\d\d spent/ })
  await sweep.getByRole('checkbox', { name: 'Select sweep' }).click()
  await bar(page).getByText('6 selected').waitFor()
  await bar(page).getByRole('button', { name: 'More for the selection' }).click()
  await page.getByRole('menuitem', { name: 'Name and tag…' }).click()
  const form = page.getByRole('dialog', { name: 'Name and tag 6 instances' })
  await form.getByLabel('Prefix').fill('paper')
  await form.getByLabel('Tags to add').fill('keep')
  await form.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('row', { name: /paper 6 instances/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox', { name: /^Filter/ }).fill('#keep')
  await expect.poll(() => page.locator('[data-row]').count()).toBe(6)
  await page.locator('[data-row]').first().focus()
  await page.keyboard.press('Control+a')
  await bar(page).getByRole('button', { name: 'Destroy…' }).click()
  const question = page.getByRole('alertdialog', { name: 'Destroy 6 instances?' })
  await question.getByRole('button', { name: 'Destroy 6 instances' }).click()
  await question.waitFor({ state: 'detached' })
  await page.getByRole('searchbox', { name: /^Filter/ }).fill('')
  await expect.poll(() => page.locator('[data-row]').count()).toBe(6)
  await page.reload()
  await page.getByRole('row', { name: /eval 6 instances/ }).waitFor()
})

test('the menu of a row opens by the right button, in groups, with the terminal first', async ({ start }) => {
  const { page } = await openConnected(start, { instances: [{ label: 'box' }] })
  await page.getByText('Running', { exact: true }).click({ button: 'right' })
  const menu = page.getByRole('menu', { name: /^More for box/ })
  expect(await menu.getByRole('menuitem').first().textContent()).toContain('Terminal')
  expect(await menu.getByRole('separator').count()).toBe(5)
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
})
