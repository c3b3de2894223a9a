import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Service } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { connectAccount, rentRunning, showAllOffers } from '#test/e2e/account-steps.ts'
import { nextMorning } from '../morning.ts'

let sim: Service
let page: Page

test.beforeAll(async ({ startForFile: start }) => {
  sim = await start.simulator()
  // The tests end by afternoon of this day: no new day, without any costs, begins meanwhile.
  await sim.control('POST', '/sim/clock', { advance: (nextMorning() - Date.now()) / 1000 })
  const berth = await start.berth()
  ;({ page } = await start.page(berth.address, { acceptDownloads: true }))
  await connectAccount(page, sim)
})

describe('money and the market over time', () => {
  test('spending is drawn, listed by GPU and instance, and saved as CSV', async () => {
    const id = await rentRunning(sim)
    await page.getByRole('link', { name: 'Instances' }).click()
    // Seen running: before, nobody knows since when it has cost something.
    const row = page.getByRole('row').filter({ hasText: String(id) })
    await row.filter({ hasText: 'Running' }).first().waitFor()
    await sim.control('POST', '/sim/clock', { advance: 36_000 })
    const spent = async () =>
      (await sim.control<{ micro_dollars: number }>('GET', '/sim/ledger')).micro_dollars / 1_000_000
    const atLeast = (await spent()) * 0.8
    expect(atLeast).toBeGreaterThan(0.1)

    // A click on the spending in Instances opens Spending.
    await page.getByRole('button', { name: /^Spending/ }).click()
    const part = page.getByRole('region', { name: 'Spending', exact: true })
    const soFar = part.locator('dt:has-text("so far") + dd')
    const shown = async () => Number((await soFar.textContent())?.replace('$', ''))
    await expect.poll(shown).toBeGreaterThan(atLeast)
    const byGpu = part.getByRole('region', { name: 'Spenders' })
    const together = byGpu.getByRole('row', { name: 'Total' }).getByRole('cell')
    await expect.poll(() => together.first().textContent()).toMatch(/[1-9]/)
    expect(await part.getByRole('img', { name: /^Spending/ }).getAttribute('aria-label')).toMatch(
      /highest was \$\d/,
    )
    await part.getByText('By instance', { exact: true }).click()
    await byGpu.getByRole('rowheader', { name: new RegExp(`#${id}`) }).waitFor()
    const slider = part.getByRole('slider')
    await slider.fill(String(new Date(nextMorning()).getDate() - 1))
    expect(await slider.getAttribute('aria-valuetext')).toContain(`#${id} $`)
    await slider.press('Enter')
    const why = part.getByRole('table', { name: /^Instances of / })
    const costs = why.getByRole('row', { name: new RegExp(`#${id}`) })
    await expect.poll(() => costs.textContent()).toMatch(/\d h( \d+ min)?\$\d+\.\d\d/)
    // With forced colors each series has its letter, on its bars and beside its name.
    await page.emulateMedia({ forcedColors: 'active' })
    await byGpu.getByText('A', { exact: true }).waitFor()
    await page.emulateMedia({ forcedColors: 'none' })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      part.getByRole('button', { name: 'Save as CSV' }).click(),
    ])
    const table = await readFile(await download.path(), 'utf8')
    expect(table).toContain('day,instance,label,gpu,spent_usd,project')
    expect(table).toContain(`,${id},`)
    await part.getByText('Show as table').click()
    await part.getByRole('region', { name: 'Spending by day' }).getByRole('rowheader').first().waitFor()
    await part
      .getByRole('region', { name: 'Credit lasts' })
      .getByText(/^(until .*, )?at \$/)
      .waitFor()

    const lane = part.getByRole('row', { name: new RegExp(`#${id}`) }).last()
    await lane.getByRole('img', { name: /^ran \d/ }).waitFor()
    await lane.getByText(/^(Ends all spending|Over a year|\+\d.*)$/).waitFor()

    // By keyboard: the credit at each moment, and the forecast at the end.
    await page.getByRole('link', { name: 'Account' }).click()
    const credit = page.getByRole('slider', { name: /^Credit/ })
    await credit.press('Home')
    expect(await credit.getAttribute('aria-valuetext')).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d: \$\d+\.\d\d$/)
    await credit.press('End')
    expect(await credit.getAttribute('aria-valuetext')).toMatch(/, at the current rate$/)
    await page.getByText('Show as table').click()
    await page.getByRole('region', { name: 'Credit over time' }).getByRole('rowheader').first().waitFor()
  })

  test('a watch reports a new offer, leads to renting it, and is paused and deleted', async () => {
    await page.getByRole('link', { name: 'Offers' }).click()
    const rents = page.getByRole('button', { name: /^Rent/ })
    await rents.first().waitFor()
    await showAllOffers(page)
    const { offers } = await sim.api<{ offers: { id: number; machine_id: number }[] }>(
      'POST',
      '/api/v0/bundles/',
      {
        verified: { eq: true },
        rentable: { eq: true },
        type: 'on-demand',
        order: [['dph_total', 'asc']],
      },
    )
    // Its machine has no other offer, so it is new once it is back.
    const alone = offers.find(
      ({ machine_id: machine }) => offers.filter(other => other.machine_id === machine).length === 1,
    )
    const taken = await sim.api<{ new_contract: number }>('PUT', `/api/v0/asks/${alone?.id}/`, {
      image: 'ubuntu',
      disk: 20,
    })
    await page.getByRole('button', { name: 'Watch…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Anything')
    await dialog.getByLabel('Check every').fill('1.5')
    await dialog.getByRole('button', { name: 'Watch', exact: true }).click()
    await dialog.getByText('Whole minutes.').waitFor()
    await dialog.getByLabel('Check every').fill('1')
    await dialog.getByRole('button', { name: 'Watch', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    // Only offers that appear later are news.
    await page.getByRole('button', { name: 'Watches 1' }).click()
    const row = dialog.getByRole('listitem', { name: 'Anything' })
    await row.getByText(/^\d[\d,]* match/).waitFor()
    await sim.api('DELETE', `/api/v0/instances/${taken.new_contract}/`)
    await row.getByRole('button', { name: 'Search now' }).click()
    await page.keyboard.press('Escape')
    await page.getByText(/“Anything”: .* new, .* now\./).waitFor()
    await page.getByRole('link', { name: 'Activity' }).click()
    await page.getByRole('button', { name: 'Rent…' }).click()
    await dialog.getByRole('button', { name: /^Rent for/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Watches 1' }).click()
    await row.getByText('Watching').waitFor()
    await row.getByRole('button', { name: 'Pause' }).click()
    await row.getByText('Paused').waitFor()
    await row.getByRole('button', { name: 'Delete' }).click()
    await row.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByText(/^No watches yet\./).waitFor()
    await page.keyboard.press('Escape')
  })

  test('a watch that may rent does so and says when it’s done', async () => {
    await page.getByRole('link', { name: 'Offers' }).click()
    await page.getByRole('button', { name: 'Watch…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('One of these')
    await dialog.getByLabel('Rent automatically').click()
    await dialog.getByRole('radio', { name: 'None' }).check()
    await dialog.getByLabel('Disk (GB)').fill('33')
    await dialog.getByText('Environment, ports').click()
    await dialog.getByLabel('Label').fill('by-watch')
    await dialog.getByRole('button', { name: 'Variable' }).click()
    await dialog.getByLabel('Name of variable 1').fill('HF_TOKEN')
    await dialog.getByLabel('Value of HF_TOKEN').fill('s3cret')
    await dialog.getByLabel('HF_TOKEN is secret').check()
    await dialog.getByRole('button', { name: 'Watch and rent' }).click()
    const price = dialog.getByLabel('Price up to')
    await expect.poll(() => price.getAttribute('aria-invalid')).toBe('true')
    // Escape asks before it discards what was filled in.
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await price.fill('0.5')
    await dialog.getByRole('button', { name: 'Watch and rent' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('The watch “One of these” is done').first().waitFor({ timeout: 150_000 })
    const { instances } = await sim.api<{ instances: RentedByWatch[] }>('GET', '/api/v0/instances/')
    const rented = instances.filter(({ label }) => label?.includes('by-watch'))
    expect(rented).toMatchObject([{ actual_status: 'running', disk_space: 33 }])
    expect(Object.fromEntries(rented[0]?.extra_env ?? [])).toMatchObject({ HF_TOKEN: 's3cret' })
  })

  test('a changed watch keeps its values and secrets, and rents another machine', async () => {
    await page.getByRole('link', { name: 'Offers' }).click()
    await page.getByRole('button', { name: 'Watches 1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Change…' }).click()
    await expect.poll(() => dialog.getByLabel('Disk (GB)').inputValue()).toBe('33')
    await expect.poll(() => dialog.getByLabel('Price up to').inputValue()).toBe('0.50')
    expect(await dialog.getByLabel('Value of HF_TOKEN').inputValue()).toBe('')
    await dialog.getByLabel('Machines to rent').fill('2')
    // The command for each rented instance is saved and shown again.
    await dialog.getByRole('button', { name: 'Then run a command…' }).click()
    await dialog.getByRole('textbox', { name: 'Command' }).fill('python3 train.py')
    await dialog.getByText('Stop it', { exact: true }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Commands start over SSH').waitFor()
    await dialog.getByText('SSH', { exact: true }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Watches 1' }).click()
    const row = dialog.getByRole('listitem', { name: 'One of these' })
    await row.getByText('Then runs python3 train.py, stop.').waitFor()
    await row.getByRole('button', { name: 'Change…' }).click()
    await expect
      .poll(() => dialog.getByRole('textbox', { name: 'Command' }).inputValue())
      .toBe('python3 train.py')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    const running = async () =>
      (await sim.api<{ instances: RentedByWatch[] }>('GET', '/api/v0/instances/')).instances
        .filter(({ label }) => label?.includes('by-watch'))
        .map(({ extra_env }) => new Map(extra_env).get('HF_TOKEN'))
    await expect.poll(running).toEqual(['s3cret', 's3cret'])
  })

  test('each instance shows its savings when stopped; stopping it there can be undone', async () => {
    await sim.control('POST', '/sim/credit', { credit: 100 })
    // Without another one the credit would last for years once this one is stopped.
    await rentRunning(sim)
    const id = await rentRunning(sim)
    await page.getByRole('link', { name: 'Spending' }).click()
    const lanes = page.getByRole('table', { name: 'Instances in the last 7 days' })
    const lane = lanes.getByRole('row', { name: new RegExp(`#${id}`) })
    await lane.getByText(/^\+\d+ (d|h|min)/).waitFor({ timeout: 150_000 })
    await lane.getByRole('button', { name: /^Stop / }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(new RegExp(`#${id} keeps running`)).waitFor()
  })
})

interface RentedByWatch {
  actual_status: string
  label: string | null
  disk_space: number
  extra_env: [string, string][]
}
