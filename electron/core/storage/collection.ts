import * as v from 'valibot'
import type { AccountId } from '#shared/ids.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import { type DocumentPlace, openFile, type ReadContent } from './json-file.ts'
import { type Instead, instancesIn, mended } from './mend.ts'
import { isDeepEqual, type Store } from './store.ts'

/** New field values (undefined removes a field), or a function from the present item to the new one. */
export type Change<Item> = { readonly [Field in keyof Item]?: Item[Field] } | ((item: Item) => Item)

/** The records of one kind of an account: in a file of its folder and, where wanted, in State. */
export interface Collection<Item, Key> {
  /** In the order of insertion. */
  all(): readonly Item[]
  find(key: Key): Item | undefined
  /** Throws the problem `missing`. */
  get(key: Key): Item
  /**
   * Replaces the item with the same key, or with the key `instead`. Resolves once it is on disk. Rejects with
   * `not_written`, and then nothing has changed.
   */
  add(item: Item, instead?: Key): Promise<void>
  /** Adds several: all of them, or none. Rejects as `add` does. */
  addAll(items: readonly Item[]): Promise<void>
  /** A change that must be on disk before an action. Rejects with `not_written`, and then nothing has changed. */
  intend(key: Key, change: Change<Item>): Promise<void>
  /**
   * Records something that happened; a failed write does not reject. Returns the item after that; undefined if there is
   * none.
   */
  update(key: Key, change: Change<Item>): Promise<Item | undefined>
  /** Records several changed or new items at once. A failed write does not reject. */
  put(...items: readonly Item[]): Promise<void>
  /** The same, written within a second, for changes that a kill may lose. In State with the next `show`. */
  putSoon(...items: readonly Item[]): void
  /** Rejects with `not_written`, and then the item is still there. */
  remove(key: Key): Promise<void>
  /** Records that an item is gone. A failed write does not reject. */
  forget(key: Key): Promise<void>
  /** Shows an item again with the next `show`, although it is the same. */
  touch(key: Key): void
  /** Writes the changed parts of the view into State; all changes except `putSoon` do so themselves. */
  show(): void
  /** Resolves once pending changes were written or failed. Never rejects. */
  flush(): Promise<void>
}

/** The part of the account's context that a collection needs. */
export interface CollectionContext extends DocumentPlace {
  account: AccountId
  store: Pick<Store, 'get' | 'change'>
  folder: string
  /** Aborted when Berth ends or the account is removed; State is not changed after that. */
  quitting: AbortSignal
}

interface CollectionOptions<Schema extends v.GenericSchema, Key> {
  /** The file's name in the account's folder, without `.json`. */
  name: string
  /** The schema of one item. */
  schema: Schema
  key: (item: v.InferOutput<Schema>) => Key
  /** The problem that `get` throws for an unknown key. */
  missing?: Problem
  /** What becomes of an item that cannot be read as a whole; by default it is gone, but for its copy. */
  rescue?: Rescue<v.InferOutput<Schema>>
  /** The number of items kept of those that are over, the latest. Older ones are dropped when another is added. */
  prune?: { isOver: (item: v.InferOutput<Schema>) => boolean; most: number }
  /** Leaves out of an item on disk what `restored` brings back. */
  stored?: (item: v.InferOutput<Schema>) => object
  restored?: (item: v.InferOutput<Schema>) => v.InferOutput<Schema>
  /** The account's field in State that shows each item by its key: only what changed is shown again. */
  entry?: {
    field: keyof AccountView
    view: (item: v.InferOutput<Schema>, all: readonly v.InferOutput<Schema>[]) => unknown
    /** The key of the item within which an item is shown; its own for most. */
    within: (item: v.InferOutput<Schema>) => Key
  }
  /** The account's fields in State that show the items. */
  view?: (items: readonly v.InferOutput<Schema>[]) => Partial<AccountView>
}

/** How the rest of an unreadable item is used, so that its machine keeps its limits and its end. */
export interface Rescue<Item> {
  /** Values for required fields that cannot be read. */
  instead?: Instead
  /** The item for what was read, without the parts in `lacking`; undefined where that is of no use. */
  keep: (item: Item, lacking: readonly string[]) => Item | undefined
}

const notThere: Problem = { code: 'not_there', message: 'That no longer exists.' }

