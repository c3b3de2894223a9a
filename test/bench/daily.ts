import {
  openPage,
  type SimulatorProcess,
  scratchFolder,
  startBerth,
  startSimulatorProcess,
} from '../berth/browser.ts'
import { openBrowser } from '../berth/chromium.ts'
import { connectAccount, rentRunning } from '../e2e/account-steps.ts'

/** The home of a Berth that has seen its account, and the simulator it is on; `end` ends both. */
export interface Daily {
  sim: SimulatorProcess
  home: string
  end(): Promise<void>
}

/** Has a Berth see an account with running instances, and ends it: what a daily start begins with. */
export async function openDaily(instances: number): Promise<Daily> {
  const sim = await startSimulatorProcess(['--speed', '1'])
  const home = await scratchFolder()
  const end = async () => {
    await sim.stop()
    await home.remove()
  }
  const [berth, browser] = await Promise.all([startBerth(home.path), openBrowser()])
  try {
    for (let made = 0; made < instances; made += 1) await rentRunning(sim)
    const { page } = await openPage(browser, berth.address)
    await connectAccount(page, sim)
    await page.getByRole('link', { name: 'Instances' }).click()
    await page.getByText('Running', { exact: true }).first().waitFor()
  } catch (error) {
    await end()
    throw error
  } finally {
    await browser.close()
    await berth.stop()
  }
  return { sim, home: home.path, end }
}
