import type { Page } from 'playwright-core'
import { openBrowser, openPage, scratchFolder, startBerth, startSimulatorProcess } from '../e2e/app.ts'
import { median, percentile, type Row } from './row.ts'

/** The milliseconds of one frame at 60 a second. */
const frame = 1000 / 60

/** The table of offers with ten thousand rows, in a real browser: scrolling, typing into a filter, sorting. */
export async function offersPageRows(): Promise<Row[]> {
  const sim = await startSimulatorProcess(['--offers', '20000'])
  const home = await scratchFolder()
  const berth = await startBerth(home.path)
  const browser = await openBrowser()
  try {
    const { page } = await openPage(browser, berth.address)
    // The loader that runs this file calls a helper of its own in every function, which the page does not have.
    await page.evaluate('globalThis.__name = value => value')
    await connect(page, sim.baseUrl, sim.apiKey)
    await page.getByRole('link', { name: 'Offers' }).click()
    await page
      .getByRole('button', { name: /^Rent / })
      .first()
      .waitFor()
    await page.waitForFunction(() => /(^|[^\d])10,000 (of|offers)/.test(document.body.textContent ?? ''))

    const frames = await page.evaluate(scrollThrough)
    const typed = await measured(page, 'RTX 4090', async key => {
      await page.getByLabel('Find in offers').press(key)
    })
    const sorted: number[] = []
    for (const name of ['Memory', 'Disk', 'Reliable', 'Memory', 'Disk', 'Reliable'])
      sorted.push(await page.evaluate(clickAndPaint, name))
    return [
      framesRow('scrolling 10,000 offers', 'frame, 95th percentile', percentile(frames, 0.95) / frame, 1.1),
      framesRow(
        'a key in the filter of 10,000 offers',
        'from the key to the paint, median',
        median(typed) / frame,
        2,
      ),
      framesRow('a sort of 10,000 offers', 'from the click to the paint, median', median(sorted) / frame, 4),
    ]
  } finally {
    await browser.close()
    await berth.stop()
    await sim.stop()
    await home.remove()
  }
}

function framesRow(what: string, compared: string, frames: number, atMost: number): Row {
  return {
    what,
    compared: `frames of 16.7 ms; ${compared}`,
    measured: `${frames.toFixed(2)} frames`,
    budget: `at most ${atMost}`,
    kept: frames <= atMost,
  }
}

async function connect(page: Page, baseUrl: string, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Connect your account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Base URL').fill(baseUrl)
  await dialog.getByLabel('API key').fill(key)
  await dialog.getByRole('button', { name: /^Connect/ }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** In the page: scrolls the table for three seconds and gives the milliseconds of each frame. */
function scrollThrough(): Promise<number[]> {
  const scroller = document.querySelector<HTMLElement>('.scroller')
  if (!scroller) throw new Error('nothing scrolls')
  return new Promise(resolve => {
    const times: number[] = []
    let last = performance.now()
    const end = last + 3000
    function step(now: number): void {
      times.push(now - last)
      last = now
      if (scroller) scroller.scrollTop += 700
      if (now < end) requestAnimationFrame(step)
      else resolve(times.slice(1))
    }
    requestAnimationFrame(step)
  })
}

/** Milliseconds from each key's event to the paint after it. */
async function measured(page: Page, text: string, press: (key: string) => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const marks: number[] = []
    Object.assign(window, { marks })
    document.addEventListener(
      'keydown',
      () => {
        const start = performance.now()
        requestAnimationFrame(() => {
          const channel = new MessageChannel()
          channel.port1.onmessage = () => marks.push(performance.now() - start)
          channel.port2.postMessage(undefined)
        })
      },
      true,
    )
  })
  for (const key of text) {
    await press(key === ' ' ? 'Space' : key)
    await page.evaluate(
      () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    )
  }
  return page.evaluate(() => (window as unknown as { marks: number[] }).marks)
}

/** In the page: clicks a column's head and gives the milliseconds until what follows is painted. */
function clickAndPaint(name: string): Promise<number> {
  const head = [...document.querySelectorAll<HTMLElement>('[role=columnheader] button, th button')].find(
    button => button.textContent?.includes(name),
  )
  if (!head) throw new Error(`no column ${name}`)
  return new Promise(resolve => {
    const start = performance.now()
    head.click()
    requestAnimationFrame(() => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => resolve(performance.now() - start)
      channel.port2.postMessage(undefined)
    })
  })
}
