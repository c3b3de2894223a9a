import * as v from 'valibot'
import { SavedQuery } from '#contract/market/offer.ts'
import { openDocument } from '#core/storage/json-file.ts'
import type { Store } from '#core/storage/store.ts'
import type { Machine } from '#machine/machine.ts'

/** The user's named searches, shared by all accounts. */
export interface SavedSearches {
  /** Returns its id. An existing name is overwritten. */
  save(name: string, query: SavedQuery): Promise<string>
  delete(id: string): Promise<void>
}

const Stored = v.array(v.object({ id: v.string(), name: v.string(), query: SavedQuery }))

export async function openSavedSearches(
  store: Store,
  { files, clock, random }: Machine,
  onBroken: (setAside: string) => void,
): Promise<SavedSearches> {
  const document = await openDocument({ files, machine: { clock }, onBroken }, 'searches', Stored, [])

  function show(): void {
    const searches = Object.fromEntries(document.get().map(search => [search.id, search]))
    store.change(draft => {
      draft.savedSearches = searches
    })
  }

  show()
  return {
    async save(name, query) {
      const id = document.get().find(search => search.name === name)?.id ?? random.hex(8)
      await document.write(searches => [...searches.filter(search => search.id !== id), { id, name, query }])
      show()
      return id
    },
    async delete(id) {
      await document.write(searches => searches.filter(search => search.id !== id))
      show()
    },
  }
}
