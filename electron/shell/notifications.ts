import { app, Notification } from 'electron'
import { escapeMarkup, openDbusNotifier } from '../local/notifier/dbus-notifier.ts'
import { activatedId, groupOf } from '../local/notifier/notice-ids.ts'
import type { Notice, NoticeClick, Notifier } from '../ports/notifier.ts'

/** Notifications by Electron. A later one with the same id takes the place of the earlier one. */
class ElectronNotifier implements Notifier {
  readonly #shown = new Map<string, Notification>()
  #click: NoticeClick = () => undefined

  get available(): boolean {
    return Notification.isSupported()
  }

  onClick(listener: NoticeClick): void {
    this.#click = listener
    // Windows tells here, too, of a click on what an earlier Berth showed, be it the click that started this one.
    if (process.platform === 'win32')
      Notification.handleActivation(details => {
        const id = activatedId(details.arguments)
        if (id !== undefined && !this.#shown.has(id)) this.#click(id, undefined)
      })
  }

  /** Resolves when it is on screen; rejects with the platform's reason when it cannot be shown. */
  async show(notice: Notice): Promise<void> {
    // Earlier there is none to be made.
    await app.whenReady()
    return new Promise((resolve, reject) => {
      const notification = new Notification({
        id: notice.id,
        groupId: groupOf(notice.id),
        title: notice.title,
        // On Linux the desktop's service reads its own markup in it.
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
      // Kept here: one that nothing holds is collected, and its clicks with it.
      this.#shown.set(notice.id, notification)
      notification.show()
    })
  }

  async close(id: string): Promise<void> {
    this.#shown.get(id)?.close()
    this.#shown.delete(id)
  }
}

/** The desktop's own notifications: on Linux by its service, which does more than Electron passes on. */
export async function openNotifier(log: (line: string) => void): Promise<Notifier> {
  const desktop = process.platform === 'linux' ? await openDbusNotifier(process.env, log) : undefined
  return desktop?.available ? desktop : new ElectronNotifier()
}
