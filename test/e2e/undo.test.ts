import { describe, expect } from 'vitest'
import type { Service } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { connectAccount, rentRunning } from './account-steps.ts'

async function open(start: Start) {
  const sim = await start.simulator()
  await rentRunning(sim, { label: 'box' })
  const berth = await start.berth()
  const { page, errors } = await start.page(berth.address)
  await connectAccount(page, sim)
  const row = page.getByRole('row', { name: /box/ })
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, errors, sim, berth, row, name: row.locator('[data-row]') }
}

async function told(sim: Service): Promise<number> {
  const { requests } = (await sim.control('GET', '/sim/requests')) as {
    requests: { method: string; path: string }[]
  }
  return requests.filter(({ method, path }) => method === 'PUT' && /instances\/\d+\/$/.test(path)).length
}

describe('stopping', () => {
  test('is announced first, and can be undone by key or button before it is sent', async ({ start }) => {
    const { page, errors, sim, row, name } = await open(start)
    const status = page.getByRole('status')
    await name.press('s')
    await status.getByText('Stopping box').waitFor()
    await name.press('Control+z')
    await status.getByText(/^box.* keeps running\.$/).waitFor()

    await row.getByRole('button', { name: /^More/ }).click()
    await page.getByRole('menuitem', { name: /^Stop/ }).click()
    const undo = page.getByRole('button', { name: /^Undo: Stopping box/ })
    await undo.press('Enter')
    await undo.waitFor({ state: 'detached' })
    expect(await told(sim)).toBe(0)

    await name.press('s')
    await row.getByText('Stopped', { exact: true }).waitFor()
    expect(await told(sim)).toBe(1)
    expect(errors).toEqual([])
  })

  test('can be undone after a reload, and is sent at once when Berth ends', async ({ start }) => {
    const { page, sim, name, berth } = await open(start)
    const undo = page.getByRole('button', { name: /^Undo: Stopping box/ })
    await name.press('s')
    await undo.waitFor()
    await page.reload()
    await undo.press('Enter')
    await page.getByText(/^box.* keeps running\.$/).waitFor()
    expect(await told(sim)).toBe(0)

    await name.press('s')
    await undo.waitFor()
    await berth.stop()
    expect(await told(sim)).toBe(1)
  })
})
