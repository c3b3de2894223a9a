import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import type { BerthConnection } from '#cli/connection.ts'
import { reachBerth } from '#cli/reach.ts'
import { app as builtApp, program as electronProgram, user } from '../electron/program.ts'
import { patience } from './browser.ts'

/** A window, as Electron sees it. */
export interface SeenWindow {
  url: string
  visible: boolean
  focused: boolean
  maximized: boolean
  bounds: { x: number; y: number; width: number; height: number }
}

/** A message box that Berth shows. */
export interface Question {
  message: string
  detail: string
  buttons: string[]
  /** The buttons that Enter and Escape choose. */
  enter: string | undefined
  escape: string | undefined
}

/** How to start Berth. */
export interface Start {
  env: NodeJS.ProcessEnv
  flags: readonly string[]
  /** The program: Electron, which is given the app, or a packaged Berth. */
  program?: string
  /** The app's folder; the built one if it is left out. */
  app?: string
}

/** The main process's list of message boxes that wait for an answer. */
declare global {
  var berthQuestions:
    | { options: Electron.MessageBoxOptions; resolve(answer: Electron.MessageBoxReturnValue): void }[]
    | undefined
}

/** A function that runs in the main process. */
type InMain<Answer, Arg> = (
  electron: typeof Electron.CrossProcessExports,
  arg: Arg,
) => Answer | Promise<Answer>

/** Berth in a real Electron. */
export class Berth {
  readonly electron: ElectronApplication
  /** Resolves when Berth ends, with its exit code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** Errors of pages' scripts and on their consoles. */
  readonly errors: string[] = []
  readonly #start: Start
  readonly #process: ChildProcess
  #connection: Promise<BerthConnection> | undefined

  /** Starts Berth; does not wait for its window. */
  static async start(start: Start): Promise<Berth> {
    const { env, flags, program, app = builtApp } = start
    const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    const electron = await _electron.launch({
      executablePath: program ?? electronProgram,
      args: [...(program ? [] : [app]), ...flags],
      cwd: env['HOME'] ?? '/',
      env: Object.fromEntries(given),
      // Otherwise Playwright would switch off the sandbox.
      chromiumSandbox: true,
      // Otherwise it would make every desktop a light one.
      colorScheme: null,
      timeout: patience,
    })
    const berth = new Berth(electron, start)
    await berth.look(holdQuestions)
    return berth
  }

  private constructor(electron: ElectronApplication, start: Start) {
    this.electron = electron
    this.#start = start
    this.#process = electron.process()
    this.ended = once(this.#process, 'exit').then(([code, signal]) => code ?? signal)
    for (const page of electron.windows()) this.#listen(page)
    electron.on('window', page => this.#listen(page))
  }

  #listen(page: Page): void {
    page.setDefaultTimeout(patience)
    page.on('pageerror', error => this.errors.push(error.message))
    page.on('console', message => message.type() === 'error' && this.errors.push(message.text()))
  }

  /** Waits until the main window is visible, or hidden. */
  async shown(visible = true): Promise<void> {
    await until(async () => ((await this.visible()) ?? false) === visible)
  }

  /** The page of the main window, or the one at an address, once there is one. */
  async page(address?: string): Promise<Page> {
    const isIt = (url: string) =>
      address === undefined ? url.startsWith(`${mainAddress}#`) || url === mainAddress : url === address
    return until(async () => this.electron.windows().find(page => isIt(page.url()) && !page.isClosed()))
  }

  /**
   * Asks the main process by a function that runs there, with Electron and an argument. Asks again where Electron's
   * garbage collector takes the answer before the inspector has it.
   */
  async look<Answer, Arg = undefined>(ask: InMain<Answer, Arg>, arg?: Arg): Promise<Answer> {
    for (;;) {
      try {
        return (await this.electron.evaluate(ask as never, arg as never)) as Answer
      } catch (error) {
        if (!String(error).includes('garbage collected')) throw error
      }
    }
  }

  /** Runs a function in the main process, which may end it before it answers. */
  async act<Arg = undefined>(act: InMain<unknown, Arg>, arg?: Arg): Promise<void> {
    await this.electron.evaluate(act as never, arg as never).catch(() => undefined)
  }

  /** The windows, the main one first. */
  windows(): Promise<SeenWindow[]> {
    return this.look(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()
        .toSorted((a, b) => a.id - b.id)
        .map(window => ({
          url: window.webContents.getURL(),
          visible: window.isVisible(),
          focused: window.isFocused(),
          maximized: window.isMaximized(),
          bounds: window.getBounds(),
        })),
    )
  }

  /** Whether the main window is visible; undefined without one. */
  async visible(): Promise<boolean | undefined> {
    return (await this.windows())[0]?.visible
  }

  /** Closes a window as its close button does. Where that ends Berth, no answer comes. */
  async close(at = 0): Promise<void> {
    const close = ({ BrowserWindow }: typeof Electron.CrossProcessExports, at: number) => {
      const windows = BrowserWindow.getAllWindows().toSorted((a, b) => a.id - b.id)
      windows[at]?.close()
    }
    await this.act(close, at)
  }

  /** Closes the main window and waits until it is hidden. */
  async closeToTray(): Promise<void> {
    await this.close()
    await this.shown(false)
  }

  /** Drops a local file or folder on the main window's page, at a point. */
  async drop(path: string, at: { x: number; y: number }): Promise<void> {
    const page = await this.page()
    const session = await page.context().newCDPSession(page)
    const data = { items: [], files: [path], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, ...at, data })
    await session.detach()
  }

