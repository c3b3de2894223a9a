import { expect } from 'vitest'
import { test } from '../berth/pages.ts'
import { openConnected } from './account-steps.ts'

test('the details can be maximized, take a small window, and remember their tab', async ({ start }) => {
  const viewport = { width: 1280, height: 800 }
  const { berth, page } = await openConnected(start, { instances: [{ label: 'box' }], page: { viewport } })
  const row = page.getByRole('row', { name: /box/ })
  /** Whether the row is inert below the details. */
  const covered = () => row.evaluate(element => element.closest('[inert]') !== null)
  const tab = (name: string) => page.getByRole('tab', { name })
  await row.getByRole('link').click()
  await tab('Limits').click()
  await page.keyboard.press('Control+Shift+M')
  await expect.poll(covered).toBe(true)
  await expect.poll(() => tab('Limits').getAttribute('aria-selected')).toBe('true')
  await page.getByRole('button', { name: 'Restore the details' }).click()
  await expect.poll(covered).toBe(false)

  // In a small window they take it, and the keys, until a way leads back.
  await page.getByRole('button', { name: 'Close the details' }).click()
  await page.setViewportSize({ width: 720, height: 480 })
  await row.getByRole('link').press('Enter')
  await expect.poll(covered).toBe(true)
  const focused = (name: string) => tab(name).evaluate(element => element === document.activeElement)
  await expect.poll(() => focused('Limits')).toBe(true)
  await tab('Details').click()
  const panel = page.getByRole('tabpanel')
  await panel.getByText('Price').waitFor()
  expect((await panel.boundingBox())?.height).toBeGreaterThan(300)
  await page.keyboard.press('Escape')
  await expect.poll(covered).toBe(false)
  await expect.poll(() => row.getByRole('link').evaluate(it => it === document.activeElement)).toBe(true)

  const second = await start.page(berth.address, { viewport })
  await second.page.getByRole('row', { name: /box/ }).getByRole('link').click()
  await expect
    .poll(() => second.page.getByRole('tab', { name: 'Details' }).getAttribute('aria-selected'))
    .toBe('true')
})
