import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Berth } from '#test/berth/electron.ts'
import { rentWithJupyter } from '#test/e2e/account-steps.ts'
import { useDesk } from '../desk.ts'

const desk = useDesk()

async function folderOf(name: string): Promise<string> {
  const folder = join(desk.session.home, 'code', name)
  await desk.write(join(folder, 'train.py'), 'print(1)\n')
  return folder
}

/** Starts Berth and opens the projects. */
async function openProjects(): Promise<{ berth: Berth; page: Page; middle: { x: number; y: number } }> {
  const berth = await desk.start('--speed', '100')
  const page = await berth.page()
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('region', { name: 'Projects' }).waitFor()
  const { width, height } = page.viewportSize() ?? { width: 800, height: 600 }
  return { berth, page, middle: { x: width / 2, y: height - 40 } }
}

test('a folder dropped on the window becomes a project, with a dialog to set up or run it', async () => {
  const { berth, page, middle } = await openProjects()
  const folder = await folderOf('digits')
  await berth.drop(folder, middle)
  await page.getByRole('dialog', { name: 'Set up digits' }).getByRole('button', { name: 'Cancel' }).click()
  await desk.write(join(folder, 'berth.yaml'), 'run: python3 train.py\n')
  await berth.drop(folder, middle)
  await page.getByRole('dialog', { name: 'Run digits' }).waitFor()
  expect(await page.getByRole('link', { name: 'digits', exact: true, includeHidden: true }).count()).toBe(1)
  expect(berth.errors).toEqual([])
})

test('a scripted drop, a file, or a drop on a row adds no project', async () => {
  const { berth, page, middle } = await openProjects()
  const [folder, last] = await Promise.all([folderOf('digits'), folderOf('last')])
  await berth.drop(join(folder, 'train.py'), middle)
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['x'], 'digits'))
    for (const type of ['dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
  })
  const row = await rentWithJupyter(page, 'RTX 4090')
  await row.getByRole('button', { name: 'Jupyter' }).waitFor()
  const box = await row.boundingBox()
  await berth.drop(folder, { x: (box?.x ?? 0) + 40, y: (box?.y ?? 0) + 10 })
  await expect.poll(() => page.url()).toContain('/files')
  await page.getByRole('dialog', { name: 'Upload digits?' }).getByRole('button', { name: 'Cancel' }).click()

  // Drops are handled in order, so this one proves that all others were handled.
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('region', { name: 'Projects' }).waitFor()
  await berth.drop(last, middle)
  await page.getByRole('dialog', { name: 'Set up last' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'last', exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'digits', exact: true }).count()).toBe(0)
})
