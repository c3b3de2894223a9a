import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { test } from '#test/berth/pages.ts'
import { openShellPage, type ShellPage } from '#test/e2e/shell-page.ts'
import { authorsWord, nastyEscapes, nastyLinks, nastyPastes } from '#test/hostile/escapes.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'

const lacking = lacks('chromium', sshd)

/** In the page: records attempts to reach beyond the terminal. */
function watchOutside(): void {
  const reached: string[] = []
  Object.assign(window, { reached })
  // Commands that the page sends without the user.
  const own = ['resizeTerminal', 'reportPlace', 'moneyHistory']
  const { send } = WebSocket.prototype
  WebSocket.prototype.send = function note(message) {
    const { name } = typeof message === 'string' ? JSON.parse(message) : { name: undefined }
    if (name !== undefined && !own.includes(name)) reached.push(String(message))
    send.call(this, message)
  }
  window.open = address => {
    reached.push(`window ${address}`)
    return null
  }
  window.Notification = class {
    constructor(title: string) {
      reached.push(`notification ${title}`)
    }
  } as unknown as typeof Notification
  Object.defineProperty(navigator, 'clipboard', {
    value: {
      writeText: async (text: string) => void reached.push(`clipboard ${text}`),
      readText: async () => reached.push('clipboard read'),
    },
  })
  document.execCommand = command => reached.push(`document ${command}`) > 0
}

/** UTF-8, but raw bytes for what is all above 0x7f. */
const bytesOf = (text: string) => Buffer.from(text, /^[\x80-\xff]+$/.test(text) ? 'latin1' : 'utf8')

const reached = (page: Page) =>
  page.evaluate(() => (window as unknown as { reached: readonly string[] }).reached)

/** A terminal's reports, with ␛ and ␇ as control characters. */
const reports = /^(␛(\[[?>=]?[\d;]*[$*]?[a-zA-Z]|[P\]][^␛␇\p{Cc}]*(␇|␛\\)))+$/u

/** On the host: prints each text, and records what the terminal answers until it answers a final query. */
const asker = `
import { readFileSync, writeFileSync } from 'node:fs'
const [, , list, out] = process.argv
const answers = []
process.stdin.setRawMode(true)
process.stdin.setEncoding('latin1')
let heard = ''
let wake = () => {}
process.stdin.on('data', text => { heard += text; wake() })
for (const bytes of JSON.parse(readFileSync(list, 'utf8'))) {
  heard = ''
  // The open sequence is broken off, then the terminal answers a query as before.
  process.stdout.write(Buffer.concat([Buffer.from(bytes, 'base64'), Buffer.from('\\x18\\x1b[5n')]))
  while (!heard.includes('\\x1b[0n')) await new Promise(resolve => { wake = resolve })
  answers.push(heard)
  writeFileSync(out, JSON.stringify(answers))
  process.stdout.write('\\x1bc')
}
process.stdin.setRawMode(false)
process.exit()
`

/** On the host: turns on bracketed paste, and records that many pastes. */
const paster = `
import { writeFileSync } from 'node:fs'
const [, , count, out] = process.argv
process.stdin.setRawMode(true)
let heard = Buffer.alloc(0)
process.stdin.on('data', bytes => {
  heard = Buffer.concat([heard, bytes])
  const text = heard.toString()
  if (text.split('<over>').length <= Number(count)) return
  writeFileSync(out, text)
  process.stdin.setRawMode(false)
  process.exit()
})
process.stdout.write('\\x1b[?2004hREADY')
`

