import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { openConnected } from '#test/e2e/account-steps.ts'

/** Berth with the files of one running instance open; `here` is a local folder. */
async function filesOpen(start: Start, options: { colorScheme?: 'light' | 'dark' } = {}) {
  const {
    sim,
    berth,
    page,
    ids: [id],
  } = await openConnected(start, {
    simulator: { speed: 2 },
    page: { acceptDownloads: true, ...options },
    instances: [{ label: 'box' }],
  })
  await page.getByRole('row', { name: /box/ }).getByRole('link').click()
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'New folder…' }).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'New folder…' }).isEnabled()).toBe(true)
  return { page, here: berth.home, id, sim }
}

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByLabel(`Select ${name}`, { exact: true }) })

async function makeFolder(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New folder…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Create folder' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row(page, name).waitFor()
}

async function upload(page: Page, button: RegExp, paths: string | string[]): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: button }).click()
  await (await chooser).setFiles(paths)
}

/** Drags local files over a part of the page, and drops them once `shows` is visible. */
async function dragOnto(part: Locator, files: string[], shows: Locator): Promise<void> {
  const page = part.page()
  const box = await part.boundingBox()
  if (!box) throw new Error('it is not shown')
  const devtools = await page.context().newCDPSession(page)
  const at = {
    x: box.x + 200,
    y: box.y + Math.min(40, box.height / 2),
    data: { items: [], files, dragOperationsMask: 1 },
  }
  await devtools.send('Input.dispatchDragEvent', { type: 'dragEnter', ...at })
  await devtools.send('Input.dispatchDragEvent', { type: 'dragOver', ...at })
  await shows.waitFor()
  await devtools.send('Input.dispatchDragEvent', { type: 'drop', ...at })
}

async function menu(page: Page, name: string, entry: RegExp): Promise<void> {
  await page.getByRole('button', { name: `More for ${name}`, exact: true }).click()
  await page.getByRole('menuitem', { name: entry }).click()
}

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('unsaved text is kept: each close asks first, and it outlives its instance', async ({ start }) => {
  const { page, here, id, sim } = await filesOpen(start)
  await writeFile(join(here, 'notes.txt'), 'one\n')
  await upload(page, /^Upload files/, join(here, 'notes.txt'))
  await row(page, 'notes.txt').getByRole('button', { name: 'notes.txt', exact: true }).click()
  const editor = page.getByRole('dialog')
  const text = editor.getByLabel('Text of notes.txt')
  await text.focus()
  const warning = editor.getByText('Unsaved changes. Close again to discard them.')
  for (const word of ['two', 'three']) {
    await page.keyboard.type(word)
    await editor.getByRole('button', { name: 'Close', exact: true }).last().click()
    await warning.waitFor()
    await text.focus()
    await page.keyboard.press('Control+s')
    await editor.getByText('Saved', { exact: true }).waitFor()
  }
  await page.keyboard.type('four')
  const asked = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  await (await asked).dismiss()
  await warning.waitFor({ state: 'detached' })
  await sim.api('DELETE', `/api/v0/instances/${id}/`, {})
  await editor.getByText('Its instance is gone from the account.').waitFor()
  expect(await text.textContent()).toContain('twothreefour')
  await page.getByText('No instances').waitFor()
})

