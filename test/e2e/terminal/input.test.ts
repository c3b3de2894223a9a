import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { openShellPage } from '#test/e2e/shell-page.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'

const lacking = lacks('chromium', sshd)

describe.skipIf(lacking !== '')(`what is typed and shown in a terminal, in a real browser${lacking}`, () => {
  test('keys, input methods, emoji pickers and dictation reach the shell, each once', async ({ start }) => {
    const shell = await openShellPage(start)
    const { page } = shell
    await shell.type("stty -echo; printf '%s' REA DY; cat -v")
    await shell.shows('READY')
    const { keyboard } = page
    const cdp = await page.context().newCDPSession(page)
    await keyboard.type('aB1~')
    await keyboard.press('ArrowLeft')
    await keyboard.insertText('dictated words, ')
    await keyboard.insertText('🚀')
    await keyboard.press('c')
    await cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', windowsVirtualKeyCode: 229 })
    await cdp.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 })
    await keyboard.insertText('日')
    await cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', windowsVirtualKeyCode: 229 })
    await page.evaluate(() => new Promise(resolve => setTimeout(resolve)))
    await keyboard.press('d')
    await keyboard.insertText('e')
    await keyboard.press('Enter')
    // As cat -v writes it.
    await shell.shows('DYaB1~^[[Ddictated words, M-pM-^_M-^ZM-^@cM-fM-^WM-%de')
  })

  test('a font from Settings applies at once, and an invalid font name is refused', async ({ start }) => {
    const shell = await openShellPage(start)
    const { page } = shell
    const rows = page.locator('.xterm-rows')
    expect(await rows.evaluate(element => getComputedStyle(element).fontFamily)).toMatch(/^"JetBrains Mono/)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('Font').fill('DejaVu Sans Mono; } * { color: red')
    await page.getByLabel('Font').press('Enter')
    await page.getByText('Only names of fonts').waitFor()
    await page.getByLabel('Font').fill('No Such Font, DejaVu Sans Mono')
    await page.getByLabel('Font').press('Enter')
    await page.getByText('Not on this computer: No Such Font').waitFor()
    await page.getByLabel('Text size').fill('20')
    await page.getByLabel('Text size').press('Enter')
    await page.getByRole('link', { name: 'Instances' }).click()
    await page.getByRole('row').getByRole('button', { name: 'Terminal' }).click()
    await expect
      .poll(() => rows.evaluate(element => getComputedStyle(element).fontFamily))
      .toMatch(/^"No Such Font", "DejaVu Sans Mono", "JetBrains Mono/)
    await expect.poll(() => rows.evaluate(element => getComputedStyle(element).fontSize)).toBe('20px')
  })

  test('10,000 lines stay searchable, and a web address is a link', async ({ start }) => {
    const shell = await openShellPage(start)
    const { page, sshd } = shell
    const lines = Array.from({ length: 10_100 }, (_, index) => `line-${index + 1}-end`)
    writeFileSync(join(sshd.folder, 'lines'), lines.join('\n'))
    await shell.type(`cat ${join(sshd.folder, 'lines')}; echo; echo http://127.0.0.1:9/here`)
    await shell.shows('here\nflood>')
    await page.evaluate(() => {
      const sent: unknown[] = []
      const { send } = WebSocket.prototype
      WebSocket.prototype.send = function note(message) {
        sent.push(message)
        send.call(this, message)
      }
      Object.assign(window, { sent })
    })
    const address = await page.locator('.xterm-rows > div', { hasText: /^http/ }).boundingBox()
    await page.mouse.move((address?.x ?? 0) + 20, (address?.y ?? 0) + 8)
    await page.locator('.xterm-cursor-pointer').waitFor()
    await page.mouse.down()
    await page.mouse.up()
    const sent = () => page.evaluate(() => String((window as unknown as { sent: unknown[] }).sent))
    await expect.poll(sent).toContain('"name":"openLink","args":{"url":"http://127.0.0.1:9/here"}')
    await page.keyboard.press('Control+Shift+F')
    const field = page.getByLabel('Search in the terminal')
    await field.fill('line-150-end')
    await shell.shows('line-150-end')
    await field.fill('line-1-end')
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    await page.keyboard.press('Escape')
    expect(await terminalText(page)).toContain('line-150-end')
  })
})
