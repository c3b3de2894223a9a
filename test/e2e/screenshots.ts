import { mkdir } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { buildAll } from '#build/dist.ts'
import { at } from '#build/places.ts'
import {
  openPage,
  type SimulatorProcess,
  scratchFolder,
  startBerth,
  startSimulatorProcess,
} from '../berth/browser.ts'
import { openBrowser } from '../berth/chromium.ts'
import { connectAccount } from './account-steps.ts'

/**
 * `npm run screenshots`: the README's pictures of XFCE with Berth in a real Electron into docs/, then every screen, light
 * and dark, large and small, into screenshots/. The market is a simulator with the same seed each time.
 */
const sizes = [
  { width: 1280, height: 800 },
  { width: 720, height: 480 },
  { width: 1600, height: 1000 },
]
const screens = [
  'Home',
  'Instances',
  'Offers',
  'Projects',
  'Templates',
  'Transfers',
  'Activity',
  'Spending',
  'Hosting',
  'Account',
  'Settings',
]

interface Offer {
  id: number
  gpu_name: string
  num_gpus: number
  min_bid: number
}

/** Gives the account something of each kind for the pictures. */
async function furnish(sim: SimulatorProcess): Promise<void> {
  const { offers } = await sim.api<{ offers: Offer[] }>('POST', '/api/v0/bundles/', {
    order: [['dph_total', 'asc']],
  })
  const { offers: bids } = await sim.api<{ offers: Offer[] }>('POST', '/api/v0/bundles/', {
    type: 'bid',
    order: [['dph_total', 'asc']],
  })
  const taken = new Set<number>()
  const rent = async (label: string, gpu: string, count: number, price?: (offer: Offer) => number) => {
    const market = price ? bids : offers
    const offer = market.find(
      ({ id, gpu_name, num_gpus }) => !taken.has(id) && gpu_name === gpu && num_gpus === count,
    )
    if (!offer) throw new Error(`no ${count} × ${gpu} on the market`)
    taken.add(offer.id)
    const body = {
      image: 'pytorch/pytorch:latest',
      disk: 40,
      label,
      runtype: 'ssh',
      ...(price ? { price: price(offer) } : {}),
    }
    const { new_contract } = await sim.api<{ new_contract: number }>('PUT', `/api/v0/asks/${offer.id}/`, body)
    return new_contract
  }
  await rent('llama-finetune', 'H100 SXM', 2)
  await rent('comfy', 'RTX 4090', 1)
  const batch = await rent('batch-night', 'L40S', 4, offer => offer.min_bid * 1.05)
  const old = await rent('old-notebook', 'RTX 3090', 1)
  const dead = await rent('sweep-3', 'RTX A6000', 1)
  await sim.control('POST', '/sim/clock', { advance: 400 })
  await sim.api('PUT', `/api/v0/instances/${old}/`, { state: 'stopped' })
  await sim.control('POST', '/sim/outbid', { instance_id: batch })
  await sim.control('POST', `/sim/instances/${dead}`, { actual_status: 'offline' })
  await sim.control('POST', '/sim/clock', { advance: 20_000 })
  await sim.control('POST', '/sim/credit', { credit: 48.2 })
  await rent('eval', 'RTX 4090', 1)
}

async function connect(page: Page, sim: SimulatorProcess): Promise<void> {
  await connectAccount(page, sim)
  await page.getByText('llama-finetune').waitFor()
}

async function take(page: Page, name: string, path: string): Promise<void> {
  // Waits for fonts and the first answer, so that no screen is half drawn.
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await page.waitForTimeout(700)
  await page.screenshot({ path: `${path}/${name}.png` })
}

/** Welcome, which only a Berth without an account shows, at all sizes in both looks. */
async function takeWelcome(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try the demo' }).waitFor()
  for (const size of sizes) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await take(page, `welcome-${size.width}-${colorScheme}`, folder)
    }
  }
  const [first] = sizes
  if (first) await page.setViewportSize(first)
  await page.emulateMedia({ colorScheme: 'light' })
}

await buildAll({ quiet: true, force: false })
const folder = at('screenshots')
await mkdir(folder, { recursive: true })
const startMarket = async () => {
  const sim = await startSimulatorProcess(['--offers', '4000', '--speed', '20'])
  await furnish(sim)
  return sim
}
if (process.platform === 'linux') {
  const { takeDesktop } = await import('../electron/desktop-pictures.ts')
  for (const look of ['light', 'dark'] as const) {
    const sim = await startMarket()
    await takeDesktop(sim, look, at(`docs/desktop-${look}.png`))
    await sim.stop()
  }
}
const sim = await startMarket()
const home = await scratchFolder()
const berth = await startBerth(home.path)
const browser = await openBrowser()
try {
  let first = true
  for (const size of sizes)
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await openPage(browser, berth.address, { viewport: size, colorScheme })
      const suffix = `${size.width}-${colorScheme}`
      if (first) {
        await takeWelcome(page)
        await connect(page, sim)
      }
      first = false
      await page.getByRole('link', { name: 'Instances' }).waitFor()
      for (const screen of screens) {
        const link = page.getByRole('link', { name: screen })
        if ((await link.count()) === 0) continue
        await link.click()
        await take(page, `${screen.toLowerCase()}-${suffix}`, folder)
        if (screen === 'Offers') {
          await page
            .getByRole('button', { name: /^Rent \d/ })
            .first()
            .click()
          await take(page, `rent-${suffix}`, folder)
          await page.keyboard.press('Escape')
        }
      }
      await page.getByRole('link', { name: 'Instances' }).click()
      await page
        .getByRole('row', { name: /llama-finetune/ })
        .getByRole('button', { name: 'Terminal' })
        .click()
      await page.mouse.move(0, 0)
      await page.waitForTimeout(1500)
      await page.keyboard.type('nvidia-smi --query-gpu=name,utilization.gpu,memory.used --format=csv\n')
      await take(page, `terminal-${suffix}`, folder)
      for (const tab of ['Monitor', 'Limits', 'Details']) {
        await page.getByRole('tab', { name: tab, exact: true }).click()
        await take(page, `${tab.toLowerCase()}-${suffix}`, folder)
      }
      await page.context().close()
    }
  console.log(`The pictures are in ${folder}`)
} finally {
  await browser.close()
  await berth.stop()
  await sim.stop()
  await home.remove()
}
