import { expect, test } from 'vitest'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'
import { startSway } from '../sway.ts'

const desk = useDesk({ notices: false })
const soon = { timeout: 150_000 }
/** Before version 38 Electron took X11 without a switch. */
const flags = ['--ozone-platform=wayland']

test('a window keeps its size and sharpness between monitors of scale 1 and 2', async () => {
  const { monitors, tell } = await startSway(desk.session, [1, 2])
  const first = await desk.start(...flags)
  const size = async (berth: Berth) => {
    const [window] = await berth.windows()
    return window && [window.bounds.width, window.bounds.height]
  }
  const pixelsPerPoint = async () => (await first.page()).evaluate(() => devicePixelRatio)
  await expect.poll(() => size(first), soon).toEqual([1120, 740])

  await tell('[app_id=".*"] resize set 900 640')
  await expect.poll(() => size(first), soon).toEqual([900, 640])
  for (const [monitor, scale] of [
    [monitors[1], 2],
    [monitors[0], 1],
    [monitors[1], 2],
  ] as const) {
    await tell(`[app_id=".*"] move container to output ${monitor}`)
    await expect.poll(pixelsPerPoint, soon).toBe(scale)
    await expect.poll(() => size(first), soon).toEqual([900, 640])
  }
  await first.quit()
  expect(await first.ended).toBe(0)

  const second = await desk.start(...flags)
  await expect.poll(() => size(second), soon).toEqual([900, 640])
})
