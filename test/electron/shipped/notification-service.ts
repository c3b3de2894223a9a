import { Message, sessionBus } from '@jellybrick/dbus-next'

/** A notification service that records titles and shows nothing. */
export interface NotificationService {
  readonly titles: readonly string[]
  end(): void
}

export async function startNotificationService(busAddress: string): Promise<NotificationService> {
  const bus = sessionBus({ busAddress })
  const titles: string[] = []
  bus.addMethodHandler(message => {
    if (message.interface !== 'org.freedesktop.Notifications') return false
    if (message.member === 'GetCapabilities')
      bus.send(Message.newMethodReturn(message, 'as', [['body', 'actions']]))
    else if (message.member === 'Notify') {
      titles.push(String(message.body[3]))
      bus.send(Message.newMethodReturn(message, 'u', [titles.length]))
    } else bus.send(Message.newMethodReturn(message))
    return true
  })
  await bus.requestName('org.freedesktop.Notifications')
  return { titles, end: () => bus.disconnect() }
}
