import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, rentRunning } from '#test/e2e/account-steps.ts'
import { openShellPage } from '#test/e2e/shell-page.ts'
import { noSshd } from '../integration/ssh/own-root.ts'

/** Berth on a simulator's account with one running instance, and its row. */
async function withInstance(start: Start, prepare: (home: string) => void = () => undefined) {
  const sim = await start.simulator()
  const instance = await rentRunning(sim)
  const home = await start.folder()
  prepare(home)
  const berth = await start.berth({ home: join(home, 'berth'), env: { HOME: home, SSH_AUTH_SOCK: '' } })
  const { page } = await start.page(berth.address)
  await connectAccount(page, sim)
  const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Terminal' }) })
  return { sim, page, row, instance }
}

/** The text of each visible shell. */
function paneTexts(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.xterm-rows')].map(tree =>
      [...tree.children].map(line => line.textContent ?? '').join('\n'),
    ),
  )
}

test('shells open in tabs and side by side, and each keeps its output', async ({ start }) => {
  const { page, row } = await withInstance(start)
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  await page.getByText('Host key saved').waitFor()
  await page.keyboard.type('echo first-$((1))\n')
  await expect.poll(() => page.locator('.xterm-accessibility-tree').textContent()).toContain('first-')
  await page.getByRole('button', { name: 'Split to the right' }).click()
  await expect.poll(async () => (await paneTexts(page))[1] ?? '').toContain('root@')
  await page.keyboard.type('echo second\n')
  await expect.poll(async () => (await paneTexts(page))[1]).toContain('second')
  expect((await paneTexts(page))[0]).not.toContain('second')
  await page.getByRole('button', { name: 'Split downwards' }).click()
  await expect.poll(async () => (await paneTexts(page))[2] ?? '').toContain('root@')
  const divider = page.getByRole('separator', { name: 'Share of the first' }).first()
  await divider.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => divider.getAttribute('aria-valuenow')).toBe('55')

  await page.getByRole('button', { name: 'New shell' }).click()
  await expect.poll(async () => (await paneTexts(page)).length).toBe(1)
  await expect.poll(() => terminalText(page)).toContain('root@')
  expect(await terminalText(page)).not.toContain('first-')
  await page.keyboard.type('exit\n')
  // The split shells take its place.
  await expect.poll(async () => (await paneTexts(page)).length).toBe(3)
  await expect.poll(async () => (await paneTexts(page))[0]).toContain('first-')
})

test('a shell that no tmux keeps is closed once its end was confirmed', async ({ start }) => {
  const { page, row } = await withInstance(start)
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  await page.getByRole('button', { name: 'More for this shell' }).click()
  const keeping = page.getByRole('menuitemcheckbox', { name: 'Keep new shells in tmux' })
  await expect.poll(() => keeping.getAttribute('title')).toBe('This instance has no tmux.')
  expect(await keeping.isChecked()).toBe(false)
  await page.getByRole('menuitem', { name: 'Copy SSH command' }).click()
  await page.getByText('SSH command copied.').waitFor()
  const close = page.getByRole('button', { name: 'Close this shell' })
  const question = page.getByRole('alertdialog', { name: 'Close this shell?' })
  await close.click()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'detached' })
  expect(await terminalText(page)).toContain('root@')
  await close.click()
  await question.getByRole('button', { name: 'Close shell' }).click()
  await page.getByText('No terminal is open').waitFor()

  await page.getByRole('button', { name: 'Open a terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  await page.keyboard.type('exit\n')
  await page.getByText('The shell has ended').waitFor()
  await close.click()
  await page.getByText('No terminal is open').waitFor()
})

test('a lost connection keeps the screen and reconnects automatically', async ({ start }) => {
  const { page, row, sim, instance } = await withInstance(start)
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  await page.keyboard.type('echo kept-on-screen\n')
  await expect.poll(() => terminalText(page)).toContain('kept-on-screen')
  await sim.control('POST', `/sim/instances/${instance}`, { actual_status: 'loading' })
  await page.getByText('was lost').waitFor({ timeout: 150_000 })
  expect(await terminalText(page)).toContain('kept-on-screen')
  await sim.control('POST', `/sim/instances/${instance}`, { actual_status: 'running' })
  await page.getByText('was lost').waitFor({ state: 'detached', timeout: 150_000 })
  await expect.poll(() => terminalText(page)).toMatch(/kept-on-screen[\s\S]*Welcome[\s\S]*root@/)
  await page.keyboard.type('echo again\n')
  await expect.poll(() => terminalText(page)).toContain('again')
})

