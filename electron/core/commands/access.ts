import type { accessCommands, editorCommands, tunnelCommands } from '#contract/commands/access.ts'
import { instanceName } from '#shared/format/name.ts'
import type { OpenedAddress } from '#shared/instance/tunnel.ts'
import type { WebApp } from '#shared/instance/web-apps.ts'
import { BerthError } from '#shared/problem.ts'
import { openEditor } from '#ssh/editors.ts'
import type { Shell } from '#ssh/shell/shell.ts'
import { appPurpose, namedByImage, readLogin } from '../access/app-tunnel.ts'
import type { InstanceTarget } from '../access/connect-with-key.ts'
import { directJupyter, jupyterPurpose } from '../access/jupyter-tunnel.ts'
import { offeredPorts, portPurpose, portsOfTemplate, rentedPorts } from '../access/port-tunnel.ts'
import { sshConfigOff } from '../access/ssh-config.ts'
import type { Caller, HandlersOf } from '../bridge/dispatcher.ts'
import { needingPermission } from '../bridge/problems.ts'
import type { Streams } from '../bridge/streams.ts'
import { noteUser, type OnInstance, type Services, targetOf } from './services.ts'

export function accessHandlers(parts: Services): HandlersOf<typeof accessCommands> {
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
    async sshCommand(args) {
      const target = targetOf(parts, args)
      const { account, instance } = target
      // With the SSH config its name says all that the long line does.
      if (parts.store.get().settings.sshConfig && (await parts.sshConfig.isIncluded()))
        return `ssh ${await parts.sshConfig.hostOf(account, instance.id)}`
      return access.commandLine(target)
    },
    sshKeyFile: args => access.keyFile(targetOf(parts, args)),
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
export async function sshArguments(
  parts: Services,
  { opens, ...args }: OnInstance & { opens: boolean },
): Promise<readonly string[]> {
  const { access, sshConfig, store, notifications } = parts
  const target = targetOf(parts, args)
  const { account, instance } = target
  const address = await access.probe(target)
  sshConfig.reached(account, instance.id, address)
  notifications.entered(account, instance.id)
  noteUser(parts, account, opens ? 'Opened ssh on' : 'Gave a command the SSH address of', instance)
  if (store.get().settings.sshConfig && (await sshConfig.isIncluded()))
    return ['ssh', await sshConfig.hostOf(account, instance.id)]
  return access.sshArguments(target, address)
}

export function tunnelHandlers(parts: Services): HandlersOf<typeof tunnelCommands> {
  const { access, accounts, platform, store, notifications, tunnels } = parts
  const { clock, opener } = platform

  /** Looks the target up at each call: the instance may move while its tunnel is open. */
  function doorsOf(args: OnInstance) {
    const { account, instance } = targetOf(parts, args)
    return () => targetOf(parts, { account, instance: instance.id })
  }

  /**
   * Opens an address in the user's browser. A page in a browser opens it itself; without a browser here, a page gets
   * the address to show.
   */
  async function handOver(url: string, { streams }: Caller): Promise<OpenedAddress> {
    if (streams && store.get().app.shell === 'browser') return { url, opened: false }
    try {
      await opener.openPrivately(url)
      return { url, opened: true }
    } catch (error) {
      if (streams && error instanceof BerthError && error.problem.code === 'no_browser')
        return { url, opened: false }
      throw error
    }
  }

  /** The page of that name: of the rental's environment, else of what the image itself sets. */
  async function appNamed(target: InstanceTarget, wanted: string): Promise<WebApp> {
    const isWanted = ({ name }: WebApp) => name.toLowerCase() === wanted.toLowerCase()
    const known = target.instance.apps?.find(isWanted)
    if (known) return known
    const lease = await access.connect(target)
    try {
      const apps = await namedByImage(lease.connection, clock)
      const found = apps.find(isWanted)
      if (found) return found
      throw new BerthError({
        code: 'no_such_app',
        message: `${instanceName(target.instance)} has no page named ${wanted}.`,
        advice: appsAdvice([...(target.instance.apps ?? []), ...apps]),
      })
    } finally {
      lease.release()
    }
  }

  return {
    async openJupyter({ open = true, ...args }, caller) {
      const target = doorsOf(args)
      const { account, instance } = target()
      const session = accounts.session(account)
      const token = session.record(instance.id)?.jupyter_token || undefined
      const withJupyter = session.rentals.ofInstance(instance.id)?.rental.request.jupyter
      const page = withJupyter && (withJupyter.lab ? 'lab' : 'tree')
      const url =
        (await directJupyter(target(), { token, page }, clock)) ??
        (await tunnels.open(target, jupyterPurpose({ target, token, page, access, clock })))
      if (url === undefined) return { opened: false }
      if (!open) return { url, opened: false }
      notifications.entered(account, instance.id)
      noteUser(parts, account, 'Opened Jupyter on', instance, new URL(url).host)
      return handOver(url, caller)
    },
    async openApp({ app: name, ...args }, caller) {
      const target = doorsOf(args)
      const { account, instance } = target()
      const found = await appNamed(target(), name)
      const url = await tunnels.open(target, appPurpose(found, { target, access, clock }))
      notifications.entered(account, instance.id)
      noteUser(parts, account, `Opened ${found.name} on`, instance, url && new URL(url).host)
      return url === undefined ? { opened: false } : handOver(url, caller)
    },
    appLogin: args => readLogin({ target: doorsOf(args), access, clock }),
    async openPort({ port, ...args }, caller) {
      const target = doorsOf(args)
      const { account, instance } = target()
      const url = await tunnels.open(target, portPurpose(port, clock))
      notifications.entered(account, instance.id)
      noteUser(parts, account, `Forwarded port ${port} of`, instance, url && new URL(url).host)
      return url === undefined ? { opened: false } : handOver(url, caller)
    },
    async closeTunnel({ port, ...args }) {
      const { id } = accounts.session(args.account)
      await tunnels.closeOne(id, args.instance, port)
    },
    async findPorts(args) {
      const target = targetOf(parts, args)
      const { client, record: recordOf } = accounts.session(target.account)
      const record = recordOf(target.instance.id)
      const ofTemplate = portsOfTemplate(client.templates, record?.template_hash_id)
      const lease = await access.connect(target)
      try {
        const apps = target.instance.apps ?? (await namedByImage(lease.connection, clock))
        return await offeredPorts(lease, rentedPorts(record ?? {}, await ofTemplate), apps)
      } finally {
        lease.release()
      }
    },
  }
}

function appsAdvice(apps: readonly WebApp[]): string {
  const names = [...new Set(apps.map(({ name }) => name))]
  return names.length === 0 ? 'Its image names none. Open its port instead.' : `It has ${names.join(', ')}.`
}

export function editorHandlers(parts: Services): HandlersOf<typeof editorCommands> {
  const { access, activity, platform, sshConfig, store } = parts
  return {
    async openEditor({ editor, ...args }) {
      const target = targetOf(parts, args)
      const { account, instance } = target
      // Checked first, so that a user without the SSH config gets the error at once.
      await sshConfig.hostOf(account, instance.id)
      sshConfig.reached(account, instance.id, await access.probe(target))
      const host = await sshConfig.hostOf(account, instance.id)
      await openEditor(platform, editor ?? store.get().settings.editor, host)
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
