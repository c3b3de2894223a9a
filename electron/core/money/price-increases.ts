import * as v from 'valibot'
import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { type Alert, alertOf } from '#core/alerts/events.ts'
import { openDocument } from '#core/storage/json-file.ts'
import type { PriceIncrease } from '#service/price-increases.ts'
import { ServiceError } from '#service/service-error.ts'
import { rate } from '#shared/format/money.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView, PriceRise } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import {
  increasedRate,
  increaseFrom,
  type PriceChange,
  type PriceIncreaseView,
  priceChanges,
} from '#shared/spending/price-increase.ts'
import { needingPermission } from '../bridge/problems.ts'
import { isDeepEqual } from '../storage/store.ts'
import { absentUntil } from './charges.ts'

/** Seconds between requests. */
const askedEvery = 600

/** Higher prices that hosts ask for on one account, in State, and the user's answers. */
export async function openPriceIncreases(context: AccountContext) {
  const { account, store, notifications, quitting } = context
  const document = await openDocument(context, 'price-increases', StoredIncreases, {
    alertedIds: {},
    accepted: [],
  })
  /** The pending increases as last listed, by instance. */
  let pending = new Map<number, PriceIncreaseView>()
  let askedAt: number | undefined
  let asking: Promise<void> | undefined

  const instances = () => store.get().accounts[account]?.instances ?? {}

  async function ask(): Promise<void> {
    try {
      const { increases, whole } = await context
        .client()
        .priceIncreases.list({ signal: quitting, retries: 1 })
      if (quitting.aborted) return
      const listed = increases.map(increase => [increase.contract_id, increaseView(increase)] as const)
      pending = new Map([...(whole ? [] : pending), ...listed])
      await alertNews()
    } catch (error) {
      const until = absentUntil(error, context.now())
      if (!quitting.aborted && until !== undefined)
        document.writeSoon(kept => ({ ...kept, absentUntil: until }))
    }
  }

  /** Alerts are stored as sent before they are sent: after a kill, one is missed rather than repeated. */
  async function alertNews(): Promise<void> {
    const news = untold(document.get(), pending.values(), instances())
    const ids = Object.fromEntries(news.map(({ increase: { id, instance } }) => [instance, id]))
    if (news.length > 0)
      await document.record(kept => ({ ...kept, alertedIds: { ...kept.alertedIds, ...ids } }))
    show()
    if (quitting.aborted || news.length === 0) return
    const at = context.now()
    notifications.tell(
      account,
      news.map(({ increase, instance }) => increaseAlert(increase, instance, account, at)),
    )
  }

  function show(): void {
    const before = store.get().accounts[account]
    if (quitting.aborted || !before) return
    const views = shownIncreases(document.get().accepted, pending.values(), before.instances)
    showRises(views, before.instances)
    if (isDeepEqual(before.priceIncreases, views)) return
    for (const { id, instance } of Object.values(before.priceIncreases))
      if (views[instance]?.id !== id || views[instance]?.accepted)
        notifications.withdraw(increaseAlertId(account, instance))
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.priceIncreases = views
    })
  }

  /** Running costs go by an accepted price from its moment on, also while nobody polls. */
  function showRises(views: Readonly<Record<string, PriceIncreaseView>>, shown: Instances): void {
    const rises = Object.values(shown).map(
      instance => [instance, riseOf(views[instance.id], instance)] as const,
    )
    const changed = rises.filter(([{ spent }, rise]) => !isDeepEqual(spent.rise, rise))
    if (changed.length === 0) return
    store.change(draft => {
      for (const [{ id }, rise] of changed) {
        const target = draft.accounts[account]?.instances[id]
        if (target) target.spent = { ...target.spent, rise }
      }
    })
  }

  function forget(at: number): void {
    const shown = instances()
    pending = new Map([...pending].filter(([instance]) => shown[instance]))
    const before = document.get()
    const after = withoutOver(before, shown, at)
    if (!isDeepEqual(after, before)) document.writeSoon(kept => withoutOver(kept, shown, at))
  }

  /** Reads a request once more: it may have other prices than those that were shown. Throws `price_changed`. */
  async function refuseOthers(id: number, changes: readonly string[]): Promise<void> {
    const { increases } = await context.client().priceIncreases.list({ signal: quitting })
    const found = increases.find(one => one.pending_price_increase_id === id)
    const view = found && increaseView(found)
    if (!view || isDeepEqual(priceChanges(view), changes)) return
    pending.set(view.instance, view)
    show()
    throw new BerthError({
      code: 'price_changed',
      message: 'Its host asks for other prices by now.',
      advice: 'Open the question again to see them.',
    })
  }

  function isDue({ account: { instances }, at }: AccountPoll): boolean {
    if (asking !== undefined || quitting.aborted || Object.keys(instances).length === 0) return false
    return (
      (document.get().absentUntil ?? 0) <= at &&
      (askedAt === undefined || Math.abs(at - askedAt) >= askedEvery)
    )
  }

  return {
    onPoll(poll: AccountPoll): void {
      if (poll.unconfirmed.size === 0) forget(poll.at)
      show()
      if (!isDue(poll)) return
      askedAt = poll.at
      asking = ask().finally(() => {
        asking = undefined
      })
    },
    /**
     * Accepts one at the prices that were agreed to, or rejects it. Throws `price_changed`, and `no_price_increase` where it is
     * no longer pending.
     */
    async answer(increase: PriceIncreaseView, changes: readonly string[] | undefined): Promise<void> {
      const { client } = context
      const { id, instance, from } = increase
      const accepted = changes !== undefined
      if (accepted) await refuseOthers(id, changes)
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

function increaseAlertId(account: AccountId, instance: number): string {
  return `${account}/${instance}/priceIncrease`
}

/** The alert for a host's request for higher prices. `at`: epoch seconds of the account's time. */
function increaseAlert(
  increase: PriceIncreaseView,
  instance: InstanceView,
  account: AccountId,
  at: number,
): Alert {
  const prices = increasedRate(increase, instance)
  return alertOf('priceIncrease', {
    id: increaseAlertId(account, instance.id),
    instance: instance.id,
    title: prices
      ? `${shortInstanceName(instance)}: price goes up to ${rate(prices.after)}`
      : `${shortInstanceName(instance)}: prices go up`,
    body: `Its host raises prices ${increaseFrom(increase, at)}: ${priceChanges(increase).join(
      ', ',
    )}. Accept to keep the instance, or refuse to let it end with its contract.`,
  })
}

const secondsInHour = 3600
const secondsInMonth = 720 * 3600

/** A host's price increase, as shown in State. */
function increaseView(increase: PriceIncrease): PriceIncreaseView {
  return {
    id: increase.pending_price_increase_id,
    instance: increase.contract_id,
    gpu: change(increase.old_gpu_costpersec, increase.new_gpu_costpersec, secondsInHour),
    disk: change(increase.old_disk_ram_costpersec, increase.new_disk_ram_costpersec, secondsInMonth),
    upload: change(increase.old_bwu_cost, increase.new_bwu_cost),
    download: change(increase.old_bwd_cost, increase.new_bwd_cost),
    fee: change(increase.old_platform_fee, increase.new_platform_fee),
    from: increase.contract_end_date,
    until: increase.ask_end_date,
  }
}

/** The increases of existing instances, by instance: accepted ones, which pending ones replace. */
function shownIncreases(
  accepted: readonly PriceIncreaseView[],
  pending: Iterable<PriceIncreaseView>,
  instances: Readonly<Record<string, unknown>>,
): Record<string, PriceIncreaseView> {
  const consented = accepted.map(one => ({ ...one, accepted: true as const }))
  const there = [...consented, ...pending].filter(({ instance }) => instances[instance])
  return Object.fromEntries(there.map(view => [view.instance, view]))
}

/** The price that a running instance will have, as its user has accepted. */
function riseOf(increase: PriceIncreaseView | undefined, instance: InstanceView): PriceRise | undefined {
  const { state, costPerHour, spent } = instance
  if (!increase?.accepted || increase.from === undefined || increase.from <= spent.at || state !== 'running')
    return undefined
  const rate = increasedRate(increase, instance)
  return rate && { at: increase.from, perHour: Math.max(0, costPerHour + rate.after - rate.before) }
}

/** Undefined where the price stays. */
function change(before: number | undefined, after: number | undefined, factor = 1): PriceChange | undefined {
  if (after === undefined || !Number.isFinite(after)) return undefined
  return { before: before === undefined ? undefined : before * factor, after: after * factor }
}

const StoredChange = v.optional(v.object({ before: v.optional(v.number()), after: v.number() }))
const Accepted = v.object({
  id: v.number(),
  instance: v.number(),
  gpu: StoredChange,
  disk: StoredChange,
  upload: StoredChange,
  download: StoredChange,
  fee: StoredChange,
  from: v.number(),
  until: v.optional(v.number()),
})

const StoredIncreases = v.object({
  /** Until when the list is not requested, since the service has none; epoch seconds. */
  absentUntil: v.optional(v.number()),
  /** The id of the increase that was alerted, by instance. */
  alertedIds: v.record(v.string(), v.number()),
  /** Accepted increases until they take effect, since the service no longer lists them. */
  accepted: v.array(Accepted),
})
type StoredIncreases = v.InferOutput<typeof StoredIncreases>

type Instances = Readonly<Record<string, InstanceView>>

/** The increases that were not alerted yet, with their instances. */
function untold(
  { alertedIds }: StoredIncreases,
  pending: Iterable<PriceIncreaseView>,
  instances: Instances,
): { increase: PriceIncreaseView; instance: InstanceView }[] {
  return [...pending].flatMap(increase => {
    const instance = instances[increase.instance]
    return instance && alertedIds[increase.instance] !== increase.id ? [{ increase, instance }] : []
  })
}

/** Drops increases of instances that are gone, and accepted ones that took effect. `at`: epoch seconds. */
function withoutOver(
  { alertedIds, accepted, ...kept }: StoredIncreases,
  instances: Instances,
  at: number,
): StoredIncreases {
  return {
    ...kept,
    alertedIds: Object.fromEntries(Object.entries(alertedIds).filter(([instance]) => instances[instance])),
    accepted: accepted.filter(({ instance, from }) => instances[instance] && from > at),
  }
}
