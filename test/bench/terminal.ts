import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../e2e/app.ts'
import { arrived, floodOf, lastLine, makePlain, openShellPage } from '../e2e/shell-page.ts'
import type { Row } from './row.ts'

const mega = 1_000_000

/** A program that prints 50 MB in a terminal on the page, at a real OpenSSH server. */
export async function terminalRows(): Promise<Row[]> {
  const browser = await openBrowser()
  try {
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
      return [
        {
          what: '50 MB printed in a terminal',
          compared: `from the command to its last line on the page, over OpenSSH's sshd; ${bytes - text.length} bytes lost`,
          measured: `${rate.toFixed(1)} MB/s`,
          budget: 'at least 5 MB/s',
          kept: rate >= 5 && bytes === text.length,
        },
      ]
    } finally {
      await shell.end()
    }
  } finally {
    await browser.close()
  }
}
