/** The dialogs that are not part of the first load, by the request that opens them. */
export const lazyDialogs = {
  connect: () => import('./ConnectDialog.svelte'),
  replaceKey: () => import('./ReplaceKeyDialog.svelte'),
  login: () => import('../../screens/account/two-factor/LoginDialog.svelte'),
  shortcuts: () => import('./ShortcutsDialog.svelte'),
  address: () => import('./AddressDialog.svelte'),
  stopAll: () => import('../../screens/instances/dialogs/StopAllDialog.svelte'),
  pause: () => import('./PauseDialog.svelte'),
  start: () => import('../../screens/instances/dialogs/StartDialog.svelte'),
  stop: () => import('../../screens/instances/dialogs/StopDialog.svelte'),
  destroy: () => import('../../screens/instances/dialogs/DestroyDialog.svelte'),
  rename: () => import('../../screens/instances/dialogs/RenameDialog.svelte'),
  priceIncrease: () => import('../../screens/instances/warnings/PriceIncreaseDialog.svelte'),
  bid: () => import('../../screens/instances/dialogs/BidDialog.svelte'),
  terminal: () => import('../../screens/instances/dialogs/TerminalDialog.svelte'),
  rentAgain: () => import('../../screens/offers/rent/RentAgainDialog.svelte'),
  runProject: () => import('../../screens/projects/run/RunProjectDialog.svelte'),
  editSpec: () => import('../../screens/projects/spec-editor/SpecDialog.svelte'),
  editFile: () => import('../../screens/instances/files/editor/TextEditor.svelte'),
  editor: () => import('../../screens/instances/dialogs/EditorDialog.svelte'),
  another: () => import('../../screens/instances/dialogs/AnotherDialog.svelte'),
}

/** Loads them all once the page is drawn. A failed one is loaded again when it is opened, and an error is shown then. */
export function fetchLazyDialogs(): void {
  for (const load of Object.values(lazyDialogs)) load().catch(() => undefined)
}
