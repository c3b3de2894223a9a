import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { WebSocketServer } from 'ws'
import { at } from '#build/places.ts'
import { listen } from '#test/loopback.ts'
import { openPage } from '../berth/browser.ts'
import type { Sshd } from '../integration/ssh/sshd.ts'

/** The style of a terminal on Berth's page. */
export interface TerminalStyle {
  font: string
  /** Pixels. */
  fontSize: number
  width: number
  rows: number
}

/** A page with only xterm, connected by a socket to OpenSSH's client, which runs a shell at that sshd. */
export async function openBareTerminal(
  browser: Browser,
  style: TerminalStyle,
  sshd: Sshd,
): Promise<{ page: Page; end(): Promise<void> }> {
  const key = join(sshd.folder, 'bare')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const known = readFileSync(join(sshd.folder, 'authorized_keys'), 'utf8').trim()
  sshd.authorize(known, readFileSync(`${key}.pub`, 'utf8').trim())
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=QUIET']
  const args = [...options.map(option => `-o${option}`), '-tt', '-i', key, '-p', String(sshd.port)]
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
    const { stdin, stdout } = spawn('ssh', [...args, 'root@127.0.0.1'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    stdout.on('data', bytes => socket.send(bytes))
    socket.on('message', data => stdin.write(data as Buffer))
    socket.on('close', () => stdin.end())
  })
  const port = await listen(server)
  const { page } = await openPage(browser, `http://127.0.0.1:${port}/`)
  await page.evaluate('globalThis.__name = value => value')
  await page.evaluate(draw, style)
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

/** The part of xterm's API that the page uses, without modules. */
interface PlainXterm {
  open(place: Element | null): void
  resize(columns: number, rows: number): void
  write(bytes: Uint8Array, done: () => void): void
  onData(take: (text: string) => void): void
}

/**
 * In the page: opens xterm with the same size and the same costly options (screen reader text, contrast), and counts
 * the bytes that it has processed.
 */
function draw({ font, fontSize, width, rows }: TerminalStyle): void {
  const { Terminal } = window as unknown as { Terminal: new (options: object) => PlainXterm }
  const xterm = new Terminal({
    fontFamily: font,
    fontSize,
    lineHeight: 1.2,
    scrollback: 10_000,
    rows,
    cursorBlink: true,
    screenReaderMode: true,
    minimumContrastRatio: 4.5,
  })
  xterm.open(document.querySelector('#at'))
  const one = (document.querySelector<HTMLElement>('.xterm-screen')?.clientWidth ?? 0) / 80
  xterm.resize(Math.round(width / one), rows)
  const socket = new WebSocket(`ws://${location.host}/`)
  socket.binaryType = 'arraybuffer'
  const counted = window as unknown as { arrived: { bytes: number } }
  counted.arrived = { bytes: 0 }
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) =>
    xterm.write(new Uint8Array(data), () => {
      counted.arrived.bytes += data.byteLength
    })
  const encoder = new TextEncoder()
  xterm.onData(text => socket.send(encoder.encode(text)))
}
