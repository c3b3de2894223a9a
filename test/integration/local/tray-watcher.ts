import { Message, sessionBus, Variant } from '@jellybrick/dbus-next'

const name = 'org.kde.StatusNotifierWatcher'
const path = '/StatusNotifierWatcher'

/** The StatusNotifierWatcher on a session bus, with which Electron's tray registers its icon. */
export interface TrayWatcher {
  /** Sets whether a panel shows the icons; the watcher stays. */
  showIcons(shows: boolean): void
  /** Releases the watcher's name, as when its panel ends. */
  leave(): Promise<void>
  /** Clicks the icon that was registered last, as a panel does. */
  click(): Promise<void>
  /** Takes the watcher's name again. */
  come(): Promise<void>
  end(): void
}

/** Starts a watcher; `shows`: whether a panel shows the icons from the start. */
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
