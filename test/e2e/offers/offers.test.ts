import { expect } from 'vitest'
import { readProfile } from '#simulator/deployment.ts'
import { patience } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { connectAccount, openConnected, rentRunning, showAllOffers } from '#test/e2e/account-steps.ts'

test('where the service caps its list, the page says so and the service filters', async ({ start }) => {
  const { page } = await openConnected(start, { simulator: { deployment: readProfile('public') } })
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByText('The service lists at most 64 offers at a time').waitFor()
  await showAllOffers(page)

  const shown = async () =>
    Number.parseInt(await page.getByText(/^[0-9,]+ offers of [0-9,]+$/).innerText(), 10)

  await page.getByRole('button', { name: '+ Filter' }).click()
  await page.getByRole('menuitem', { name: 'CUDA' }).click()
  await page.getByRole('group', { name: 'At least' }).getByRole('button', { name: '13', exact: true }).click()
  const chip = page.getByRole('button', { name: 'CUDA: 13+' })
  await chip.waitFor()
  // A full list again: offers that the cap hid are among them.
  await expect.poll(shown, { timeout: patience }).toBeGreaterThanOrEqual(64)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: '+ Filter' }).click()
  await page.getByRole('menuitem', { name: 'Static IP' }).click()
  await page.getByRole('button', { name: 'Static IP: only' }).waitFor()
  // The arrow key opens a filter and goes through its choices; Reset takes all of it back.
  await page.getByRole('button', { name: 'GPU: any' }).focus()
  await page.keyboard.press('ArrowDown')
  await page.getByLabel('Find in GPUs').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'GPU: any' }).waitFor({ state: 'detached' })
  await page.getByLabel('Find in offers').fill('gb')
  await page.getByRole('button', { name: 'Reset' }).click()
  await page.getByRole('button', { name: 'GPU: any' }).waitFor()
  expect(await page.getByRole('button', { name: /^(CUDA|Static IP):/ }).count()).toBe(0)
  expect(await page.getByLabel('Find in offers').inputValue()).toBe('')
  await page.getByRole('row').nth(1).waitFor()

  // Rows end where the line above them does.
  const right = async (name: string | RegExp) => {
    const box = await page.getByRole('button', { name }).first().boundingBox()
    return box && box.x + box.width
  }
  expect(await right(/^Rent \d/)).toBeCloseTo((await right('Rent, retry if it fails…')) ?? 0, 0)
})

test('prices include the disk size the account rented last, unless another was chosen', async ({ start }) => {
  const [one, two] = [await start.simulator(), await start.simulator()]
  await rentRunning(one, { disk: 60, label: 'box' })
  const berth = await start.berth()
  const { page } = await start.page(berth.address)
  await connectAccount(page, one)
  const first = new URL(one.baseUrl).host
  await page.getByRole('row', { name: /box/ }).waitFor()
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByText('Interruptible', { exact: true }).click()
  const told = (disk: number) => page.getByText(`plus ${disk} GB of disk`).waitFor()
  await told(60)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('connect an account')
  await page.keyboard.press('Enter')
  await connectAccount(page, two, 'Two')
  await told(20)

  await page.getByRole('button', { name: 'Up to: any' }).click()
  const field = page.getByLabel('Disk that prices include')
  await field.fill('80')
  await field.press('Tab')
  await told(80)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Account: Two' }).click()
  await page.getByRole('menuitem', { name: first }).click()
  await page.getByRole('button', { name: `Account: ${first}` }).waitFor()
  await page.getByRole('row').nth(1).waitFor()
  await told(80)
})

test('a capped service is asked once for each change of a filter, and for nothing after the user has left', async ({
  start,
}) => {
  const { sim, page } = await openConnected(start, { simulator: { deployment: readProfile('public') } })
  const asked = async (method: string, path: string) => {
    const { requests } = await sim.control<{ requests: { method: string; path: string }[] }>(
      'GET',
      '/sim/requests',
    )
    return requests.filter(request => request.method === method && request.path.startsWith(path)).length
  }
  const searches = () => asked('POST', '/api/v0/bundles/')
  const polls = () => asked('GET', '/api/v1/instances/')
  const quiet = () => page.locator('button[aria-label="Refresh"]:not([aria-busy])').waitFor()
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByText('The service lists at most 64 offers at a time').waitFor()
  await quiet()
  const before = await searches()
  await page.getByRole('button', { name: '+ Filter' }).click()
  await page.getByRole('menuitem', { name: 'Static IP' }).click()
  await expect.poll(searches).toBe(before + 1)
  await quiet()

  const fault = { method: 'POST', path: '^/api/v0/bundles/', kind: 'delay', ms: 1500, times: 1 }
  await sim.control('POST', '/sim/faults', { rules: [fault] })
  await page.keyboard.press('Escape')
  await page.getByText('Interruptible', { exact: true }).click()
  await expect.poll(searches).toBe(before + 2)
  await page.getByRole('link', { name: /^Activity/ }).click()
  await page.getByRole('heading', { name: 'Activity' }).waitFor()
  const polled = await polls()
  // By then the delayed answer has come.
  await expect.poll(polls).toBeGreaterThan(polled + 2)
  expect(await searches()).toBe(before + 2)
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByText('Prices are the current minimum bid').waitFor()
})
