import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'

type Template = Electron.MenuItemConstructorOptions[]

export class Menu {
  readonly template: Template

  constructor(template: Template) {
    this.template = template
  }

  static buildFromTemplate(template: Template): Menu {
    return new Menu(template)
  }
}

export const trays: Tray[] = []

export class Tray extends EventEmitter implements Pick<Electron.Tray, 'setToolTip' | 'destroy'> {
  tooltip = ''
  menu: Menu | undefined
  /** How many menus it was given so far. */
  menus = 0

  constructor(_image: unknown) {
    super()
    trays.push(this)
  }

  setToolTip(text: string): void {
    this.tooltip = text
  }

  setContextMenu(menu: Menu): void {
    this.menu = menu
    this.menus++
  }

  destroy(): void {
    trays.splice(trays.indexOf(this), 1)
  }
}
