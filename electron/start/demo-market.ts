import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Demo, DemoControls, DemoMarket } from '#core/demo.ts'
import { openFiles } from '../platform/files.ts'
import type { Files } from '../platform/platform.ts'
import type { Flags } from './flags.ts'
import type { Shutdown } from './shutdown.ts'

/** The part of the embedded service that the demo uses. Only the entries know which module provides it. */
interface Market {
  baseUrl: string
  apiKey: string
  controls: {
    [name in Exclude<keyof DemoControls, 'outbox'>]: (...args: Parameters<DemoControls[name]>) => unknown
  } & Pick<DemoControls, 'outbox'>
  close(): Promise<void>
}

/** Logs failures, such as of outbidding an on-demand instance. */
function loggingFailures(controls: Market['controls'], log: (line: string) => void): DemoControls {
  const logging =
    <Args extends unknown[]>(run: (...args: Args) => unknown) =>
    (...args: Args): void => {
      void Promise.resolve()
        .then(() => run(...args))
        .catch((error: unknown) => log(`demo: ${error instanceof Error ? error.message : String(error)}`))
    }
  return {
    setCredit: logging(controls.setCredit),
    outbid: logging(controls.outbid),
    forceStatus: logging(controls.forceStatus),
    advance: logging(controls.advance),
    outbox: () => controls.outbox().map(({ channel, to, code }) => ({ channel, to, code })),
  }
}

/** Starts the embedded service with the demo's options. */
type StartMarket = (options: {
  speed: number
  offers: number
  controlPlane: false
  scratch: string
}) => Promise<Market>

/**
 * The demo, running from the start where a flag says so. `load` imports the service. Its data is below Berth's own
 * folder, which no other user can write to, and is deleted when Berth ends; after a kill, at the next start. Links in
 * it are removed, not followed.
 */
export async function demoFor(
  flags: Pick<Flags, 'demo' | 'speed'>,
  files: Files,
  shutdown: Shutdown,
  log: (line: string) => void,
  load: () => Promise<StartMarket>,
): Promise<Demo> {
  const folder = files.path('demo')
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
  await remove()
  shutdown.add(remove)
  const demoFiles = openFiles(folder)
  const { speed } = flags
  async function start(): Promise<DemoMarket> {
    const startMarket = await load()
    const scratch = join(folder, 'instances')
    const market = await startMarket({ speed, offers: 5_000, controlPlane: false, scratch })
    shutdown.add(market.close)
    return { baseUrl: market.baseUrl, key: market.apiKey, controls: loggingFailures(market.controls, log) }
  }
  let starting: Promise<DemoMarket> | undefined
  return {
    atStart: flags.demo,
    speed,
    files: demoFiles,
    start() {
      starting ??= start().catch((error: unknown) => {
        starting = undefined
        throw error
      })
      return starting
    },
  }
}
