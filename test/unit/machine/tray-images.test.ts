import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawTrayIcons } from '#build/icons.ts'
import { trayImageName, trayImages, trayStates, trayTones } from '#machine/tray-images.ts'

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
    const shapes = await Promise.all(
      trayStates.map(async state =>
        alphaOf(await read(trayImageName({ state, tone: 'template', ...image }))),
      ),
    )
    expect(new Set(shapes.map(shape => shape.toString('hex'))).size).toBe(trayStates.length)
  }
})

test('edges lie on whole pixels, and only curves and slants are half covered', async () => {
  for (const state of trayStates)
    for (const image of trayImages) {
      const name = trayImageName({ state, tone: 'template', ...image })
      const half = alphaOf(await read(name)).filter(value => value > 40 && value < 215).length
      // Curves grow with the side; each edge between two pixels would add a whole side.
      expect(half / (image.size * image.scale), name).toBeLessThan(2.5)
    }
})

/** The alpha of each pixel, with the PNG's filters undone. */
function alphaOf(png: Buffer): Buffer {
  const side = png.readUInt32BE(16)
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const raw = inflateSync(Buffer.concat(parts))
  const stride = side * 4
  const lines = Buffer.alloc(side * stride)
  for (let y = 0; y < side; y++)
    for (let x = 0; x < stride; x++) {
      const left = x < 4 ? 0 : (lines[y * stride + x - 4] ?? 0)
      const up = y === 0 ? 0 : (lines[(y - 1) * stride + x] ?? 0)
      const corner = x < 4 || y === 0 ? 0 : (lines[(y - 1) * stride + x - 4] ?? 0)
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][raw[y * (stride + 1)] ?? 0] ?? 0
      lines[y * stride + x] = (raw[y * (stride + 1) + 1 + x] ?? 0) + guess
    }
  return Buffer.from(Array.from({ length: side * side }, (_, at) => lines[at * 4 + 3] ?? 0))
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [left, up, corner].map(value => Math.abs(left + up - corner - value)) as [
    number,
    number,
    number,
  ]
  return a <= b && a <= c ? left : b <= c ? up : corner
}
