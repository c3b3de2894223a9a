import type { Page } from 'playwright-core'
import { openBrowser, type Running, scratchFolder, startBerth } from '../e2e/app.ts'
import { startBareServer } from './bare-server.ts'
import { median, type Row, ratioRow, type Size } from './row.ts'

/** Rounds that do not count. */
const warmUps = 2

/** Compares the start of browser mode, until its page shows the demo, with an empty page of a bare Node server. */
export async function startRows({ smoke }: Size): Promise<Row[]> {
  const times = { berth: [] as number[], bare: [] as number[] }
  for (let round = smoke ? 0 : -warmUps; round < (smoke ? 1 : 7); round += 1) {
    const home = await scratchFolder()
    const berth = await untilShown(
      async () => {
        const running = await startBerth(home.path, ['--demo'])
        return { running, address: running.address }
      },
      async page => {
        await page.getByText('This is the demo market.').waitFor()
        await page.getByRole('link', { name: 'Offers' }).waitFor()
      },
    )
    await home.remove()
    const bare = await untilShown(
      async () => {
        const running = await startBareServer()
        return { running, address: running.line }
      },
      page => page.getByText('row').waitFor(),
    )
    if (round < 0) continue
    times.berth.push(berth)
    times.bare.push(bare)
  }
  return [
    ratioRow(
      'browser mode, process start to what it shows',
      `an empty page of a bare Node server: ${median(times.berth).toFixed(0)} to ${median(times.bare).toFixed(0)} ms`,
      median(times.berth) / median(times.bare),
      1.5,
    ),
  ]
}

/** Milliseconds from the parallel start of a server and a browser until the page shows its content. */
async function untilShown(
  start: () => Promise<{ running: Running; address: string }>,
  shows: (page: Page) => Promise<void>,
): Promise<number> {
  const from = performance.now()
  const [{ running, address }, browser] = await Promise.all([start(), openBrowser()])
  try {
    const page = await browser.newPage()
    await page.goto(address)
    await shows(page)
    return performance.now() - from
  } finally {
    await browser.close()
    await running.stop()
  }
}
