import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { patience } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { noSshd } from '../integration/ssh/own-root.ts'
import { openProjectPage } from './project-steps.ts'

const spec = `name: digits
sweep: { lr: [0.1, 0.01], seed: [1, 2, 3] }
at_once: 3
run: |
  echo "loss=\${lr}\${seed}"
  sleep 1
  echo "\${lr} \${seed}" > out.txt
results: out.txt
stop: { hours: 2, dollars: 4 }
`

test.skipIf(noSshd)(
  `a sweep of six runs on three machines is stopped half way, continued and compared${noSshd}`,
  async ({ start }) => {
    const { sim, page, folder } = await openProjectPage(start, { 'berth.yaml': spec }, { servers: 6 })
    const project = page.getByRole('main')
    await project.getByRole('button', { name: 'Run digits…' }).click()
    const sheet = page.getByRole('dialog', { name: 'Run digits' })
    await sheet.getByText('6 runs, at most 3 at once.', { exact: false }).waitFor()
    await sheet.getByText('3 machines with disk').waitFor()
    await sheet.getByRole('button', { name: /^Run these commands for at most \$/ }).click()
    await sheet.waitFor({ state: 'detached' })

    const sweep = project.getByRole('group', { name: 'Sweep of digits' })
    const done = async () => Number(/(\d+) of 6 done/.exec((await sweep.textContent()) ?? '')?.[1])
    await expect.poll(done, { timeout: patience * 2 }).toBeGreaterThanOrEqual(2)
    await sweep.getByRole('button', { name: 'Cancel sweep of digits…' }).click()
    await page
      .getByRole('alertdialog', { name: 'Cancel the sweep digits?' })
      .getByRole('button', { name: /^Destroy [1-3] machines?$/ })
      .click()
    await sweep.getByText('Stopped', { exact: true }).waitFor()
    const instances = async () =>
      (await sim.api<{ instances: unknown[] }>('GET', '/api/v0/instances/')).instances
    await expect.poll(instances, { timeout: patience }).toEqual([])
    expect(await done()).toBeLessThan(6)

    await sweep.getByRole('button', { name: 'Continue digits…' }).click()
    await page
      .getByRole('alertdialog', { name: 'Continue digits?' })
      .getByRole('button', { name: /^Continue for \$/ })
      .click()
    await sweep.getByText(/6 of 6 done/).waitFor({ timeout: patience * 3 })
    await expect.poll(instances, { timeout: patience }).toEqual([])
    const table = sweep.getByRole('table', { name: 'Runs of digits' })
    const rows = table.locator('tbody tr')
    expect(await rows.count()).toBe(6)
    await table.getByRole('button', { name: 'loss' }).click()
    expect(await rows.first().textContent()).toContain('0.011')
    await table.getByRole('button', { name: 'loss' }).click()
    expect(await rows.first().textContent()).toContain('0.13')
    await rows
      .first()
      .getByRole('button', { name: /^Details of run/ })
      .click()
    await sweep.getByRole('list', { name: 'Run in detail' }).getByText('1 file downloaded').waitFor()

    const [name = ''] = readdirSync(join(folder, 'sweeps')).filter(entry => entry !== '.gitignore')
    const results = readdirSync(join(folder, 'sweeps', name)).sort()
    expect(results).toHaveLength(6)
    expect(readFileSync(join(folder, 'sweeps', name, '6', 'out.txt'), 'utf8')).toBe('0.01 3\n')
  },
)
