import { expect } from 'vitest'
import { terminalText } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import { openConnected } from './account-steps.ts'

test('the details open in a browser tab of their own, with a terminal and no navigation', async ({
  start,
}) => {
  const { page } = await openConnected(start, {
    instances: [{ label: 'box' }],
    page: { viewport: { width: 1280, height: 800 } },
  })
  await page.getByRole('row', { name: /box/ }).getByRole('link').click()
  await page.getByRole('tab', { name: 'Monitor' }).click()
  const opening = page.waitForEvent('popup')
  await page.getByRole('button', { name: 'Open the details in a new tab' }).click()
  const alone = await opening
  await page.getByRole('complementary', { name: /^Details of box/ }).waitFor({ state: 'detached' })

  await alone.getByRole('tab', { name: 'Monitor', selected: true }).waitFor()
  expect(await alone.title()).toMatch(/^box #\d+ – Berth$/)
  expect(await alone.getByRole('navigation').count()).toBe(0)
  await alone.getByRole('tab', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(alone)).toContain('root@')
  await alone.reload()
  await alone.getByRole('tab', { name: 'Terminal', selected: true }).waitFor()
  expect(await alone.getByRole('navigation').count()).toBe(0)

  // Another address shows the whole page again.
  await alone.evaluate(() => {
    location.hash = '#/offers'
  })
  await alone.getByRole('navigation').waitFor()

  // And so does any link that is opened in a tab.
  for (const click of [{ modifiers: ['ControlOrMeta' as const] }, { button: 'middle' as const }]) {
    const another = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Activity', exact: true }).click(click)
    await (await another).getByRole('region', { name: 'Activity' }).waitFor()
  }
})
