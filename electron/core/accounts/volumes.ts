import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { cleanLine } from '#core/instances/instance-view.ts'
import { isDeepEqual } from '#core/storage/store.ts'
import { spendOf } from '#shared/derived.ts'
import { micros } from '#shared/spending/money.ts'
import { RareReading } from './rare-reading.ts'

/** The account's volumes and what they cost, in State: they're charged without any instance. */
export async function openVolumes(context: AccountContext) {
  const { account, store, quitting } = context
  /** The instances and the deletions of volumes at the last reading, which change with volumes. */
  let seen = ''
  const reading = await RareReading.open(context, 'volumes', async () => {
    const found = await context.client().volumes.list({ signal: quitting, retries: 1 })
    const before = store.get().accounts[account]
    if (quitting.aborted || !before) return
    const perHour = found.reduce((sum, { storage_total_cost: cost = 0 }) => sum + micros(cost), 0)
    const names = found.map(({ id, label, machine_id: machine }) => ({
      id,
      name: cleanLine(label) || `#${id}`,
      ...(machine !== undefined && { machine }),
    }))
    const volumes = found.length > 0 ? { count: found.length, perHour, names } : undefined
    if (isDeepEqual(before.volumes, volumes)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (!target) return
      target.spendPerHour = spendOf({ instances: before.instances, volumes })
      if (volumes) target.volumes = volumes
      else delete target.volumes
    })
  })
  return {
    onPoll({ account: { instances, deletions }, at }: AccountPoll): void {
      const gone = Object.keys(deletions).filter(key => key.startsWith('volume/'))
      const now = [...Object.keys(instances), ...gone].join()
      if (reading.onPoll(at, now !== seen)) seen = now
    },
    resume: () => reading.resume(),
    flush: () => reading.flush(),
  }
}
