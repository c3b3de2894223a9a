import { Message, type MessageBus, Variant } from '@jellybrick/dbus-next'
import { connectBus } from '../integration/platform/test-bus.ts'

const watcher = { name: 'org.kde.StatusNotifierWatcher', path: '/StatusNotifierWatcher' }
const iconInterface = 'org.kde.StatusNotifierItem'
const menuInterface = 'com.canonical.dbusmenu'

/** A menu entry as a panel reads it. */
export interface MenuEntry {
  label: string
  enabled: boolean
  submenu?: MenuEntry[]
}

interface NumberedEntry extends MenuEntry {
  id: number
  submenu?: NumberedEntry[]
}

/** Tray icons on a session bus, read and clicked as a panel does: by StatusNotifierItem and dbusmenu. */
export class TrayIcons {
  readonly #bus: MessageBus
  readonly #icon: () => Promise<string | undefined>

  /** `icon` gives the bus name of the icon, undefined without one. */
  constructor(bus: MessageBus, icon: () => Promise<string | undefined>) {
    this.#bus = bus
    this.#icon = icon
  }

  /** The entries of the icon's menu; undefined without an icon. */
  async menu(): Promise<MenuEntry[] | undefined> {
    const icon = await this.#icon()
    return icon === undefined ? undefined : (await this.#entries(icon)).entries
  }

  /** A property of the icon, such as `ToolTip` or `IconPixmap`. */
  async property(name: string): Promise<unknown> {
    const icon = await this.#present()
    return this.#get(icon, name)
  }

  /** Clicks the icon. */
  async click(): Promise<void> {
    const icon = await this.#present()
    await this.#call(icon, '/StatusNotifierItem', iconInterface, 'Activate', 'ii', [0, 0])
  }

  /** Clicks an entry, found by the beginnings of the labels on its path. */
  async clickMenu(path: readonly string[]): Promise<void> {
    const icon = await this.#present()
    const { menu, revision, entries } = await this.#entries(icon)
    let among: NumberedEntry[] = entries
    for (const [depth, begin] of path.entries()) {
      const entry = among.find(({ label }) => label.startsWith(begin))
      if (entry === undefined)
        throw new Error(`no entry ${begin} among ${among.map(({ label }) => label).join(', ')}`)
      if (depth < path.length - 1) among = entry.submenu ?? []
      else if (!entry.enabled) throw new Error(`${entry.label} cannot be clicked`)
      else {
        // A menu that is replaced meanwhile has other numbers: it is looked through again.
        const isSame = async () => (await this.#entries(icon)).revision === revision
        if (!(await isSame())) return this.clickMenu(path)
        try {
          await this.#call(icon, menu, menuInterface, 'Event', 'isvu', clicked(entry.id))
        } catch (error) {
          const remains = await isSame().catch(() => undefined)
          if (remains) throw error
          // Without a menu the click was Quit, and its program ended before it answered.
          if (remains === false) return this.clickMenu(path)
        }
      }
    }
  }

  async #present(): Promise<string> {
    const icon = await this.#icon()
    if (icon === undefined) throw new Error('there is no tray icon')
    return icon
  }

  async #entries(icon: string): Promise<{ menu: string; revision: unknown; entries: NumberedEntry[] }> {
    const menu = String(await this.#get(icon, 'Menu'))
    const [revision, root] = await this.#call(icon, menu, menuInterface, 'GetLayout', 'iias', [0, -1, []])
    return { menu, revision, entries: entriesOf(root as Layout) }
  }

  async #get(icon: string, name: string): Promise<unknown> {
    const properties = 'org.freedesktop.DBus.Properties'
    const [value] = await this.#call(icon, '/StatusNotifierItem', properties, 'Get', 'ss', [
      iconInterface,
      name,
    ])
    return (value as Variant).value
  }

  async #call(
    destination: string,
    path: string,
    of: string,
    member: string,
    signature: string,
    body: unknown[],
  ): Promise<unknown[]> {
    const answer = await this.#bus.call(
      new Message({ destination, path, interface: of, member, signature, body }),
    )
    return answer?.body ?? []
  }
}

const clicked = (id: number) => [id, 'clicked', new Variant('i', 0), 0]

type Layout = [id: number, properties: Record<string, Variant>, children: Variant[]]

function entriesOf([, , children]: Layout): NumberedEntry[] {
  return children.flatMap(child => {
    const layout = child.value as Layout
    const [id, properties] = layout
    const value = (name: string) => properties[name]?.value
    if (value('visible') === false) return []
    const isLine = value('type') === 'separator'
    // An underscore marks the next letter as the access key; two are one.
    const label = isLine ? '---' : String(value('label') ?? '').replaceAll(/_(.)/g, '$1')
    const submenu = value('children-display') === 'submenu' ? { submenu: entriesOf(layout) } : {}
    return [{ id, label, enabled: value('enabled') !== false, ...submenu }]
  })
}

/** A panel of the test's own: the watcher with which tray icons register. */
export interface Panel {
  readonly icons: TrayIcons
  /** Sets whether it shows icons; the watcher stays. */
  showIcons(shows: boolean): void
  /** Ends as a panel does, and takes its name again. */
  leave(): Promise<void>
  come(): Promise<void>
  /** How often icons have registered so far. */
  registered(): number
  end(): void
}

/** Starts a panel; `shows`: whether it shows icons from the start. */
export async function startPanel(busAddress: string, shows = true): Promise<Panel> {
  const bus = connectBus(busAddress)
  let hasHost = shows
  let registered = 0
  let icon: string | undefined
  const signal = (member: string) => bus.send(Message.newSignal(watcher.path, watcher.name, member))
  bus.addMethodHandler(message => {
    if (message.path !== watcher.path) return false
    if (message.member === 'Get') bus.send(Message.newMethodReturn(message, 'v', [new Variant('b', hasHost)]))
    else {
      if (message.member === 'RegisterStatusNotifierItem') {
        registered += 1
        icon = message.sender ?? undefined
      }
      bus.send(Message.newMethodReturn(message))
    }
    return true
  })
  bus.on('message', ({ member, body: [name, , owner] }) => {
    if (member === 'NameOwnerChanged' && name === icon && owner === '') icon = undefined
  })
  await bus.call(
    new Message({
      destination: 'org.freedesktop.DBus',
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      member: 'AddMatch',
      signature: 's',
      body: ["type='signal',member='NameOwnerChanged'"],
    }),
  )
  await bus.requestName(watcher.name)
  return {
    icons: new TrayIcons(bus, async () => icon),
    showIcons(shows) {
      hasHost = shows
      signal(shows ? 'StatusNotifierHostRegistered' : 'StatusNotifierHostUnregistered')
    },
    leave: async () => {
      icon = undefined
      await bus.releaseName(watcher.name)
    },
    come: async () => void (await bus.requestName(watcher.name)),
    registered: () => registered,
    end: () => bus.disconnect(),
  }
}

/** The icons that the desktop's own panel shows. */
export function iconsOfDesktop(busAddress: string): { icons: TrayIcons; end(): void } {
  const bus = connectBus(busAddress)
  const registered = async () => {
    const answer = await bus.call(
      new Message({
        destination: watcher.name,
        path: watcher.path,
        interface: 'org.freedesktop.DBus.Properties',
        member: 'Get',
        signature: 'ss',
        body: [watcher.name, 'RegisteredStatusNotifierItems'],
      }),
    )
    const [icon] = (answer?.body[0] as Variant<string[]> | undefined)?.value ?? []
    return icon?.split('/')[0]
  }
  return { icons: new TrayIcons(bus, () => registered().catch(() => undefined)), end: () => bus.disconnect() }
}
