import { Message, type Variant } from '@jellybrick/dbus-next'
import { connectBus } from '../integration/platform/test-bus.ts'

/** A notification that a program asked for. */
export interface ShownNotice {
  title: string
  body: string
  /** The labels of its buttons, without that for a click on the notification itself. */
  actions: string[]
  /** The label for a click on it, which some desktops show as a button; empty for none. */
  click: string
  /** The name or the path of its picture. */
  picture: string
}

/** A notification service that shows nothing, and clicks what it is asked to show. */
export interface NotificationService {
  /** Everything it was asked to show, oldest first, in the latest version. */
  readonly shown: readonly ShownNotice[]
  /** The numbers that it was asked to close. */
  readonly closed: readonly number[]
  /** Clicks a notification by its place in `shown`. */
  click(at: number): void
  /** Presses the button with that label. */
  press(at: number, label: string): void
  end(): void
}

const own = { path: '/org/freedesktop/Notifications', name: 'org.freedesktop.Notifications' }

/** Starts it on a session bus, with those capabilities. `clicks`: whether it clicks each notification at once. */
export async function startNotificationService(
  busAddress: string,
  capabilities: readonly string[] = ['body', 'actions'],
  clicks = false,
): Promise<NotificationService> {
  const bus = connectBus(busAddress)
  const shown: (ShownNotice & { ids: Map<string, string> })[] = []
  const closed: number[] = []
  const invoke = (at: number, id: string) =>
    bus.send(Message.newSignal(own.path, own.name, 'ActionInvoked', 'us', [at + 1, id]))
  bus.addMethodHandler(message => {
    if (message.interface !== own.name) return false
    if (message.member === 'GetCapabilities')
      bus.send(Message.newMethodReturn(message, 'as', [[...capabilities]]))
    else if (message.member === 'Notify') {
      const number = Number(message.body[1]) || shown.length + 1
      shown[number - 1] = readNotice(message.body)
      bus.send(Message.newMethodReturn(message, 'u', [number]))
      if (clicks) invoke(number - 1, 'default')
    } else {
      if (message.member === 'CloseNotification') closed.push(Number(message.body[0]))
      bus.send(Message.newMethodReturn(message))
    }
    return true
  })
  await bus.requestName(own.name)
  return {
    shown,
    closed,
    click: at => invoke(at, 'default'),
    press(at, label) {
      const id = shown[at]?.ids.get(label)
      if (id === undefined) throw new Error(`no button ${label} on ${JSON.stringify(shown[at])}`)
      invoke(at, id)
    },
    end: () => bus.disconnect(),
  }
}

type Notify = [string, number, string, string, string, string[], Record<string, Variant>, number]

function readNotice(call: unknown[]) {
  const [, , icon, title, body, actions, hints] = call as Notify
  const pairs = actions.flatMap((id, index) =>
    index % 2 === 0 ? [[actions[index + 1] ?? '', id] as const] : [],
  )
  const ids = new Map(pairs.filter(([, id]) => id !== 'default'))
  const picture = String(hints['image-path']?.value ?? icon)
  const click = pairs.find(([, id]) => id === 'default')?.[0] ?? ''
  return { title, body, actions: [...ids.keys()], click, picture, ids }
}
