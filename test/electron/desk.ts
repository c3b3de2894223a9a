import { appendFile, chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Settings } from '#shared/settings.ts'
import { Berth } from '../berth/electron.ts'
import { startSession, type TestSession } from '../integration/platform/session-bus.ts'
import { startDisplay, type TestDisplay } from '../integration/platform/x-display.ts'
import { type NotificationService, startNotificationService } from './notification-service.ts'
import { type Panel, startPanel } from './panel.ts'
import { user } from './program.ts'

/** A user's desktop session on its own screen, in which Berth is started. */
export interface Desk {
  readonly session: TestSession
  /** Berth's folder. */
  readonly home: string
  /** The panel; without one the desktop has no tray. */
  readonly panel: Panel
  readonly notices: NotificationService
  /** Starts a panel where the session began without one. */
  offerPanel(shows?: boolean): Promise<Panel>
  /** Starts Berth on the demo and waits until it runs and its window is shown. */
  start(...flags: string[]): Promise<Berth>
  /** Starts Berth on the demo and does not wait for its window. */
  startAlone(...flags: string[]): Promise<Berth>
  /** Ends that Berth with the desk. */
  ends(berth: Berth): void
  /** Writes a file of the session's user. */
  write(path: string, text: string): Promise<void>
  /** Writes the settings file, before Berth starts. */
  settings(settings: Partial<Settings>): Promise<void>
  /** The URLs opened in the user's browser. */
  opened(): Promise<string[]>
  /** The titles of the notifications so far. */
  titles(): string[]
}

interface DeskOptions {
  /** Whether each test gets its own desk, or all tests of the file one. */
  of?: 'each test' | 'the file'
  /** Whether there is a panel from the start. */
  panel?: boolean
  /** Whether there is a notification service. */
  notices?: boolean
  /** Environment variables beside the session's own. */
  env?: NodeJS.ProcessEnv
}

let display: TestDisplay | undefined
/** One screen for all desks of a worker. */
async function screen(): Promise<string> {
  if (display === undefined) {
    display = await startDisplay()
    process.on('exit', () => void display?.end())
  }
  return display.name
}

/** Gives the tests of a file a desk; everything started on it ends with it. */
export function useDesk({
  of = 'each test',
  panel = true,
  notices = true,
  env = {},
}: DeskOptions = {}): Desk {
  let session: TestSession
  let ownPanel: Panel | undefined
  let service: NotificationService | undefined
  const endings: (() => unknown)[] = []
  const bus = () => session.env['DBUS_SESSION_BUS_ADDRESS'] ?? ''
  const missing = (what: string) => {
    throw new Error(`this desk has no ${what}`)
  }

  const desk: Desk = {
    get session() {
      return session
    },
    get home() {
      return join(session.home, 'berth')
    },
    get panel() {
      return ownPanel ?? missing('panel')
    },
    get notices() {
      return service ?? missing('notification service')
    },
    async offerPanel(shows) {
      ownPanel = await startPanel(bus(), shows)
      endings.push(ownPanel.end)
      return ownPanel
    },
    async start(...flags) {
      const berth = await desk.startAlone(...flags)
      await berth.connection()
      await berth.shown()
      return berth
    },
    async startAlone(...flags) {
      const berth = await Berth.start({ env: session.env, flags: ['--demo', ...flags] })
      desk.ends(berth)
      return berth
    },
    ends: berth => void endings.push(() => berth.stop()),
    async write(path, text) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
      await give(session.home)
    },
    settings: settings => desk.write(join(desk.home, 'settings.json'), JSON.stringify(settings)),
    async opened() {
      const text = await readFile(join(session.home, 'opened'), 'utf8').catch(() => '')
      return text.split('\n').filter(line => line !== '')
    },
    titles: () => desk.notices.shown.map(({ title }) => title),
  }

  const [begin, end] = of === 'the file' ? [beforeAll, afterAll] : [beforeEach, afterEach]
  begin(async () => {
    session = await startSession({ DISPLAY: await screen() }, user)
    endings.push(() => session.end())
    Object.assign(session.env, {
      BERTH_HOME: desk.home,
      TMPDIR: session.home,
      PATH: `${join(session.home, 'bin')}:${session.env['PATH'] ?? ''}`,
      ...env,
    })
    if (panel) await desk.offerPanel()
    if (notices) {
      service = await startNotificationService(bus())
      endings.push(service.end)
    }
    await writeOpener(session.home)
  })
  end(async () => {
    for (const end of endings.splice(0).reverse()) await end()
    ownPanel = undefined
    service = undefined
  })
  return desk
}

/** Makes a folder and all in it the user's as whom the specs run. */
async function give(folder: string): Promise<void> {
  if (!user) return
  const names = await readdir(folder, { recursive: true })
  for (const path of [folder, ...names.map(name => join(folder, name))])
    await chown(path, user.uid, user.gid).catch(() => undefined)
}

/** Writes an xdg-open that only records its URL. */
async function writeOpener(home: string): Promise<void> {
  await mkdir(join(home, 'bin'))
  const program = join(home, 'bin', 'xdg-open')
  await appendFile(join(home, 'opened'), '')
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$1" >> '${join(home, 'opened')}'\n`)
  await chmod(program, 0o755)
  await give(home)
}
