import { describe, expect } from 'vitest'
import { connectAccount, rentRunning } from './account-steps.ts'
import { test } from './fixtures.ts'
import type { Start } from './start.ts'

async function open(start: Start) {
  const sim = await start.simulator()
  const id = await rentRunning(sim, { label: 'box' })
  const berth = await start.berth()
  const { page, errors } = await start.page(berth.address)
  await connectAccount(page, sim)
  const row = page.getByRole('row', { name: /box/ }).first()
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, errors, row, id }
}

describe('a row of an instance', () => {
  test('shows its load as a line, its guards as they count, and what answers them', async ({ start }) => {
    const { page, errors, row, id } = await open(start)
    await row.getByRole('img', { name: /^GPU load in the last hour: \d+ % now/ }).waitFor()
    await page.getByText('1 running').waitFor()
    await row.getByRole('button', { name: /^More/ }).click()
    await page.getByRole('menuitem', { name: 'Automation' }).click()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    await page.getByRole('menuitem', { name: 'Stop it when…' }).click()
    await page.getByLabel(/^When: /).click()
    await page.getByRole('option', { name: 'After a while' }).click()
    await page.getByLabel('After', { exact: true }).fill('0.4')
    await page.getByRole('button', { name: 'Set guard' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const under = page.getByRole('row', { name: /until \d\d:\d\d · 2\d min Next: stops at \d\d:\d\d/ })
    await under.getByRole('button', { name: new RegExp(`^Keep running: box #${id}`) }).click()
    await page.getByRole('row', { name: /until \d\d:\d\d · 59 min|until \d\d:\d\d · 1 h/ }).waitFor()
    expect(errors).toEqual([])
  })

  test('holds its columns still while the window is narrow, and keeps what matters most', async ({
    start,
  }) => {
    const { page, row } = await open(start)
    const heads = () =>
      page.getByRole('table', { name: 'Instances' }).getByRole('columnheader').allInnerTexts()
    await page.setViewportSize({ width: 1440, height: 900 })
    await expect
      .poll(heads)
      .toEqual(['State', 'Name', 'GPU', 'Price', 'Spent', 'GPU load, 60 min', 'VRAM, GB', 'Up', 'Actions'])
    await page.setViewportSize({ width: 720, height: 480 })
    await expect.poll(heads).toEqual(['State', 'Name', 'GPU', 'Price', 'GPU load, 60 min', 'Actions'])
    const table = page.getByRole('table', { name: 'Instances' })
    const beyond = () => table.evaluate(it => it.scrollWidth - (it.parentElement?.clientWidth ?? 0))
    await expect.poll(beyond).toBeLessThanOrEqual(0)
    await row.getByRole('button', { name: 'Terminal' }).waitFor()
  })
})
