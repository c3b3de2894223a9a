import { duration } from '../format/time.ts'
import type { ProjectSpec } from './spec.ts'

type StoredSpec = Pick<ProjectSpec, 'checkpoint'>

/** Where a run's results are stored while it runs, without this computer; undefined where they come here. */
export function storeOf({ checkpoint }: StoredSpec) {
  return typeof checkpoint === 'object' ? checkpoint : undefined
}

/** Seconds between two checkpoints; undefined without any. */
export function checkpointEvery({ checkpoint }: StoredSpec): number | undefined {
  return typeof checkpoint === 'object' ? checkpoint.every : checkpoint
}

/** The secrets that the machine gets for the store. */
export function storeSecrets(spec: StoredSpec): string[] {
  const { password, key } = storeOf(spec) ?? {}
  return [password, key].flatMap(one => one?.secret ?? [])
}

/** What the key of each kind of store lets a machine do, as it can't be narrowed from here. */
const rights = {
  sftp: 'Whoever controls the machine can use its key, read and delete there: give it a login of its own, for that folder alone.',
  s3: 'Whoever controls the machine can use its key, read and delete there: give it a key for that bucket alone.',
  rest:
    'Whoever controls the machine can use its login: a server with --append-only ' +
    'and --private-repos lets it add to its own place alone.',
} as const

/** The sentences of a plan on the store. */
export function storeWords(spec: StoredSpec): string[] {
  const store = storeOf(spec)
  if (!store) return []
  const isItself = /^\w+:(?:https:)?\/\/(?:[^@/]*@)?(?:localhost|127\.[\d.]+)[:/]/.test(store.to)
  const itself = isItself ? ' That is the rented machine itself, so nothing outlives it.' : ''
  const kind = store.to.startsWith('sftp:') ? 'sftp' : store.to.startsWith('s3:') ? 's3' : 'rest'
  return [
    `Every ${duration(store.every)} the machine itself stores the results in ${store.to}, encrypted by restic, ` +
      `also while your computer sleeps.${itself} The next machine continues from the last complete snapshot. ${rights[kind]}`,
  ]
}
