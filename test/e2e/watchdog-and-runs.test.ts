import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { startSshd } from '../integration/ssh/sshd.ts'
import { ownPublicKey } from '../own-public-key.ts'
import { connectAccount, openConnected } from './account-steps.ts'
import { startDetour } from './detour.ts'

/** Berth with the details open of one running instance, which is a real OpenSSH server inside. */
async function insideOpen(start: Start) {
  const sim = await start.simulator({ speed: 1 })
  const there = await start.folder()
  writeFileSync(join(there, 'nvidia-smi'), '#!/bin/sh\necho 90\n')
  chmodSync(join(there, 'nvidia-smi'), 0o755)
  const { offers } = await sim.api<{ offers: { id: number }[] }>('POST', '/api/v0/bundles/', { limit: 1 })
  const rented = await sim.api<{ new_contract: number; instance_api_key: string }>(
    'PUT',
    `/api/v0/asks/${offers[0]?.id}/`,
    { image: 'ubuntu', disk: 10, label: 'box' },
  )
  await sim.control('POST', '/sim/clock', { advance: 3600 })
  const id = rented.new_contract
  const sshd = await startSshd([
    `SetEnv HOME=${there} PATH=${there}:/usr/bin:/bin CONTAINER_API_KEY=${rented.instance_api_key}`,
  ])
  start.atEnd(sshd.close)
  const detour = await startDetour(sim.baseUrl, sshd.port)
  start.atEnd(detour.close)
  const userHome = await start.folder()
  const berth = await start.berth({ env: { HOME: userHome } })
  const { page } = await start.page(berth.address, { viewport: { width: 1280, height: 800 } })
  await connectAccount(page, { baseUrl: detour.baseUrl, apiKey: sim.apiKey })
  await page.getByRole('row', { name: /box/ }).getByRole('link').click()
  // The first attempt creates Berth's key; the server then authorizes it.
  await page.getByRole('tab', { name: 'Monitor' }).click()
  sshd.authorize(await ownPublicKey(berth.home))
  const intended = async () => {
    const { instances } = await sim.api<{ instances: { intended_status: string } }>(
      'GET',
      `/api/v0/instances/${id}/`,
    )
    return instances.intended_status
  }
  return { sim, page, berth, there, userHome, intended }
}