describe.skipIf(lacking !== '')(
  `what a hostile host prints into a terminal, in a real browser${lacking}`,
  () => {
    async function runThere(shell: ShellPage, program: string, ...args: string[]): Promise<string> {
      const { folder } = shell.sshd
      writeFileSync(join(folder, 'program.mjs'), program)
      const out = join(folder, 'out')
      await shell.type([process.execPath, join(folder, 'program.mjs'), ...args, out].join(' '))
      return out
    }

    test('hostile escape sequences only reach the screen and type nothing', async ({ start }) => {
      expect(nastyEscapes.length).toBeGreaterThan(50)
      const shell = await openShellPage(start)
      const { page, sshd } = shell
      const [title, address] = [await page.title(), page.url()]
      await page.evaluate(watchOutside)
      const requests: string[] = []
      // Printed text may need one of Berth's own fonts.
      const { origin } = new URL(address)
      page.on('request', request => request.url().startsWith(origin) || requests.push(request.url()))
      const list = join(sshd.folder, 'list')
      // Text that is not UTF-8 is sent as raw bytes.
      writeFileSync(list, JSON.stringify(nastyEscapes.map(([, text]) => bytesOf(text).toString('base64'))))
      const out = await runThere(shell, asker, list)
      const heard = (): string[] => (existsSync(out) ? JSON.parse(readFileSync(out, 'utf8') || '[]') : [])
      await expect.poll(() => heard().length).toBe(nastyEscapes.length)

      const answers = heard()
      for (const [at, [about]] of nastyEscapes.entries()) {
        const typed = answers[at] ?? ''
        expect(typed.toLowerCase(), about).not.toContain(authorsWord)
        expect(typed, about).not.toContain('6576696c')
        // Only reports of the terminal, and no line that a shell would run.
        expect(typed.replaceAll('\x1b', '␛').replaceAll('\x07', '␇'), about).toMatch(reports)
      }
      expect(await reached(page)).toEqual([])
      expect(requests).toEqual([])
      expect([await page.title(), page.url()]).toEqual([title, address])
      expect(page.context().pages()).toHaveLength(1)

      await shell.type('echo well-$((40 + 2))')
      await shell.shows('well-42')
    })

    test('only web links open, and show their address', async ({ start }) => {
      const shell = await openShellPage(start)
      const { page, sshd } = shell
      await page.evaluate(watchOutside)
      const good = 'http://127.0.0.1:9/where-it-leads'
      const pointAt = async (to: string, at: number) => {
        const file = join(sshd.folder, `link-${at}`)
        writeFileSync(file, `\x1bc\x1b]8;;${to}\x1b\\link-${at}-here\x1b]8;;\x1b\\\r\n`)
        await shell.type(`cat ${file}`)
        const line = page.locator('.xterm-rows > div', { hasText: `link-${at}-here` })
        const box = await line.boundingBox()
        // A line's links are read again only once another line was hovered.
        await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 48)
        await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 8, { steps: 3 })
        await page.evaluate(
          () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))),
        )
      }
      const click = async () => {
        await page.mouse.down()
        await page.mouse.up()
      }
      for (const [at, to] of nastyLinks.entries()) {
        await pointAt(to, at)
        await click()
      }
      await pointAt(good, nastyLinks.length)
      await page.locator(`.terminal-screen[title="${good}"]`).waitFor()
      await click()
      await expect.poll(() => reached(page)).toContainEqual(expect.stringContaining(good))
      const opened = (await reached(page)).filter(message => !message.includes(good))
      // The main process refuses a link with a password.
      expect(opened.filter(message => !message.includes('user:pw@'))).toEqual([])
    })

    test('a paste is always plain text', async ({ start }) => {
      const shell = await openShellPage(start)
      const { page } = shell
      const out = await runThere(shell, paster, String(nastyPastes.length))
      await shell.shows('READY')
      for (const [text] of nastyPastes) {
        await page.evaluate(pasted => {
          const clipboardData = new DataTransfer()
          clipboardData.setData('text/plain', pasted)
          document
            .querySelector('.xterm-helper-textarea')
            ?.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
        }, text)
        await page.keyboard.type('<over>')
      }
      // The file may be read while it is written.
      const arrived = () => (existsSync(out) ? readFileSync(out, 'utf8').split('<over>').slice(0, -1) : [])
      await expect.poll(() => arrived().length).toBe(nastyPastes.length)
      expect(arrived()).toEqual(nastyPastes.map(([, text]) => `\x1b[200~${text}\x1b[201~`))
    })
  },
)
