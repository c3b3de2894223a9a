import { expect } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { test } from '../berth/pages.ts'
import { connectAccount } from './account-steps.ts'

test('what the service holds for an account is listed, added and deleted after a question', async ({
  start,
}) => {
  const sim = await start.simulator({ deployment: { ...publicProfile, limits: 'buckets' } })
  const { offers } = await sim.api<{ offers: { id: number }[] }>('POST', '/api/v0/volumes/search/', {})
  await sim.api('PUT', '/api/v0/volumes/', { id: offers[0]?.id, size: 15, name: 'datasets' })
  const { page } = await start.page((await start.berth()).address)
  await connectAccount(page, sim)
  await page.getByRole('link', { name: 'Account' }).click()
  const dialog = page.getByRole('dialog')
  const question = page.getByRole('alertdialog')

  const variables = page.getByRole('list', { name: 'Environment variables' })
  await variables.getByText('None yet.').waitFor()
  await page.getByRole('button', { name: 'Add variable…' }).click()
  await dialog.getByLabel('Name').fill('HF_TOKEN')
  await dialog.getByLabel('Value').fill('a value')
  await dialog.getByRole('button', { name: 'Add variable' }).click()
  const remove = variables.getByRole('button', { name: 'Delete HF_TOKEN' })
  await remove.click()
  await question.getByText('New containers no longer get it.').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect.poll(() => remove.evaluate(button => button === document.activeElement)).toBe(true)
  await remove.click()
  await question.getByRole('button', { name: 'Delete variable' }).click()
  await page.getByText('HF_TOKEN deleted.').waitFor()
  await variables.getByText('None yet.').waitFor()

  const volumes = page.getByRole('list', { name: 'Volumes' })
  await volumes.getByText('Not mounted anywhere.').waitFor()
  await volumes.getByRole('button', { name: 'Rent with datasets' }).click()
  const rent = dialog.getByRole('button', { name: /^Rent \d/ })
  const volume = dialog.getByRole('combobox', { name: 'Volume on this machine: datasets, 15 GB' })
  await rent.or(volume).first().waitFor()
  if ((await rent.count()) > 0) await rent.first().click()
  await volume.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What to do' }).fill('dataset')
  await page.getByRole('option', { name: /^Volume datasets/ }).waitFor()
  await page.getByRole('option', { name: 'Rent with volume datasets…' }).waitFor()
  await page.keyboard.press('Escape')
  await volumes.getByRole('button', { name: 'Delete datasets' }).click()
  await question.getByText(/^Everything on its 15 GB is lost/).waitFor()
  await question.getByRole('button', { name: 'Delete volume' }).click()
  await volumes.getByText('None yet. Make one under Advanced when you rent', { exact: false }).waitFor()

  const keys = page.getByRole('list', { name: 'SSH keys of the account' })
  await page.getByRole('button', { name: 'Add Berth’s own key' }).click()
  await keys.getByText('used by Berth').waitFor()
  await keys.getByRole('button', { name: /^Delete / }).click()
  await question.getByRole('button', { name: 'Delete key' }).click()
  await keys.getByText('None yet.').waitFor()
  // The service has neither, so they aren't on the page.
  for (const name of ['Backups', 'Scheduled jobs'])
    expect(await page.getByRole('heading', { name }).count()).toBe(0)
})
