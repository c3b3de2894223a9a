import { Message, sessionBus, Variant } from '@jellybrick/dbus-next'

const name = 'org.kde.StatusNotifierWatcher'
const path = '/StatusNotifierWatcher'

/** What shows tray icons on a session bus, as Electron's own tray meets it. */
export interface TrayWatcher {
  /** From here on a panel shows the icons, or none does; the watcher stays. */
  showIcons(shows: boolean): void
  /** It goes, as with the panel it belongs to. */
  leave(): Promise<void>
  /** A click on the icon that was registered last, as a panel passes it on. */
  click(): Promise<void>
  /** It comes back. */
  come(): Promise<void>
  end(): void
}

/** Puts one on the bus; `shows` tells whether a panel shows the icons from the first. */
export async function startTrayWatcher(busAddress: string, shows = true): Promise<TrayWatcher> {
  const bus = sessionBus({ busAddress })
  let hasHost = shows
  let item = ''
  bus.addMethodHandler(message => {
    if (message.path !== path) return false
    if (message.member === 'Get') bus.send(Message.newMethodReturn(message, 'v', [new Variant('b', hasHost)]))
    else {
      if (message.member === 'RegisterStatusNotifierItem') item = String(message.body[0])
      bus.send(Message.newMethodReturn(message))
    }
    return true
  })
  await bus.requestName(name)
  return {
    showIcons(shows) {
      hasHost = shows
      const member = shows ? 'StatusNotifierHostRegistered' : 'StatusNotifierHostUnregistered'
      bus.send(Message.newSignal(path, name, member))
    },
    async click() {
      const at = { destination: item, path: '/StatusNotifierItem', interface: 'org.kde.StatusNotifierItem' }
      await bus.call(new Message({ ...at, member: 'Activate', signature: 'ii', body: [0, 0] }))
    },
    leave: async () => void (await bus.releaseName(name)),
    come: async () => void (await bus.requestName(name)),
    end: () => bus.disconnect(),
  }
}