test('a run shows its output and exit code, fetches its folder and stops the instance', async ({ start }) => {
  const { page, there, userHome, intended } = await insideOpen(start)
  mkdirSync(join(there, 'results'))
  writeFileSync(join(there, 'results', 'loss.txt'), '0.01')
  await page.getByRole('tab', { name: 'Limits' }).click()
  await page.getByRole('button', { name: 'Run a command' }).click()
  const form = page.getByRole('form', { name: /^Run a command on box/ })
  const command =
    'seq 1 9000; for i in 1 2 3 4 5; do for p in 10 50 90; do printf "\\repoch $i: \\033[32m$p%%\\033[0m"; sleep 0.05; done; echo; done; exit 3'
  await form.getByLabel('Command').fill(command)
  await form.getByLabel('Name (optional)').fill('finetune')
  await form.getByRole('radio', { name: 'Stop it' }).check()
  await form.getByRole('switch', { name: /Download a folder when done/ }).check()
  await form.getByLabel('Folder to download').fill(join(there, 'results'))
  // What was typed survives a switch of tabs.
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByRole('tab', { name: 'Limits' }).click()
  await expect.poll(() => form.getByLabel('Command').inputValue()).toBe(command)
  await expect.poll(() => form.getByLabel('Folder to download').inputValue()).toBe(join(there, 'results'))
  await form.getByText(/is downloaded to .*Berth, and then the instance is stopped/).waitFor()
  await form.getByRole('button', { name: 'Run it' }).click()

  const run = page.getByRole('group', { name: 'Run finetune' })
  const output = run.getByRole('log')
  await expect.poll(() => output.textContent()).toContain('epoch 1')
  await run.getByText('Failed with exit code 3', { exact: true }).waitFor({ timeout: 150_000 })
  await run.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByText(/^[\d,]+ lines copied\.$/).waitFor()
  await run.getByText(/results is in .*stopped/).waitFor()
  // A redrawn progress bar is one line, in its last state.
  await expect.poll(() => output.textContent()).toMatch(/epoch 1: 90%\nepoch 2: 90%[\s\S]*epoch 5: 90%/)
  expect(await output.textContent()).not.toMatch(/\b10%/)
  expect(await intended()).toBe('stopped')
  expect(readFileSync(join(userHome, 'Berth', 'results', 'loss.txt'), 'utf8')).toBe('0.01')

  // By keyboard alone: the search covers output far beyond what is shown.
  expect(await output.textContent()).not.toMatch(/^1234$/m)
  await output.focus()
  await page.keyboard.press('Control+f')
  await page.keyboard.type('1234')
  await page.keyboard.press('Enter')
  await run.getByText('1 line contains “1234”.').waitFor()
  const found = run.getByRole('list', { name: 'Matching lines' }).getByRole('button')
  await expect.poll(() => found.allTextContents()).toEqual(['1234 1234'])
  await found.focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => output.locator('mark').textContent()).toBe('1234')
  await expect.poll(() => output.textContent()).toMatch(/^1233$/m)
  await run.getByRole('button', { name: 'Earlier' }).click()
  await expect.poll(() => output.textContent()).toMatch(/^1000$/m)
  await run.getByRole('button', { name: 'Later' }).click()
  await expect.poll(() => output.textContent()).toMatch(/^1234$/m)
  await output.focus()
  await page.keyboard.press('Escape')
  await expect.poll(() => output.textContent()).toContain('epoch 5: 90%')
  await page.getByRole('row', { name: /box/ }).getByText('Stopped').waitFor()
  // Activity attributes the download to Berth.
  await page.getByRole('link', { name: 'Activity' }).click()
  await page.locator('.entry.berth', { hasText: /Downloaded \S+\/results of finetune/ }).waitFor()
})

