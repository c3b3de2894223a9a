import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { connectAccount, rentRunning } from './account-steps.ts'
import { test } from './fixtures.ts'

describe("the panel of an instance's details", () => {
  test('has the height it was given, also in a browser that remembers nothing', async ({ start }) => {
    const sim = await start.simulator()
    const berth = await start.berth()
    const id = await rentRunning(sim, { label: 'box' })
    const first = await start.page(berth.address)
    await connectAccount(first.page, sim)
    const open = async ({ page }: typeof first) => {
      await page.getByRole('row', { name: /box/ }).waitFor()
      await page.evaluate(to => location.assign(to), `#/instances/${id}/details`)
      return page.getByRole('separator', { name: 'Height of the details' })
    }
    const edge = await open(first)
    const usual = Number(await edge.getAttribute('aria-valuenow'))
    await edge.press('PageDown')
    await edge.press('ArrowDown')
    await expect.poll(() => edge.getAttribute('aria-valuenow')).toBe(String(usual - 144))
    const kept = async () => JSON.parse(await readFile(join(berth.home, 'settings.json'), 'utf8'))
    await expect.poll(kept).toMatchObject({ detailsHeight: usual - 144 })

    const box = (await edge.boundingBox()) ?? { x: 0, y: 0 }
    await first.page.mouse.move(box.x + 200, box.y + 4)
    await first.page.mouse.down()
    await first.page.mouse.move(box.x + 200, box.y + 34, { steps: 5 })
    await first.page.mouse.up()
    await expect.poll(kept).toMatchObject({ detailsHeight: usual - 174 })

    const second = await start.page(berth.address)
    const again = await open(second)
    expect(await again.getAttribute('aria-valuenow')).toBe(String(usual - 174))
    expect(await second.page.evaluate(() => ({ ...localStorage }))).toEqual({})
    expect([...first.errors, ...second.errors]).toEqual([])
  })
})
