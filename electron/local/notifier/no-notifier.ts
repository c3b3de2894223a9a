import type { Notifier } from '../../ports/notifier.ts'

/** For a machine that shows no notifications: the page does. */
export const noNotifier: Notifier = {
  available: false,
  show: async () => undefined,
  close: async () => undefined,
  onClick: () => undefined,
}