test('a watchdog shows its log, and stops the instance once Berth is killed', async ({ start }) => {
  const { page, berth, there, intended } = await insideOpen(start)
  await page.getByRole('tab', { name: 'Limits' }).click()
  await page.getByRole('button', { name: 'Add limit' }).click()
  await page.getByRole('menuitem', { name: 'Stop it when Berth is away…' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Minutes away').fill('30')
  await form.getByText(/when Berth was away for 30 min/).waitFor()
  await form.getByRole('button', { name: 'Set limit' }).click()
  const watchdog = page.getByRole('region', { name: /^Watchdog on box/ })
  await watchdog.getByText('Watchdog: watching.').waitFor({ timeout: 150_000 })
  await watchdog.getByText(/uses the container’s own key/).waitFor()
  await watchdog.getByRole('button', { name: 'Show log' }).click()
  await page
    .getByLabel('Lines of the watchdog’s log')
    .getByText(/watching instance/)
    .waitFor()
  expect(existsSync(join(there, '.berth', 'watchdog', 'key'))).toBe(false)

  // Only now a lease so short that it may expire on a busy machine.
  await page.getByRole('button', { name: /^Change: Stops box/ }).click()
  await form.getByLabel('Minutes away').fill('0.15')
  await form.getByText(/when Berth was away for 9 s/).waitFor()
  expect(await intended()).toBe('running')
  await form.getByRole('button', { name: 'Change limit' }).click()
  await form.waitFor({ state: 'detached' })
  await watchdog.getByText(/when Berth was away for 9 s/).waitFor()
  berth.process.kill('SIGKILL')
  await once(berth.process, 'exit')
  await vi.waitFor(async () => expect(await intended()).toBe('stopped'), { timeout: 150_000, interval: 250 })
})

test('a rental adds a watchdog to its start script, and its run waits for the instance', async ({
  start,
}) => {
  const { sim, page } = await openConnected(start, {
    simulator: { speed: 1 },
    page: { viewport: { width: 1280, height: 900 } },
  })
  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByRole('button', { name: /^Rent \d/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image').fill('pytorch/pytorch')
  await dialog.getByRole('button', { name: '30 min idle' }).click()
  await dialog.getByRole('button', { name: 'Custom…' }).click()
  // So it is unless somebody does without.
  const asleep = page.getByRole('switch', { name: 'Also while this computer sleeps' })
  expect(await asleep.isChecked()).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Then run a command…' }).click()
  const then = dialog.getByRole('group', { name: 'Then run a command' })
  await then.getByLabel('Command').fill('python3 train.py')
  await then.getByRole('radio', { name: 'Destroy it' }).check()
  await then.getByRole('switch', { name: /Download a folder when done/ }).check()
  await then.getByLabel('Folder to download').fill('/workspace/out')
  await dialog.getByText('then: python3 train.py, download /workspace/out, destroy').waitFor()
  await dialog.getByRole('button', { name: /^Rent/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Instances' }).click()
  await page.getByText('then: python3 train.py, download /workspace/out, destroy').waitFor()
  await page.getByRole('button', { name: 'Don’t run python3 train.py' }).waitFor()
  await page.getByRole('row', { name: /#\d+/ }).getByRole('link').click()
  const { instances } = await sim.api<{ instances: { onstart: string }[] }>('GET', '/api/v0/instances/')
  expect(instances[0]?.onstart).toContain('# >>> berth watchdog')

  await page.getByRole('tab', { name: 'Limits' }).click()
  const run = page.getByRole('group', { name: 'Run python3 train.py' })
  await run.getByText('Waiting for its instance').waitFor()
  expect(await run.getByText(/python3 train\.py/).count()).toBe(1)
  expect(await run.getByRole('switch').count()).toBe(0)
  await run.getByRole('button', { name: 'Don’t run python3 train.py…' }).waitFor()
  await sim.control('POST', '/sim/clock', { advance: 900 })
  await run.getByText(/Epoch \d\/3/).waitFor({ timeout: 150_000 })

  // One without SSH can have none, which is no choice for the next rental.
  const rentAnother = async () => {
    await page.getByRole('link', { name: 'Offers' }).click()
    await page
      .getByRole('button', { name: /^Rent \d/ })
      .first()
      .click()
  }
  const access = dialog.getByRole('radiogroup', { name: 'Access' })
  await rentAnother()
  await access.getByText('None', { exact: true }).click()
  await dialog.getByRole('button', { name: /^Rent/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await rentAnother()
  await access.getByText('SSH', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Custom…' }).click()
  expect(await asleep.isChecked()).toBe(true)
})

test('the demo’s day fetches results, raises a lost bid, and a watchdog stops a notebook', async ({
  start,
}) => {
  const userHome = await start.folder()
  const berth = await start.berth({ flags: ['--demo', '--speed', '60'], env: { HOME: userHome } })
  const { page } = await start.page(berth.address, { viewport: { width: 1280, height: 800 } })
  await page.getByRole('button', { name: 'Play a day with Berth' }).click()
  await page.getByText('3 of 4').waitFor({ timeout: 150_000 })
  await page.getByText(/^Berth saved you/).waitFor({ timeout: 150_000 })
  expect(existsSync(join(userHome, 'Berth', 'results', 'model.safetensors'))).toBe(true)
  await page
    .getByRole('row', { name: /night batch/ })
    .getByText('Running')
    .waitFor()
  await page
    .getByRole('row', { name: /finetune/ })
    .getByText('Stopped')
    .waitFor()
  await page
    .getByRole('row', { name: /notebook/ })
    .getByRole('link')
    .click()
  await page.getByRole('tab', { name: 'Limits' }).click()
  await page.getByText(/^It stopped this instance because/).waitFor()
  await page.getByRole('link', { name: 'Activity' }).click()
  await page.getByText(/: raised the bid to/).waitFor()
  // Once as an alert, once in Activity.
  await expect.poll(() => page.getByText(/was probably stopped by its watchdog/).count()).toBe(2)
  await page.getByRole('button', { name: 'Play it again' }).click()
  await page.getByRole('button', { name: 'Stop the demo day' }).click()
  await page.getByText('You stopped the demo day.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Play it again' }).waitFor()
})
