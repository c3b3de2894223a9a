import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { openPage, startBerth } from '../berth/browser.ts'
import { openBrowser } from '../berth/chromium.ts'
import { startBareServer } from './bare-server.ts'
import { openDaily } from './daily.ts'
import type { Row, Size } from './row.ts'

/** Clock ticks per second of processor time on Linux. */
const ticks = 100

/** The idle process of browser mode with a page that shows ten instances. Linux only. */
export async function idleRows({ smoke }: Size): Promise<Row[]> {
  if (process.platform !== 'linux') return []
  const seconds = smoke ? 1 : 60
  const daily = await openDaily(smoke ? 1 : 10)
  const browser = await openBrowser()
  const bare = await startBareServer()
  const berth = await startBerth(daily.home)
  try {
    const { page } = await openPage(browser, berth.address)
    const enter = page.getByRole('button', { name: 'Enter key' })
    // Without a keychain the key has to be entered again.
    if (
      await enter.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      )
    ) {
      await enter.click()
      await page.getByRole('dialog').getByLabel('API key').fill(daily.sim.apiKey)
      await page.getByRole('dialog').getByRole('button', { name: 'Enter key' }).click()
    }
    await page.getByRole('link', { name: 'Instances' }).click()
    await page.getByText('Running', { exact: true }).first().waitFor()
    await wait(smoke ? 0 : 5000)
    const pid = berth.process.pid ?? 0
    const before = await cpuSeconds(pid)
    await wait(seconds * 1000)
    const cpu = (((await cpuSeconds(pid)) - before) / seconds) * 100
    const [own, plain] = [await resident(pid), await resident(bare.process.pid ?? 0)]
    return [
      {
        what: 'idle with 10 instances: processor',
        compared: `of one core, over ${seconds} s`,
        measured: `${cpu.toFixed(2)}%`,
        budget: 'at most 0.5%',
        kept: cpu <= 0.5,
      },
      {
        what: 'idle with 10 instances: resident memory',
        compared: `a bare Node server: ${own.toFixed(0)} to ${plain.toFixed(0)} MB`,
        measured: `${(own / plain).toFixed(2)} ×`,
        budget: 'at most 1.6 ×',
        kept: own / plain <= 1.6,
      },
    ]
  } finally {
    await browser.close()
    await berth.stop()
    await bare.stop()
    await daily.end()
  }
}

/** Seconds of processor time of a process. */
export async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The third field follows the name, which may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticks
}

/** Megabytes of resident memory of a process. */
async function resident(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) * 1024) / 1_000_000
}
