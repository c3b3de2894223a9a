import { describe, expect } from 'vitest'
import type { Service } from '../berth/browser.ts'
import { test } from '../berth/pages.ts'
import type { Start } from '../berth/start.ts'
import { openConnected } from './account-steps.ts'

async function open(start: Start) {
  const { sim, berth, page } = await openConnected(start, { instances: [{ label: 'box' }] })
  const row = page.getByRole('row', { name: /box/ })
  await row.getByText('Running', { exact: true }).waitFor()
  return { page, sim, berth, row, name: row.locator('[data-row]') }
}

async function told(sim: Service): Promise<number> {
  const { requests } = (await sim.control('GET', '/sim/requests')) as {
    requests: { method: string; path: string }[]
  }
  return requests.filter(({ method, path }) => method === 'PUT' && /instances\/\d+\/$/.test(path)).length
}

describe('stopping', () => {
  test('is announced first, and can be undone by key or button before it is sent', async ({ start }) => {
    const { page, sim, row, name } = await open(start)
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
  })
})
