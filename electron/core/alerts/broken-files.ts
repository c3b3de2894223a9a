import { instanceName, named } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { AccountView } from '#shared/state.ts'
import type { Activity } from '../activity.ts'
import type { BrokenFile } from '../storage/json-file.ts'
import type { Notifications } from './notifications.ts'

/** What Berth's files hold, for people, by their names. Others are named by their file. */
const contents: Readonly<Record<string, string>> = {
  accounts: 'accounts',
  activity: 'lines of Activity',
  endings: 'stops and destroys',
  sweeps: 'sweeps',
  limits: 'limits',
  projects: 'projects',
  recoveries: 'recoveries',
  relays: 'addresses for alerts',
  rentals: 'rentals',
  runs: 'runs',
  searches: 'saved searches',
  settings: 'settings',
  transfers: 'copies',
  'undoable-actions': 'actions of the last session',
  waiting: 'waiting machines',
  watchdogs: 'watchdogs',
  watches: 'watches',
}

/** Files without which a machine may go on unnoticed. */
const ofMachines: ReadonlySet<string> = new Set([
  'endings',
  'sweeps',
  'limits',
  'rentals',
  'runs',
  'waiting',
  'watchdogs',
])

type Shown = Pick<AccountView, 'instances'>

/** What a user should know of a file that cannot be read, with the instances that it was about. */
export function brokenFileWords(broken: BrokenFile, shown?: Shown): { title: string; body: string } {
  const { name, file, why, setAside, lost } = broken
  const what = contents[name]
  const subject = what ?? `parts of ${file}`
  const title = lost === undefined ? `No ${subject} could be read` : `Some ${subject} couldn’t be read`
  const copy =
    setAside === undefined
      ? 'It couldn’t be copied.'
      : `It’s kept as ${setAside.split('/').at(-1) ?? setAside}.`
  return { title, body: [`${file} ${why}.`, copy, advice(broken, shown)].filter(Boolean).join(' ') }
}

function advice({ name, lost, instances }: BrokenFile, shown: Shown = { instances: {} }): string {
  if (name === 'accounts')
    return 'Instances aren’t monitored and limits don’t act until you connect the accounts again. Their data is kept.'
  if (!ofMachines.has(name)) return ''
  // Of a file that names none, any instance may have been in it.
  const ids =
    instances.length === 0 && lost === undefined ? Object.keys(shown.instances).map(Number) : instances
  if (ids.length === 0) return ''
  const names = named(ids.map(id => (shown.instances[id] ? instanceName(shown.instances[id]) : `#${id}`)))
  if (name === 'endings') return `Check whether ${names} stopped as you wanted.`
  if (name !== 'limits') return `Check whether you still need ${names}.`
  return lost === undefined ? `Set limits again for ${names}.` : `Check the limits of ${names}.`
}

/**
 * Tells the user of unreadable files: in Activity, and on the page until they have read it, also after a restart. `shown`:
 * the account as it is shown.
 */
export function brokenFileTeller(
  {
    activity,
    notifications,
  }: { activity: Pick<Activity, 'add'>; notifications: Pick<Notifications, 'keep'> },
  account?: AccountId,
  shown: () => Shown | undefined = () => undefined,
): (broken: BrokenFile) => void {
  return broken => {
    const { title, body } = brokenFileWords(broken, shown())
    const [instance] = broken.instances.length === 1 ? broken.instances : []
    activity.add({ account, instance, kind: 'error', text: title, detail: body })
    if (broken.isAtWrite) return
    const urgency = ofMachines.has(broken.name) || broken.name === 'accounts' ? 'critical' : 'normal'
    notifications.keep(
      { id: `${account ?? 'berth'}/file-${broken.name}`, title, body, urgency, actions: [] },
      account,
    )
  }
}
