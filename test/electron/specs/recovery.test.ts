import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'

const desk = useDesk()
const soon = { timeout: 150_000 }

/** The errors in Activity, oldest first. */
async function failures(berth: Berth): Promise<string[]> {
  const { activity } = await berth.state()
  return Object.values(activity).flatMap(({ kind, text }) => (kind === 'error' ? [text] : []))
}

/** By a signal: what Electron forces may crash the reloaded page as well, and count as two. */
const crash = (berth: Berth) =>
  berth.look(({ BrowserWindow }) => {
    const page = BrowserWindow.getAllWindows()[0]?.webContents.getOSProcessId()
    if (page) process.kill(page, 'SIGKILL')
  })

/** The process id of the page, once it has loaded there. */
const loadedIn = (berth: Berth) =>
  berth.look(({ BrowserWindow }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents
    return contents && !contents.isLoading() && !contents.isCrashed() ? contents.getOSProcessId() : 0
  })

/** Waits until the page has loaded in another process than that; gives the new one. */
async function loadedAfter(berth: Berth, before: number): Promise<number> {
  let now = before
  await expect
    .poll(async () => {
      now = await loadedIn(berth)
      return now !== 0 && now !== before
    }, soon)
    .toBe(true)
  return now
}

test('reloads a crashed page up to three times, then asks the user', async () => {
  const berth = await desk.start()
  let page = await loadedAfter(berth, 0)
  for (const round of [1, 2, 3]) {
    await crash(berth)
    page = await loadedAfter(berth, page)
    await expect
      .poll(() => failures(berth), soon)
      .toEqual(Array(round).fill('The page crashed and was restored'))
  }
  await crash(berth)
  await expect.poll(() => berth.questions(), soon).toMatchObject([{ buttons: ['Try again', 'Quit Berth'] }])
  await berth.answer('Try again')
  await loadedAfter(berth, page)
  expect((await failures(berth)).at(-1)).toBe('The page keeps crashing')
  expect(await readFile(join(desk.home, 'logs/berth.log'), 'utf8')).toMatch(/restored: \w+, \d+/)

  for (let round = 0; round < 4; round++) {
    page = await loadedIn(berth)
    await crash(berth)
    if (round < 3) await loadedAfter(berth, page)
  }
  await expect.poll(() => berth.questions(), soon).toHaveLength(1)
  await berth.answer('Quit Berth').catch(() => undefined)
  expect(await berth.ended).toBe(0)
})

test('the picture comes back after the graphics process crashed, and so does a page that hangs', async () => {
  const berth = await desk.start()
  const graphics = () => berth.look(({ app }) => app.getAppMetrics().find(({ type }) => type === 'GPU')?.pid)
  // One that Chromium has just replaced is gone already.
  const kill = () =>
    berth.look(({ app }) => {
      const pid = app.getAppMetrics().find(({ type }) => type === 'GPU')?.pid ?? 0
      try {
        return pid > 0 && process.kill(pid, 'SIGKILL') ? pid : 0
      } catch {
        return 0
      }
    })
  const before = await vi.waitUntil(kill, soon)
  await expect.poll(async () => ![undefined, before].includes(await graphics()), soon).toBe(true)
  const page = await berth.page()
  await page.getByText('This is the demo market.').waitFor()
  const colours = () =>
    berth.look(async ({ BrowserWindow }) => {
      const picture = await BrowserWindow.getAllWindows()[0]?.webContents.capturePage()
      return new Set(picture?.toBitmap().subarray(0, 400_000)).size
    })
  await expect.poll(colours, soon).toBeGreaterThan(20)

  const first = await loadedAfter(berth, 0)
  // Chromium itself says so only after half a minute.
  await berth.look(({ BrowserWindow }) => void BrowserWindow.getAllWindows()[0]?.emit('unresponsive'))
  await loadedAfter(berth, first)
  await expect.poll(() => failures(berth), soon).toEqual(['The page hung and was restored'])
})

test('retries a reload that starts no process', async () => {
  const berth = await desk.start()
  const first = await loadedAfter(berth, 0)
  await berth.look(({ BrowserWindow }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents
    if (!contents) return
    const reload = contents.reload.bind(contents)
    contents.reload = () => {
      contents.reload = reload
    }
    contents.forcefullyCrashRenderer()
  })
  await loadedAfter(berth, first)
  expect(await failures(berth)).toEqual(['The page crashed and was restored'])
})
