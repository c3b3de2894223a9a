import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openBrowser } from '../berth/chromium.ts'
import { starter } from '../berth/start.ts'
import { floodOf, lastLine, makePlain, openShellPage } from '../e2e/shell-page.ts'
import { openBareTerminal, type TerminalStyle } from './bare-terminal.ts'
import { median, type Row, type Size } from './row.ts'

const mega = 1_000_000
const budget = 0.8

/** Milliseconds of each round. */
interface Times {
  berth: number[]
  plain: number[]
}

/**
 * Compares a terminal on Berth's page at a real OpenSSH server with a page of only xterm, of the same size, on
 * OpenSSH's client at the same server, in turn in one browser.
 */
export async function terminalRows({ smoke }: Size): Promise<Row[]> {
  const text = floodOf(smoke ? mega / 5 : 12 * mega)
  const keys = smoke ? 50 : 4000
  const rounds = smoke ? 1 : 3
  const browser = await openBrowser()
  const { start, endAll } = starter(browser)
  const shell = await openShellPage(start)
  // The loader of this file adds calls of a helper `__name`, which the page lacks.
  await shell.page.evaluate('globalThis.__name = value => value')
  const bare = await openBareTerminal(browser, await styleOf(shell.page), shell.sshd)
  const pages = { plain: bare.page, berth: shell.page }
  try {
    const file = join(shell.sshd.folder, 'printed')
    writeFileSync(file, text)
    const both = async (measure: (page: Page) => Promise<number>): Promise<Times> => {
      const times: Times = { plain: [], berth: [] }
      for (let round = 0; round < rounds; round += 1) {
        for (const name of ['plain', 'berth'] as const) {
          await pages[name].bringToFront()
          times[name].push(await measure(pages[name]))
        }
      }
      return times
    }
    for (const page of [bare.page, shell.page]) {
      await page.bringToFront()
      // Puts focus and pointer there on both pages.
      await page.locator('.xterm-screen').click()
      await makePlain(shell, page)
    }
    const printed = await both(async page => {
      await shell.type(`printf '%s' GO ES; read go; cat ${file}`, page)
      await shell.shows('GOES', undefined, page)
      return timeOf(page, text.length, { last: lastLine })
    })
    for (const page of [bare.page, shell.page]) {
      await page.bringToFront()
      await shell.type("stty raw; printf '%s' TY PE; exec cat", page)
      await shell.shows('TYPE', undefined, page)
    }
    const typed = await both(page => timeOf(page, keys, { keys }))
    return [
      row(`${text.length / mega} MB printed in a terminal`, text.length, printed),
      row(`${keys.toLocaleString('en')} keys typed in a terminal`, keys, typed),
    ]
  } finally {
    await bare.end()
    await endAll()
    await browser.close()
  }
}

function row(what: string, bytes: number, { berth, plain }: Times): Row {
  const rate = (times: number[]) => bytes / 1000 / (median(times) / 1000)
  const ratio = rate(berth) / rate(plain)
  return {
    what,
    compared: `a bare xterm and ssh on the same bytes: ${rate(berth).toFixed(1)} to ${rate(plain).toFixed(1)} KB/s`,
    measured: `${ratio.toFixed(2)} × its speed`,
    budget: `at least ${budget} ×`,
    kept: ratio >= budget,
  }
}

function styleOf(page: Page): Promise<TerminalStyle> {
  return page.evaluate(() => {
    const rows = document.querySelector<HTMLElement>('.xterm-rows')
    if (!rows) throw new Error('no terminal is drawn')
    const { fontFamily, fontSize } = getComputedStyle(rows)
    const width = document.querySelector<HTMLElement>('.xterm-screen')?.clientWidth ?? 0
    return { font: fontFamily, fontSize: Number.parseFloat(fontSize), width, rows: rows.children.length }
  })
}

/**
 * In the page: milliseconds from the first key until `bytes` have come back. With `last` the key is Enter, and that
 * text must be on the screen, too.
 */
function timeOf(page: Page, bytes: number, work: { keys?: number; last?: string }): Promise<number> {
  return page.evaluate(
    async ({ bytes, keys = 0, last = '' }) => {
      const { arrived } = window as unknown as { arrived: { bytes: number } }
      const area = document.querySelector('.xterm-helper-textarea')
      const rows = document.querySelector('.xterm-rows')
      const { port1, port2 } = new MessageChannel()
      const task = () =>
        new Promise(resolve => {
          port1.onmessage = resolve
          port2.postMessage(0)
        })
      const press = (key: string, keyCode: number) => {
        for (const kind of ['keydown', 'keyup'])
          area?.dispatchEvent(new KeyboardEvent(kind, { key, keyCode, bubbles: true, cancelable: true }))
      }
      const until = arrived.bytes + bytes
      const start = performance.now()
      if (last) press('Enter', 13)
      for (let at = 0; at < keys; at += 1) {
        press('a', 65)
        await task()
      }
      while (arrived.bytes < until || !rows?.textContent.includes(last))
        await new Promise(resolve => setTimeout(resolve, 4))
      return performance.now() - start
    },
    { bytes, ...work },
  )
}
