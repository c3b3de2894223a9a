import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawTrayIcons } from '#build/icons.ts'
import { trayImageName, trayImages, trayStates, trayTones } from '#platform/tray-images.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-tray-'))
  await drawTrayIcons(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))

const read = (name: string) => readFile(join(folder, name))

test('every state and tone has images of 16, 22, 24 and 32 pixels, also doubled', async () => {
  const pixels = new Set(trayImages.map(({ size, scale }) => size * scale))
  for (const wanted of [16, 22, 24, 32, 44, 48, 64]) expect(pixels, String(wanted)).toContain(wanted)
  expect(await readdir(folder)).toHaveLength(trayStates.length * trayTones.length * trayImages.length)
  for (const state of trayStates)
    for (const tone of trayTones)
      for (const image of trayImages) {
        const png = await read(trayImageName({ state, tone, ...image }))
        const side = image.size * image.scale
        expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([side, side])
      }
})

test('each state differs in its shape alone', async () => {
  for (const image of trayImages) {
    // Pictures of one tone have one colour.
    const names = trayStates.map(state => trayImageName({ state, tone: 'template', ...image }))
    const pictures = await Promise.all(names.map(read))
    expect(new Set(pictures.map(String)).size).toBe(trayStates.length)
  }
})
