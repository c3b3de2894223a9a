import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Demo, DemoControls } from '../core/demo.ts'
import type { Files } from '../ports/files.ts'
import { openFiles } from './files.ts'

/** The part of the embedded service that the demo uses. Only the entries know where it comes from. */
export interface Market {
  baseUrl: string
  apiKey: string
  controls: { [name in keyof DemoControls]: (...args: Parameters<DemoControls[name]>) => unknown }
  close(): Promise<void>
}

export interface RunningDemo {
  demo: Demo
  /** Stops the market and removes what the demo kept. */
  close(): Promise<void>
}

/** The demo around a market that was started: what it keeps lies in a temporary folder. */
export async function openDemo(
  market: Market,
  speed: number,
  log: (line: string) => void,
): Promise<RunningDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-demo-'))
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
  }
}

/** Whether the user has connected an account: then the demo is shown only when it is asked for. */
export async function hasAccounts(files: Files): Promise<boolean> {
  const text = await files.read('accounts.json')
  try {
    const kept: unknown = JSON.parse(text ?? '{}')
    const accounts = typeof kept === 'object' && kept !== null && 'accounts' in kept ? kept.accounts : []
    return Array.isArray(accounts) && accounts.length > 0
  } catch {
    return false
  }
}
