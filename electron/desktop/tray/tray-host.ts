import type { Clock } from '#platform/platform.ts'
import { busAddress, openSessionBus, type SessionBus } from '#platform/session-bus.ts'

/** The program that shows tray icons on this desktop. */
export interface TrayHost {
  /** Whether one can come: not to a session without a bus. */
  possible: boolean
  /** Whether it runs now. */
  present(): boolean
  /** Calls back when `present` changes. */
  onChange(listener: (present: boolean) => void): void
  close(): void
}

/** A host that is always present, or never. */
const constant = (present: boolean, possible = true): TrayHost => ({
  possible,
  present: () => present,
  onChange: () => undefined,
  close: () => undefined,
})

const watcher = 'org.kde.StatusNotifierWatcher'
const bus = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
}
/** The signals for a watcher that comes or goes, and for a panel that joins or leaves it. */
const matches = [
  `type='signal',sender='${bus.destination}',interface='${bus.interface}',member='NameOwnerChanged',arg0='${watcher}'`,
  `type='signal',interface='${watcher}',member='StatusNotifierHostRegistered'`,
  `type='signal',interface='${watcher}',member='StatusNotifierHostUnregistered'`,
]

/** Milliseconds until a panel counts as gone: some desktops restart theirs, which takes a busy computer seconds. */
const restart = 10_000

/**
 * The desktop's tray. On Linux it is a separate program, which some desktops lack, and which may start after Berth and
 * end before it. Never rejects.
 */
export async function openTrayHost(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): Promise<TrayHost> {
  if (platform !== 'linux') return constant(true)
  const address = busAddress(env)
  if (address === undefined) return constant(false, false)
  try {
    return await watchHost(await openSessionBus(address), clock)
  } catch {
    return constant(false)
  }
}

async function watchHost(session: SessionBus, clock: Clock): Promise<TrayHost> {
  let tell: (present: boolean) => void = () => undefined
  let cancel: () => void = () => undefined
  for (const match of matches)
    await session.call({ ...bus, member: 'AddMatch', signature: 's', body: [match] })
  let present = await isShown(session)

  function set(now: boolean): void {
    if (now === present) return
    present = now
    tell(now)
  }

  async function check(): Promise<void> {
    cancel()
    const now = await isShown(session)
    cancel()
    if (now) set(true)
    else cancel = clock.after(restart, () => set(false))
  }

  session.onSignal(({ interface: from, member, body }) => {
    const isChange = from === bus.interface && member === 'NameOwnerChanged' && body[0] === watcher
    if (isChange || from === watcher) void check()
  })
  return {
    possible: true,
    present: () => present,
    onChange(listener) {
      tell = listener
    },
    close() {
      cancel()
      session.close()
    },
  }
}

/** The same check as Electron's before it shows an icon: there is a watcher, and a panel is registered with it. */
async function isShown(session: SessionBus): Promise<boolean> {
  try {
    const [has] = await session.call({ ...bus, member: 'NameHasOwner', signature: 's', body: [watcher] })
    if (has !== true) return false
    const [shown] = await session.call({
      destination: watcher,
      path: '/StatusNotifierWatcher',
      interface: 'org.freedesktop.DBus.Properties',
      member: 'Get',
      signature: 'ss',
      body: [watcher, 'IsStatusNotifierHostRegistered'],
    })
    return typeof shown === 'object' && shown !== null && 'value' in shown && shown.value === true
  } catch {
    return false
  }
}
