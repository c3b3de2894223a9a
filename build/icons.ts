import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { trayImageName, trayImages, trayStates, trayTones } from '../electron/platform/tray-images.ts'
import { at } from './places.ts'

/**
 * Draws the tray's images from the SVG files beside this. Each build draws them again, and none is committed, so that
 * they cannot differ from their source.
 */
export async function drawTrayIcons(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const grids = new Map<number, string>()
  for (const grid of [16, 24]) grids.set(grid, await readFile(at(`build/icons/tray-${grid}.svg`), 'utf8'))
  for (const state of trayStates)
    for (const tone of trayTones)
      for (const { size, scale } of trayImages) {
        const pixels = size * scale
        // Each edge lies on a whole pixel of one of the two grids; 22 are the inner pixels of 24.
        const grid = grids.get(size === 16 && Number.isInteger(scale) ? 16 : 24) ?? ''
        const inner = size === 22 ? grid.replace('viewBox="0 0 24 24"', 'viewBox="1 1 22 22"') : grid
        const png = await drawPng(withStyle(inner, state, tone), pixels)
        await writeFile(join(folder, trayImageName({ state, tone, size, scale })), png)
      }
}

/** Draws an SVG as a square PNG of so many pixels. */
export async function drawPng(svg: string, pixels: number): Promise<Uint8Array> {
  await ready()
  const drawn = new Resvg(svg, { fitTo: { mode: 'width', value: pixels }, font: { loadSystemFonts: false } })
  return drawn.render().asPng()
}

const colours = {
  /** macOS uses only the opacity, and colours it itself. */
  template: { mark: '#000000', badge: '#000000' },
  /** For a light taskbar, and for a dark one. */
  dark: { mark: '#1f2328', badge: '#b42318' },
  light: { mark: '#ffffff', badge: '#ffb020' },
} as const

function withStyle(svg: string, state: string, tone: keyof typeof colours): string {
  const { mark, badge } = colours[tone]
  const hidden = trayStates.filter(other => other !== state).map(other => `.${other}`)
  const style = `svg{color:${mark}}.badge{fill:${badge}}${hidden.join(',')}{display:none}`
  return svg.replace('<defs>', `<style>${style}</style><defs>`)
}

let loading: Promise<void> | undefined

function ready(): Promise<void> {
  loading ??= load()
  return loading
}

async function load(): Promise<void> {
  const program = await readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm'))
  try {
    await initWasm(program)
  } catch (error) {
    // Tests may load this module anew, but not the package, which takes its program only once.
    if (!String(error).includes('Already initialized')) throw error
  }
}
