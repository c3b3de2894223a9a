import { BerthError } from '#contract/problem.ts'
import type { PriceIncreaseView } from '#contract/spending/price-increase.ts'
import type { AccountContext, AccountPoll, Automation } from '#core/account-context.ts'
import { needingPermission } from '#core/app/permission.ts'
import { isDeepEqual } from '#core/state/same.ts'
import { openDocument } from '#core/storage/json-file.ts'
import { ServiceError } from '#service/service-error.ts'
import { absentUntil } from '../absent-list.ts'
import { increaseAlert, increaseAlertId } from './increase-alert.ts'
import { increaseView, shownIncreases } from './increase-view.ts'
import { StoredIncreases, untold, withoutOver } from './stored-increases.ts'

/** Higher prices that hosts ask for on one account, in State, and the user's answers. */
export interface PriceIncreases extends Automation {
  /** Accepts or rejects one. Throws `no_price_increase` where it is no longer pending. */
  answer(increase: PriceIncreaseView, accepted: boolean): Promise<void>
}

/** Seconds between requests. */
const askedEvery = 600

export async function openPriceIncreases(context: AccountContext): Promise<PriceIncreases> {
  const { account, store, machine, files, folder, onBroken, notifications, ending } = context
  const document = await openDocument({
    files,
    clock: machine.clock,
    onBroken,
    name: `${folder}/price-increases.json`,
    schema: StoredIncreases,
    empty: { told: {}, accepted: [] },
  })
  /** The pending increases as last listed, by instance. */
  let pending = new Map<number, PriceIncreaseView>()
  let askedAt: number | undefined
  let asking: Promise<void> | undefined

  const instances = () => store.get().accounts[account]?.instances ?? {}

  async function ask(): Promise<void> {
    try {
      const { increases, whole } = await context.client().priceIncreases.list({ signal: ending, retries: 1 })
      if (ending.aborted) return
      const listed = increases.map(increase => [increase.contract_id, increaseView(increase)] as const)
      pending = new Map([...(whole ? [] : pending), ...listed])
      await alertNews()
    } catch (error) {
      const until = absentUntil(error, context.now())
      if (!ending.aborted && until !== undefined)
        document.writeSoon(kept => ({ ...kept, absentUntil: until }))
    }
  }

  /** Alerts are stored as sent before they are sent: after a kill, one is missed rather than repeated. */
  async function alertNews(): Promise<void> {
    const news = untold(document.get(), pending.values(), instances())
    const ids = Object.fromEntries(news.map(({ increase: { id, instance } }) => [instance, id]))
    if (news.length > 0) await document.record(kept => ({ ...kept, told: { ...kept.told, ...ids } }))
    show()
    if (ending.aborted || news.length === 0) return
    const at = context.now()
    notifications.tell(
      account,
      news.map(({ increase, instance }) => increaseAlert(increase, instance, account, at)),
    )
  }

  function show(): void {
    const before = store.get().accounts[account]
    if (ending.aborted || !before) return
    const views = shownIncreases(document.get().accepted, pending.values(), before.instances)
    if (isDeepEqual(before.priceIncreases, views)) return
    for (const { id, instance } of Object.values(before.priceIncreases))
      if (views[instance]?.id !== id || views[instance]?.accepted)
        notifications.withdraw(increaseAlertId(account, instance))
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.priceIncreases = views
    })
  }

  function forget(at: number): void {
    const shown = instances()
    pending = new Map([...pending].filter(([instance]) => shown[instance]))
    const before = document.get()
    const after = withoutOver(before, shown, at)
    if (!isDeepEqual(after, before)) document.writeSoon(kept => withoutOver(kept, shown, at))
  }

  function isDue({ account: { instances }, at }: AccountPoll): boolean {
    if (asking !== undefined || ending.aborted || Object.keys(instances).length === 0) return false
    return (
      (document.get().absentUntil ?? 0) <= at &&
      (askedAt === undefined || Math.abs(at - askedAt) >= askedEvery)
    )
  }

  return {
    onPoll(poll) {
      if (poll.unconfirmed.size === 0) forget(poll.at)
      show()
      if (!isDue(poll)) return
      askedAt = poll.at
      asking = ask().finally(() => {
        asking = undefined
      })
    },
    async answer(increase, accepted) {
      const { client } = context
      const { id, instance, from } = increase
      const operation = accepted ? 'accept' : 'reject'
      try {
        await needingPermission('instance_write', client().priceIncreases[operation](id))
      } catch (error) {
        if (!isOver(error)) throw error
        askedAt = undefined
        await context.poll()
        throw new BerthError({
          code: 'no_price_increase',
          message: 'This price increase no longer needs an answer: it was answered elsewhere, or withdrawn.',
          advice: 'Check the instance’s price.',
        })
      }
      if (pending.get(instance)?.id === id) pending.delete(instance)
      if (accepted && from !== undefined) {
        const { accepted: _, ...kept } = { ...increase, from }
        await document.record(before => ({
          ...before,
          accepted: [...before.accepted.filter(other => other.instance !== instance), kept],
        }))
      }
      show()
    },
    resume: () => {
      askedAt = undefined
    },
    async flush() {
      await asking
      await document.flush()
    },
  }
}

/** Whether an increase is no longer pending: deployments answer 404 or, formerly, 409. */
function isOver(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'not_found' || error.status === 409)
}
