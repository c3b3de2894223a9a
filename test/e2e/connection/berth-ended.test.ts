import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { proofOf } from '#browser/page-server.ts'
import { patience, startNode } from '#test/berth/browser.ts'
import { openBrowser } from '#test/berth/chromium.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { type Impostor, startImpostor } from './impostor.ts'

/** A page on the demo, with an API key typed that must not leak. */
async function openDemo(start: Start) {
  const berth = await start.berth({ flags: ['--demo'] })
  const { page } = await start.page('about:blank')
  await page.clock.install()
  await page.goto(berth.address)
  await page.getByRole('button', { name: 'Connect your account' }).click()
  await page.getByRole('dialog').getByLabel('API key').fill('s3cret-key')
  const { port, hash } = new URL(berth.address)
  return { berth, page, port: Number(port), token: hash.slice(1) }
}

async function takePort(
  start: Start,
  port: number,
  greeting: (nonce: string) => string | undefined,
): Promise<Impostor> {
  const impostor = await startImpostor(port, greeting)
  start.atEnd(impostor.close)
  return impostor
}

/** Expects only the message that Berth has quit and what to do. */
async function saysEnded(page: Page): Promise<void> {
  await page.getByText('Berth has quit', { exact: true }).waitFor()
  expect((await page.locator('body').innerText()).trim()).toBe(
    'Berth has quit\n\nThis page is no longer connected. Start Berth again, then open the address it prints.',
  )
  expect(await page.title()).toBe('Berth has quit')
  expect(await page.evaluate(() => ({ ...localStorage, ...sessionStorage }))).not.toHaveProperty(
    'berth-token',
  )
}

describe('a page whose Berth has gone', () => {
  test('says that Berth quit, and doesn’t reconnect to another program on its port', async ({ start }) => {
    const { berth, page, port } = await openDemo(start)
    await berth.stop()
    await saysEnded(page)
    const impostor = await takePort(start, port, () => undefined)
    await page.clock.runFor(120_000)
    await page.getByText('Berth has quit', { exact: true }).click()
    expect(impostor.asked).toEqual([])
    await saysEnded(page)
  })

  const state = JSON.stringify({ kind: 'state', sequence: 1, state: { accounts: {}, settings: {} } })
  const hex = 'ab'.repeat(32)
  const greetings = {
    'says nothing': () => undefined,
    'tells a State at once': () => state,
    'proves another token': (nonce: string) =>
      `${hex} ${proofOf('another', 'berth', { page: nonce, berth: hex })}`,
    'sends the page’s own nonce back': (nonce: string) => `${nonce} ${nonce}`,
  }
  test.for(Object.entries(greetings))(
    'after a kill, sends nothing to a program on its port that %s',
    async ([, greeting], { start }) => {
      const { berth, page, port, token } = await openDemo(start)
      berth.process.kill('SIGKILL')
      await once(berth.process, 'exit')
      await page.getByText('Berth isn’t responding.', { exact: true }).waitFor()
      // What the user does meanwhile is not sent. Before the port is taken, since the page may try it at any moment.
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Connect/ })
        .click()
      const impostor = await takePort(start, port, greeting)
      await expect
        .poll(async () => {
          await page.clock.fastForward(20_000)
          return impostor.taken()
        })
        .toBe(1)
      await page.clock.fastForward(20_000)
      await saysEnded(page)
      await page.clock.runFor(120_000)
      expect(impostor.taken()).toBe(1)
      expect(impostor.heard()).toBe('')
      for (const asked of impostor.asked) {
        expect(asked).not.toContain(token)
        expect(asked).not.toContain('s3cret')
      }
    },
  )
})

describe('a browser that cannot resolve names below localhost', () => {
  test('gets another address on 127.0.0.1, with the reason', async ({ start }) => {
    const home = await start.folder()
    // A desktop opener that writes the address to a file.
    const bin = join(home, 'bin')
    const opened = join(home, 'opened')
    await mkdir(bin)
    await writeFile(
      join(bin, 'xdg-open'),
      `#!/bin/sh\necho "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
    )
    await chmod(join(bin, 'xdg-open'), 0o755)
    const berth = await startNode(
      ['dist/main/browser.js', '--browser', '--demo'],
      line => line.startsWith('Berth is ready at'),
      { BERTH_HOME: join(home, 'berth'), PATH: `${bin}:${process.env['PATH']}` },
    )
    start.atEnd(berth.stop)
    const blind = await openBrowser(['--host-resolver-rules=MAP *.localhost ~NOTFOUND'])
    start.atEnd(() => blind.close())
    await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toContain('http')
    const page = await (await blind.newContext()).newPage()
    await expect(page.goto((await readFile(opened, 'utf8')).trim())).rejects.toThrow('ERR_NAME_NOT_RESOLVED')

    const ready = () =>
      berth
        .output()
        .split('\n')
        .filter(line => line.startsWith('Berth is ready at'))
    await expect.poll(ready, { timeout: patience }).toHaveLength(2)
    expect(berth.output()).toContain('Some cannot find names that end in .localhost')
    const [first = '', second = ''] = ready().map(line => line.slice('Berth is ready at '.length))
    expect(second).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/)
    expect(new URL(second).port).not.toBe(new URL(first).port)
    await page.goto(second)
    await page.getByRole('button', { name: 'Connect your account' }).waitFor()
    await expect.poll(() => new URL(page.url()).hash).toBe('#/home')
  })
})
