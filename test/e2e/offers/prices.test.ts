import { expect } from 'vitest'
import { test } from '#test/berth/pages.ts'
import { connectAccount, rentRunning } from '#test/e2e/account-steps.ts'

test('a replacement is rented at the price shown, and no text on savings is cut off', async ({ start }) => {
  const sim = await start.simulator()
  const id = await rentRunning(sim, { label: 'box', price: 0.9, disk: 200 })
  await sim.control('POST', `/sim/instances/${id}`, { actual_status: 'unknown' })
  await sim.control('POST', '/sim/credit', { credit: 0.01 })
  const berth = await start.berth()
  const { page } = await start.page(berth.address, { viewport: { width: 1440, height: 900 } })
  await connectAccount(page, sim)

  await page.getByRole('link', { name: 'Spending' }).click()
  const saving = page.getByRole('cell', { name: /Ends all spending/ })
  await saving.waitFor()
  expect(await saving.evaluate(cell => cell.scrollWidth - cell.clientWidth)).toBe(0)

  await page.getByRole('link', { name: 'Instances' }).click()
  await page
    .getByRole('button', { name: /^Move to another machine/ })
    .first()
    .click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByText(/more than your \$\d+\.\d\d\. It would be cut off after/).waitFor()
  const verb = dialog.getByRole('button', { name: /and rent for/ })
  const shown = /\$\S+(?=\/h)/.exec(await verb.innerText())?.[0]
  await verb.click()
  await dialog.waitFor({ state: 'detached' })
  const rented = async () => {
    const { instances } = await sim.api<{ instances: { id: number; dph_total: number }[] }>(
      'GET',
      '/api/v0/instances/',
    )
    return instances.find(one => one.id !== id)
  }
  await expect.poll(rented).toBeDefined()
  expect(`$${(await rented())?.dph_total.toFixed(3)}`).toBe(shown)
})
