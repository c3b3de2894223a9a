import type { Notifier } from '../../ports/notifier.ts'

/** For a machine without notifications: the page shows them instead. */
export const noNotifier: Notifier = {
  available: false,
  show: async () => undefined,
  close: async () => undefined,
  onClick: () => undefined,
}
