import { type Running, startBerth } from '../berth/browser.ts'
import { startBareServer } from './bare-server.ts'
import { openDaily } from './daily.ts'
import { showInBrowser } from './plain-browser.ts'
import { median, type Row, ratioRow, type Size } from './row.ts'

/** Rounds that do not count. */
const warmUps = 2

/** Compares a daily start in browser mode, until a rented instance is shown, with an empty page of a bare Node server. */
export async function startRows({ smoke }: Size): Promise<Row[]> {
  const times = { berth: [] as number[], bare: [] as number[] }
  const daily = await openDaily(1)
  try {
    for (let round = smoke ? 0 : -warmUps; round < (smoke ? 1 : 25); round += 1) {
      const berth = await untilShown(async () => {
        const running = await startBerth(daily.home)
        return { running, address: running.address }
      }, 'tr [data-instance]')
      const bare = await untilShown(async () => {
        const running = await startBareServer()
        return { running, address: running.line }
      }, 'tr')
      if (round < 0) continue
      times.berth.push(berth)
      times.bare.push(bare)
    }
  } finally {
    await daily.end()
  }
  return [
    ratioRow(
      'browser mode, process start to the first row',
      `an empty page of a bare Node server: ${median(times.berth).toFixed(0)} to ${median(times.bare).toFixed(0)} ms`,
      // Within each round, since a machine's speed drifts.
      median(times.berth.map((time, round) => time / (times.bare[round] ?? 0))),
      1.5,
    ),
  ]
}

/** Milliseconds from the start of a server until the browser that is then started on its address shows an element. */
async function untilShown(
  start: () => Promise<{ running: Running; address: string }>,
  selector: string,
): Promise<number> {
  const from = performance.now()
  const { running, address } = await start()
  try {
    const browser = await showInBrowser(address, selector)
    const took = performance.now() - from
    await browser.end()
    return took
  } finally {
    await running.stop()
  }
}