export async function openCollection<Schema extends v.GenericSchema<unknown, object>, Key>(
  context: CollectionContext,
  {
    name,
    schema,
    key,
    missing = notThere,
    rescue,
    prune,
    stored,
    restored,
    entry,
    view,
  }: CollectionOptions<Schema, Key>,
): Promise<Collection<v.InferOutput<Schema>, Key>> {
  type Item = v.InferOutput<Schema>
  const { account, store, quitting } = context
  /** Each item's JSON, made once per change, since a list can be long and changes item by item. */
  const texts = new WeakMap<object, string>()
  function textOf(item: Item): string {
    const known = texts.get(item)
    if (known !== undefined) return known
    const text = ` ${JSON.stringify(stored?.(item) ?? item, undefined, 1).replaceAll('\n', '\n ')}`
    texts.set(item, text)
    return text
  }
  function rescued(stored: unknown): Item | undefined {
    const found = rescue && mended(schema, stored, rescue.instead)
    return found && rescue.keep(found.content, found.lacking)
  }

  function read(value: unknown): ReadContent<Item[]> | undefined {
    if (!Array.isArray(value)) return undefined
    const lost: unknown[] = []
    const changed: unknown[] = []
    const content = value.flatMap((stored: unknown) => {
      const checked = v.safeParse(schema, stored)
      const item = checked.typed ? checked.output : rescued(stored)
      if (item === undefined) lost.push(stored)
      else if (!checked.typed) changed.push(stored)
      return item === undefined ? [] : [restored?.(item) ?? item]
    })
    return { content, lost, changed }
  }

  const document = await openFile<Item[]>(context, name, {
    empty: [],
    text: items => (items.length === 0 ? '[]' : `[\n${items.map(textOf).join(',\n')}\n]`),
    read,
  })

  /** What would be read of an item after it was written. */
  const readBack = (item: Item) => mended(schema, JSON.parse(textOf(item)))

  /** An item that is written before an action, if it can be read again. Throws `not_stored`. */
  function storable(item: Item): Item {
    if (readBack(item)?.lacking.length !== 0) throw new BerthError(notStored)
    return item
  }

  /** An item for something that happened, without what could not be read again, which is reported. */
  function recordable(item: Item): Item {
    if (isAllFinite(item)) return item
    const { content = item } = readBack(item) ?? {}
    const [file, instances] = [`${name}.json`, instancesIn(item)]
    context.onBroken({
      name,
      file,
      why: unstorable,
      setAside: undefined,
      lost: 0,
      instances,
      isAtWrite: true,
    })
    return restored?.(content) ?? content
  }

  /** Where each key is in a list, handed on while a change moves none. */
  const indexes = new WeakMap<readonly Item[], Map<Key, number>>()
  function indexOf(items: readonly Item[]): Map<Key, number> {
    const index = indexes.get(items) ?? new Map(items.map((item, at) => [key(item), at]))
    indexes.set(items, index)
    return index
  }
  function find(key: Key): Item | undefined {
    const items = document.get()
    return items[indexOf(items).get(key) ?? -1]
  }

  /** What `entry` has shown: the items, and the record in State. */
  let last: { items: readonly Item[]; record: unknown } = { items: [], record: undefined }
  let touched = new Set<Key>()

  /** The items that changed since they were shown; undefined where others came or went. */
  function changedItems(items: readonly Item[]): Item[] | undefined {
    const isSame =
      items.length === last.items.length &&
      items.every((item, at) => {
        const before = last.items[at]
        return item === before || (before !== undefined && key(item) === key(before))
      })
    if (!isSame) return undefined
    return items.filter((item, at) => item !== last.items[at] || (touched.size > 0 && touched.has(key(item))))
  }

  function show(): void {
    const shown = store.get().accounts[account]
    if (!shown || quitting.aborted) return
    if (entry) showEntries(entry, shown)
    else if (view) showAll(shown, view(document.get()))
  }

  function showEntries({ field, view: viewOf, within }: NonNullable<typeof entry>, shown: AccountView): void {
    const items = document.get()
    const entryOf = (item: Item) => [String(key(item)), viewOf(item, items)] as const
    const record: unknown = shown[field]
    const changed = record === last.record && isRecord(record) ? changedItems(items) : undefined
    if (changed) {
      const entries = [...new Set(changed.map(within))]
        .flatMap(key => find(key) ?? [])
        .map(entryOf)
        .filter(([id, after]) => !isDeepEqual(isRecord(record) ? record[id] : undefined, after))
      if (entries.length > 0)
        store.change(draft => {
          const target: unknown = draft.accounts[account]?.[field]
          if (isRecord(target)) for (const [id, after] of entries) target[id] = after
        })
    } else
      showAll(shown, {
        [field]: Object.fromEntries(items.filter(item => within(item) === key(item)).map(entryOf)),
      })
    touched = new Set()
    last = { items, record: store.get().accounts[account]?.[field] }
  }

  function showAll(shown: AccountView, fields: Readonly<Fields>): void {
    const before: Readonly<Fields> = { ...shown }
    if (Object.entries(fields).every(([field, after]) => isDeepEqual(before[field], after))) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) writeDifference(target as unknown as Fields, before, fields)
    })
  }

  function pruned(items: Item[]): Item[] {
    if (!prune) return items
    const ended = items.filter(prune.isOver)
    if (ended.length <= prune.most) return items
    const dropped = new Set(ended.slice(0, ended.length - prune.most))
    return items.filter(item => !dropped.has(item))
  }

  const putting = (given: readonly Item[]) => (items: Item[]) => {
    const index = indexOf(items)
    const next = [...items]
    const added: Item[] = []
    for (const item of given) {
      const at = index.get(key(item))
      if (at === undefined) added.push(item)
      else next[at] = item
    }
    if (added.length === 0) indexes.set(next, index)
    return added.length === 0 ? next : pruned([...next, ...added])
  }
  const changing = (key: Key, change: Change<Item>, check: (item: Item) => Item) => (items: Item[]) => {
    const item = items[indexOf(items).get(key) ?? -1]
    return item === undefined ? items : putting([check(changed(item, change))])(items)
  }
  const without = (gone: Key) => (items: Item[]) => items.filter(item => key(item) !== gone)

  async function record(change: (items: Item[]) => Item[]): Promise<void> {
    const recorded = document.record(change)
    show()
    await recorded
  }

  async function write(change: (items: Item[]) => Item[]): Promise<void> {
    await document.write(change)
    show()
  }

  return {
    all: document.get,
    find,
    get(key) {
      const item = find(key)
      if (item === undefined) throw new BerthError(missing)
      return item
    },
    async add(item, instead = key(item)) {
      storable(item)
      await write(items => pruned([...without(instead)(items), item]))
    },
    addAll: async items => write(putting(items.map(storable))),
    intend: (key, change) => write(changing(key, change, storable)),
    async update(key, change) {
      await record(changing(key, change, recordable))
      return find(key)
    },
    put: async (...given) => record(putting(given.map(recordable))),
    putSoon: (...given) => document.writeSoon(putting(given.map(recordable))),
    remove: gone => write(without(gone)),
    forget: gone => record(without(gone)),
    touch: key => void touched.add(key),
    show,
    flush: document.flush,
  }
}

