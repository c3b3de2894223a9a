import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../berth/pages.ts'
import { connectAccount, openConnected, rentRunning } from './account-steps.ts'

describe("the panel of an instance's details", () => {
  test('keeps its height in the settings, also for another browser', async ({ start }) => {
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
  })

  test('can be maximized, fills a small window, and remembers its tab', async ({ start }) => {
    const viewport = { width: 1280, height: 800 }
    const { berth, page } = await openConnected(start, { instances: [{ label: 'box' }], page: { viewport } })
    const row = page.getByRole('row', { name: /box/ })
    /** Whether the row is inert below the details. */
    const covered = () => row.evaluate(element => element.closest('[inert]') !== null)
    const tab = (name: string) => page.getByRole('tab', { name })
    await row.getByRole('link').click()
    await tab('Automation').click()
    await page.keyboard.press('Control+Shift+M')
    await expect.poll(covered).toBe(true)
    await expect.poll(() => tab('Automation').getAttribute('aria-selected')).toBe('true')
    await page.getByRole('button', { name: 'Restore the details' }).click()
    await expect.poll(covered).toBe(false)

    // In a small window it fills the screen and takes the keys until it is closed.
    await page.getByRole('button', { name: 'Close the details' }).click()
    await page.setViewportSize({ width: 720, height: 480 })
    await row.getByRole('link').press('Enter')
    await expect.poll(covered).toBe(true)
    const focused = (name: string) => tab(name).evaluate(element => element === document.activeElement)
    await expect.poll(() => focused('Automation')).toBe(true)
    await tab('Details').click()
    const panel = page.getByRole('tabpanel')
    await panel.getByText('Price').waitFor()
    expect((await panel.boundingBox())?.height).toBeGreaterThan(300)
    await page.keyboard.press('Escape')
    await expect.poll(covered).toBe(false)
    await expect.poll(() => row.getByRole('link').evaluate(it => it === document.activeElement)).toBe(true)

    const second = await start.page(berth.address, { viewport })
    await second.page.getByRole('row', { name: /box/ }).getByRole('link').click()
    await expect
      .poll(() => second.page.getByRole('tab', { name: 'Details' }).getAttribute('aria-selected'))
      .toBe('true')
  })
})
