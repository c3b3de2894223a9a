import type { editorCommands as declared } from '#contract/commands/instance/editors.ts'
import { sshConfigOff } from '#core/access/ssh-config/ssh-config.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { openEditor } from '#ssh/editors/editors.ts'
import { noteUser, type Parts, targetOf } from '../parts.ts'

type EditorCommands = HandlersOf<typeof declared>

export function editorHandlers(parts: Parts): EditorCommands {
  const { access, activity, machine, sshConfig, store } = parts
  return {
    async openEditor({ editor, ...args }) {
      const target = targetOf(parts, args)
      const { account, instance } = target
      // Checked first, so that a user without the SSH config gets the error at once.
      await sshConfig.hostOf(account, instance.id)
      sshConfig.reached(account, instance.id, await access.probe(target))
      const host = await sshConfig.hostOf(account, instance.id)
      await openEditor(machine, editor ?? store.get().settings.editor, host)
      parts.notifications.entered(account, instance.id)
      noteUser(parts, account, 'Opened an editor on', instance, host)
    },
    sshConfigIncluded: () => sshConfig.isIncluded(),
    async includeSshConfig() {
      if (!store.get().settings.sshConfig) throw sshConfigOff()
      await sshConfig.turn(true)
      activity.add({ kind: 'user', text: 'Added Berth’s line to ~/.ssh/config again' })
    },
  }
}
