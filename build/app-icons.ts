import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drawPng } from './icons.ts'
import { at } from './places.ts'

/** Pixels of the images that Linux desktops choose from. */
export const linuxSizes = [16, 22, 24, 32, 48, 64, 128, 256, 512, 1024] as const

/** Pixels of the images in a Windows icon: the sizes of its shell at 100 to 400 %. */
const windowsSizes = [16, 20, 24, 32, 40, 48, 64, 128, 256] as const

/** The image types in a macOS icon, each a PNG, with their pixels. */
const macKinds = [
  ['icp4', 16],
  ['icp5', 32],
  ['ic11', 32],
  ['ic12', 64],
  ['ic07', 128],
  ['ic13', 256],
  ['ic08', 256],
  ['ic14', 512],
  ['ic09', 512],
  ['ic10', 1024],
] as const

/** Draws the app's icon for every system into a folder: `linux/`, `icon.ico` and `icon.icns`. */
export async function drawAppIcons(folder: string): Promise<void> {
  const large = await readFile(at('build/icons/app.svg'), 'utf8')
  const small = await readFile(at('build/icons/app-small.svg'), 'utf8')
  const drawn = (pixels: number) => drawPng(pixels <= 32 ? small : large, pixels)
  // Apple's grid leaves a margin of 100 in 1024 around the shape.
  const withMargin = large.replace('viewBox="0 0 1024 1024"', 'viewBox="-124 -124 1272 1272"')

  await mkdir(join(folder, 'linux'), { recursive: true })
  for (const pixels of linuxSizes)
    await writeFile(join(folder, 'linux', `${pixels}x${pixels}.png`), await drawn(pixels))

  const windows = []
  for (const pixels of windowsSizes) windows.push({ pixels, png: await drawn(pixels) })
  await writeFile(join(folder, 'icon.ico'), icoFile(windows))

  const mac = []
  for (const [kind, pixels] of macKinds)
    mac.push({ kind, png: await drawPng(pixels <= 32 ? small : withMargin, pixels) })
  await writeFile(join(folder, 'icon.icns'), icnsFile(mac))
}

/** A Windows icon of PNGs, which all versions since Vista read. */
export function icoFile(pictures: readonly { pixels: number; png: Uint8Array }[]): Buffer {
  const header = Buffer.alloc(6 + 16 * pictures.length)
  header.writeUInt16LE(1, 2)
  header.writeUInt16LE(pictures.length, 4)
  let offset = header.length
  for (const [index, { pixels, png }] of pictures.entries()) {
    const entry = 6 + 16 * index
    // 256 is written as 0.
    header.writeUInt8(pixels % 256, entry)
    header.writeUInt8(pixels % 256, entry + 1)
    header.writeUInt16LE(1, entry + 4)
    header.writeUInt16LE(32, entry + 6)
    header.writeUInt32LE(png.length, entry + 8)
    header.writeUInt32LE(offset, entry + 12)
    offset += png.length
  }
  return Buffer.concat([header, ...pictures.map(({ png }) => png)])
}

/** A macOS icon: the images one after another, each with its type and length. */
export function icnsFile(pictures: readonly { kind: string; png: Uint8Array }[]): Buffer {
  const parts = pictures.map(({ kind, png }) => Buffer.concat([icnsHead(kind, png.length), png]))
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([icnsHead('icns', length), ...parts])
}

function icnsHead(kind: string, length: number): Buffer {
  const head = Buffer.alloc(8)
  head.write(kind, 0, 'latin1')
  head.writeUInt32BE(8 + length, 4)
  return head
}
