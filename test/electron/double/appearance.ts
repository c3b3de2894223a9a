import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import type * as Electron from 'electron'
import { needsReady } from './needs-ready.ts'

class NativeTheme
  extends EventEmitter
  implements Pick<Electron.NativeTheme, 'shouldUseDarkColors' | 'themeSource'>
{
  shouldUseDarkColors = false
  shouldUseDarkColorsForSystemIntegratedUI = false
  themeSource: Electron.NativeTheme['themeSource'] = 'system'
}

export const nativeTheme = new NativeTheme()

type Display = Pick<Electron.Display, 'id' | 'bounds' | 'workArea' | 'scaleFactor' | 'label' | 'internal'>

const whole = { x: 0, y: 0, width: 1920, height: 1080 }
const primary: Display = {
  id: 1,
  bounds: whole,
  workArea: whole,
  scaleFactor: 1,
  label: 'double',
  internal: true,
}

class Screen extends EventEmitter {
  displays: Display[] = [primary]

  getPrimaryDisplay(): Display {
    return primary
  }

  getAllDisplays(): Display[] {
    // electron_api_screen.cc, `Screen::Create`.
    needsReady("The 'screen' module can't be used before the app 'ready' event")
    return this.displays
  }

  getDisplayMatching(place: Electron.Rectangle): Display {
    return this.getDisplayNearestPoint({ x: place.x + place.width / 2, y: place.y + place.height / 2 })
  }

  getDisplayNearestPoint({ x, y }: Electron.Point): Display {
    const holds = ({ bounds }: Display) =>
      x >= bounds.x && x < bounds.x + bounds.width && y >= bounds.y && y < bounds.y + bounds.height
    return this.displays.find(holds) ?? primary
  }

  getCursorScreenPoint(): Electron.Point {
    return { x: 0, y: 0 }
  }
}

/** The same method, with the double's displays, which have only the fields in use. */
type Narrow<Method extends (...args: never[]) => unknown> =
  ReturnType<Method> extends readonly unknown[]
    ? (...args: Parameters<Method>) => Display[]
    : (...args: Parameters<Method>) => Display
export const screen = new Screen() satisfies {
  [Name in 'getAllDisplays' | 'getPrimaryDisplay' | 'getDisplayMatching' | 'getDisplayNearestPoint']: Narrow<
    Electron.Screen[Name]
  >
} & Pick<Electron.Screen, 'getCursorScreenPoint'>

/** An image that keeps its source instead of pixels. */
export class NativeImage
  implements
    Pick<
      Electron.NativeImage,
      'addRepresentation' | 'setTemplateImage' | 'isTemplateImage' | 'isEmpty' | 'toDataURL'
    >
{
  readonly source: string
  readonly representations: Electron.AddRepresentationOptions[] = []
  template = false

  constructor(source: string) {
    this.source = source
  }

  addRepresentation(options: Electron.AddRepresentationOptions): void {
    this.representations.push(options)
  }

  setTemplateImage(template: boolean): void {
    this.template = template
  }

  isTemplateImage(): boolean {
    return this.template
  }

  isEmpty(): boolean {
    return this.source === ''
  }

  toDataURL(): string {
    return this.source
  }

  resize(): NativeImage {
    return this
  }
}

export const nativeImage = {
  createEmpty: () => new NativeImage(''),
  createFromDataURL(url: string) {
    if (!/^data:image\/(png|jpeg);base64,/.test(url)) throw new Error('not a picture')
    return new NativeImage(url)
  },
  createFromPath: (path: string) => new NativeImage(existsSync(path) ? path : ''),
  createFromBuffer: (bytes: Buffer) => new NativeImage(`data:image/png;base64,${bytes.toString('base64')}`),
} satisfies {
  [Name in 'createEmpty' | 'createFromDataURL' | 'createFromPath' | 'createFromBuffer']: (
    ...args: Parameters<(typeof Electron.nativeImage)[Name]>
  ) => NativeImage
}
