import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { reachBerth } from '#cli/reach.ts'
import { patience, type SimulatorProcess, startSimulatorProcess } from '../berth/browser.ts'
import { rentRunning } from '../e2e/account-steps.ts'
import { startPanel } from '../electron/panel.ts'
import { startSession, type TestSession } from '../integration/platform/session-bus.ts'
import { startDisplay } from '../integration/platform/x-display.ts'
import { lacks } from '../needs.ts'
import { cpuSeconds } from './idle.ts'
import { median, type Row, ratioRow, type Size } from './row.ts'

/**
 * The control: one window of a page with a row, shown when ready, and a tray icon. Like Berth it draws without a GPU
 * where there is none: waiting for a GPU process that fails is no measure.
 */
const bareApp = `
const { app, BrowserWindow, Tray } = require('electron')
const { existsSync } = require('node:fs')
if (!existsSync('/dev/dri') && !existsSync('/dev/nvidiactl')) app.disableHardwareAcceleration()
let tray
app.whenReady().then(() => {
  tray = new Tray(process.env.BARE_ICON)
  const window = new BrowserWindow({ width: 1080, height: 720, show: false })
  window.once('ready-to-show', () => window.show())
  window.loadFile('index.html')
})
`
const barePage = '<!doctype html><title>Bare</title><table><tr><td data-instance>row</td></tr></table>'

/**
 * Loaded into either main process: prints when its window is shown, has a row, and has ended.
 * SIGUSR2 closes the window as the user does, and the minutes for which a hidden one stays pass at once.
 */
const watcher = `
setImmediate(() => {
  if (process.type !== 'browser') return
  const { app } = require('electron')
  const say = what => process.stdout.write('bench ' + what + '\\n')
  const observe = \`new Promise(resolve => {
    const look = () => document.querySelector('tr [data-instance]') && resolve(true)
    new MutationObserver(look).observe(document, { childList: true, subtree: true })
    look()
  })\`
  app.on('browser-window-created', (_, window) => {
    window.once('show', () => say('shown'))
    window.webContents.once('dom-ready', () => window.webContents.mainFrame.executeJavaScript(observe).then(() => say('row')))
    window.webContents.once('destroyed', () => say('gone'))
    process.once('SIGUSR2', () => {
      const later = setTimeout
      globalThis.setTimeout = (call, ms) => later(call, ms === 300_000 ? 0 : ms)
      window.close()
    })
  })
})
`

/** An app in the real Electron: the program's arguments and its environment. */
interface App {
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
}

/**
 * Berth in a real Electron, on an account with ten instances, beside the barest app in the same one. Linux only. Gives
 * a reason where no Electron can be had.
 */
export async function electronRows({ smoke }: Size): Promise<Row[] | string> {
  if (process.platform !== 'linux') return 'processes are only measured on Linux'
  const lacking = lacks('Xvfb', 'dbus-daemon', 'gnome-keyring-daemon')
  if (lacking !== '') return lacking
  const there = await import('../electron/program.ts').catch((error: unknown) => error)
  if (there instanceof Error) return there.message
  const { app, program, electron, user } = there as typeof import('../electron/program.ts')

  const endings: (() => unknown)[] = []
  try {
    const display = await startDisplay()
    endings.push(display.end)
    const session = await startSession({ DISPLAY: display.name }, user)
    endings.push(() => session.end())
    const panel = await startPanel(session.env['DBUS_SESSION_BUS_ADDRESS'] ?? '')
    endings.push(panel.end)
    session.start('gnome-keyring-daemon', ['--unlock', '--foreground', '--components=secrets'], 'pw')
    const home = join(session.home, 'berth')
    const env = { ...session.env, BERTH_HOME: home, BARE_ICON: join(app, 'dist/icons/app.png') }
    const apps = await prepare(session, { program, env, args: [app] })
    const sim = await startSimulatorProcess(['--speed', '1'])
    endings.push(() => sim.stop())
    await connect(apps.berth, home, sim, smoke ? 1 : 10)
    const in_ = `in Electron ${electron.version}`
    return [
      await startRow(apps, in_, smoke ? 1 : 15),
      ...(await idleRows(apps, in_, smoke ? { settle: 0, idle: 1 } : { settle: 10, idle: 60 })),
    ]
  } finally {
    for (const end of endings.reverse()) await end()
  }
}

interface Apps {
  berth: App
  bare: App
}

