import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Settings } from '#shared/settings.ts'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'

const desk = useDesk({ of: 'the file' })
const soon = { timeout: 150_000 }
let started: Berth | undefined

/** The Berth that all tests share, with its settings open. */
async function openSettings(): Promise<{ berth: Berth; page: Page }> {
  started ??= await desk.start()
  const page = await started.page()
  await page.getByRole('link', { name: 'Settings' }).click()
  return { berth: started, page }
}

test('a bug report is read first, and copied without the user’s home', async () => {
  const { page } = await openSettings()
  await page.getByRole('button', { name: 'Report a bug…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Report a bug' })
  await dialog.getByLabel('What happened').fill('It froze.')
  await dialog.getByText(/as a desktop app/).waitFor()
  await dialog.getByRole('button', { name: 'Copy report' }).click()
  await page.getByText('Report copied.').waitFor()
  await page.keyboard.press('Escape')
  const text = await page.evaluate(() => navigator.clipboard.readText())
  expect(text).toMatch(/^What happened\nIt froze\.\n\nBerth\n\d+\.\d+\.\d+, as a desktop app/)
  expect(text).toContain('closeToTray')
  expect(text).not.toContain(desk.session.home)
})

test('starting at login writes an autostart file, and No deletes it', async () => {
  const { page } = await openSettings()
  const entry = () =>
    readFile(join(desk.session.home, '.config/autostart/berth.desktop'), 'utf8').catch(() => '')
  const choice = page.getByRole('radiogroup', { name: 'Start when you log in' })
  await choice.getByText('In the tray').click()
  await expect.poll(entry, soon).toMatch(/^Exec=.* --hidden$/m)
  await choice.getByText('No', { exact: true }).click()
  await expect.poll(entry, soon).toBe('')
})

test('Clean up removes everything outside Berth’s folder', async () => {
  const { page } = await openSettings()
  const entry = join(desk.session.home, '.config/autostart/berth.desktop')
  const isThere = () =>
    readFile(entry).then(
      () => true,
      () => false,
    )
  await page.getByRole('radiogroup', { name: 'Start when you log in' }).getByText('In the tray').click()
  await expect.poll(isThere, soon).toBe(true)
  await page.getByRole('button', { name: 'Clean up' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Clean up' }).click()
  await page.getByText('Done. Quit Berth and uninstall it').waitFor()
  expect(await isThere()).toBe(false)
})

test('quiet hours suppress notifications, also critical ones if chosen', async () => {
  const { page } = await openSettings()
  const quiet = page.getByRole('switch', { name: /^Quiet hours/ })
  const low = 'The credit runs low'
  const happens = (event: string) => desk.panel.icons.clickMenu(['Simulate an event', event])
  const inActivity = (times: number) =>
    expect.poll(() => page.getByText(/of credit left/).count(), soon).toBe(times)
  const aroundNow = (minutes: number) => new Date(Date.now() + minutes * 60_000).toTimeString().slice(0, 5)

  /** The quiet hours in the settings file. */
  const kept = async (): Promise<Settings['quietHours']> =>
    JSON.parse(await readFile(join(desk.home, 'settings.json'), 'utf8')).quietHours
  const [from, to] = [aroundNow(-60), aroundNow(60)]

  await quiet.click()
  await page.getByLabel('From', { exact: true }).fill(from)
  await page.getByLabel('Until', { exact: true }).fill(to)
  await page.getByRole('switch', { name: /^Critical alerts/ }).click()
  await expect.poll(kept, soon).toEqual({ on: true, from, to, critical: false })
  await page.getByRole('link', { name: 'Activity' }).click()
  await happens(low)
  await inActivity(1)
  expect(desk.titles()).toEqual([])

  await page.getByRole('link', { name: 'Settings' }).click()
  await quiet.click()
  await expect.poll(kept, soon).toMatchObject({ on: false })
  await page.getByRole('link', { name: 'Activity' }).click()
  await happens('Credit is added')
  await page.getByText('$50.00').first().waitFor()
  await happens(low)
  await inActivity(2)
  await expect.poll(desk.titles, soon).toContainEqual(expect.stringContaining('of credit left'))
})

test('a pause from the tray is shown on the page until it ends', async () => {
  const { page } = await openSettings()
  const told = page.getByText(/^Paused until/)
  await desk.panel.icons.clickMenu(['Pause Berth for 1 h'])
  await told.waitFor()
  await desk.panel.icons.clickMenu(['Resume Berth'])
  await told.waitFor({ state: 'detached' })
})
