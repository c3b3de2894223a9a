import { startSession, type TestSession, type UserIds } from '#test/integration/platform/session-bus.ts'
import { startDisplay } from '#test/integration/platform/x-display.ts'
import { startNotificationService } from '../notification-service.ts'
import { type Panel, startPanel } from '../panel.ts'

/** Root starts the shipped program as nobody, since Chromium's sandbox refuses root. */
export const user: UserIds | undefined = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** A desktop for the shipped program. */
export interface ShippedSession {
  session: TestSession
  panel: Panel
  notices: Awaited<ReturnType<typeof startNotificationService>>
}

/** Takes functions that end what was started. */
export type Endings = (() => unknown)[]

/** Opens a desktop session with a panel, notifications and a screen. */
export async function openSession(
  endings: Endings,
  screen: (session: TestSession, endings: Endings) => Promise<unknown>,
): Promise<ShippedSession> {
  const session = await startSession({}, user)
  endings.push(() => session.end())
  const bus = session.env['DBUS_SESSION_BUS_ADDRESS'] ?? ''
  const panel = await startPanel(bus)
  endings.push(panel.end)
  const notices = await startNotificationService(bus)
  endings.push(notices.end)
  await screen(session, endings)
  return { session, panel, notices }
}

/** A screen under X11, with a window manager. */
export async function x11(session: TestSession, endings: Endings): Promise<void> {
  const display = await startDisplay()
  endings.push(display.end)
  session.env['DISPLAY'] = display.name
  session.start('xfwm4', ['--compositor=off'])
}
