import { rm } from 'node:fs/promises'
import type { Demo, DemoControls } from '../../core/demo.ts'
import type { Files } from '../../ports/files.ts'
import { openFiles } from '../files.ts'
import { makeDemoFolder, tidyDemoFolders } from './demo-folder.ts'
import type { Endings } from './endings.ts'
import type { Flags } from './flags.ts'

/** The part of the embedded service that the demo uses. Only the entries know where it comes from. */
interface Market {
  baseUrl: string
  apiKey: string
  controls: {
    [name in Exclude<keyof DemoControls, 'outbox'>]: (...args: Parameters<DemoControls[name]>) => unknown
  } & Pick<DemoControls, 'outbox'>
  close(): Promise<void>
}

interface RunningDemo {
  demo: Demo
  /** Stops the market and removes what the demo kept. */
  close(): Promise<void>
}

/** The demo around a market that was started: what it keeps lies in a temporary folder. */
async function openDemo(market: Market, speed: number, log: (line: string) => void): Promise<RunningDemo> {
  const folder = await makeDemoFolder()
  return {
    demo: {
      baseUrl: market.baseUrl,
      key: market.apiKey,
      speed,
      files: await openFiles(folder),
      controls: tellingFailures(market.controls, log),
    },
    async close() {
      await market.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Something that makes no sense in the market, such as outbidding what is on demand, is said in the log. */
function tellingFailures(controls: Market['controls'], log: (line: string) => void): DemoControls {
  const telling =
    <Args extends unknown[]>(run: (...args: Args) => unknown) =>
    (...args: Args): void => {
      void Promise.resolve()
        .then(() => run(...args))
        .catch((error: unknown) => log(`demo: ${error instanceof Error ? error.message : String(error)}`))
    }
  return {
    setCredit: telling(controls.setCredit),
    outbid: telling(controls.outbid),
    forceStatus: telling(controls.forceStatus),
    advance: telling(controls.advance),
    outbox: () => controls.outbox().map(({ channel, to, code }) => ({ channel, to, code })),
  }
}

/** Starts the embedded service; its options are those of the demo. */
type StartMarket = (options: { speed: number; offers: number; controlPlane: false }) => Promise<Market>

/** The demo where it is wanted: when it was asked for, and while there is no account. `load` brings the service. */
export async function demoFor(
  flags: Pick<Flags, 'demo' | 'speed'>,
  files: Files,
  endings: Endings,
  log: (line: string) => void,
  load: () => Promise<StartMarket>,
): Promise<Demo | undefined> {
  await tidyDemoFolders()
  if (!flags.demo && (await hasAccounts(files))) return undefined
  const startMarket = await load()
  const market = await startMarket({ speed: flags.speed, offers: 5_000, controlPlane: false })
  const { demo, close } = await openDemo(market, flags.speed, log)
  endings.add(close)
  return demo
}

/** Whether the user has connected an account: then the demo is shown only when it is asked for. */
async function hasAccounts(files: Files): Promise<boolean> {
  const text = await files.read('accounts.json')
  try {
    const kept: unknown = JSON.parse(text ?? '{}')
    const accounts = typeof kept === 'object' && kept !== null && 'accounts' in kept ? kept.accounts : []
    return Array.isArray(accounts) && accounts.length > 0
  } catch {
    return false
  }
}
