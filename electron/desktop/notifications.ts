import { app, Notification } from 'electron'
import type { RunningBerth } from '#core/running.ts'
import { escapeMarkup, noNotifier, openDbusNotifier } from '../platform/dbus-notifier.ts'
import { activatedId, groupOf } from '../platform/notice-ids.ts'
import type { Files, Notice, NoticeClick, Notifier } from '../platform/platform.ts'
import { busAddress } from '../platform/session-bus.ts'

/** Electron's notifications. A later one replaces an earlier one with the same id. */
class ElectronNotifier implements Notifier {
  readonly #shown = new Map<string, Notification>()
  #click: NoticeClick = () => undefined

  get available(): boolean {
    return Notification.isSupported()
  }

  onClick(listener: NoticeClick): void {
    this.#click = listener
    // Windows also reports clicks on an earlier run's notifications here, even the click that started this run.
    if (process.platform === 'win32')
      Notification.handleActivation(details => {
        const id = activatedId(details.arguments)
        if (id !== undefined && !this.#shown.has(id)) this.#click(id, undefined)
      })
  }

  /** Resolves once it is on screen; rejects with the platform's reason where it cannot be shown. */
  async show(notice: Notice): Promise<void> {
    // Electron makes no notifications before it is ready.
    await app.whenReady()
    return new Promise((resolve, reject) => {
      const notification = new Notification({
        id: notice.id,
        groupId: groupOf(notice.id),
        title: notice.title,
        // On Linux the desktop's service reads the body as markup.
        body: process.platform === 'linux' ? escapeMarkup(notice.body) : notice.body,
        urgency: notice.urgency,
        timeoutType: notice.urgency === 'critical' ? 'never' : 'default',
        actions: notice.actions.map(({ label }) => ({ type: 'button', text: label })),
      })
      notification.once('show', () => resolve())
      notification.once('failed', (_event, reason) => reject(new Error(reason)))
      notification.on('click', () => this.#click(notice.id, undefined))
      notification.on('action', details => this.#click(notice.id, notice.actions[details.actionIndex]?.id))
      notification.once('close', () => {
        if (this.#shown.get(notice.id) === notification) this.#shown.delete(notice.id)
      })
      this.#shown.get(notice.id)?.close()
      // Kept here: without a reference it would be garbage-collected, together with its listeners.
      this.#shown.set(notice.id, notification)
      notification.show()
    })
  }

  async close(id: string): Promise<void> {
    this.#shown.get(id)?.close()
    this.#shown.delete(id)
  }
}

/**
 * The desktop's notifications; on Linux directly by its service, which can do more than Electron offers. `picture`: the
 * name of an installed icon, or the absolute path of one.
 */
export async function openNotifier(log: (line: string) => void, picture: string): Promise<Notifier> {
  if (process.platform !== 'linux') return new ElectronNotifier()
  if (busAddress(process.env) === undefined) return noNotifier
  const desktop = await openDbusNotifier(process.env, log, picture)
  // A service that comes later is Electron's to find.
  return desktop.available ? desktop : new ElectronNotifier()
}

/** Shows a notice about this desktop once, and never again. */
export async function notifyOnce(
  berth: Pick<RunningBerth, 'say'>,
  files: Files,
  notice: Pick<Notice, 'id' | 'title' | 'body'>,
): Promise<void> {
  const file = `told-${notice.id}`
  if ((await files.read(file).catch(() => '')) !== undefined) return
  await files.write(file, '')
  berth.say({ ...notice, urgency: 'normal', actions: [] })
}
