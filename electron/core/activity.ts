import * as v from 'valibot'
import type { Clock, Files, Log } from '#platform/platform.ts'
import { recordedMoment } from '#shared/derived.ts'
import { AccountId } from '#shared/ids.ts'
import { StoredSpender } from '#shared/spending/spender.ts'
import type { ActivityEntry } from '#shared/state.ts'
import { type DocumentPlace, readText } from './storage/json-file.ts'
import type { Store } from './storage/store.ts'

/** All actions of Berth and the user, and all errors: a JSON line each; the newest are in State, too. */
export type Activity = Awaited<ReturnType<typeof openActivity>>

const Entry = v.object({
  id: v.string(),
  at: v.number(),
  account: v.optional(AccountId),
  instance: v.optional(v.number()),
  rental: v.optional(v.string()),
  kind: v.picklist(['user', 'berth', 'alert', 'error']),
  by: v.optional(StoredSpender),
  good: v.optional(v.literal(true)),
  text: v.string(),
  detail: v.optional(v.string()),
})

/** The numbers of entries in State and on disk. At twice as many, the file is cut to the newest. */
const shown = 200
const mostEntries = 5000

const fileName = 'activity.jsonl'

/** `filesFor` chooses the place of an account's entries: the demo's are deleted with the demo. */
export async function openActivity(
  store: Store,
  clock: Clock,
  files: readonly Files[],
  filesFor: (account: AccountId | undefined) => Files,
  onBroken: DocumentPlace['onBroken'],
) {
  const loaded = await Promise.all(files.map(place => load(place, onBroken)))
  let entries = loaded.flat().sort((a, b) => (a.id < b.id ? -1 : 1))
  let lastId = entries.at(-1)?.id ?? ''
  let writing: Promise<void> = Promise.resolve()

  store.change(draft => {
    for (const entry of entries.slice(-shown)) draft.activity[entry.id] = entry
  })

  /** An id that sorts by age, and is unique even when the clock stands still or jumps back. */
  function nextId(at: number): string {
    const byTime = `${Math.max(0, Math.round(at)).toString(36).padStart(9, '0')}-0000`
    if (byTime > lastId) return byTime
    const [time = '', count = '0'] = lastId.split('-')
    return `${time}-${(Number.parseInt(count, 36) + 1).toString(36).padStart(4, '0')}`
  }

  return {
    add(given: Omit<ActivityEntry, 'id' | 'at'>): void {
      const local = clock.now()
      const at = recordedMoment(store.get().accounts[given.account ?? ''], local)
      const entry: ActivityEntry = { id: nextId(local), at, ...given }
      lastId = entry.id
      entries.push(entry)
      if (entries.length > 2 * mostEntries) entries = entries.slice(-mostEntries)
      store.change(draft => {
        draft.activity[entry.id] = entry
        const ids = Object.keys(store.get().activity).sort()
        for (const id of ids.slice(0, Math.max(0, ids.length + 1 - shown))) delete draft.activity[id]
      })
      const place = filesFor(entry.account)
      writing = writing
        .then(() => place.append(fileName, `${JSON.stringify(entry)}\n`))
        .catch(() => undefined)
    },
    /** Newest first: entries older than the id `before` whose text, detail or instance contains `text`. */
    search(text: string, before: string | undefined, limit: number): readonly ActivityEntry[] {
      const searched = text.trim().toLowerCase()
      const found: ActivityEntry[] = []
      for (let index = entries.length - 1; index >= 0 && found.length < limit; index -= 1) {
        const entry = entries[index]
        if (!entry || (before !== undefined && entry.id >= before)) continue
        if (searched === '' || searchable(entry).includes(searched)) found.push(entry)
      }
      return found
    },
    flush: (): Promise<void> => writing,
  }
}

function searchable({ by, text, detail, instance }: ActivityEntry): string {
  return `${by ?? ''} ${text} ${detail ?? ''} ${instance === undefined ? '' : `#${instance}`}`.toLowerCase()
}

/** The entries on disk, without invalid lines. A file that is too long is cut. */
async function load(files: Files, onBroken: DocumentPlace['onBroken']): Promise<ActivityEntry[]> {
  const text = (await readText({ files, onBroken }, fileName, 'activity')) ?? ''
  const entries = text.split('\n').flatMap(line => {
    try {
      const checked = v.safeParse(Entry, JSON.parse(line))
      return checked.success ? [checked.output as ActivityEntry] : []
    } catch {
      return []
    }
  })
  if (entries.length <= 2 * mostEntries) return entries
  const newest = entries.slice(-mostEntries)
  // If cutting fails, a later start does it.
  await files
    .write(fileName, newest.map(entry => `${JSON.stringify(entry)}\n`).join(''))
    .catch(() => undefined)
  return newest
}

/** Failures recorded per hour; more are dropped. */
const mostPerHour = 10
const hour = 3_600_000

/** Records a failure of the page, in Activity for the user and in the log for maintainers. */
export type NotePageFailure = (text: string, detail: string) => void

export function pageFailures(activity: Activity, clock: Clock, log: Log): NotePageFailure {
  let noted: number[] = []
  return (text, detail) => {
    const now = clock.monotonic()
    noted = noted.filter(at => now - at < hour)
    if (noted.length >= mostPerHour) return
    noted.push(now)
    log.line(`${text}: ${detail}`)
    activity.add({ kind: 'error', text, detail: log.mask(detail).slice(0, 300) })
  }
}
