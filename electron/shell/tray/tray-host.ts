import { busAddress, openSessionBus } from '../../local/session-bus.ts'

/** Whether this desktop shows tray icons. On Linux that takes a host for them, which some desktops do not have. */
export async function hasTrayHost(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  if (platform !== 'linux') return true
  const address = busAddress(env)
  if (address === undefined) return false
  try {
    const bus = await openSessionBus(address)
    const [has] = await bus.call({
      destination: 'org.freedesktop.DBus',
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      member: 'NameHasOwner',
      signature: 's',
      body: ['org.kde.StatusNotifierWatcher'],
    })
    bus.close()
    return has === true
  } catch {
    return false
  }
}
