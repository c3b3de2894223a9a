import type { Page } from 'playwright-core'
import { openPage, scratchFolder, startBerth, startSimulatorProcess } from '../berth/browser.ts'
import { openBrowser } from '../berth/chromium.ts'
import { connectAccount, showAllOffers } from '../e2e/account-steps.ts'
import { drawPlainRows, readTable, servePlainPage } from './plain-rows.ts'
import { median, percentile, type Row, type Size } from './row.ts'

/** Pixels scrolled per frame, more than the visible height. */
const step = 700
const budget = 1.3

/** Milliseconds of each action, on Berth's page and on the control's. */
interface Times {
  berth: number[]
  plain: number[]
}

/**
 * Scrolls, filters and sorts the table of 10,000 offers in a real browser, in turn with a control of the same cells in
 * plain recycled rows.
 */
export async function offersPageRows({ smoke }: Size): Promise<Row[]> {
  const count = smoke ? 400 : 10_000
  const sim = await startSimulatorProcess(['--offers', String(2 * count), '--speed', '1'])
  const home = await scratchFolder()
  const berth = await startBerth(home.path)
  const plainPage = await servePlainPage()
  const browser = await openBrowser()
  try {
    const { page } = await openPage(browser, berth.address)
    await connectAccount(page, sim)
    await page.getByRole('link', { name: 'Offers' }).click()
    await page.locator('tr[data-offer]').first().waitFor()
    await showAllOffers(page)
    const all = smoke ? /^[\d,]+ offers of (the first )?[\d,]+$/ : /^10,000 offers of (the first )?[\d,]+$/
    await page.getByText(all).waitFor()
    const shown = await page.getByText(/^[\d,]+ offers of (the first )?[\d,]+$/).textContent()
    const rows = Number(shown?.split(' ')[0]?.replace(',', ''))
    if (!smoke && rows !== count) throw new Error(`there are ${shown}, not ${count} of them`)
    const { page: plain } = await openPage(browser, plainPage.address)
    for (const each of [page, plain]) {
      // The loader of this file adds calls of a helper `__name`, which the page lacks.
      await each.evaluate('globalThis.__name = value => value')
    }
    await plain.evaluate(drawPlainRows, { table: await readTable(page), count: rows })
    // A pointer over a page costs a hit test per frame, so both pages get one.
    for (const each of [page, plain]) await each.getByLabel('Find in offers').click()

    const rounds = smoke ? 1 : 6
    const both = async (times: Times, measure: (page: Page) => Promise<number[]>) => {
      for (const [name, each] of [
        ['plain', plain],
        ['berth', page],
      ] as const) {
        await each.bringToFront()
        times[name].push(...(await measure(each)))
      }
    }
    const scrolled: Times = { berth: [], plain: [] }
    const typed: Times = { berth: [], plain: [] }
    const sorted: Times = { berth: [], plain: [] }
    for (let round = 0; round < rounds; round += 1)
      await both(scrolled, each => each.evaluate(scrollThrough, { step, ms: smoke ? 200 : 1500 }))
    // Twice the rounds, since few keys change the rows.
    for (let round = 0; round < 2 * rounds; round += 1)
      await both(typed, each => timesOfKeys(each, 'RTX 4090'))
    for (let round = 0; round < rounds; round += 1)
      await both(sorted, each => timesOfSorts(each, smoke ? [1] : [1, 2, 3]))
    const offers = `of ${rows.toLocaleString('en')} offers`
    return [
      row(`scrolling ${offers}`, 'frames, 95th percentile', scrolled, times => percentile(times, 0.95)),
      row(
        `a key in the filter ${offers}`,
        'from a key that changes the rows to the paint, median',
        typed,
        median,
      ),
      row(`a sort ${offers}`, 'from the key on a head to the paint, median', sorted, median),
    ]
  } finally {
    await browser.close()
    await plainPage.close()
    await berth.stop()
    await sim.stop()
    await home.remove()
  }
}

function row(what: string, compared: string, times: Times, figure: (times: number[]) => number): Row {
  const [berth, plain] = [figure(times.berth), figure(times.plain)]
  return {
    what,
    compared: `plain recycled rows; ${compared}: ${berth.toFixed(1)} to ${plain.toFixed(1)} ms`,
    measured: `${(berth / plain).toFixed(2)} ×`,
    budget: `at most ${budget} ×`,
    kept: berth / plain <= budget,
  }
}

/** In the page: scrolls the table down, repeatedly, and gives the milliseconds of each frame. */
function scrollThrough({ step, ms }: { step: number; ms: number }): Promise<number[]> {
  const scroller = document.querySelector<HTMLElement>('.scroller')
  if (!scroller) throw new Error('nothing scrolls')
  const bottom = scroller.scrollHeight - scroller.clientHeight
  scroller.scrollTop = 0
  return new Promise(resolve => {
    const times: number[] = []
    let top = 0
    let last = performance.now()
    const end = last + ms
    function next(now: number): void {
      times.push(now - last)
      last = now
      top = top + step > bottom ? 0 : top + step
      scroller?.scrollTo(0, top)
      if (now < end) requestAnimationFrame(next)
      // The first frames belong to the scroll to the top.
      else resolve(times.slice(2))
    }
    requestAnimationFrame(next)
  })
}

/** Types into the filter: milliseconds from each key's event to the paint after it. */
async function timesOfKeys(page: Page, text: string): Promise<number[]> {
  const field = page.getByLabel('Find in offers')
  await field.fill('')
  const times = await timesToPaint(
    page,
    'input',
    [...text].map(key => () => field.press(key === ' ' ? 'Space' : key)),
  )
  await field.fill('')
  return times
}

/** Sorts by columns with Enter, since pointer events wait for a frame, which would hide the time of a sort. */
function timesOfSorts(page: Page, columns: readonly number[]): Promise<number[]> {
  const heads = page.locator(':is(th button, .heads button)')
  return timesToPaint(
    page,
    'click',
    columns.map(column => () => heads.nth(column).press('Enter')),
  )
}

/**
 * Milliseconds from each key that changes the rows to the paint after the event it causes. Which keys do depends on the
 * visible rows, which differ between the pages.
 */
async function timesToPaint(
  page: Page,
  event: 'input' | 'click',
  presses: readonly (() => Promise<void>)[],
): Promise<number[]> {
  await page.evaluate(event => {
    const times: number[] = []
    let start = 0
    const key = () => {
      start = performance.now()
    }
    const caused = () => {
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = () => times.push(performance.now() - start)
        channel.port2.postMessage(undefined)
      })
    }
    document.addEventListener('keydown', key, true)
    document.addEventListener(event, caused)
    const stop = () => {
      document.removeEventListener('keydown', key, true)
      document.removeEventListener(event, caused)
      return times
    }
    Object.assign(window, { stopTiming: stop })
  }, event)
  const rows = () => page.locator('.scroller').textContent()
  const changed: boolean[] = []
  for (const press of presses) {
    const before = await rows()
    await press()
    await page.evaluate(() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn))))
    changed.push((await rows()) !== before)
  }
  const times = await page.evaluate(() => (window as unknown as { stopTiming(): number[] }).stopTiming())
  return times.filter((_, at) => changed[at])
}
