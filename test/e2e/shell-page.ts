import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { defaultSettings } from '#shared/settings.ts'
import { terminalText } from '../berth/browser.ts'
import type { Start } from '../berth/start.ts'
import { type Sshd, startSshd } from '../integration/ssh/sshd.ts'
import { ownPublicKey } from '../own-public-key.ts'
import { connectAccount, rentRunning } from './account-steps.ts'
import { type Cable, startCable } from './cable.ts'
import { startDetour } from './detour.ts'

/** A terminal on the page, connected to a shell of a real OpenSSH server. */
export interface ShellPage {
  page: Page
  sshd: Sshd
  /** The process id of Berth. */
  pid(): number
  /** Cuts and restores the network between Berth and the server; neither learns of it. */
  cut: Pick<Cable, 'pull' | 'plug'>
  /** Types a line into the shell. */
  type(line: string, on?: Page): Promise<void>
  /** Waits until the terminal shows it. */
  shows(text: string | RegExp, timeout?: number, on?: Page): Promise<void>
  /** Kills Berth, starts it again, and returns a new page with its terminal. */
  restart(): Promise<Page>
}

/** How many bytes the page received on its socket's streams, and a checksum of them and their order. */
export interface Arrived {
  bytes: number
  sum: number
}

const prompt = 'flood> '

interface ShellPageOptions {
  /** Whether the shell lives in tmux, in its own session, instead of a plain shell. */
  tmux?: boolean
  /** Whether the server is reached over a cable that can be pulled. */
  cable?: boolean
}

export async function openShellPage(start: Start, options: ShellPageOptions = {}): Promise<ShellPage> {
  const sim = await start.simulator({ speed: 1 })
  const sockets = await start.folder()
  start.atEnd(() => endTmux(sockets))
  const sshd = await startSshd([
    options.tmux ? `SetEnv TMUX_TMPDIR=${sockets}` : `ForceCommand env PS1='${prompt}' sh`,
  ])
  start.atEnd(sshd.close)
  const cable = options.cable ? await startCable(sshd.port) : undefined
  if (cable) start.atEnd(cable.close)
  const detour = await startDetour(sim.baseUrl, cable?.port ?? sshd.port)
  start.atEnd(detour.close)
  const instance = await rentRunning(sim)
  // tmux would draw only the end of a flood and drop the rest.
  const terminal = { ...defaultSettings.terminal, tmux: options.tmux ?? false }
  let berth = await start.berth({ settings: { terminal } })

  const { page } = await start.page('about:blank')
  await page.addInitScript(countArrivals)
  await page.goto(berth.address)
  await connectAccount(page, { baseUrl: detour.baseUrl, apiKey: sim.apiKey })
  const openTerminal = (on: Page) =>
    on
      .getByRole('row', { name: new RegExp(`#?${instance}`) })
      .getByRole('button', { name: 'Terminal' })
      .click()
  // The first attempt creates Berth's key; the server then authorizes it.
  await openTerminal(page)
  sshd.authorize(await ownPublicKey(berth.home))

  const shows: ShellPage['shows'] = async (text, timeout = 60_000, on = page) => {
    const there = (shown: string) => (typeof text === 'string' ? shown.includes(text) : text.test(shown))
    await until(async () => there(await terminalText(on)), timeout)
  }
  await shows(options.tmux ? 'root@' : prompt)
  return {
    page,
    sshd,
    pid: () => berth.process.pid ?? 0,
    cut: {
      pull: () => cable?.pull(),
      plug: () => cable?.plug(),
    },
    async type(line, on = page) {
      // Without the focus, keys go elsewhere.
      await on.locator('.xterm-helper-textarea:focus').waitFor()
      await on.keyboard.type(`${line}\n`)
    },
    shows,
    async restart() {
      await page.context().close()
      berth.process.kill('SIGKILL')
      await once(berth.process, 'exit')
      berth = await start.berth({ home: berth.home })
      const { page: fresh } = await start.page(berth.address)
      // Without a keychain the key was not kept.
      await fresh.getByRole('button', { name: 'Enter key' }).click()
      const dialog = fresh.getByRole('dialog')
      await dialog.getByLabel('API key').fill(sim.apiKey)
      await dialog.getByRole('button', { name: 'Enter key' }).click()
      // A dialog that closes later would take the terminal's focus.
      await dialog.waitFor({ state: 'detached' })
      await openTerminal(fresh)
      return fresh
    },
  }
}

function endTmux(sockets: string): void {
  try {
    execFileSync('tmux', ['kill-server'], { env: { TMUX_TMPDIR: sockets }, stdio: 'ignore' })
  } catch {
    // No shell was left.
  }
}

async function until(holds: () => boolean | Promise<boolean>, within: number): Promise<void> {
  const end = performance.now() + within
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${within} ms: ${holds}`)
    await wait(50)
  }
}

/** Makes the shell print raw bytes without echo, and starts counting. */
export async function makePlain(shell: ShellPage, on = shell.page): Promise<void> {
  await shell.type("stty -onlcr -opost -echo; printf '%s' REA DY", on)
  await shell.shows(`READY${prompt.trim()}`, undefined, on)
  await on.evaluate(() => Object.assign(window, { arrived: { bytes: 0, sum: 1 } }))
}

export function arrived(page: Page): Promise<Arrived> {
  return page.evaluate(() => (window as unknown as { arrived: Arrived }).arrived)
}

export function sumOf(bytes: Uint8Array): Arrived {
  let sum = 1
  for (const byte of bytes) sum = (Math.imul(sum, 31) + byte) | 0
  return { bytes: bytes.length, sum }
}

export const lastLine = 'the last line of the flood'

/** Coloured text as programs print it, of that many bytes. */
export function floodOf(size: number): Buffer {
  const random = randomBytes(3 * 1024 * 57).toString('base64')
  const piece = (random.match(/.{1,76}/g) ?? [])
    .map((line, index) => `\x1b[3${index % 8}m${line}\x1b[0m\r\n`)
    .join('')
  const end = `\x1b[0m\r\n${lastLine}`
  return Buffer.from(piece.repeat(Math.ceil(size / piece.length)).slice(0, size - end.length) + end)
}

/** In the page, before its scripts: counts the bytes of its sockets, after the four bytes of the stream's number. */
function countArrivals(): void {
  const arrived = { bytes: 0, sum: 1 }
  Object.assign(window, { arrived })
  const Plain = window.WebSocket
  window.WebSocket = class extends Plain {
    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols)
      this.addEventListener('message', ({ data }) => {
        if (!(data instanceof ArrayBuffer)) return
        const { arrived } = window as unknown as { arrived: { bytes: number; sum: number } }
        const bytes = new Uint8Array(data, 4)
        let { sum } = arrived
        for (let at = 0; at < bytes.length; at += 1) sum = (Math.imul(sum, 31) + (bytes[at] ?? 0)) | 0
        arrived.sum = sum
        arrived.bytes += bytes.length
      })
    }
  }
}
