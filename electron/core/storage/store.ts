import { create, type Patches } from 'mutative'
import type { CallOptions } from '#service/http/operation.ts'
import type { AccountId } from '#shared/ids.ts'
import type { AccountView, Place, State } from '#shared/state.ts'

export type StateListener = (after: State, before: State) => void
export type PatchListener = (patches: Patches, sequence: number) => void

export type Store = ReturnType<typeof createStore>

/** The one State, which changes only through `change`; listeners get numbered patches. */
export function createStore(initial: State) {
  let state = initial
  let sequence = 0
  const stateListeners = new Set<StateListener>()
  const patchListeners = new Set<PatchListener>()

  return {
    get: (): State => state,
    /** The number of changes so far, which is the number of the last patch. */
    sequence: (): number => sequence,
    /** Runs the recipe on a draft; without a change no listener is called. Read `get()`, and only write to the draft. */
    change(recipe: (draft: State) => void): void {
      const before = state
      const [after, patches] = create(before, draft => recipe(draft as State), { enablePatches: true })
      if (patches.length === 0) return
      state = after
      sequence += 1
      for (const listener of patchListeners) listener(patches, sequence)
      for (const listener of stateListeners) listener(after, before)
    },
    onChange: (listener: StateListener): (() => void) => subscribe(stateListeners, listener),
    onPatch: (listener: PatchListener): (() => void) => subscribe(patchListeners, listener),
  }
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Sends the page to a place and shows its account; without one, the shown account stays. */
export function goTo(store: Store, account: AccountId | undefined, place: Place): void {
  const { accounts } = store.get()
  store.change(draft => {
    if (account !== undefined && account in accounts) draft.shown = account
    draft.goTo = { id: crypto.randomUUID(), place }
  })
}

/** A list whose number of unreadable records the page shows. */
type ListName = keyof NonNullable<AccountView['unread']>

/**
 * Requests a list and shows how many of its records were unreadable and left out. Of several requests for one list, the
 * largest number counts.
 */
export async function tellingUnread<T>(
  store: Store,
  account: string,
  list: ListName,
  ask: (options: CallOptions) => Promise<T>,
): Promise<T> {
  let most = 0
  const onUnread: CallOptions['onUnread'] = unread => {
    most = Math.max(most, unread.length)
  }
  const answer = await ask({ onUnread })
  if ((store.get().accounts[account]?.unread?.[list] ?? 0) !== most)
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.unread = { ...target.unread, [list]: most }
    })
  return answer
}

/** The depth to which lists and objects are compared; deeper ones count as different. */
const deepest = 100

/** Whether two pieces of plain data are equal in all fields. An undefined field counts as missing. */
export function isDeepEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (Object.is(a, b)) return true
  if (depth > deepest) return false
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  // All of `left` is in `right`: with as many fields there, that is all of it.
  let missing = 0
  for (const key in right) if (right[key] !== undefined) missing += 1
  for (const key in left) {
    if (!isDeepEqual(left[key], right[key], depth + 1)) return false
    if (left[key] !== undefined) missing -= 1
  }
  return missing === 0
}
