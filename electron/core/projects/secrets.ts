import * as v from 'valibot'
import type { Platform } from '#platform/platform.ts'
import { SecretName } from '#shared/project/spec.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import type { Store } from '../storage/store.ts'

export type ProjectSecrets = Awaited<ReturnType<typeof openProjectSecrets>>

const entry = (name: string) => `project-secret/${name}`

/** The user's secret values for projects. They are in the keychain; State has their names only. */
export async function openProjectSecrets(
  store: Store,
  { files, clock, keychain }: Platform,
  onBroken: DocumentPlace['onBroken'],
) {
  const names = await openDocument(
    { files, platform: { clock }, onBroken },
    'project-secrets',
    v.array(SecretName),
    [],
  )
  function show(): void {
    store.change(draft => {
      draft.projectSecrets = [...names.get()].sort()
    })
  }

  show()
  return {
    /** Saves a value; an empty one is deleted. */
    async save(name: string, value: string): Promise<void> {
      if (value === '') {
        await keychain.delete(entry(name))
        await names.write(known => known.filter(other => other !== name))
      } else {
        await keychain.set(entry(name), value)
        await names.write(known => [...known.filter(other => other !== name), name])
      }
      show()
    },
    /** The names that have no value. */
    missing: (wanted: readonly string[]): readonly string[] =>
      wanted.filter(name => !names.get().includes(name)),
    get: (name: string): Promise<string | undefined> => keychain.get(entry(name)),
  }
}