test('the editor colours a script, indents with Tab and can be left by keyboard', async ({ start }) => {
  const { page, here } = await filesOpen(start)
  await writeFile(join(here, 'train.py'), 'for step in range(3):\n    print(step)\n')
  await upload(page, /^Upload files/, [join(here, 'train.py')])
  await row(page, 'train.py').getByRole('button', { name: 'train.py', exact: true }).click()
  const editor = page.getByRole('dialog')
  const text = editor.getByLabel('Text of train.py')
  await text.getByText('for', { exact: true }).waitFor()
  const colour = (word: string) =>
    text.getByText(word, { exact: true }).evaluate(part => getComputedStyle(part).color)
  await expect.poll(() => colour('for')).not.toBe(await text.evaluate(part => getComputedStyle(part).color))
  await page.keyboard.press('Control+End')
  await page.keyboard.press('Tab')
  await page.keyboard.type('break')
  await expect.poll(() => text.innerText()).toContain('    break')
  // Undo takes back the typing, and no action of Berth.
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+y')
  await page.keyboard.press('Control+f')
  await page.keyboard.type('range')
  await editor.getByRole('textbox', { name: 'Find' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await editor.getByRole('textbox', { name: 'Find' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+s')
  await editor.getByText('Saved', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Close')
  await page.keyboard.press('Escape')
  await editor.waitFor({ state: 'detached' })
  await row(page, 'train.py').getByText('47 B').waitFor()
})

test('a folder dropped on an instance’s row is uploaded and shown', async ({ start }) => {
  const { page, here, id } = await filesOpen(start)
  await mkdir(join(here, 'dataset'))
  await writeFile(join(here, 'dataset', 'one.txt'), 'one\n')
  await page.getByRole('tab', { name: 'Details' }).click()
  const instance = page.locator('tr', { has: page.locator(`[data-instance="${id}"]`) })
  await dragOnto(instance, [join(here, 'dataset')], page.locator('tr.dragged'))
  await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click()
  await row(page, 'dataset').getByRole('button', { name: 'dataset', exact: true }).click()
  await row(page, 'one.txt').getByText('4 B').waitFor()
})

test('files are uploaded by picker and drag, edited, renamed, downloaded and deleted', async ({ start }) => {
  const { page, here } = await filesOpen(start)
  // A folder made after a switch of tabs appears, too.
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByRole('tab', { name: 'Files' }).click()
  await makeFolder(page, '-my folder ü')
  await row(page, '-my folder ü').getByRole('button', { name: '-my folder ü', exact: true }).click()
  await page.getByText('This folder is empty').waitFor()

  const bytes = randomBytes(5_000_000)
  await writeFile(join(here, '-big one.bin'), bytes)
  await writeFile(join(here, 'notes.txt'), 'first line\n')
  await upload(page, /^Upload files/, [join(here, '-big one.bin'), join(here, 'notes.txt')])
  await row(page, '-big one.bin').waitFor({ timeout: 150_000 })
  await row(page, 'notes.txt').getByText('11 B').waitFor()

  await mkdir(join(here, 'dragged folder'))
  await writeFile(join(here, 'dragged folder', 'inside'), 'x')
  await writeFile(join(here, 'dragged – 日本.txt'), 'dragged here')
  await dragOnto(
    page.getByRole('table', { name: /^Files in/ }),
    [join(here, 'dragged – 日本.txt'), join(here, 'dragged folder')],
    page.getByText(/Drop to upload into/),
  )
  await page.getByRole('button', { name: 'Upload 2 files', exact: true }).click()
  await row(page, 'dragged – 日本.txt').getByText('12 B').waitFor()
  await row(page, 'dragged folder').waitFor()

  // Replacing a file is confirmed first.
  await writeFile(join(here, 'notes.txt'), 'second version\n')
  await upload(page, /^Upload files/, join(here, 'notes.txt'))
  await page
    .getByRole('alertdialog')
    .getByText(/notes.txt already exists/)
    .waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace' }).click()
  await row(page, 'notes.txt').getByText('15 B').waitFor()

  await row(page, 'notes.txt').getByRole('button', { name: 'notes.txt', exact: true }).click()
  const editor = page.getByRole('dialog')
  const text = editor.getByLabel('Text of notes.txt')
  await expect.poll(async () => (await text.innerText()).trim()).toBe('second version')
  await text.fill('edited here\n')
  await editor.getByRole('button', { name: 'Close', exact: true }).last().click()
  await editor.getByText('Unsaved changes.').waitFor()
  await editor.getByRole('button', { name: 'Save', exact: true }).click()
  await editor.getByText('Saved', { exact: true }).waitFor()
  await editor.getByRole('button', { name: 'Close', exact: true }).last().click()
  await editor.waitFor({ state: 'detached' })

  await menu(page, 'notes.txt', /^Rename/)
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('renamed notes.txt')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await row(page, 'renamed notes.txt').waitFor()

  const download = page.waitForEvent('download')
  await menu(page, 'renamed notes.txt', /^Download/)
  expect(await readFile(await (await download).path(), 'utf8')).toBe('edited here\n')
  const big = page.waitForEvent('download')
  await menu(page, '-big one.bin', /^Download/)
  const bigOne = await big
  expect(bigOne.suggestedFilename()).toBe('-big one.bin')
  expect(sha(await readFile(await bigOne.path()))).toBe(sha(bytes))

  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByRole('button', { name: 'Delete 4…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('This folder is empty').waitFor()

  await page.getByRole('link', { name: 'Transfers' }).click()
  await page
    .getByRole('row', { name: /Upload.*2 items/ })
    .first()
    .getByText('Done', { exact: true })
    .waitFor()
  await page
    .getByRole('row', { name: /Download.*big one/ })
    .getByText('Done', { exact: true })
    .waitFor()
})

test('the page asks before it is left while it uploads', async ({ start }) => {
  const { page, here } = await filesOpen(start)
  const path = join(here, 'big.bin')
  await writeFile(path, '')
  await truncate(path, 1_000_000_000)
  await upload(page, /^Upload files/, path)
  const cancel = page.getByRole('button', { name: 'Cancel' })
  await cancel.waitFor()
  const asked = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  const question = await asked
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()
  await cancel.click()
  await cancel.waitFor({ state: 'detached' })
  const closed = page.waitForEvent('close')
  await page.close({ runBeforeUnload: true })
  await closed
})

test('a folder is uploaded by the picker and downloaded as a tar archive', async ({ start }) => {
  const { page, here } = await filesOpen(start)
  await mkdir(join(here, 'data set', 'deep'), { recursive: true })
  await writeFile(join(here, 'data set', 'deep', 'a b.txt'), 'deep down')
  await writeFile(join(here, 'data set', '-top'), randomBytes(300_000))
  await writeFile(join(here, 'data set', '.env'), 'TOKEN=abc')
  await upload(page, /^Upload folder/, join(here, 'data set'))
  const asked = page.getByRole('dialog', { name: 'Upload data set?' })
  expect(await asked.textContent()).toContain('2 files, 300 kB, to ')
  expect(await asked.getByRole('checkbox', { name: 'data set/.env' }).isChecked()).toBe(false)
  await asked.getByRole('button', { name: 'Upload 2 files' }).click()
  await page.getByRole('status').getByText('Uploaded 2 files').waitFor({ timeout: 150_000 })
  await row(page, 'data set').waitFor({ timeout: 150_000 })
  const download = page.waitForEvent('download')
  await menu(page, 'data set', /^Download/)
  const archive = await download
  expect(archive.suggestedFilename()).toBe('data set.tar')
  const { execFileSync } = await import('node:child_process')
  const out = join(here, 'out')
  await mkdir(out)
  execFileSync('tar', ['-xf', await archive.path(), '-C', out])
  expect(await readFile(join(out, 'data set', 'deep', 'a b.txt'), 'utf8')).toBe('deep down')
  expect(await readdir(join(out, 'data set'))).not.toContain('.env')
  expect(sha(await readFile(join(out, 'data set', '-top')))).toBe(
    sha(await readFile(join(here, 'data set', '-top'))),
  )
})
