import { instanceName } from '#contract/format/name.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import type { ChosenFolder } from '#machine/folders.ts'
import type { Machine } from '#machine/machine.ts'
import type { Access } from '../access/access.ts'
import type { Choices } from '../access/chosen-files.ts'
import type { InstanceTarget } from '../access/enter.ts'
import type { FileTransfers } from '../access/file-transfers.ts'
import type { SshConfig } from '../access/ssh-config.ts'
import type { Tunnels } from '../access/tunnels.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Pause } from '../accounts/pause-polling.ts'
import type { Notifications } from '../alerts/notifications.ts'
import type { Activity } from '../app/activity.ts'
import type { Demo } from '../app/demo.ts'
import type { SettingsStore } from '../app/settings.ts'
import type { RecentSearches, SeenOffers } from '../market/recent-searches.ts'
import type { SavedSearches } from '../market/saved-searches.ts'
import type { Projects } from '../projects/projects.ts'
import type { ProjectSecrets } from '../projects/secrets.ts'
import type { Store } from '../storage/store.ts'

/** The services that commands use. */
export interface Parts {
  store: Store
  machine: Machine
  accounts: Accounts
  pause: Pause
  activity: Activity
  notifications: Notifications
  settings: SettingsStore
  searches: SavedSearches
  recentSearches: RecentSearches
  seenOffers: SeenOffers
  access: Access
  fileTransfers: FileTransfers
  /** Local folders that the user chose in a dialog. */
  folders: Choices<ChosenFolder>
  tunnels: Tunnels
  sshConfig: SshConfig
  projects: Projects
  secrets: ProjectSecrets
  demo: Demo | undefined
}

export interface OnInstance {
  account?: AccountId
  instance: number
}

/** The instance in State, with its account's client. Throws `no_such_account`, `key_missing` or `no_such_instance`. */
export function targetOf({ store, accounts }: Parts, { account, instance }: OnInstance): InstanceTarget {
  const session = accounts.session(account)
  // First, since without a key no instances may have been listed.
  const { client } = session
  const view = store.get().accounts[session.id]?.instances[instance]
  if (!view)
    throw new BerthError({
      code: 'no_such_instance',
      message: `Instance #${instance} is no longer on the account.`,
      advice: 'It was destroyed, here or elsewhere.',
    })
  return { account: session.id, instance: view, client }
}

/** Notes a user's action on an instance in Activity. */
export function noteUser(
  { activity }: Parts,
  account: AccountId,
  verb: string,
  instance: InstanceView,
  detail?: string,
): void {
  activity.add({
    account,
    instance: instance.id,
    kind: 'user',
    text: `${verb} ${instanceName(instance)}`,
    detail: detail || undefined,
  })
}
