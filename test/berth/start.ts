import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Settings } from '#shared/settings.ts'
import { type SimulatorOptions, startSimulator } from '#simulator/simulator.ts'
import { openPage, type Running, type Service, startBerth } from './browser.ts'
import { callsOf } from './calls.ts'

/** Starts what a test needs; all of it ends with the test, the last first. */
export interface Start {
  atEnd(end: () => unknown): void
  /** Makes a folder; returns its path. */
  folder(): Promise<string>
  /** Starts the simulator in this process, by default calm, at sixty times real speed, its machines booting in a minute. */
  simulator(options?: SimulatorOptions): Promise<Service>
  /** Starts the built Berth in browser mode, by default on a new home. */
  berth(options?: BerthStart): Promise<Running & { address: string; home: string }>
  /** Opens a page in its own context; `errors` collects its scripts' errors, of which a test that passes has none. */
  page(address: string, options?: BrowserContextOptions): Promise<{ page: Page; errors: string[] }>
}

export interface BerthStart {
  home?: string
  flags?: readonly string[]
  env?: Record<string, string>
  /** Written before it starts. Without them and without a file, Berth polls every two seconds. */
  settings?: Partial<Settings> | undefined
}

/** Starts things, which `endAll` ends. */
export function starter(browser: Browser): {
  start: Start
  endAll(): Promise<void>
  /** The errors of all pages so far. */
  errors(): string[]
  /** Prints for a failed test what its processes printed and what its pages show. */
  tellAll(): Promise<void>
} {
  const { atEnd, endAll } = collectEnds()
  const collected: string[][] = []
  const tellers: (() => string | Promise<string>)[] = []
  const start: Start = {
    atEnd,
    async folder() {
      const path = await mkdtemp(join(tmpdir(), 'berth-e2e-'))
      atEnd(() => rm(path, { recursive: true, force: true, maxRetries: 20 }))
      return path
    },
    async simulator(options = {}) {
      const { baseUrl, apiKey, close } = await startSimulator({ calm: true, seed: 2132, ...options })
      atEnd(close)
      return { baseUrl, apiKey, ...callsOf(baseUrl, apiKey) }
    },
    async berth({ home, flags = [], env = {}, settings } = {}) {
      const at = home ?? (await start.folder())
      const kept = join(at, 'settings.json')
      await mkdir(at, { recursive: true })
      if (settings || !existsSync(kept))
        await writeFile(kept, JSON.stringify({ pollInterval: 2, ...settings }))
      const berth = await startBerth(at, flags, env)
      atEnd(berth.stop)
      tellers.push(() => `Berth said:\n${berth.output()}`)
      return { ...berth, home: at }
    },
    async page(address, options) {
      const opened = await openPage(browser, address, options)
      collected.push(opened.errors)
      atEnd(() => opened.page.context().close())
      tellers.push(async () => {
        const shown = opened.page.isClosed() ? 'closed' : await opened.page.locator('body').ariaSnapshot()
        return `A page at its end:\n${shown}\n${opened.errors.join('\n')}`
      })
      return opened
    },
  }
  return {
    start,
    endAll,
    errors: () => collected.flat(),
    async tellAll() {
      for (const tell of tellers) console.info(await Promise.resolve().then(tell).catch(String))
    },
  }
}

/** Collects end functions and runs them in reverse order, all of them even if one fails. */
function collectEnds(): { atEnd: Start['atEnd']; endAll(): Promise<void> } {
  const ends: (() => unknown)[] = []
  return {
    atEnd: end => void ends.push(end),
    async endAll() {
      const failures: unknown[] = []
      for (const end of ends.splice(0).reverse()) {
        try {
          await end()
        } catch (failure) {
          failures.push(failure)
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'not all that was started has ended')
    },
  }
}
