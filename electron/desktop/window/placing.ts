import * as v from 'valibot'
import { openDocument } from '#core/storage/json-file.ts'
import type { Clock, Files } from '#platform/platform.ts'

/** A rectangle on the screens, in points. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** A screen: its full area, and the area without bars and docks. */
export interface ScreenBox {
  bounds: Box
  workArea: Box
}

/** A name for the present arrangement of the screens, under which window places are stored. */
export function arrangement(screens: readonly ScreenBox[]): string {
  return screens
    .map(({ bounds: { x, y, width, height } }) => `${width}x${height}+${x}+${y}`)
    .sort()
    .join(' ')
}

/** The nearest place at which the whole window is visible, smaller where the screen is. */
export function visiblePlace(place: Box, screens: readonly ScreenBox[]): Box {
  const area = screens
    .map(({ workArea }) => workArea)
    .toSorted((a, b) => common(b, place) - common(a, place) || distance(a, place) - distance(b, place))[0]
  if (area === undefined) return place
  const width = Math.min(place.width, area.width)
  const height = Math.min(place.height, area.height)
  return {
    x: between(area.x, place.x, area.x + area.width - width),
    y: between(area.y, place.y, area.y + area.height - height),
    width,
    height,
  }
}

/** Points between the window and the tray icon. */
const gap = 8

/** A place for a window above or below the tray icon, where there is room. */
export function besideTray(
  size: Pick<Box, 'width' | 'height'>,
  icon: Box,
  screens: readonly ScreenBox[],
): Box {
  const below = { x: icon.x, y: icon.y + icon.height + gap }
  const screen = screens.find(({ bounds }) => common(bounds, icon) > 0) ?? screens[0]
  const above = screen !== undefined && icon.y > screen.bounds.y + screen.bounds.height / 2
  const y = above ? icon.y - gap - size.height : below.y
  const x = icon.x + Math.round((icon.width - size.width) / 2)
  return visiblePlace({ x, y, ...size }, screen ? [screen] : [])
}

/** The area of the intersection. */
function common(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  return Math.max(0, width) * Math.max(0, height)
}

/** The distance of the centres. */
function distance(a: Box, b: Box): number {
  return Math.hypot(a.x + a.width / 2 - b.x - b.width / 2, a.y + a.height / 2 - b.y - b.height / 2)
}

function between(least: number, value: number, most: number): number {
  return Math.round(Math.max(least, Math.min(value, most)))
}

const length = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const StoredPlace = v.object({
  x: v.pipe(v.number(), v.safeInteger()),
  y: v.pipe(v.number(), v.safeInteger()),
  width: length,
  height: length,
  maximized: v.boolean(),
})
export type StoredPlace = v.InferOutput<typeof StoredPlace>

export type StoredPlaces = Awaited<ReturnType<typeof openStoredPlaces>>

/** The most places to store; the one changed longest ago is dropped. */
const most = 16

/** Window places, by window and arrangement of the screens. */
export async function openStoredPlaces(files: Files, clock: Clock) {
  // A broken file is not reported: the window then opens where a new one would.
  const document = await openDocument(
    { files, platform: { clock }, onBroken: () => undefined },
    'window',
    v.record(v.string(), StoredPlace),
    {},
  )
  return {
    get: (arrangement: string): StoredPlace | undefined => document.get()[arrangement],
    keep: (arrangement: string, place: StoredPlace): void =>
      document.writeSoon(({ [arrangement]: _, ...others }) =>
        Object.fromEntries([...Object.entries(others).slice(1 - most), [arrangement, place]]),
      ),
    flush: document.flush,
  }
}
