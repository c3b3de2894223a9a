import { describe, expect } from 'vitest'
import { terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { openShellPage } from '#test/e2e/shell-page.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'

const lacking = lacks('chromium', 'tmux', sshd)

describe.skipIf(lacking !== '')(
  `a terminal whose connection goes, at a real OpenSSH server${lacking}`,
  () => {
    test('a cut network is noticed, and the terminal reconnects once it is back', async ({ start }) => {
      const shell = await openShellPage(start, { cable: true })
      const { page } = shell
      await shell.type('echo kept-$((40 + 2))')
      await shell.shows('kept-42')
      shell.cut.pull()
      const lost = page.getByRole('alert').filter({ hasText: 'it stopped answering' })
      await lost.waitFor({ timeout: 150_000 })
      await page.getByRole('timer').getByText('Connects again in').waitFor()
      await page.getByRole('button', { name: 'Reconnect now' }).waitFor()
      expect(await terminalText(page)).toContain('kept-42')

      shell.cut.plug()
      await shell.shows(/kept-42[\s\S]*flood>[\s\S]*flood>/, 60_000)
      await page.locator('.xterm-helper-textarea').focus()
      await shell.type('echo again-$((40 + 3))')
      await shell.shows('again-43')
    })

    test('lines printed faster than tmux draws can be searched and scrolled to', async ({ start }) => {
      const shell = await openShellPage(start, { tmux: true })
      const { page } = shell
      await shell.type('for i in $(seq 10080); do echo line-$i-end; done; echo all-$((1 + 1))')
      await shell.shows('all-2')
      await page.getByRole('button', { name: 'Search in this shell' }).click()
      const field = page.getByLabel('Search in the terminal')
      await field.fill('line-150-end')
      await shell.shows('line-150-end\nline-151-end')
      await page.keyboard.press('Escape')
      await shell.type('echo still-$((1 + 1))')
      await shell.shows(/still-2\nroot@/)
    })

    test('a shell in tmux survives a lost connection, a new host key and the end of Berth', async ({
      start,
    }) => {
      const shell = await openShellPage(start, { tmux: true })
      const { page, sshd } = shell
      await page.getByRole('tab', { name: 'berth-1' }).waitFor()
      await shell.type('echo mark-$((6 * 7)); for i in $(seq 99); do echo line-$i; done; HELD=by-tmux')
      await shell.shows('line-99')

      const known = sshd.fingerprint()
      const offered = await sshd.changeHostKey()
      sshd.dropConnections()
      const refused = page.getByRole('alert').filter({ hasText: 'host key has changed' })
      await refused.getByText(known).waitFor()
      await refused.getByText(offered).waitFor()
      await page.getByRole('button', { name: 'Accept the new key' }).click()
      await refused.waitFor({ state: 'detached' })
      await shell.type('echo first-$HELD')
      await shell.shows('first-by-tmux')

      // Berth is killed while the network is down, so that the server hears nothing.
      sshd.freezeConnections()
      const fresh = await shell.restart()
      await fresh.getByRole('tab', { name: 'berth-1' }).waitFor()
      await shell.shows('first-by-tmux', 60_000, fresh)
      await shell.type('echo second-$HELD', fresh)
      await shell.shows('second-by-tmux', 60_000, fresh)
      // Output that scrolled away before Berth's end is back.
      await fresh.getByRole('button', { name: 'Search in this shell' }).click()
      await fresh.getByLabel('Search in the terminal').fill('mark-42')
      await shell.shows('mark-42', 60_000, fresh)
    })
  },
)