test('a key’s passphrase is asked for when needed, and not stored in the page', async ({ start }) => {
  const { page, row } = await withInstance(start, home => {
    mkdirSync(join(home, '.ssh'), { mode: 0o700 })
    execFileSync('ssh-keygen', [
      '-q',
      '-a',
      '1',
      '-t',
      'ed25519',
      '-N',
      'open sesame',
      '-f',
      join(home, '.ssh', 'mine'),
    ])
  })
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('radio', { name: /^mine/ }).click()
  await page.getByRole('link', { name: 'Instances' }).click()
  await row.getByRole('button', { name: 'Terminal' }).click()
  await page.getByRole('button', { name: 'Enter its passphrase' }).click({ timeout: 150_000 })
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Passphrase').fill('open barley')
  await dialog.getByRole('button', { name: 'Unlock' }).click()
  await dialog.getByText('doesn’t unlock').waitFor()
  await dialog.getByLabel('Passphrase').fill('open sesame')
  await dialog.getByRole('button', { name: 'Unlock' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => terminalText(page)).toContain('root@')
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
  expect(stored).not.toContain('sesame')
})

test('Monitor draws load, power, CPU, traffic and disks, and Details follows the start script’s log', async ({
  start,
}) => {
  const { page, row, instance } = await withInstance(start)
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
  await page.keyboard.type('echo step-one > /root/onstart.log\n')
  await page.getByRole('tab', { name: 'Monitor' }).click()
  await page.getByRole('img', { name: /^Load: \d+% now/ }).waitFor({ timeout: 150_000 })
  await page.getByRole('img', { name: /^Power: \d+ W now/ }).waitFor()
  for (const name of [/^CPU: \d+% now/, /^RAM: [\d.]+ GB now/, /^Network in: [\d.]+ .?B\/s now/])
    await page.getByRole('img', { name }).waitFor({ timeout: 150_000 })
  await expect.poll(() => page.locator('svg path.line').count()).toBeGreaterThanOrEqual(4)
  await page.getByRole('region', { name: 'Disks' }).getByText('of').first().waitFor()
  await page.getByRole('tab', { name: 'Details' }).click()
  const log = page.getByRole('log', { name: /^Lines of / })
  await log.getByText('step-one').waitFor({ timeout: 150_000 })
  await page.getByRole('tab', { name: 'Terminal', exact: true }).click()
  await page.locator('.xterm-helper-textarea').focus()
  await page.keyboard.type('echo -e "\\x1b[31mstep-two\\x1b[0m" >> /root/onstart.log\n')
  await page.getByRole('tab', { name: 'Details' }).click()
  await log.getByText('step-two').waitFor({ timeout: 150_000 })
  expect(await log.textContent()).not.toContain('\x1b')
  await page.getByLabel('Another file').fill('/tmp/nothing.log')
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await page.getByText('Berth looked for /tmp/nothing.log').waitFor()
  expect(instance).toBeGreaterThan(0)
})

test('SSH keys are imported, made and attached, and Settings says where they are attached', async ({
  start,
}) => {
  let text = ''
  const { page, row } = await withInstance(start, home => {
    execFileSync('ssh-keygen', [
      '-q',
      '-a',
      '1',
      '-t',
      'ed25519',
      '-N',
      'words',
      '-f',
      join(home, 'elsewhere'),
    ])
    text = readFileSync(join(home, 'elsewhere'), 'utf8')
  })
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Import a key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('work')
  await dialog.getByLabel('Private key', { exact: true }).fill('ssh-ed25519 AAAA')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('This is a public key').waitFor()
  await dialog.getByLabel('Private key', { exact: true }).fill(text)
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByLabel('Passphrase').fill('words')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('radio', { name: /^work/ }).waitFor()
  await page.getByRole('button', { name: 'Create another key' }).click()
  await dialog.getByLabel('Name').fill('../spare')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('letters, digits').waitFor()
  await dialog.getByLabel('Name').fill('spare')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('radio', { name: /^spare/ }).waitFor()

  await page.getByRole('link', { name: 'Instances' }).click()
  await row.getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Details' }).click()
  const keys = page.getByRole('region', { name: 'SSH keys' })
  await keys.getByLabel('Key to attach').click()
  await page.getByRole('option', { name: 'work' }).click()
  await keys.getByRole('button', { name: 'Attach' }).click()
  await keys.getByRole('listitem').getByText('work').waitFor()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('radio', { name: /^work.*Attached to/s }).check()
  await page.getByRole('link', { name: 'Instances' }).click()
  await row.getByRole('button', { name: 'Terminal' }).click()
  await expect.poll(() => terminalText(page)).toContain('root@')
})

/** A line with wide letters, and the column of its `1`, which is written over. */
const wideLines: readonly [line: string, column: number][] = [
  ['===--- step 1 end', 13],
  ['✅✅✅ step 1 end', 13],
  ['🤖 bot 1 end', 8],
  ['⚡ hi 1 end', 7],
  ['⏳🚀 step 1 end', 11],
  ['한글 step 1 end', 11],
  ['e\u0301te\u0301 step 1 end', 10],
]

describe.skipIf(noSshd)(`at a real shell${noSshd}`, () => {
  test.for([false, true])(
    'wide letters take as many cells as programs there count; tmux: %s',
    async (tmux, { start }) => {
      const shell = await openShellPage(start, { tmux })
      const script = join(shell.sshd.folder, 'wide.sh')
      // What is written over comes later, so that tmux has drawn the line before.
      const drawn = wideLines.map(([line]) => `printf '%s\\n' '${line}'`)
      const over = wideLines.map(([, column]) => `printf '\\033[%sG2\\n' ${column}`)
      const up = `printf '\\033[${wideLines.length + 1}A'`
      writeFileSync(script, ['clear', ...drawn, 'read wait', up, ...over, 'echo over'].join('\n'))
      await shell.type(`bash ${script}`)
      await shell.shows('step 1 end')
      await shell.type('')
      await shell.shows('over')
      for (const [line] of wideLines) await shell.shows(line.replace('1', '2'))
    },
  )
})
