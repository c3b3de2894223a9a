import * as v from 'valibot'
import { type DocumentPlace, openDocument } from '#core/storage/json-file.ts'
import type { Store } from '#core/storage/store.ts'
import type { Platform } from '#platform/platform.ts'
import { SavedQuery } from '#shared/market/offer-query.ts'

export type SavedSearches = Awaited<ReturnType<typeof openSavedSearches>>

const Stored = v.array(v.object({ id: v.string(), name: v.string(), query: SavedQuery }))

/** The user's named searches, shared by all accounts. */
export async function openSavedSearches(
  store: Store,
  { files, clock, random }: Platform,
  onBroken: DocumentPlace['onBroken'],
) {
  const document = await openDocument({ files, platform: { clock }, onBroken }, 'searches', Stored, [])

  function show(): void {
    const searches = Object.fromEntries(document.get().map(search => [search.id, search]))
    store.change(draft => {
      draft.savedSearches = searches
    })
  }

  show()
  return {
    /** Returns its id. An existing name is overwritten. */
    async save(name: string, query: SavedQuery): Promise<string> {
      const id = document.get().find(search => search.name === name)?.id ?? random.hex(8)
      await document.write(searches => [...searches.filter(search => search.id !== id), { id, name, query }])
      show()
      return id
    },
    async delete(id: string): Promise<void> {
      await document.write(searches => searches.filter(search => search.id !== id))
      show()
    },
  }
}
