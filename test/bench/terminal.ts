import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openBrowser } from '../e2e/app.ts'
import { arrived, floodOf, lastLine, makePlain, openShellPage } from '../e2e/shell-page.ts'
import { starter } from '../e2e/start.ts'
import { type Look, openBareTerminal } from './bare-terminal.ts'
import { median, type Row, type Size } from './row.ts'

const mega = 1_000_000
const budget = 0.8

/**
 * A terminal on the page, at a real OpenSSH server, over a page with nothing but xterm of the same size, whose bytes
 * come by a socket from a bare server: in turn, in one browser.
 */
export async function terminalRows({ smoke }: Size): Promise<Row[]> {
  const text = floodOf(smoke ? mega / 5 : 12 * mega)
  const keys = smoke ? 50 : 4000
  const rounds = smoke ? 1 : 3
  const browser = await openBrowser()
  const { start, endAll } = starter(browser)
  const shell = await openShellPage(start)
  // The loader that runs this file calls a helper of its own in every function, which the page does not have.
  await shell.page.evaluate('globalThis.__name = value => value')
  const bare = await openBareTerminal(browser, await lookOf(shell.page), text)
  try {
    await makePlain(shell)
    const file = join(shell.sshd.folder, 'printed')
    writeFileSync(file, text)
    const own: number[] = []
    const plain: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      await bare.page.bringToFront()
      plain.push(await timeOf(bare.page, text.length, { print: true }))
      await shell.page.bringToFront()
      const from = (await arrived(shell.page)).bytes
      const start = performance.now()
      await shell.type(`cat ${file}; printf '%s' ${round} END`)
      await shell.shows(`${round}END`, 120_000)
      own.push(performance.now() - start)
      const came = (await arrived(shell.page)).bytes - from
      if (came < text.length) throw new Error(`${text.length - came} bytes of ${lastLine} were lost`)
    }
    const printed = row(`${text.length / mega} MB printed in a terminal`, text.length, own, plain)

    await shell.type("stty raw; printf '%s' TY PE; exec cat")
    await shell.shows('TYPE')
    const typed: number[] = []
    const plainly: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      await bare.page.bringToFront()
      plainly.push(await timeOf(bare.page, keys, { keys }))
      await shell.page.bringToFront()
      typed.push(await timeOf(shell.page, keys, { keys }))
    }
    return [printed, row(`${keys.toLocaleString('en')} keys typed in a terminal`, keys, typed, plainly)]
  } finally {
    await bare.end()
    await endAll()
    await browser.close()
  }
}

function row(what: string, bytes: number, own: number[], plain: number[]): Row {
  const rate = (times: number[]) => bytes / 1000 / (median(times) / 1000)
  const ratio = rate(own) / rate(plain)
  return {
    what,
    compared: `a bare xterm on the same bytes: ${rate(own).toFixed(1)} to ${rate(plain).toFixed(1)} KB/s`,
    measured: `${ratio.toFixed(2)} × its speed`,
    budget: `at least ${budget} ×`,
    kept: ratio >= budget,
  }
}

function lookOf(page: Page): Promise<Look> {
  return page.evaluate(() => {
    const rows = document.querySelector<HTMLElement>('.xterm-rows')
    if (!rows) throw new Error('no terminal is drawn')
    const { fontFamily, fontSize } = getComputedStyle(rows)
    const width = document.querySelector<HTMLElement>('.xterm-screen')?.clientWidth ?? 0
    return { font: fontFamily, fontSize: Number.parseFloat(fontSize), width, rows: rows.children.length }
  })
}

/** In the page: milliseconds from the first key, or from asking for the text, until so many bytes have come back. */
function timeOf(page: Page, bytes: number, work: { keys?: number; print?: boolean }): Promise<number> {
  return page.evaluate(
    async ({ bytes, keys = 0, print }) => {
      const { arrived, socket } = window as unknown as { arrived: { bytes: number }; socket?: WebSocket }
      const area = document.querySelector('.xterm-helper-textarea')
      const { port1, port2 } = new MessageChannel()
      const task = () =>
        new Promise(resolve => {
          port1.onmessage = resolve
          port2.postMessage(0)
        })
      const until = arrived.bytes + bytes
      const start = performance.now()
      if (print) socket?.send('print')
      for (let at = 0; at < keys; at += 1) {
        const key = { key: 'a', keyCode: 65, bubbles: true, cancelable: true }
        area?.dispatchEvent(new KeyboardEvent('keydown', key))
        area?.dispatchEvent(new KeyboardEvent('keyup', key))
        await task()
      }
      while (arrived.bytes < until) await new Promise(resolve => setTimeout(resolve, 4))
      return performance.now() - start
    },
    { bytes, ...work },
  )
}
