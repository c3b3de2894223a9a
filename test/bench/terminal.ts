import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../e2e/app.ts'
import { arrived, floodOf, lastLine, makePlain, openShellPage } from '../e2e/shell-page.ts'
import type { Row } from './row.ts'

const mega = 1_000_000
const keys = 10_000

/** A terminal on the page, at a real OpenSSH server. */
export async function terminalRows(): Promise<Row[]> {
  const browser = await openBrowser()
  try {
    return [await printed(browser), await typed(browser)]
  } finally {
    await browser.close()
  }
}

/** A program that prints 50 MB. */
async function printed(browser: Browser): Promise<Row> {
  const shell = await openShellPage(browser)
  try {
    await makePlain(shell)
    const file = join(shell.sshd.folder, 'printed')
    const text = floodOf(50 * mega)
    writeFileSync(file, text)
    const start = performance.now()
    await shell.type(`exec cat ${file}`)
    await shell.shows(lastLine, 120_000)
    const seconds = (performance.now() - start) / 1000
    const { bytes } = await arrived(shell.page)
    const rate = bytes / mega / seconds
    return {
      what: '50 MB printed in a terminal',
      compared: `from the command to its last line on the page, over OpenSSH's sshd; ${bytes - text.length} bytes lost`,
      measured: `${rate.toFixed(1)} MB/s`,
      budget: 'at least 5 MB/s',
      kept: rate >= 5 && bytes === text.length,
    }
  } finally {
    await shell.end()
  }
}

/** Keys one by one, as fast as the page takes them. */
async function typed(browser: Browser): Promise<Row> {
  const shell = await openShellPage(browser)
  try {
    const { page } = shell
    await shell.type("stty raw; printf '%s' TY PE; exec cat")
    await shell.shows('TYPE')
    await page.evaluate(() => Object.assign(window, { arrived: { bytes: 0, sum: 1 } }))
    const start = performance.now()
    await page.evaluate(pressKeys, keys)
    while ((await arrived(page)).bytes < keys) await wait(20)
    const rate = keys / (performance.now() - start)
    return {
      what: `${keys.toLocaleString('en-US')} keys typed in a terminal`,
      compared: 'each an event and a task of its own, until the last has come back from the shell',
      measured: `${rate.toFixed(1)} KB/s`,
      budget: 'at least 5 KB/s',
      kept: rate >= 5,
    }
  } finally {
    await shell.end()
  }
}

/** In the page: presses that many keys on the terminal, one after the other. */
async function pressKeys(count: number): Promise<void> {
  const area = document.querySelector('.xterm-helper-textarea')
  const { port1, port2 } = new MessageChannel()
  for (let at = 0; at < count; at += 1) {
    const key = { key: 'a', keyCode: 65, bubbles: true, cancelable: true }
    area?.dispatchEvent(new KeyboardEvent('keydown', key))
    area?.dispatchEvent(new KeyboardEvent('keyup', key))
    await new Promise(resolve => {
      port1.onmessage = resolve
      port2.postMessage(0)
    })
  }
}
