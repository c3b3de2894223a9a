import type { accessCommands as declared } from '#contract/commands/instance/access.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import type { Streams } from '#core/app/page/streams.ts'
import { needingPermission } from '#core/app/permission.ts'
import type { Shell } from '#ssh/shell/shell.ts'
import { noteUser, type OnInstance, type Parts, targetOf } from '../parts.ts'

type AccessCommands = HandlersOf<typeof declared>

export function accessHandlers(parts: Parts): AccessCommands {
  const { access } = parts
  /** The open shells of each page, by stream. */
  const shells = new WeakMap<Streams, Map<number, Shell>>()

  return {
    async openTerminal({ columns, rows, session, fresh, again, ...args }, { streams }) {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'A terminal is opened on a page.' })
      const target = targetOf(parts, args)
      const opened = await access.openShell(target, { columns, rows, session, fresh })
      const { shell } = opened
      const stream = streams.open(shell.stream, shell.ended)
      const open = shells.get(streams) ?? new Map<number, Shell>()
      shells.set(streams, open.set(stream, shell))
      void shell.ended.catch(() => undefined).finally(() => open.delete(stream))
      if (!again) {
        parts.notifications.entered(target.account, target.instance.id)
        noteUser(
          parts,
          target.account,
          'Opened a terminal on',
          target.instance,
          [shell.address, shell.direct ? 'direct' : 'proxy', opened.session && `tmux ${opened.session}`]
            .filter(part => part !== undefined)
            .join(', '),
        )
      }
      const { shell: _shell, ...about } = opened
      return { ...about, stream, address: shell.address, direct: shell.direct, hostKey: shell.hostKey }
    },
    async resizeTerminal({ stream, columns, rows }, { streams }) {
      if (streams) shells.get(streams)?.get(stream)?.resize(columns, rows)
    },
    shellHistory: ({ session, ...args }) => access.shellHistory(targetOf(parts, args), session),
    tmuxShells: args => access.tmuxShells(targetOf(parts, args)),
    async keepShells({ keep, ...args }) {
      const { account, instance } = targetOf(parts, args)
      await access.chooseTmux(account, instance.id, keep)
    },
    async openSystemTerminal(args) {
      const target = targetOf(parts, args)
      await access.openSystemTerminal(target)
      parts.notifications.entered(target.account, target.instance.id)
    },
    sshCommand: args => access.commandLine(targetOf(parts, args)),
    async attachKey({ key, ...args }) {
      const target = targetOf(parts, args)
      await needingPermission(
        'instance_write',
        access.attachKey(target.account, target.instance.id, target.client, key),
      )
      noteUser(parts, target.account, 'Attached the SSH key to', target.instance, key)
    },
    async acceptHostKey({ fingerprint, ...args }) {
      const { account, instance } = targetOf(parts, args)
      await access.acceptHostKey(account, instance.id, fingerprint)
      noteUser(parts, account, 'Accepted another host key for', instance, fingerprint)
    },
  }
}

/**
 * The system's ssh and its arguments for an instance, after its SSH has answered with the key attached: by its host in
 * the SSH config, where that is in use. Throws as connecting does.
 */
export async function sshArguments(parts: Parts, args: OnInstance): Promise<readonly string[]> {
  const { access, sshConfig, store, notifications } = parts
  const target = targetOf(parts, args)
  const { account, instance } = target
  const address = await access.probe(target)
  sshConfig.reached(account, instance.id, address)
  notifications.entered(account, instance.id)
  noteUser(parts, account, 'Opened ssh on', instance)
  if (store.get().settings.sshConfig && (await sshConfig.isIncluded()))
    return ['ssh', await sshConfig.hostOf(account, instance.id)]
  return access.sshArguments(target, address)
}
