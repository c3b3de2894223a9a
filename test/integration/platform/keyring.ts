import { once } from 'node:events'
import { Variant } from '@jellybrick/dbus-next'
import { expect } from 'vitest'
import type { TestSession } from './session-bus.ts'
import { connectBus } from './test-bus.ts'

/** Starts a keyring, unlocked with its password or locked without one, and waits until it answers a lookup. */
export async function startKeyring(
  session: TestSession,
  password?: string,
): Promise<{ end(): Promise<void> }> {
  const flags = ['--foreground', '--components=secrets', ...(password === undefined ? [] : ['--unlock'])]
  const daemon = session.start('gnome-keyring-daemon', flags, password)
  const nothing = () => session.run('secret-tool', ['lookup', 'service', 'no-such-service'])
  await expect.poll(nothing).toEqual({ code: 1, output: '' })
  return {
    async end() {
      const gone = once(daemon, 'exit')
      daemon.kill('SIGTERM')
      await gone
    },
  }
}

/** Unlocks the running keyring, as a desktop does once its user gave the password. */
export async function unlockKeyring(session: TestSession, password: string): Promise<void> {
  const bus = connectBus(session.env['DBUS_SESSION_BUS_ADDRESS'])
  try {
    const path = '/org/freedesktop/secrets'
    const secrets = await bus.getProxyObject('org.freedesktop.secrets', path)
    const of = (name: string) =>
      secrets.getInterface(name) as unknown as Record<string, (...args: unknown[]) => Promise<string[]>>
    const plain = await of('org.freedesktop.Secret.Service')['OpenSession']?.('plain', new Variant('s', ''))
    await of('org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface')['UnlockWithMasterPassword']?.(
      `${path}/collection/login`,
      [plain?.[1], Buffer.alloc(0), Buffer.from(password), 'text/plain'],
    )
  } finally {
    bus.disconnect()
  }
}
