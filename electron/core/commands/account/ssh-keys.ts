import type { sshKeyCommands as declared } from '#contract/commands/account/ssh-keys.ts'
import { berthKey } from '#contract/instance/ssh-key.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import type { Parts } from '../parts.ts'

type SshKeyCommands = HandlersOf<typeof declared>

/** Bytes to read; a private key has a few thousand. */
const longest = 65_536

export function sshKeyHandlers({
  access,
  accounts,
  activity,
  machine,
  settings,
  store,
}: Parts): SshKeyCommands {
  const keys = () => access.keys(store.get().shown)
  /** The content of the last chosen file, until it is imported or replaced. */
  let chosen: { file: number; text: string } | undefined
  let chosenSoFar = 0

  return {
    sshKeys: () => keys().list(),
    unlockKey: ({ key, passphrase, keep }) => keys().unlock(key, passphrase, keep),
    lockKey: ({ key }) => keys().lock(key),
    async importKey({ name, from, passphrase }) {
      const text = 'text' in from ? from.text : chosen?.file === from.file ? chosen.text : undefined
      if (text === undefined) throw chooseAgain()
      const kept = await keys().import(name, text, passphrase)
      chosen = undefined
      activity.add({ kind: 'user', text: `Imported the SSH key “${name}”` })
      return kept
    },
    async chooseKeyFile() {
      const [item] = (await machine.fileDialogs?.chooseFiles()) ?? []
      const [source] = (await item?.list())?.files ?? []
      if (item === undefined || source === undefined) return {}
      const bytes = Buffer.alloc(Math.min(source.size, longest))
      const opened = await source.open()
      try {
        const length = await opened.read(0, bytes)
        chosenSoFar += 1
        chosen = { file: chosenSoFar, text: bytes.subarray(0, length).toString('utf8') }
      } finally {
        await opened.close()
      }
      return { file: chosenSoFar, name: item.name }
    },
    async generateKey({ name }) {
      const made = await keys().generate(name)
      activity.add({ kind: 'user', text: `Made the SSH key “${name}”` })
      return made
    },
    async removeKey({ key }) {
      await keys().remove(key)
      if (settings.get().sshKey === key) {
        const after = await settings.change({ sshKey: berthKey })
        store.change(draft => {
          draft.settings = after
        })
      }
      activity.add({ kind: 'user', text: `Removed the SSH key “${key.replace(/^berth\//, '')}”` })
    },
    attachedKeys: ({ account }) => access.attachedKeys(accounts.session(account).id),
  }
}

function chooseAgain(): BerthError {
  return new BerthError({
    code: 'no_file',
    message: 'The file that you chose is gone.',
    advice: 'Choose it again.',
    field: 'file',
  })
}