  /** The message boxes that wait for an answer, oldest first. They are not drawn. */
  questions(): Promise<Question[]> {
    return this.look(() =>
      (globalThis.berthQuestions ?? []).map(({ options }) => ({
        message: options.message,
        detail: options.detail ?? '',
        buttons: options.buttons ?? [],
        enter: options.buttons?.[options.defaultId ?? 0],
        escape: options.buttons?.[options.cancelId ?? 0],
      })),
    )
  }

  /** Answers the oldest question. */
  answer(button: string): Promise<void> {
    return this.act((_electron, button) => {
      const question = globalThis.berthQuestions?.shift()
      const response = question?.options.buttons?.indexOf(button) ?? -1
      if (response < 0) throw new Error(`no question with a button ${button}`)
      question?.resolve({ response, checkboxChecked: false })
    }, button)
  }

  /** Quits as the desktop asks to. The answer may not arrive. */
  async quit(): Promise<void> {
    await this.act(({ app }) => app.quit())
  }

  /** A connection as the command `berth` has one, for commands and State. */
  connection(): Promise<BerthConnection> {
    const home = String(this.#start.env['BERTH_HOME'])
    this.#connection ??= until(() => reachBerth(home, undefined).catch(() => undefined))
    return this.#connection
  }

  async command(...given: Parameters<BerthConnection['command']>): Promise<unknown> {
    return (await this.connection()).command(...given)
  }

  async state(): ReturnType<BerthConnection['state']> {
    return (await this.connection()).state()
  }

  /** Starts Berth again beside this one; gives the second process's exit code. */
  async startAgain(...flags: string[]): Promise<number | null> {
    return runBerth({ ...this.#start, flags })
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name)
  }

  async stop(): Promise<void> {
    ;(await this.#connection?.catch(() => undefined))?.close()
    this.signal('SIGKILL')
    await this.ended
  }
}

/** Waits for what only shows when it is looked at; rejects where it never comes. */
async function until<T>(look: () => Promise<T>): Promise<NonNullable<T>> {
  const end = performance.now() + patience
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > end) throw new Error(`it never came: ${look}`)
    await pause(50)
  }
}

const mainAddress = 'app://berth/index.html'

/** Runs Berth to its end, seen from outside; gives its exit code. */
export async function runBerth({ env, flags, program }: Start): Promise<number | null> {
  const args = [...(program ? [] : [builtApp]), ...flags]
  const child = spawn(program ?? electronProgram, args, {
    ...(program && user),
    cwd: '/',
    env,
    stdio: 'ignore',
  })
  const [code] = await once(child, 'exit')
  return code
}

/** In the main process: message boxes wait for `answer`, and are not drawn. */
function holdQuestions({ dialog }: typeof Electron.CrossProcessExports): void {
  const held: NonNullable<typeof globalThis.berthQuestions> = []
  globalThis.berthQuestions = held
  dialog.showMessageBox = (...given: unknown[]) =>
    new Promise(resolve => held.push({ options: given.at(-1) as Electron.MessageBoxOptions, resolve }))
}
