import * as v from 'valibot'
import type { Clock, Files } from '#platform/platform.ts'
import type { AccountId } from '#shared/ids.ts'
import type { AttachedKey } from '#shared/instance/ssh-key.ts'
import { type Document, openDocument } from '../storage/json-file.ts'

const Remembered = v.object({
  /** Keys that Berth attached, the newest last. */
  attached: v.optional(v.array(v.object({ name: v.string(), fingerprint: v.string(), at: v.number() })), []),
  /** Whether its shells live in tmux, where that was chosen for it alone. */
  tmux: v.optional(v.boolean()),
  /** The names of its tmux sessions that were not closed in order. */
  shells: v.optional(v.array(v.string()), []),
})
const RememberedInstances = v.record(v.string(), Remembered)
type Remembered = v.InferOutput<typeof Remembered>

/** Remembered facts for connecting to each instance, by account and instance. Read on first use. */
export interface RememberedAccess {
  attached(account: AccountId): Promise<Record<number, readonly AttachedKey[]>>
  noteAttached(account: AccountId, instance: number, key: AttachedKey): Promise<void>
  tmux(account: AccountId, instance: number): Promise<boolean | undefined>
  chooseTmux(account: AccountId, instance: number, choice: boolean | undefined): Promise<void>
  shells(account: AccountId, instance: number): Promise<readonly string[]>
  noteShell(account: AccountId, instance: number, name: string): Promise<void>
  forgetShell(account: AccountId, instance: number, name: string): Promise<void>
  forget(account: AccountId, instance: number): Promise<void>
}

export function rememberAccess(files: Files, clock: Clock): RememberedAccess {
  let opened: Promise<Document<Record<string, Remembered>>> | undefined
  const openOnce = () => {
    // A broken file is not reported: nothing in it is needed to get in.
    opened ??= openDocument(
      { files, platform: { clock }, onBroken: () => undefined },
      'access',
      RememberedInstances,
      {},
    )
    return opened
  }
  const key = (account: AccountId, instance: number) => `${account}/${instance}`

  async function change(
    account: AccountId,
    instance: number,
    edit: (before: Remembered) => Remembered,
  ): Promise<void> {
    const document = await openOnce()
    await document.record(all => {
      const name = key(account, instance)
      return { ...all, [name]: edit(all[name] ?? { attached: [], shells: [] }) }
    })
  }

  return {
    async attached(account) {
      const all = Object.entries((await openOnce()).get())
      return Object.fromEntries(
        all
          .filter(([name]) => name.startsWith(`${account}/`))
          .map(([name, { attached }]) => [Number(name.slice(account.length + 1)), attached] as const)
          .filter(([, attached]) => attached.length > 0),
      )
    },
    noteAttached: (account, instance, attached) =>
      change(account, instance, before => ({
        ...before,
        attached: [
          ...before.attached.filter(({ fingerprint }) => fingerprint !== attached.fingerprint),
          attached,
        ],
      })),
    tmux: async (account, instance) => (await openOnce()).get()[key(account, instance)]?.tmux,
    chooseTmux: (account, instance, choice) =>
      change(account, instance, ({ tmux: _before, ...rest }) => ({ ...rest, tmux: choice })),
    shells: async (account, instance) => (await openOnce()).get()[key(account, instance)]?.shells ?? [],
    noteShell: (account, instance, shell) =>
      change(account, instance, before => ({ ...before, shells: [...new Set([...before.shells, shell])] })),
    async forgetShell(account, instance, shell) {
      // Entries of a gone instance are deleted with it.
      if (!(key(account, instance) in (await openOnce()).get())) return
      await change(account, instance, before => ({
        ...before,
        shells: before.shells.filter(name => name !== shell),
      }))
    },
    async forget(account, instance) {
      const document = await openOnce()
      const name = key(account, instance)
      if (!(name in document.get())) return
      await document.record(({ [name]: _gone, ...rest }) => rest)
    },
  }
}
