import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { askByName } from '#test/ask-by-name.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, rentRunning } from '#test/e2e/account-steps.ts'
import { startCable } from '#test/e2e/cable.ts'
import { startDetour } from '#test/e2e/detour.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { startSshd } from '#test/integration/ssh/sshd.ts'
import { listen } from '#test/loopback.ts'
import { lacks } from '#test/needs.ts'
import { ownPublicKey } from '#test/own-public-key.ts'

const lacking = lacks('chromium', sshd)
const patient = { timeout: 150_000 }

/** Berth on the files of an instance whose SSH is a real OpenSSH server, behind a cable. */
async function openInstance(start: Start) {
  const there = await start.folder()
  const sshd = await startSshd([`ForceCommand internal-sftp -d ${there}`])
  start.atEnd(sshd.close)
  const cable = await startCable(sshd.port)
  start.atEnd(cable.close)
  const sim = await start.simulator({ speed: 1 })
  const detour = await startDetour(sim.baseUrl, cable.port)
  start.atEnd(detour.close)
  const id = await rentRunning(sim, { label: 'box' })
  const berth = await start.berth()
  const { page } = await start.page(berth.address)
  await connectAccount(page, { baseUrl: detour.baseUrl, apiKey: sim.apiKey })
  await page.getByRole('row', { name: /box/ }).getByRole('link').click()
  // Opening Files creates Berth's key; the server then authorizes it.
  await page.getByRole('tab', { name: 'Files' }).click()
  sshd.authorize(await ownPublicKey(berth.home))
  return { page, cable, id, here: berth.home, there }
}

describe.skipIf(lacking !== '')(`a network that is cut, at a real OpenSSH server${lacking}`, () => {
  test('resumes an upload and a tunnel automatically, with the file intact', async ({ start }) => {
    const web = createServer((_, response) => response.end('still here'))
    const port = await listen(web)
    start.atEnd(() => web.close())
    const { page, cable, here, there } = await openInstance(start)

    await page.getByRole('tab', { name: 'Details' }).click()
    await page.getByLabel('Port in the instance').fill(String(port))
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    const tunnel = page.getByRole('table', { name: 'Forwarded ports' }).getByRole('row').nth(1)
    await tunnel.getByText('Open', { exact: true }).first().waitFor(patient)
    const shown = async () => /\S+\.localhost:\d+/.exec(await tunnel.innerText())?.[0]
    const address = `http://${await shown()}/`
    const asked = async () => (await askByName(address)).text
    expect(await asked()).toBe('still here')

    const bytes = randomBytes(24 * 1024 * 1024)
    await writeFile(join(here, 'big'), bytes)
    await page.getByRole('tab', { name: 'Files' }).click()
    const button = page.getByRole('button', { name: /^Upload files/ })
    await expect.poll(() => button.isEnabled(), patient).toBe(true)
    const chooser = page.waitForEvent('filechooser')
    await button.click()
    await (await chooser).setFiles(join(here, 'big'))
    const arrived = () => readdirSync(there).reduce((sum, name) => sum + statSync(join(there, name)).size, 0)
    while (arrived() < 4 * 1024 * 1024) await wait(5)
    cable.pull()
    const before = arrived()
    expect(before).toBeLessThan(bytes.length)

    await page.getByText('Reconnecting', { exact: true }).waitFor(patient)
    expect(readdirSync(there)).not.toContain('big')
    // Asked while the network is cut, and answered by the same port once it is back.
    const meanwhile = asked()
    cable.plug()
    expect(await meanwhile).toBe('still here')
    await expect.poll(() => readdirSync(there), { timeout: 120_000 }).toEqual(['big'])
    const hash = (of: Uint8Array) => createHash('sha256').update(of).digest('hex')
    expect(hash(readFileSync(join(there, 'big')))).toBe(hash(bytes))
    await page.getByRole('tab', { name: 'Details' }).click()
    await tunnel.getByText('Open', { exact: true }).first().waitFor(patient)
    expect(address).toBe(`http://${await shown()}/`)
    expect(await asked()).toBe('still here')
  })
})
