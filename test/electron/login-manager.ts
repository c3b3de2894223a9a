import { Message } from '@jellybrick/dbus-next'
import { connectBus } from '../integration/platform/test-bus.ts'

/** The part of systemd's logind that programs hear of sleep and shutdown from. */
export interface LoginManager {
  /** What programs have asked to hold up so far, such as `sleep`. */
  inhibited(): readonly string[]
  /** The system goes to sleep, or wakes. */
  sleeps(begins: boolean): void
  shutsDown(): void
  end(): void
}

const manager = {
  name: 'org.freedesktop.login1',
  path: '/org/freedesktop/login1',
  interface: 'org.freedesktop.login1.Manager',
}

/** Starts it on a bus that takes the system bus's place. It holds nothing up, since it can pass no file. */
export async function startLoginManager(busAddress: string): Promise<LoginManager> {
  const bus = connectBus(busAddress)
  const inhibited: string[] = []
  bus.addMethodHandler(message => {
    if (message.interface !== manager.interface) return false
    if (message.member === 'Inhibit') inhibited.push(String(message.body[0]))
    bus.send(Message.newError(message, 'org.freedesktop.DBus.Error.NotSupported', 'not here'))
    return true
  })
  await bus.requestName(manager.name)
  const signal = (member: string, begins: boolean) =>
    bus.send(Message.newSignal(manager.path, manager.interface, member, 'b', [begins]))
  return {
    inhibited: () => inhibited,
    sleeps: begins => signal('PrepareForSleep', begins),
    shutsDown: () => signal('PrepareForShutdown', true),
    end: () => bus.disconnect(),
  }
}
