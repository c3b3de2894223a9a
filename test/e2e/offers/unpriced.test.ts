import { expect } from 'vitest'
import { startBareService } from '#test/berth/bare-services.ts'
import { test } from '#test/berth/pages.ts'
import { connectAccount } from '#test/e2e/account-steps.ts'

test('offers with only an id are rows, and Rent asks first at an unknown price', async ({ start }) => {
  const { service, baseUrl, close } = await startBareService()
  start.atEnd(close)
  service.offers = [101, 102, 103]
  const answer = service.answer.bind(service)
  const notebook = { id: 1, hash_id: 'n', name: 'Lab', image: 'pytorch/pytorch', runtype: 'jupyter' }
  service.answer = (method, path) =>
    path === '/api/v0/template/' ? { templates: [notebook] } : answer(method, path)
  const berth = await start.berth()
  const { page } = await start.page(berth.address, { viewport: { width: 1440, height: 900 } })
  await connectAccount(page, { baseUrl, apiKey: 'some-key' })
  await page.getByRole('region', { name: 'Recipes' }).getByText('The service reports no prices').waitFor()
  await page.getByRole('link', { name: 'Offers' }).click()
  await expect.poll(() => page.locator('tbody tr').count()).toBe(3)

  await page.locator('tr[data-offer] td').first().click()
  await page.getByRole('complementary', { name: 'Offer' }).getByRole('button', { name: 'Rent…' }).click()
  const dialog = page.getByRole('dialog', { name: /^Rent 1 × unknown GPU, offer 10\d$/ })
  await dialog.getByRole('button', { name: 'Rent…' }).click()
  const question = page.getByRole('alertdialog', { name: 'Rent at an unknown price?' })
  await question.waitFor()
  expect(service.rented).toEqual([])
  await question.getByRole('button', { name: 'Rent' }).click()
  await expect.poll(() => service.rented.length).toBe(1)
  await page.getByRole('heading', { name: 'Instances' }).waitFor()
  await page.getByRole('button', { name: 'Spending unknown' }).waitFor()
})
