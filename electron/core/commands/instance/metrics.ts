import type { metricsCommands as declared } from '#contract/commands/instance/metrics.ts'
import type { InstanceMetrics } from '#contract/instance/metrics.ts'
import { BerthError } from '#contract/problem.ts'
import { firstLines, withoutEnd } from '#contract/text.ts'
import type { Caller, HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { fetchResult } from '#service/result.ts'
import type { Lease } from '#ssh/connection/sharing.ts'
import { findLog, followLog, logPlaces } from '#ssh/monitor/log.ts'
import { plainLastLine } from '#ssh/monitor/plain-output.ts'
import { type Watched, watchMetrics } from '#ssh/monitor/watch-metrics.ts'
import { type Parts, targetOf } from '../parts.ts'

/** More than the service is asked for. */
const mostLines = { lines: 5_000, length: 4_096 }

type MetricsCommands = HandlersOf<typeof declared>

export function metricsHandlers(parts: Parts): MetricsCommands {
  const { access, accounts, machine, store } = parts
  const { clock } = machine

  /** Opens a stream to the page over a lease, which is released when the stream ends. */
  async function stream(lease: Lease, { streams }: Caller, open: () => Promise<Watched>): Promise<number> {
    try {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'Only a page watches metrics.' })
      const watched = await open()
      watched.stream.once('close', lease.release)
      return streams.open(watched.stream, watched.ended)
    } catch (error) {
      lease.release()
      throw error
    }
  }

  return {
    async instanceLoad({ account, minutes }) {
      const { loadHistory, now } = accounts.session(account)
      return loadHistory.load(minutes, now())
    },
    async instanceMetrics({ minutes, ...args }) {
      const { account, instance } = targetOf(parts, args)
      const { loadHistory, now } = accounts.session(account)
      return loadHistory.metrics(instance.id, minutes, now())
    },
    async watchMetrics(args, caller) {
      const target = targetOf(parts, args)
      const { gpuMetrics } = accounts.session(target.account)
      const lease = await access.connect(target)
      const onMetrics = (metrics: InstanceMetrics) => gpuMetrics.heard(target.instance.id, metrics)
      return {
        stream: await stream(lease, caller, async () => watchMetrics(lease.connection, clock, onMetrics)),
      }
    },
    async followLog({ path: asked, ...args }, caller) {
      const target = targetOf(parts, args)
      const script = accounts.session(target.account).record(target.instance.id)?.['onstart']
      const looked = asked ? [asked] : logPlaces(typeof script === 'string' ? script : undefined)
      const lease = await access.connect(target)
      let path: string | undefined
      try {
        path = await findLog(lease.connection, looked, clock)
      } catch (error) {
        lease.release()
        throw error
      }
      if (path === undefined) {
        lease.release()
        return { looked }
      }
      const found = path
      return {
        stream: await stream(lease, caller, () => followLog(lease.connection, found, clock)),
        path,
        looked,
      }
    },
    async readContainerLog({ host, ...args }) {
      const { account, instance, client } = targetOf(parts, args)
      const baseUrl = store.get().accounts[account]?.baseUrl ?? ''
      const address = await needingPermission(
        'instance_read',
        client.containerLogs.request(instance.id, host),
      )
      const { text, cut } = await fetchResult(address, { baseUrl })
      return { lines: firstLines(withoutEnd(text, '\n'), mostLines).map(plainLastLine), cut }
    },
  }
}