async function prepare(session: TestSession, berth: App): Promise<Apps> {
  const folder = join(session.home, 'bare')
  await mkdir(folder)
  const files = {
    'package.json': JSON.stringify({ name: 'bare', version: '1.0.0', main: 'main.js' }),
    'main.js': bareApp,
    'index.html': barePage,
    'watcher.cjs': watcher,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const env = { ...berth.env, NODE_OPTIONS: `--require=${join(folder, 'watcher.cjs')}` }
  return { berth: { ...berth, env }, bare: { ...berth, env, args: [folder] } }
}

/** Has Berth see the account with running instances, and keep its key. */
async function connect(berth: App, home: string, sim: SimulatorProcess, instances: number): Promise<void> {
  for (let made = 0; made < instances; made += 1) await rentRunning(sim)
  const running = await Running.start(berth, '--hidden')
  try {
    const end = performance.now() + patience
    const reach = (): ReturnType<typeof reachBerth> =>
      reachBerth(home, undefined).catch(error =>
        performance.now() < end ? wait(50).then(reach) : Promise.reject(error),
      )
    const connection = await reach()
    await connection.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
    connection.close()
  } finally {
    await running.stop()
  }
}

/** Milliseconds between one app's end and the next start, which would else measure that end, and between warm-ups. */
const rest = { measured: 1_000, warmUp: 5_000 }

/** A daily start: until the window is shown and has a row of instances. The two apps take turns. */
async function startRow({ berth, bare }: Apps, where: string, rounds: number): Promise<Row> {
  const times = { berth: [] as number[], bare: [] as number[] }
  for (let round = rounds > 1 ? -2 : 0; round < rounds; round += 1) {
    for (const [app, into] of [
      [berth, times.berth],
      [bare, times.bare],
    ] as const) {
      if (rounds > 1) await wait(round < 0 ? rest.warmUp : rest.measured)
      const from = performance.now()
      const running = await Running.start(app)
      await running.isOpen()
      if (round >= 0) into.push(performance.now() - from)
      await running.stop()
    }
  }
  return ratioRow(
    `${where}, process start to the first row`,
    `the barest window with a tray icon: ${median(times.berth).toFixed(0)} to ${median(times.bare).toFixed(0)} ms`,
    median(times.berth.map((time, round) => time / (times.bare[round] ?? 0))),
    1.4,
  )
}

/** Memory and processor time with ten instances: with the window, started in the tray, and closed to the tray. */
async function idleRows(
  { berth, bare }: Apps,
  where: string,
  seconds: { settle: number; idle: number },
): Promise<Row[]> {
  const settle = () => wait(seconds.settle * 1000)
  const share = async (running: Running) => {
    const before = await running.cpuSeconds()
    await wait(seconds.idle * 1000)
    return (((await running.cpuSeconds()) - before) / seconds.idle) * 100
  }

  const control = await Running.start(bare)
  await control.isOpen()
  await settle()
  const plain = await control.memory()
  await control.stop()

  const opened = await Running.start(berth)
  await opened.isOpen()
  await settle()
  const busy = await share(opened)
  const window = await opened.memory()
  const gone = opened.says('gone')
  opened.signal('SIGUSR2')
  await gone
  await settle()
  const closed = await opened.memory()
  await opened.stop()

  const hidden = await Running.start(berth, '--hidden')
  await settle()
  await settle()
  const quiet = await share(hidden)
  const tray = await hidden.memory()
  await hidden.stop()

  const memory = (when: string, bytes: number, atMost: number) =>
    ratioRow(
      `${where}, memory with 10 instances ${when}`,
      `the barest app with its window: ${mb(bytes)} to ${mb(plain)}`,
      bytes / plain,
      atMost,
    )
  const processor = (when: string, percent: number, atMost: number): Row => ({
    what: `${where}, idle with 10 instances ${when}: processor`,
    compared: `of one core, over ${seconds.idle} s`,
    measured: `${percent.toFixed(2)}%`,
    budget: `at most ${atMost}%`,
    kept: percent <= atMost,
  })
  return [
    memory('and its window', window, 1.2),
    memory('started in the tray', tray, 0.9),
    memory('closed to the tray, its window at rest', closed, 0.95),
    processor('and its window', busy, 1),
    processor('in the tray', quiet, 0.3),
  ]
}

function mb(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(0)} MB`
}

/** A started app, with all its processes. */
class Running {
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>
  /** Its watcher’s output so far. */
  readonly #said = new EventEmitter<Record<string, []>>()
  readonly #heard = new Set<string>()

  static async start({ program, args, env }: App, ...flags: string[]): Promise<Running> {
    return new Running(
      spawn(program, [...args, ...flags], { cwd: '/', env, stdio: ['ignore', 'pipe', 'ignore'] }),
    )
  }

  private constructor(child: ChildProcess) {
    this.#process = child
    this.#ended = once(child, 'exit')
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', line => {
        this.#heard.add(line)
        this.#said.emit(line)
      })
  }

  /** Waits until its watcher says so; rejects after a minute. */
  async says(what: string): Promise<void> {
    const line = `bench ${what}`
    if (!this.#heard.has(line)) await once(this.#said, line, { signal: AbortSignal.timeout(patience) })
  }

  async isOpen(): Promise<void> {
    await this.says('shown')
    await this.says('row')
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name)
  }

  async stop(): Promise<void> {
    this.signal('SIGTERM')
    await this.#ended
  }

  /** Bytes of memory of all its processes; what several share counts once. */
  async memory(): Promise<number> {
    let kilobytes = 0
    for (const pid of await this.#processes()) {
      const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(unlessEnded)
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(text ?? '')?.[1] ?? 0)
    }
    return kilobytes * 1024
  }

  /** Seconds of processor time of all its processes. */
  async cpuSeconds(): Promise<number> {
    const pids = await this.#processes()
    const each = await Promise.all(pids.map(pid => cpuSeconds(pid).catch(unlessEnded)))
    return each.reduce<number>((sum, seconds = 0) => sum + seconds, 0)
  }

  async #processes(): Promise<number[]> {
    const parents = new Map<number, number>()
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name)) continue
      const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined)
      if (text) parents.set(Number(name), Number(text.slice(text.lastIndexOf(')') + 4).split(' ')[0]))
    }
    const own = [this.#process.pid ?? 0]
    for (const pid of own) for (const [child, parent] of parents) if (parent === pid) own.push(child)
    return own
  }
}

/** Nothing for a process that has just ended. */
function unlessEnded(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error
}
