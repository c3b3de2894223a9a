import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import type { Bridge } from '#contract/messages.ts'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'
import { listenForeign } from './foreign-server.ts'

declare global {
  interface Window {
    berth?: Bridge
    wasRun?: boolean
  }
}

const desk = useDesk({ of: 'the file' })
const foreign = await listenForeign()
afterAll(() => foreign.close())

let started: Berth | undefined
/** Berth with a reloaded page, untouched by other tests. */
async function open(): Promise<{ berth: Berth; page: Page }> {
  started ??= await desk.start()
  const page = await started.page()
  await page.reload()
  await page.getByText('This is the demo market.').waitFor()
  return { berth: started, page }
}

test('scripts find no Node or Electron, only the bridge’s two frozen functions', async () => {
  const { page } = await open()
  const found = await page.evaluate(() => ({
    globals: ['require', 'process', 'module', 'exports', 'Buffer', 'global', '__dirname', 'electron'].filter(
      name => name in globalThis,
    ),
    ipc: Object.getOwnPropertyNames(globalThis).filter(name => /ipc|electron/i.test(name)),
    bridge: Object.getOwnPropertyNames(window.berth),
    types: Object.values(window.berth ?? {}).map(value => typeof value),
    // A function of another world would give access to that world.
    ownWorld: Object.values(window.berth ?? {}).every(
      exposed => exposed instanceof Function && exposed.constructor === Function,
    ),
  }))
  expect(found).toEqual({
    globals: [],
    ipc: [],
    bridge: ['post', 'listen'],
    types: ['function', 'function'],
    ownWorld: true,
  })
  const changed = await page.evaluate(() => {
    const before = window.berth
    try {
      window.berth = { post: () => undefined, listen: () => undefined }
    } catch {}
    try {
      delete window.berth
    } catch {}
    try {
      if (before) before.post = () => undefined
    } catch {}
    return { same: window.berth === before, frozen: Object.isFrozen(before) }
  })
  expect(changed).toEqual({ same: true, frozen: true })
})

test('messages carry only plain data, no functions, symbols or promises', async () => {
  const { page } = await open()
  const outcome = await page.evaluate(async () => {
    const bridge = window.berth
    if (bridge === undefined) return undefined
    const post = (args: unknown) => {
      try {
        bridge.post({ kind: 'command', call: 900_001, name: 'refresh', args })
        return 'sent'
      } catch (error) {
        return (error as Error).message
      }
    }
    class Account {
      id = 'demo'
      whoami() {
        return this.id
      }
    }
    const refused = [
      { run: () => undefined },
      [Symbol('secret')],
      { later: Promise.resolve() },
      new WeakMap(),
    ].map(post)
    const answered = new Promise<unknown>(resolve => {
      bridge.listen(message => {
        if ('call' in message && message.call === 900_002) resolve(message)
      })
    })
    bridge.post({ kind: 'command', call: 900_002, name: 'refresh', args: { account: new Account() } })
    return { refused, answer: await answered }
  })
  expect(outcome?.refused).toEqual(Array(4).fill(expect.stringContaining('could not be cloned')))
  expect(outcome?.answer).toMatchObject({
    kind: 'refusal',
    problem: { code: 'invalid_argument', field: 'account' },
  })
})

test('scripts can’t fetch anything from outside', async () => {
  const { page } = await open()
  const urls = [foreign.url, 'https://example.com/']
  const outcomes = await page.evaluate(async ([url = '', remote = '']) => {
    const fails = (start: () => Promise<unknown>) =>
      start().then(
        () => 'got through',
        () => 'refused',
      )
    const element = (name: 'img' | 'script' | 'iframe' | 'link', set: (made: HTMLElement) => void) =>
      new Promise((resolve, reject) => {
        const made = document.createElement(name)
        made.addEventListener('load', resolve)
        made.addEventListener('error', reject)
        document.addEventListener('securitypolicyviolation', reject, { once: true })
        set(made)
        document.body.append(made)
      })
    return {
      fetch: await fails(() => fetch(url)),
      remote: await fails(() => fetch(remote)),
      noCors: await fails(() => fetch(url, { mode: 'no-cors', method: 'POST', body: 'sk-secret' })),
      beacon: navigator.sendBeacon(url, 'x') && 'got through',
      image: await fails(() => element('img', made => made.setAttribute('src', url))),
      script: await fails(() => element('script', made => made.setAttribute('src', url))),
      style: await fails(() =>
        element('link', made => {
          made.setAttribute('rel', 'stylesheet')
          made.setAttribute('href', url)
        }),
      ),
      frame: await fails(() => element('iframe', made => made.setAttribute('src', url))),
      socket: await fails(
        () =>
          new Promise((resolve, reject) => {
            const socket = new WebSocket(url.replace('http', 'ws'))
            socket.onopen = resolve
            socket.onerror = reject
          }),
      ),
      worker: await fails(async () => new Worker(URL.createObjectURL(new Blob(['1']))).terminate()).catch(
        () => 'refused',
      ),
    }
  }, urls)
  const { worker: _worker, beacon: _beacon, ...others } = outcomes
  expect(Object.values(others)).toEqual(Object.values(others).map(() => 'refused'))
  // The server would have seen what a script cannot, such as a queued beacon.
  expect(foreign.seen()).toEqual([])
})

