import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'

export type Template = Electron.MenuItemConstructorOptions[]

/** The fields of Electron's MenuItem in use. */
type Item = Pick<Electron.MenuItem, 'type' | 'label' | 'enabled' | 'visible'> & {
  submenu: Menu | undefined
  click: () => void
}

/** A menu that is never shown, but read and clicked by tests. */
export class Menu extends EventEmitter {
  static #application: Menu | null = null
  readonly template: Template

  constructor(template: Template = []) {
    super()
    this.template = template
  }

  static buildFromTemplate(template: Template): Menu {
    return new Menu(template)
  }

  static setApplicationMenu(menu: Menu | null): void {
    Menu.#application = menu
  }

  static getApplicationMenu(): Menu | null {
    return Menu.#application
  }

  /** The entries as in Electron, each with a click function. */
  get items(): Item[] {
    return this.template.map((entry, at) => ({
      type: entry.type ?? 'normal',
      label: entry.label ?? '',
      enabled: entry.enabled ?? true,
      visible: entry.visible ?? true,
      submenu: entry.submenu === undefined ? undefined : new Menu(entries(entry.submenu)),
      click: () => clickEntry(this.template[at]),
    }))
  }

  popup(): void {}
  closePopup(): void {}
}

/** An entry as tests see it. */
export interface SeenItem {
  label: string
  enabled: boolean
  role?: string
  accelerator?: string
  checked?: boolean
  submenu?: SeenItem[]
}

export function seenItems(template: Template): SeenItem[] {
  return template
    .filter(({ visible }) => visible !== false)
    .map(({ type, label = '', enabled = true, submenu, role, accelerator, checked }) => ({
      label: type === 'separator' ? '---' : label,
      enabled,
      ...(role !== undefined && { role }),
      ...(typeof accelerator === 'string' && { accelerator }),
      ...(checked !== undefined && { checked }),
      ...(submenu !== undefined && { submenu: seenItems(entries(submenu)) }),
    }))
}

/** Clicks an entry, found by the beginnings of the labels on its path. */
export function clickItem(template: Template, path: readonly string[]): void {
  let items = template
  for (const [depth, begin] of path.entries()) {
    const item = items.find(({ label }) => label?.startsWith(begin))
    if (item === undefined)
      throw new Error(`no entry ${begin} among ${items.map(({ label }) => label).join(', ')}`)
    if (depth < path.length - 1) items = entries(item.submenu)
    else if (item.enabled === false) throw new Error(`${item.label} cannot be clicked`)
    else clickEntry(item)
  }
}

function clickEntry(entry: Template[number] | undefined): void {
  if (entry?.type === 'checkbox') entry.checked = !entry.checked
  entry?.click?.(entry as never, undefined, {} as never)
}

function entries(submenu: Template | Electron.Menu | Menu | undefined): Template {
  if (submenu === undefined) return []
  if (Array.isArray(submenu)) return submenu
  return submenu instanceof Menu ? submenu.template : []
}