const unstorable = 'had a number that can’t be stored'
const notStored: Problem = {
  code: 'not_stored',
  message: 'Berth couldn’t read this again after a restart, so it wasn’t done.',
  advice: 'Check the values that you entered.',
}

/** Whether all numbers in it are finite: JSON has no others. */
function isAllFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  for (const key in value) if (!isAllFinite(Reflect.get(value, key))) return false
  return true
}

function changed<Item extends object>(item: Item, change: Change<Item>): Item {
  return typeof change === 'function' ? change(item) : ({ ...item, ...change } as Item)
}

type Fields = Record<string, unknown>

/** Writes changed fields into the draft of `shown`, entry by entry, so that unchanged entries keep their identity. */
function writeDifference(draft: Fields, shown: Readonly<Fields>, fields: Readonly<Fields>): void {
  for (const [name, after] of Object.entries(fields)) {
    const before = shown[name]
    if (isDeepEqual(before, after)) continue
    const entries = draft[name]
    if (isRecord(before) && isRecord(after) && isRecord(entries)) {
      for (const id of Object.keys(before)) if (!(id in after)) delete entries[id]
      for (const [id, entry] of Object.entries(after))
        if (!isDeepEqual(before[id], entry)) entries[id] = entry
    } else draft[name] = after
  }
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
