import type { ChosenFolder } from '#platform/folders.ts'
import type { Platform, Random } from '#platform/platform.ts'
import type { ServiceClient } from '#service/client.ts'
import { instanceName } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import type { Spender } from '#shared/spending/spender.ts'
import type { Access } from '../access/access.ts'
import type { InstanceTarget } from '../access/connect-with-key.ts'
import type { FileTransfers } from '../access/file-transfers.ts'
import type { Tunnels } from '../access/instance-tunnel.ts'
import type { SshConfig } from '../access/ssh-config.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Pause } from '../accounts/pause-polling.ts'
import type { Activity } from '../activity.ts'
import type { Notifications } from '../alerts/notifications.ts'
import { needingPermission, type Permission, problemOf } from '../bridge/problems.ts'
import type { Demo } from '../demo.ts'
import type { RecentSearches, SeenOffers } from '../market/recent-searches.ts'
import type { SavedSearches } from '../market/saved-searches.ts'
import type { Projects } from '../projects/projects.ts'
import type { ProjectSecrets } from '../projects/secrets.ts'
import type { Relays } from '../relays/perform.ts'
import type { SettingsStore } from '../settings.ts'
import type { Store } from '../storage/store.ts'

/** The services that commands use. */
export interface Services {
  store: Store
  platform: Platform
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
  folders: ChosenFiles<ChosenFolder>
  tunnels: Tunnels
  sshConfig: SshConfig
  projects: Projects
  secrets: ProjectSecrets
  relays: Relays
  demo: Demo | undefined
}

export interface OnInstance {
  account?: AccountId
  instance: number
}

/** The instance in State, with its account's client. Throws `no_such_account`, `key_missing` or `no_such_instance`. */
export function targetOf({ store, accounts }: Services, { account, instance }: OnInstance): InstanceTarget {
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
  { activity }: Services,
  account: AccountId,
  verb: string,
  instance: InstanceView,
  detail?: string,
  by?: Spender,
): void {
  const text = `${verb} ${instanceName(instance)}`
  activity.add({ account, instance: instance.id, kind: 'user', by, text, detail: detail || undefined })
}

/**
 * Calls an account's service, with a permission that its key needs. `text` is noted in Activity as the user's action, once
 * the call has succeeded; and that it may have, where the answer was lost.
 */
export type Ask = <Answer>(
  account: AccountId | undefined,
  permission: Permission,
  call: (client: ServiceClient) => Promise<Answer>,
  text?: string | ((answer: Answer) => string),
) => Promise<Answer>

export function askOf({ accounts, activity }: Pick<Services, 'accounts' | 'activity'>): Ask {
  return async (account, permission, call, text) => {
    const { id, client } = accounts.session(account)
    const answer = await needingPermission(permission, call(client)).catch(error => {
      const { unsure, message, advice } = problemOf(error)
      const detail = [message, advice].filter(Boolean).join(' ')
      if (unsure && typeof text === 'string')
        activity.add({ account: id, kind: 'user', text: `May have been done: ${text}`, detail })
      throw error
    })
    if (text !== undefined)
      activity.add({ account: id, kind: 'user', text: typeof text === 'string' ? text : text(answer) })
    return answer
  }
}

/** The number of choices that are kept, since the page may open any number of dialogs. */
const most = 20

/** The user's choices in dialogs of the main process, by random ids. */
export class ChosenFiles<Chosen> {
  readonly #kept = new Map<string, Chosen>()
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  keep(chosen: Chosen): string {
    const id = `c${this.#random.hex(32)}`
    this.#kept.set(id, chosen)
    for (const oldest of [...this.#kept.keys()].slice(0, Math.max(0, this.#kept.size - most)))
      this.#kept.delete(oldest)
    return id
  }

  /** Throws `no_such_choice`. */
  get(id: string): Chosen {
    const chosen = this.#kept.get(id)
    if (chosen === undefined)
      throw new BerthError({
        code: 'no_such_choice',
        message: 'This selection has expired.',
        advice: 'Choose again.',
      })
    return chosen
  }

  forget(id: string): void {
    this.#kept.delete(id)
  }
}
