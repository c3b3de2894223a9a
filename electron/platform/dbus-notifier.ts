import type { Notice, NoticeClick, Notifier } from './platform.ts'
import { busAddress, openSessionBus, type SessionBus, type Signal } from './session-bus.ts'
import { oneAtATime } from './tasks.ts'

const service = {
  destination: 'org.freedesktop.Notifications',
  path: '/org/freedesktop/Notifications',
  interface: 'org.freedesktop.Notifications',
}
const busItself = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
}
const urgencies = { low: 0, normal: 1, critical: 2 } as const

/**
 * Notifications by the desktop's service (org.freedesktop.Notifications). Without that service `available` is false.
 * `picture`: the name of an installed icon, or the absolute path of one. Never rejects.
 */
export async function openDbusNotifier(
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
  picture = 'berth',
): Promise<Notifier> {
  const address = busAddress(env)
  if (address === undefined) return noNotifier
  try {
    return new DbusNotifier(address, await connect(address), log, picture)
  } catch (error) {
    log(`notifications: ${String(error)}`)
    return noNotifier
  }
}

/** A connection to the service, and its capabilities (`body-markup`, `actions`). */
interface Connected {
  bus: SessionBus
  can: ReadonlySet<unknown>
}

async function connect(address: string): Promise<Connected> {
  const bus = await openSessionBus(address)
  try {
    const [capabilities] = await bus.call({ ...service, member: 'GetCapabilities' })
    for (const rule of [
      `type='signal',interface='${service.interface}',path='${service.path}'`,
      `type='signal',interface='${busItself.interface}',member='NameOwnerChanged',arg0='${service.destination}'`,
    ])
      await bus.call({ ...busItself, member: 'AddMatch', signature: 's', body: [rule] })
    return { bus, can: new Set(Array.isArray(capabilities) ? capabilities : []) }
  } catch (error) {
    bus.close()
    throw error
  }
}

class DbusNotifier implements Notifier {
  readonly available = true
  readonly #address: string
  readonly #log: (line: string) => void
  readonly #picture: string
  #connected: Connected
  /** The service's number for each notice on screen, by our id. */
  readonly #numbers = new Map<string, number>()
  #click: NoticeClick = () => undefined
  /** One at a time: the second notice with an id needs the number of the first. */
  readonly #inTurn = oneAtATime()

  constructor(address: string, connected: Connected, log: (line: string) => void, picture: string) {
    this.#address = address
    this.#log = log
    this.#picture = picture
    this.#connected = connected
    connected.bus.onSignal(signal => this.#hear(signal))
  }

  onClick(listener: NoticeClick): void {
    this.#click = listener
  }

  show(notice: Notice): Promise<void> {
    return this.#inTurn(async () => {
      const number = await this.#again(connected => this.#notify(connected, notice))
      this.#numbers.set(notice.id, number)
    })
  }

  close(id: string): Promise<void> {
    return this.#inTurn(async () => {
      const number = this.#numbers.get(id)
      if (number === undefined) return
      this.#numbers.delete(id)
      await this.#connected.bus
        .call({ ...service, member: 'CloseNotification', signature: 'u', body: [number] })
        .catch(error => this.#log(`notifications: ${String(error)}`))
    })
  }

  async #notify({ bus, can }: Connected, notice: Notice): Promise<number> {
    const { Variant } = await import('@jellybrick/dbus-next')
    // The click on the notification. Some desktops make a button of it, which is needed only where there's no other.
    const click = { id: 'default', label: notice.actions.length === 0 ? 'Open Berth' : '' }
    const actions = can.has('actions') ? [click, ...notice.actions] : []
    const [number] = await bus.call({
      ...service,
      member: 'Notify',
      signature: 'susssasa{sv}i',
      body: [
        'Berth',
        this.#numbers.get(notice.id) ?? 0,
        this.#picture,
        notice.title,
        can.has('body-markup') ? escapeMarkup(notice.body) : notice.body,
        actions.flatMap(({ id, label }) => [id, label]),
        {
          urgency: new Variant('y', urgencies[notice.urgency]),
          'desktop-entry': new Variant('s', 'berth'),
        },
        // The desktop decides how long it stays, by the user's choice for each urgency.
        -1,
      ],
    })
    return Number(number)
  }

  /** Retries once on a new connection, since the service may have been restarted. Old numbers are then invalid. */
  async #again<T>(work: (connected: Connected) => Promise<T>): Promise<T> {
    try {
      return await work(this.#connected)
    } catch (error) {
      this.#log(`notifications: ${String(error)}; connecting again`)
      const connected = await connect(this.#address)
      this.#connected.bus.close()
      this.#numbers.clear()
      this.#connected = connected
      connected.bus.onSignal(signal => this.#hear(signal))
      return await work(connected)
    }
  }

  /** In turn: a click may come together with the number of its notice. */
  #hear({ interface: from, member, body: [number, detail] }: Signal): void {
    if (from === busItself.interface && member === 'NameOwnerChanged' && number === service.destination) {
      // The next service counts anew, for other programs too. At once: its first number may be on its way to `show`.
      this.#numbers.clear()
      return
    }
    if (from !== service.interface) return
    void this.#inTurn(async () => {
      const id = [...this.#numbers].find(([, known]) => known === number)?.[0]
      if (id === undefined) return
      if (member === 'NotificationClosed') this.#numbers.delete(id)
      if (member === 'ActionInvoked') this.#click(id, detail === 'default' ? undefined : String(detail))
    })
  }
}

/** Escapes the body, which the service reads as markup (Desktop Notifications Specification, section 5). */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** For a machine without notifications: the page shows them instead. */
export const noNotifier: Notifier = {
  available: false,
  show: async () => undefined,
  close: async () => undefined,
  onClick: () => undefined,
}
