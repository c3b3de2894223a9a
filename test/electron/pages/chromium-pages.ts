import type { Browser, BrowserContext, CDPSession, Page, Request, Route } from 'playwright-core'
import { pageOrigin } from '../../../electron/shell/page-address.ts'
import { patience } from '../../e2e/app.ts'
import type { DoubleEvent } from '../double/web-contents.ts'
import type { UnderDouble } from '../start-under-double.ts'
import { code, decode, noOthers } from './codec.ts'
import { dropOn } from './drop-on.ts'
import type { IpcMessage } from './preload-world.ts'
import { worlds } from './worlds.ts'

/** Replaces `app://berth`, which plain Chromium cannot load; only the protocol handler answers there. */
const standIn = 'https://berth.double.invalid'
const worldName = 'berth preload'

/** Shows the windows of a main process under the double as pages of a Chromium. */
export class ChromiumPages {
  readonly #browser: Browser
  readonly #pages = new Map<number, OpenPage>()
  readonly #waiting: ((page: Page) => void)[] = []
  #double: UnderDouble | undefined

  constructor(browser: Browser) {
    this.#browser = browser
  }

  attach(double: UnderDouble): void {
    this.#double = double
  }

  /** The page of the oldest window, once it has loaded. */
  async page(): Promise<Page> {
    const [first] = this.#pages.values()
    if (first === undefined) return new Promise(resolve => this.#waiting.push(resolve))
    await first.loaded
    return first.page
  }

  /** Drops a file or folder on the oldest window's page at a point. */
  async drop(path: string, at: { x: number; y: number }): Promise<void> {
    const [first] = this.#pages.values()
    await first?.drop(path, at)
  }

  /** Errors of the pages' scripts and on their consoles. */
  errors(): string[] {
    return [...this.#pages.values()].flatMap(({ errors }) => errors)
  }

  readonly hear = (event: DoubleEvent): void => {
    const known = this.#pages.get(event.window)
    if (event.event === 'send') known?.deliver(event.channel, event.args)
    else if (event.event === 'visibility') known?.setVisibility(event.visible, event.focused)
    else if (event.event === 'close') {
      this.#pages.delete(event.window)
      known?.close()
    } else if (event.event === 'load') {
      if (known !== undefined) void known.load(event.url)
      else void this.#open(event.window, event.url)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pages.values()].map(page => page.close()))
  }

  async #open(window: number, url: string): Promise<void> {
    const double = this.#double
    if (double === undefined) throw new Error('no double is attached')
    const opened = await OpenPage.open(this.#browser, double, window)
    this.#pages.set(window, opened)
    await opened.load(url)
    for (const resolve of this.#waiting.splice(0)) resolve(opened.page)
  }
}

class OpenPage {
  readonly errors: string[] = []
  readonly page: Page
  readonly #context: BrowserContext
  readonly #session: CDPSession
  readonly #double: UnderDouble
  readonly #window: number
  /** The execution context of the preload in the current document. */
  #world: number | undefined
  #loading = false
  /** Resolves when the newest document has loaded. */
  loaded: Promise<void> = Promise.resolve()
  readonly #arriving: IpcMessage[] = []

  static async open(browser: Browser, double: UnderDouble, window: number): Promise<OpenPage> {
    const [shown] = await double.ask('windows')
    if (shown === undefined) throw new Error('the window is gone')
    const { width, height } = shown.bounds
    const context = await browser.newContext({ viewport: { width, height } })
    context.setDefaultTimeout(patience)
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    const opened = new OpenPage(context, page, session, double, window)
    await opened.#prepare(String(shown.preferences.preload))
    return opened
  }

  private constructor(
    context: BrowserContext,
    page: Page,
    session: CDPSession,
    double: UnderDouble,
    window: number,
  ) {
    this.#context = context
    this.page = page
    this.#session = session
    this.#double = double
    this.#window = window
  }

  async #prepare(preload: string): Promise<void> {
    const { page } = this
    page.on('pageerror', error => this.errors.push(error.message))
    page.on('console', message => message.type() === 'error' && this.errors.push(message.text()))
    this.#context.on('page', popup => void this.#refusePopup(popup))
    await this.#context.route('**', route => this.#answer(route))

    const scripts = await worlds()
    const session = this.#session
    session.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.name === worldName && context.auxData?.['frameId'] !== undefined) this.#world = context.id
    })
    session.on('Runtime.executionContextDestroyed', ({ executionContextId }) => {
      if (executionContextId === this.#world) this.#world = undefined
    })
    session.on('Runtime.bindingCalled', ({ payload }) => this.#post(payload))
    await session.send('Page.enable')
    await session.send('Runtime.enable')
    await session.send('Runtime.addBinding', { name: 'berthDoubleOut', executionContextName: worldName })
    // The page's world must listen before the preload's world hands the node over.
    await session.send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.page })
    const source = await scripts.preload(preload)
    await session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName })
  }

  load(url: string): Promise<void> {
    this.loaded = this.#load(url)
    return this.loaded
  }

  async #load(url: string): Promise<void> {
    this.#loading = true
    await this.page.goto(outside(url), { waitUntil: 'load' })
    this.#loading = false
    await this.#double.ask('pageReady', this.#window)
  }

  /** Delivers a message of the main process. Messages to a closed page are dropped. */
  deliver(channel: string, args: unknown[]): void {
    if (this.#arriving.push({ channel, args: code(args, noOthers) }) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const messages = JSON.stringify(this.#arriving.splice(0))
    if (this.#world === undefined) return
    this.#session
      .send('Runtime.callFunctionOn', {
        functionDeclaration: 'messages => berthDoubleIn(messages)',
        executionContextId: this.#world,
        arguments: [{ value: messages }],
      })
      .catch(() => undefined)
  }

  async drop(path: string, at: { x: number; y: number }): Promise<void> {
    await this.#session.send('Runtime.callFunctionOn', {
      functionDeclaration: 'path => { globalThis.berthDoubleDropped = path }',
      executionContextId: this.#world,
      arguments: [{ value: path }],
    })
    await dropOn(this.#session, path, at)
  }

  /** Sets visibility and focus in the page, since pages of a headless Chromium always have both. */
  setVisibility(visible: boolean, focused: boolean): void {
    const tell = `{
      const get = value => ({ configurable: true, get: () => value })
      Object.defineProperty(document, 'hidden', get(${!visible}))
      Object.defineProperty(document, 'visibilityState', get('${visible ? 'visible' : 'hidden'}'))
      Object.defineProperty(document, 'hasFocus', get(() => ${focused}))
      document.dispatchEvent(new Event('visibilitychange'))
      dispatchEvent(new Event('${focused ? 'focus' : 'blur'}'))
    }`
    this.#session.send('Runtime.evaluate', { expression: tell }).catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#context.close()
  }

  #post(payload: string): void {
    const from = { url: inside(this.page.url()) }
    for (const { channel, args } of JSON.parse(payload) as IpcMessage[])
      void this.#ask('fromPage', this.#window, channel, decode(args, noOthers) as unknown[], from)
  }

  /** Answers the page's requests: `app:` by the protocol handler, others go out if its policy allows. */
  async #answer(route: Route): Promise<void> {
    const request = route.request()
    const url = inside(request.url())
    if (!this.#isOwn(request)) {
      await this.#mayOpen(url)
      return route.abort('aborted')
    }
    if (request.isNavigationRequest() && !(await this.#mayNavigate(request, url)))
      return route.abort('aborted')
    if (!url.startsWith('app:')) return route.continue()
    const answer = await this.#ask('fetch', url, request.method())
    if (answer === undefined) return route.abort('failed')
    await route.fulfill({ status: answer.status, headers: answer.headers, body: Buffer.from(answer.bytes) })
  }

  async #mayNavigate(request: Request, url: string): Promise<boolean> {
    const isMainFrame = request.frame().parentFrame() === null
    const ofThePage = !(isMainFrame && this.#loading)
    if (ofThePage && !(await this.#ask('pageNavigates', this.#window, url, isMainFrame))) return false
    await this.#ask('pageStarts', this.#window, url, isMainFrame)
    return true
  }

  /** Whether a request is from the window's page and not from a pop-up. */
  #isOwn(request: Request): boolean {
    try {
      return request.frame().page() === this.page
    } catch {
      // A navigation in a page that is still being created.
      return false
    }
  }

  /** Electron asks before it opens a pop-up; here it already exists, is blocked and closed. */
  async #refusePopup(popup: Page): Promise<void> {
    if (popup.url() === 'about:blank' || popup.url() === '') await this.#mayOpen('about:blank')
    await popup.close()
  }

  async #mayOpen(url: string): Promise<void> {
    const action = await this.#ask('pageOpens', this.#window, url)
    if (action === 'allow') this.errors.push(`a second window was allowed, for ${url}`)
  }

  /** Gives undefined once the main process has ended. */
  #ask: UnderDouble['ask'] = (name, ...args) =>
    this.#double.ask(name, ...args).catch(() => undefined as never)
}

function outside(url: string): string {
  return url.replace(pageOrigin, standIn)
}

function inside(url: string): string {
  return url.startsWith(standIn) ? pageOrigin + url.slice(standIn.length) : url
}
