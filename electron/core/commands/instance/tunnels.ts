import type { tunnelCommands as declared } from '#contract/commands/instance/tunnels.ts'
import type { OpenedAddress } from '#contract/instance/tunnel.ts'
import { BerthError } from '#contract/problem.ts'
import { directJupyter, jupyterPurpose } from '#core/access/tunnels/jupyter.ts'
import { offeredPorts, portPurpose, rentedPorts } from '#core/access/tunnels/port.ts'
import { portsOfTemplate } from '#core/access/tunnels/template-ports.ts'
import type { Caller, HandlersOf } from '#core/app/page/dispatcher.ts'
import { noteUser, type OnInstance, type Parts, targetOf } from '../parts.ts'

type TunnelCommands = HandlersOf<typeof declared>

export function tunnelHandlers(parts: Parts): TunnelCommands {
  const { access, accounts, machine, store, notifications, tunnels } = parts
  const { clock, opener } = machine

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

  return {
    async openJupyter({ open = true, ...args }, caller) {
      const target = doorsOf(args)
      const { account, instance } = target()
      const session = accounts.session(account)
      const token = session.record(instance.id)?.jupyter_token || undefined
      const asked = session.rentals.ofInstance(instance.id)?.rental.request.jupyter
      const page = asked && (asked.lab ? 'lab' : 'tree')
      const url =
        (await directJupyter(target(), { token, page }, clock)) ??
        (await tunnels.open(target, jupyterPurpose({ target, token, page, access, clock })))
      if (url === undefined) return { opened: false }
      if (!open) return { url, opened: false }
      notifications.entered(account, instance.id)
      noteUser(parts, account, 'Opened Jupyter on', instance, new URL(url).host)
      return handOver(url, caller)
    },
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
        return await offeredPorts(lease, rentedPorts(record ?? {}, await ofTemplate))
      } finally {
        lease.release()
      }
    },
  }
}
