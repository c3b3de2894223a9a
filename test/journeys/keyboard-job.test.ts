import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { terminalText } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'

/** A whole job by keyboard: whenever something closes, the focus has to land somewhere. */
/** The name of the focused element. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    if (!element || element === document.body) return 'nothing'
    if (element.matches('main')) return 'the top of the screen'
    const label = element.id === '' ? null : document.querySelector(`label[for="${element.id}"]`)
    return (element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent ?? '').trim()
  })

/** Presses Tab until an element of that name has the focus; each one passed has to be visible and show its focus. */
async function tabTo(page: Page, name: RegExp, most = 60): Promise<void> {
  const passed: string[] = []
  for (let tabs = 0; tabs < most; tabs += 1) {
    await page.keyboard.press('Tab')
    const at = await focused(page)
    passed.push(at)
    const shown = await page.evaluate(() => {
      const element = document.activeElement
      if (!element || element === document.body) return true
      const { width, top, bottom } = element.getBoundingClientRect()
      return width > 0 && bottom > 0 && top < innerHeight && element.matches(':focus-visible')
    })
    expect(shown, `${at} has the focus and does not show it`).toBe(true)
    if (name.test(at)) return
  }
  throw new Error(`${name} was not among ${passed.join(' | ')}`)
}

/** Waits until it, or something in it, has the focus, a moment after it is drawn. */
async function hasFocus(where: Locator): Promise<void> {
  const has = () => where.evaluate(element => element.contains(document.activeElement))
  await expect.poll(has).toBe(true)
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

describe('by keyboard alone', () => {
  test('a GPU is rented, used in a terminal, limited and destroyed, and a watch is set', async ({
    start,
  }) => {
    const berth = await start.berth({ flags: ['--demo', '--speed', '100'] })
    const { page } = await start.page(berth.address)
    await page.getByText('No instances').waitFor()

    await press(page, 'Control+3')
    await page
      .getByRole('button', { name: /^Rent \d/ })
      .first()
      .waitFor()
    await press(page, '/')
    await page.keyboard.type('RTX 4090')
    const first = page.getByRole('table', { name: 'Offers' }).locator('tbody .acts button').first()
    await expect.poll(() => first.getAttribute('aria-label')).toMatch(/^Rent \d+ × RTX 4090/)
    await press(page, 'ArrowDown')
    await hasFocus(first)
    await press(page, 'r')
    await expect.poll(() => focused(page)).toBe('Name')
    await press(page, 'Control+Enter')
    const row = page.getByRole('table', { name: 'Instances' }).getByRole('row', { name: /RTX 4090/ })
    await row.getByText('Running', { exact: true }).waitFor({ timeout: 150_000 })
    await expect.poll(() => focused(page)).toMatch(/^#\d+/)
    const name = await focused(page)
    await tabTo(page, /^Terminal$/)
    await press(page, 'Enter')
    await expect.poll(() => terminalText(page)).toContain('root@')
    await page.keyboard.type('nvidia-smi\n')
    await expect.poll(() => terminalText(page)).toMatch(/NVIDIA RTX 4090/)
    await press(page, 'Control+Shift+ArrowUp')
    await expect.poll(() => focused(page)).toBe(name)

    await press(page, 'm')
    await hasFocus(page.getByRole('menu'))
    await page.keyboard.type('Li')
    await hasFocus(page.getByRole('menuitem', { name: 'Limits' }))
    await press(page, 'Enter')
    await page.getByRole('button', { name: 'Add limit' }).waitFor()
    await tabTo(page, /^Add limit$/)
    await press(page, 'Enter')
    await hasFocus(page.getByRole('menuitem', { name: 'Stop it when…' }))
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog')
    await hasFocus(dialog)
    await tabTo(page, /^Set limit$/)
    await press(page, 'Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe('Add limit')

    await press(page, 'Control+3')
    await page.getByRole('button', { name: 'Watch…' }).waitFor()
    await expect.poll(() => focused(page)).toBe('the top of the screen')
    await tabTo(page, /^Watch…$/)
    await press(page, 'Enter')
    await expect.poll(() => focused(page)).toBe('Name')
    await press(page, 'Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Watches 1' }).waitFor()
    await expect.poll(() => focused(page)).toBe('Watch…')

    await press(page, 'Control+2')
    await row.waitFor()
    await tabTo(page, /^#\d+/)
    await press(page, 'Delete')
    const question = page.getByRole('alertdialog')
    await question.waitFor()
    await expect.poll(() => focused(page)).toBe('Cancel')
    await tabTo(page, /^Destroy/)
    await press(page, 'Enter')
    await row.waitFor({ state: 'detached', timeout: 150_000 })
    await page.getByText('No instances').waitFor()
    await expect.poll(() => focused(page)).not.toBe('nothing')
  })
})
