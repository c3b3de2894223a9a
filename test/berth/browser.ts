import '../built.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { at } from '#build/places.ts'
import { type Calls, callsOf } from './calls.ts'

const root = at('.')
/** Milliseconds to wait for anything on a page: a limit for what hangs, not a measurement. */
export const patience = 150_000

/** A process of a test, and the first line of output that the test waited for. */
export interface Running {
  process: ChildProcess
  line: string
  /** Everything printed so far. */
  output(): string
  stop(): Promise<void>
}

/** Starts a Node program and waits for the first line of its output that `wanted` accepts. */
export async function startNode(
  args: readonly string[],
  wanted: (line: string) => boolean,
  env: Record<string, string> = {},
): Promise<Running> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  child.stderr.on('data', chunk => said.push(String(chunk)))
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', text => {
      said.push(text)
      if (wanted(text)) resolve(text)
    })
    child.once('exit', code => reject(new Error(`${args.join(' ')} ended with ${code}: ${said.join('\n')}`)))
  })
  return { process: child, line, output: () => said.join('\n'), stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

/** A temporary folder, which `remove` deletes. */
export async function scratchFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'berth-e2e-'))
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 20 }) }
}

/** Starts the built Berth in browser mode on a home; returns the address it prints. */
export async function startBerth(
  home: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Running & { address: string }> {
  const running = await startNode(
    ['dist/main/browser.js', '--browser', '--no-open', ...flags],
    line => line.includes('Berth is ready at'),
    { BERTH_HOME: home, ...env },
  )
  const address = /http:\/\/\S+/.exec(running.line)?.[0]
  if (!address) throw new Error(`no address in: ${running.line}`)
  return { ...running, address }
}

/** The service that tests call. */
export interface Service extends Calls {
  baseUrl: string
  apiKey: string
}

export type SimulatorProcess = Running & Service

/** Starts the simulator in its own process, as `npm run simulator` does. */
export async function startSimulatorProcess(flags: readonly string[] = []): Promise<SimulatorProcess> {
  const own = ['--port', '0', '--calm', '--seed', '7', '--speed', '60']
  const running = await startNode(['--import', 'tsx', 'simulator/main.ts', ...own, ...flags], line =>
    line.startsWith('{'),
  )
  const { base_url, api_key } = JSON.parse(running.line) as { base_url: string; api_key: string }
  return { ...running, baseUrl: base_url, apiKey: api_key, ...callsOf(base_url, api_key) }
}

/** Opens a page on Berth; `errors` collects its scripts' errors and Svelte's warnings, for the test to check. */
export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; errors: string[] }> {
  // Animations would be drawn sixty times a second while a test waits.
  const still = { reducedMotion: 'reduce', viewport: { width: 1280, height: 800 } } as const
  const context = await browser.newContext({ ...still, ...options })
  context.setDefaultTimeout(patience)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', error => errors.push(error.message))
  page.on('console', message => {
    const isSvelte = message.text().includes('svelte.dev/e/')
    if (message.type() === 'error' || isSvelte) errors.push(message.text())
  })
  await page.goto(address)
  return { page, errors }
}

/** What the terminal on the page shows. Not read from its accessibility tree, which xterm renews once a second. */
export async function terminalText(page: Page): Promise<string> {
  return (await page.locator('.xterm-rows > div').allTextContents()).join('\n')
}
