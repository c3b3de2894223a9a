import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { test as base } from '#test/berth/pages.ts'
import { arrived, floodOf, makePlain, openShellPage, sumOf } from '#test/e2e/shell-page.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'

const mega = 1024 * 1024
const theEnd = 'nothing more comes after this'
const lacking = lacks('chromium', sshd)

/** A plain shell whose raw bytes are counted. */
const test = base.extend('shell', async ({ start }) => {
  const shell = await openShellPage(start)
  await makePlain(shell)
  return shell
})

describe.skipIf(lacking !== '')(`a terminal at a real OpenSSH server, in a real browser${lacking}`, () => {
  test('50 MB of output arrive whole, while the page responds and memory stays bounded', async ({
    shell,
  }) => {
    const { page, sshd } = shell
    const pid = shell.pid()
    const text = floodOf(10 * mega)
    const [file, enough] = [join(sshd.folder, 'printed'), join(sshd.folder, 'enough')]
    writeFileSync(file, text)
    const before = { main: resident(pid), page: await heap(page) }

    // Five times or more, until the page has been tried, which on a slow machine may outlast any fixed flood.
    const goesOn = `[ $n -lt 5 ] || [ ! -e ${enough} ]`
    await shell.type(
      `n=0; while ${goesOn}; do cat ${file}; n=$((n + 1)); done; printf '%s' '${theEnd}'; exit`,
    )
    await expect.poll(async () => (await arrived(page)).bytes).toBeGreaterThan(mega)
    let clicks = 0
    let most = 0
    while (clicks < 5 || (await arrived(page)).bytes < 25 * mega) {
      await openPalette(page)
      clicks += 1
      most = Math.max(most, resident(pid))
    }
    writeFileSync(enough, '')

    await shell.shows(theEnd, 100_000)
    const { bytes, sum } = await arrived(page)
    const times = Math.floor(bytes / text.length)
    expect(times).toBeGreaterThanOrEqual(5)
    const all = [...Array.from({ length: times }, () => text), Buffer.from(theEnd)]
    expect({ bytes, sum }).toEqual(sumOf(Buffer.concat(all)))
    expect(Math.max(most, resident(pid)) - before.main).toBeLessThan(100 * mega)
    expect((await heap(page)) - before.page).toBeLessThan(60 * mega)
  })

  test('each byte comes back of 16 KB/s typed for ten seconds', async ({ shell }) => {
    const { page } = shell
    await shell.type("stty raw; printf '%s' TY PE; exec cat")
    await shell.shows('TYPE')
    await page.evaluate(() => Object.assign(window, { arrived: { bytes: 0, sum: 1 } }))
    const typed = randomBytes(120 * 1024)
      .toString('base64')
      .replaceAll('+', '-')
    await page.evaluate(typeEvenly, { text: typed, perSecond: 16 * 1024 })
    await expect.poll(async () => (await arrived(page)).bytes).toBe(typed.length)
    expect(await arrived(page)).toEqual(sumOf(Buffer.from(typed)))
  })
})

/** Opens the palette and closes it. */
async function openPalette(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Commands' }).click()
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** In the page: pastes text into the terminal in pieces, evenly over time, like an automatic typist. */
function typeEvenly({ text, perSecond }: { text: string; perSecond: number }): Promise<void> {
  const area = document.querySelector('.xterm-helper-textarea')
  if (!area) throw new Error('no terminal')
  const start = performance.now()
  let at = 0
  return new Promise(resolve => {
    const timer = setInterval(() => {
      const due = Math.min(text.length, Math.floor(((performance.now() - start) * perSecond) / 1000))
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', text.slice(at, due))
      area.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
      at = due
      if (at < text.length) return
      clearInterval(timer)
      resolve()
    }, 4)
  })
}

/** Bytes of memory that a process holds. */
function resident(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

/** The page's used JavaScript heap, in bytes. */
async function heap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}
