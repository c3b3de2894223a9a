import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { WebSocketServer } from 'ws'
import { at } from '../../build/places.ts'
import { openPage } from '../e2e/app.ts'

/** How a terminal on Berth's page is drawn. */
export interface Look {
  font: string
  /** Pixels. */
  fontSize: number
  width: number
  rows: number
}

/** A page with nothing on it but xterm, whose socket is its shell: it prints `text` when told to, and echoes keys. */
export async function openBareTerminal(
  browser: Browser,
  look: Look,
  text: Buffer,
): Promise<{ page: Page; end(): Promise<void> }> {
  const files: Record<string, string> = {
    '/xterm.js': at('node_modules/@xterm/xterm/lib/xterm.js'),
    '/xterm.css': at('node_modules/@xterm/xterm/css/xterm.css'),
  }
  const html =
    '<!doctype html><link rel="stylesheet" href="/xterm.css"><script src="/xterm.js"></script><div id="at"></div>'
  const server = createServer(async (request, response) => {
    const file = files[request.url ?? '']
    response.setHeader(
      'content-type',
      file ? (file.endsWith('js') ? 'text/javascript' : 'text/css') : 'text/html',
    )
    response.end(file ? await readFile(file) : html)
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', socket => {
    socket.on('message', (data, binary) => {
      if (binary) socket.send(data)
      else
        for (let from = 0; from < text.length; from += 65_536) socket.send(text.subarray(from, from + 65_536))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { page } = await openPage(browser, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await page.evaluate('globalThis.__name = value => value')
  await page.evaluate(draw, look)
  return {
    page,
    async end() {
      await page.context().close()
      sockets.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** The little of xterm that its page uses, where there are no modules. */
interface PlainXterm {
  open(place: Element | null): void
  resize(columns: number, rows: number): void
  write(bytes: Uint8Array, done: () => void): void
  onData(take: (text: string) => void): void
}

/**
 * In the page: opens xterm at the same size and with the options that cost time (text for screen readers, contrast), and
 * counts the bytes that it has dealt with.
 */
async function draw({ font, fontSize, width, rows }: Look): Promise<void> {
  const { Terminal } = window as unknown as { Terminal: new (options: object) => PlainXterm }
  const xterm = new Terminal({
    fontFamily: font,
    fontSize,
    lineHeight: 1.2,
    scrollback: 10_000,
    rows,
    screenReaderMode: true,
    minimumContrastRatio: 4.5,
  })
  xterm.open(document.querySelector('#at'))
  const one = (document.querySelector<HTMLElement>('.xterm-screen')?.clientWidth ?? 0) / 80
  xterm.resize(Math.round(width / one), rows)
  const arrived = { bytes: 0, sum: 0 }
  const socket = new WebSocket(`ws://${location.host}/`)
  socket.binaryType = 'arraybuffer'
  Object.assign(window, { arrived, socket })
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) =>
    xterm.write(new Uint8Array(data), () => {
      arrived.bytes += data.byteLength
    })
  const encoder = new TextEncoder()
  xterm.onData(text => socket.send(encoder.encode(text)))
  await new Promise(resolve => {
    socket.onopen = resolve
  })
}
