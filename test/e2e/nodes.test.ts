import { expect } from 'vitest'
import { test } from '#test/berth/pages.ts'
import { openProjectPage } from './project-steps.ts'

const spec = `name: digits
machine: { gpu: RTX 4090 }
nodes: 3
run: python train.py --epochs 4
results: out
stop: { hours: 20, dollars: 4 }
`

test('a plan on several machines shows all of them, and a run shows each node with its output', async ({
  start,
}) => {
  const { page } = await openProjectPage(
    start,
    { 'berth.yaml': spec, 'train.py': '' },
    { simulator: { seed: 7, offers: 500 }, servers: 0 },
  )
  const project = page.getByRole('main')
  await project.getByRole('button', { name: 'Run digits…' }).click()
  const sheet = page.getByRole('dialog', { name: 'Run digits' })
  await expect
    .poll(() => sheet.getByRole('list', { name: 'Machines of one cluster' }).locator('li').count())
    .toBe(3)
  await sheet.getByRole('button', { name: /^Run/ }).click()
  const nodes = project.getByRole('radiogroup', { name: 'Output of' })
  await expect.poll(() => nodes.getByText('Running').count()).toBe(3)
  await page.getByRole('button', { name: 'Notifications: 1' }).waitFor()
  await nodes.getByText('Node 2').click()
  await project.getByText('Training on').first().waitFor()

  // Opened from its project's details, which it replaces, it leaves the keys in the list.
  await page.locator('[data-entry] a').first().press('Enter')
  const runs = page.getByRole('region', { name: 'Runs of digits' })
  await runs.getByRole('link').first().press('Enter')
  await nodes.waitFor()
  const row = page.locator('[data-entry] a').last()
  await expect.poll(() => row.evaluate(link => link === document.activeElement)).toBe(true)
})