test('no text runs as a script: inline, by eval or as a URL', async () => {
  const { page } = await open()
  const outcomes = await page.evaluate(() => {
    const inline = document.createElement('script')
    inline.textContent = 'window.wasRun = true'
    document.body.append(inline)
    const handler = document.createElement('button')
    handler.setAttribute('onclick', 'window.wasRun = true')
    document.body.append(handler)
    handler.click()
    const link = document.createElement('a')
    link.href = 'javascript:window.wasRun = true'
    document.body.append(link)
    link.click()

    const outcome = (run: () => unknown) => {
      try {
        return String(run())
      } catch (error) {
        return (error as Error).name
      }
    }
    // Called indirectly and in a timer of the page, since a debugger's evaluation may do more than a page.
    const indirect = window['eval' as 'parseInt']
    return new Promise<object>(resolve =>
      setTimeout(() => {
        const results = {
          eval: outcome(() => indirect('1 + 1')),
          function: outcome(() => new Function('return 1')()),
          bridge: outcome(() => window.berth?.post.constructor('return 1')()),
        }
        // A string instead of a function is an eval, too.
        setTimeout('window.wasRun = true' as never)
        setTimeout(() => resolve({ ...results, wasRun: window.wasRun === true }), 50)
      }),
    )
  })
  expect(outcomes).toEqual({
    eval: 'EvalError',
    function: 'EvalError',
    bridge: 'EvalError',
    wasRun: false,
  })
})

test('the page can’t navigate; web links open in the user’s browser', async () => {
  const { berth, page } = await open()
  const before = page.url()
  await page.evaluate(url => {
    window.open(`${url}opened`)
    window.open('file:///etc/passwd')
    window.open('javascript:window.wasRun=true')
    const link = document.createElement('a')
    link.href = `${url}clicked`
    link.target = '_blank'
    document.body.append(link)
    link.click()
  }, foreign.url)
  await expect
    .poll(async () => (await desk.opened()).toSorted())
    .toEqual([`${foreign.url}clicked`, `${foreign.url}opened`])
  await page.evaluate(url => void setTimeout(() => location.assign(url)), foreign.url)
  const log = () => readFile(join(desk.home, 'logs/berth.log'), 'utf8')
  await expect.poll(log).toContain(`refused: navigation to ${foreign.url}`)
  // Not by Playwright, which waits for the page that was refused.
  expect((await berth.windows()).map(({ url }) => url)).toEqual([before])
  expect(page.context().pages()).toHaveLength(1)
  expect(foreign.seen()).toEqual([])
})

test('denies every navigation, redirect and webview', async () => {
  const { berth } = await open()
  const emit = (name: string, url: string) =>
    berth.look(
      ({ BrowserWindow }, [name, url]) => {
        let allowed = true
        const preventDefault = () => {
          allowed = false
        }
        // Emits by name, since the declarations type each event separately.
        const contents = BrowserWindow.getAllWindows()[0]?.webContents as NodeJS.EventEmitter | undefined
        contents?.emit(String(name), { url, isMainFrame: true, preventDefault }, {}, { src: url })
        return allowed
      },
      [name, url],
    )
  for (const kind of ['will-navigate', 'will-redirect']) {
    for (const url of [
      'https://example.com/',
      'file:///etc/passwd',
      'app://other/index.html',
      'app://berth.example.com/',
      'app://user@berth/',
      'javascript:alert(1)',
      'data:text/html,x',
      '',
    ])
      expect(await emit(kind, url), url).toBe(false)
    expect(await emit(kind, 'app://berth/index.html')).toBe(true)
  }
  for (const url of ['https://example.com/', 'app://berth/index.html'])
    expect(await emit('will-attach-webview', url), url).toBe(false)
})

test('the page may use the clipboard and no other permission', async () => {
  const { page } = await open()
  const outcome = await page.evaluate(async () => {
    const webview = document.createElement('webview')
    webview.setAttribute('src', 'https://example.com/')
    document.body.append(webview)
    const state = (name: string) =>
      navigator.permissions.query({ name: name as PermissionName }).then(({ state }) => state)
    return {
      webview: 'getWebContentsId' in webview,
      camera: await navigator.mediaDevices.getUserMedia({ video: true }).catch((error: Error) => error.name),
      place: await new Promise(resolve =>
        navigator.geolocation.getCurrentPosition(
          () => resolve('given'),
          error => resolve(error.code),
        ),
      ),
      notifications: await Notification.requestPermission(),
      denied: await Promise.all(['geolocation', 'camera', 'microphone', 'midi', 'notifications'].map(state)),
      clipboard: await Promise.all(['clipboard-read', 'clipboard-write'].map(state)),
    }
  })
  expect(outcome).toEqual({
    webview: false,
    camera: expect.stringMatching(/NotAllowed|NotFound/),
    place: 1,
    notifications: 'denied',
    denied: Array(5).fill('denied'),
    clipboard: ['granted', 'granted'],
  })
})
