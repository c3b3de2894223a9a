import { describe, expect } from 'vitest'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { openConnected } from '#test/e2e/account-steps.ts'

/** Berth with one instance in a small window; `fail` makes calls of the service fail. */
async function openSmall(start: Start) {
  const {
    sim,
    page,
    ids: [id],
  } = await openConnected(start, {
    page: { viewport: { width: 700, height: 600 } },
    instances: [{ label: 'box' }],
  })
  const row = page.getByRole('row', { name: /box/ })
  await row.getByText('Running', { exact: true }).waitFor()
  const fail = (rule: Record<string, unknown>) => sim.control('POST', '/sim/faults', { rules: [rule] })
  return { sim, id, page, row, fail }
}

describe('a service that is slow or fails in part', () => {
  test('stale credit says since when, and fits into the header of a small window', async ({ start }) => {
    const { page, fail } = await openSmall(start)
    await fail({ method: 'GET', path: '^/api/v0/users/current/', kind: 'status', status: 500 })
    const header = page.getByRole('banner')
    await header.getByText(/^Credit .* as of (?:\w+ \d+ \w+, )?\d\d:\d\d$/).waitFor({ timeout: 150_000 })
    const outside = await header.evaluate(element => {
      const edges = [...element.querySelectorAll('h1, button, span')].map(part =>
        part.getBoundingClientRect(),
      )
      const { left, right, top, bottom } = element.getBoundingClientRect()
      return edges.filter(
        edge => edge.left < left || edge.right > right || edge.top < top || edge.bottom > bottom,
      ).length
    })
    expect(outside).toBe(0)
  })

  test('an outage is one line, disables requests, and can be ended manually', async ({ start }) => {
    const { sim, page, row, fail } = await openSmall(start)
    await page.setViewportSize({ width: 1280, height: 800 })
    await fail({ path: '^/api/', kind: 'status', status: 503 })
    const line = page.locator('.outage')
    await line
      .getByText(/ is failing \(503\)\.\s+Retrying .*\s+Your instances keep running\.$/)
      .waitFor({ timeout: 150_000 })
    expect((await line.boundingBox())?.height).toBeLessThan(48)
    for (const name of [/^Stop /, /^Destroy /])
      expect(await row.getByRole('button', { name }).isDisabled()).toBe(true)
    await row.getByRole('button', { name: /^More/ }).click()
    const entry = page.getByRole('menuitem', { name: 'Restart' })
    await expect.poll(() => entry.getAttribute('title')).toBe('The service isn’t answering.')
    await page.keyboard.press('Escape')

    await sim.control('POST', '/sim/faults', { rules: [] })
    await line.getByRole('button', { name: 'Retry now' }).click()
    await line.waitFor({ state: 'detached', timeout: 150_000 })
    expect(await row.getByRole('button', { name: /^Stop / }).isEnabled()).toBe(true)
  })

  test('a late answer to a form whose instance is gone closes no other dialog', async ({ start }) => {
    const { sim, id, page, row, fail } = await openSmall(start)
    await row.getByRole('button', { name: /^More/ }).click()
    await page.getByRole('menuitem', { name: /^Rename/ }).click()
    const form = page.getByRole('dialog', { name: `Rename #${id}` })
    await form.getByRole('textbox', { name: 'Name' }).fill('crate')
    await fail({ method: 'PUT', path: '^/api/v0/instances/', kind: 'delay', ms: 6000 })
    await form.getByRole('button', { name: 'Rename' }).click()
    await expect
      .poll(() => sim.api('GET', `/api/v0/instances/${id}/`))
      .toMatchObject({ instances: { label: 'crate' } })
    await sim.api('DELETE', `/api/v0/instances/${id}/`)
    await form.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /^Activity/ }).click()
    await page.keyboard.press('Control+k')
    const command = page.getByRole('combobox', { name: 'What to do' })
    await command.fill('settings')
    await page.getByText(/^Renamed/).waitFor()
    await command.press('Enter')
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
  })
})
