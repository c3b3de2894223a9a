import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { patience, scratchFolder } from '../berth/browser.ts'
import { commonSwitches, wholeChromium } from '../berth/chromium.ts'

/**
 * Starts a Chromium on an address, as a desktop does, and waits until its page has an element. It is asked for nothing
 * but that: Playwright's watching costs a page of scripts a tenth of its start, and one without them nothing.
 */
export async function showInBrowser(address: string, selector: string): Promise<{ end(): Promise<void> }> {
  const profile = await scratchFolder()
  const switches = [
    '--headless=new',
    '--disable-extensions',
    '--no-default-browser-check',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile.path}`,
  ]
  const browser = spawn(wholeChromium, [...commonSwitches, ...switches, address], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(browser, 'exit')
  const end = async () => {
    browser.kill('SIGKILL')
    await ended
    await profile.remove()
  }
  try {
    const page = new WebSocket(await pageOf(browser.stderr))
    await once(page, 'open')
    // Until it has gone to the address, and from then on by an observer, which costs the page nothing.
    const expression = `location.protocol === 'http:' && new Promise(resolve => {
      const look = () => document.querySelector(${JSON.stringify(selector)}) && resolve(true)
      new MutationObserver(look).observe(document, { childList: true, subtree: true })
      look()
    })`
    const params = { expression, awaitPromise: true }
    for (let id = 1; ; id += 1) {
      page.send(JSON.stringify({ id, method: 'Runtime.evaluate', params }))
      const [answer] = await once(page, 'message', { signal: AbortSignal.timeout(patience) })
      if (JSON.parse(String(answer)).result?.result?.value === true) return { end }
      await wait(5)
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** The address at which the page can be asked: Chromium prints its own, and lists its pages there. */
async function pageOf(printed: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: printed })) {
    const host = /^DevTools listening on ws:\/\/([^/]+)/.exec(line)?.[1]
    for (let list: { type: string; webSocketDebuggerUrl: string }[] = []; host !== undefined; ) {
      list = (await (await fetch(`http://${host}/json/list`)).json()) as typeof list
      const page = list.find(({ type }) => type === 'page')
      if (page) return page.webSocketDebuggerUrl
    }
  }
  throw new Error('Chromium ended')
}
