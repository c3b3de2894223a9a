import { once } from 'node:events'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { MainMessage } from '#contract/messages.ts'
import { test } from '#test/berth/pages.ts'
import { connectAccount, rentRunning } from '#test/e2e/account-steps.ts'
import { joinBerth } from '#test/page-client.ts'
import { storedFiles } from '#test/stored-files.ts'

/** No session bus listens here: there is no keychain. */
const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' }

/** Runs commands by its own connection, one after another. */
async function run(address: string, ...commands: [name: string, args: unknown][]): Promise<void> {
  const socket = await joinBerth(address)
  for (const [call, [name, args]] of commands.entries()) {
    const answered = new Promise<void>(resolve => {
      socket.on('message', data => {
        const message: MainMessage = JSON.parse(String(data))
        if ('call' in message && message.call === call + 1) resolve()
      })
    })
    socket.send(JSON.stringify({ kind: 'command', call: call + 1, name, args }))
    await answered
  }
  socket.terminate()
}

const go = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()

test('limits and a rental on its way are shown after a kill and a start without the key', async ({
  start,
}) => {
  const sim = await start.simulator({ speed: 1 })
  await sim.control('POST', '/sim/credit', { credit: 100 })
  const instance = await rentRunning(sim)
  const first = await start.berth({ env })
  const opened = await start.page(first.address)
  await connectAccount(opened.page, sim)
  await opened.page.getByRole('row', { name: new RegExp(`#${instance}`) }).waitFor()
  const limit = { instance, action: 'stop', warning: 300, missed: 'act' }
  const { offers } = await sim.api<{ offers: { id: number }[] }>('POST', '/api/v0/bundles/', { limit: 1 })
  await sim.control('POST', '/sim/faults', {
    rules: [{ method: 'PUT', path: '^/api/v0/asks/', kind: 'delay', ms: 20_000 }],
  })
  const rest = { image: 'pytorch/pytorch', access: 'ssh', disk: 20, env: [], ports: [], label: 'coming' }
  await run(
    first.address,
    ['setLimit', { ...limit, when: { kind: 'duration', seconds: 8 * 3600 } }],
    ['setLimit', { ...limit, when: { kind: 'idle', below: 5, seconds: 1800 } }],
    ['rent', { request: { offer: offers[0]?.id, ...rest } }],
  )
  await opened.page.getByRole('row', { name: /coming/ }).waitFor()
  // What is seen is written within a second.
  const written = async () => [
    ...(await storedFiles(first.home, path => path.endsWith('last-seen.json'))).values(),
  ]
  await expect.poll(async () => String(await written())).toContain(String(instance))
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')
  const ended = '2 limits are set and can’t act while Berth is not running.'
  await opened.page.getByText(ended).waitFor()

  const second = await start.berth({ home: first.home, env })
  const { page } = await start.page(second.address)
  await page.getByRole('banner').getByText('Key missing').waitFor()
  const cannot = 'can’t act until Berth has the API key again.'
  await go(page, 'Instances')
  await page.getByRole('row', { name: `2 limits are set and ${cannot}` }).waitFor()
  await page.getByRole('row', { name: /^It’s unknown whether this was rented/ }).waitFor()
  await page.getByRole('row', { name: /Renting.*coming/ }).waitFor()
  await go(page, 'Home')
  await page.getByRole('link', { name: 'coming', exact: true }).waitFor()
  await page.getByText(`2 limits are set and ${cannot}`).waitFor()
  await page.goto(`${second.address.split('#')[0]}#/instances/${instance}/automation`)
  await page
    .getByRole('status')
    .filter({ hasText: `2 limits are set and ${cannot}` })
    .waitFor()
  expect(await page.getByText('Cannot act until Berth has the API key again.', { exact: true }).count()).toBe(
    2,
  )
  expect(await page.getByText('No limit is set.').count()).toBe(0)

  await second.stop()
  await page.getByText('Berth has quit', { exact: true }).waitFor()
  await page.getByText(ended).waitFor()
})
