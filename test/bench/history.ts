import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { emptyDay, localDay, withDaysOver } from '#core/money/days.ts'
import { openMoney } from '#core/money/money.ts'
import type { StoredSample } from '#core/money/samples.ts'
import { createStore } from '#core/storage/store.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { openFiles } from '#platform/files.ts'
import { openPage, scratchFolder, startBerth, startSimulatorProcess } from '../berth/browser.ts'
import { openBrowser } from '../berth/chromium.ts'
import { connectAccount } from '../e2e/account-steps.ts'
import { emptyState } from '../unit/views.ts'
import { inTurn, median, type Row, ratioRow, type Size } from './row.ts'

const days = 90
/** The milliseconds of one frame at 60 a second. */
const frame = 1000 / 60

/** 90 days of spending, opened from disk and drawn in a real browser. */
export async function historyRows({ smoke }: Size): Promise<Row[]> {
  return [await opened(smoke ? 1 : 15), await drawn()]
}

/** The stored file of 90 days, with a sample every five minutes and twelve instances a day. */
function past(): string {
  const now = Math.floor(Date.now() / 1000 / 300) * 300
  const samples: StoredSample[] = Array.from({ length: days * 288 }, (_, at) => {
    const back = days * 288 - at
    return [now - back * 300, 123_456 + at, 90_000_000 - at * 1000]
  })
  const over = Array.from({ length: days }, (_, at) => ({
    ...emptyDay(localDay(now - (days - at) * 86_400)),
    spent: 35_000_000 + at,
    credit: 90_000_000,
    models: { 'RTX 4090': 20_000_000, 'H100 SXM': 15_000_000 },
    instances: Object.fromEntries(
      Array.from({ length: 12 }, (__, id) => [String(4000 + at + id), 2_900_000]),
    ),
  }))
  return JSON.stringify({ days: withDaysOver([], over), samples, names: {} }, undefined, 1)
}

async function opened(rounds: number): Promise<Row> {
  const home = await scratchFolder()
  try {
    const files = openFiles(home.path)
    await files.write('accounts/demo/money-past.json', past())
    const open = async () => {
      const money = await openMoney({
        platform: { clock: systemClock } as Parameters<typeof openMoney>[0]['platform'],
        files,
        folder: 'accounts/demo',
        account: 'demo',
        store: createStore(emptyState()),
        onBroken: () => undefined,
        now: () => Date.now() / 1000,
      })
      if (money.history(0, 600).samples.length < 500) throw new Error('the history was not read')
    }
    const parse = async () => JSON.parse((await files.read('accounts/demo/money-past.json')) ?? '')
    const { first, second } = await inTurn(rounds, open, parse)
    const compared = `opened and thinned, over reading and JSON.parse: ${first.toFixed(0)} to ${second.toFixed(0)} ms`
    return ratioRow('money of 90 days from disk', compared, first / second, 8)
  } finally {
    await home.remove()
  }
}

async function drawn(): Promise<Row> {
  const sim = await startSimulatorProcess(['--speed', '1'])
  const home = await scratchFolder()
  const browser = await openBrowser()
  let berth = await startBerth(home.path)
  try {
    const first = await openPage(browser, berth.address)
    await connectAccount(first.page, sim)
    // The account's folder exists after its first poll.
    await first.page.getByText('Online', { exact: true }).waitFor()
    await first.page.context().close()
    await berth.stop()
    const [account = ''] = (await readdir(join(home.path, 'accounts'))).filter(name => name !== 'demo')
    await mkdir(join(home.path, 'accounts', account), { recursive: true })
    await writeFile(join(home.path, 'accounts', account, 'money-past.json'), past())
    berth = await startBerth(home.path)
    const { page } = await openPage(browser, berth.address)
    // The loader of this file adds calls of a helper `__name`, which the page lacks.
    await page.evaluate('globalThis.__name = value => value')
    await page.getByRole('link', { name: 'Spending' }).click()
    await page.getByText(/ so far$/).waitFor()
    const painted: number[] = []
    for (const name of ['90 d', 'Year', 'Month', '90 d', 'Year', 'Month'])
      painted.push(await chosen(page, name))
    const frames = median(painted) / frame
    return {
      what: 'money of 90 days drawn',
      compared: 'frames of 16.7 ms; from the choice of a time to the paint, median',
      measured: `${frames.toFixed(2)} frames`,
      budget: 'at most 4',
      kept: frames <= 4,
    }
  } finally {
    await browser.close()
    await berth.stop()
    await sim.stop()
    await home.remove()
  }
}

/** Milliseconds from the click on a choice to its paint. */
function chosen(page: Page, name: string): Promise<number> {
  return page.evaluate(text => {
    const label = [...document.querySelectorAll('label')].find(each => each.textContent?.trim() === text)
    if (!label) throw new Error(`there is no choice ${text}`)
    return new Promise<number>(resolve => {
      const start = performance.now()
      label.click()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start), 0))
    })
  }, name)
}
