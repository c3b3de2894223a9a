import * as v from 'valibot'
import { BerthError } from '../../../contract/problem.ts'
import type { PriceIncreaseView } from '../../../contract/spending/price-increase.ts'
import { ServiceError } from '../../../service/service-error.ts'
import type { AccountContext, AccountPoll, Automation } from '../../account-context.ts'
import { needingPermission } from '../../app/permission.ts'
import { isDeepEqual } from '../../state/same.ts'
import { openDocument } from '../../storage/json-file.ts'
import { absentUntil } from '../absent-list.ts'
import { increaseAlert, increaseAlertId } from './increase-alert.ts'
import { increaseView } from './increase-view.ts'

/** Higher prices that hosts ask for on one account, in State, and the user's answers. */
export interface PriceIncreases extends Automation {
  /** Consents to one, or declines it. Throws `no_price_increase` where it waits for no answer any more. */
  answer(increase: PriceIncreaseView, accepted: boolean): Promise<void>
}

const change = v.optional(v.object({ before: v.optional(v.number()), after: v.number() }))
const Accepted = v.object({
  id: v.number(),
  instance: v.number(),
  gpu: change,
  disk: change,
  upload: change,
  download: change,
  fee: change,
  from: v.number(),
  until: v.optional(v.number()),
})

const Stored = v.object({
  /** Until when the service is taken to have no such list, epoch seconds. */
  absentUntil: v.optional(v.number()),
  /** The increase that was told of each instance. */
  told: v.record(v.string(), v.number()),
  /** Those that were consented to, until they are in force: the service does not list them any more. */
  accepted: v.array(Accepted),
})

/** Seconds between two times of asking. */
const askedEvery = 600

export async function openPriceIncreases(context: AccountContext): Promise<PriceIncreases> {
  const { account, store, machine, files, folder, onBroken, notifications, ending } = context
  const document = await openDocument({
    files,
    clock: machine.clock,
    onBroken,
    name: `${folder}/price-increases.json`,
    schema: Stored,
    empty: { told: {}, accepted: [] },
  })
  /** Those that wait for an answer, as they were told last, by instance. */
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

  /** What is said is on disk before it is said: after a kill it is rather not said than said twice. */
  async function alertNews(): Promise<void> {
    const shown = instances()
    const { told } = document.get()
    const news = [...pending.values()].filter(({ id, instance }) => shown[instance] && told[instance] !== id)
    if (news.length > 0)
      await document.record(kept => ({
        ...kept,
        told: { ...kept.told, ...Object.fromEntries(news.map(({ id, instance }) => [instance, id])) },
      }))
    show()
    if (ending.aborted) return
    const alerts = news.flatMap(increase => {
      const instance = shown[increase.instance]
      return instance ? [increaseAlert(increase, instance, account, context.now())] : []
    })
    if (alerts.length > 0) notifications.tell(account, alerts)
  }

  function show(): void {
    const before = store.get().accounts[account]
    if (ending.aborted || !before) return
    const accepted = document.get().accepted.map(one => ({ ...one, accepted: true as const }))
    const views = Object.fromEntries(
      [...accepted, ...pending.values()]
        .filter(({ instance }) => before.instances[instance])
        .map(view => [view.instance, view]),
    )
    if (isDeepEqual(before.priceIncreases, views)) return
    for (const { id, instance } of Object.values(before.priceIncreases))
      if (views[instance]?.id !== id || views[instance]?.accepted)
        notifications.withdraw(increaseAlertId(account, instance))
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.priceIncreases = views
    })
  }

  /** Nothing is kept of instances that are gone, nor of new prices that are in force. */
  function forget(at: number): void {
    const shown = instances()
    pending = new Map([...pending].filter(([instance]) => shown[instance]))
    const { told, accepted } = document.get()
    const after = {
      told: Object.fromEntries(Object.entries(told).filter(([instance]) => shown[instance])),
      accepted: accepted.filter(({ instance, from }) => shown[instance] && from > at),
    }
    if (!isDeepEqual(after, { told, accepted })) document.writeSoon(kept => ({ ...kept, ...after }))
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
          message:
            'This price increase waits for no answer any more: it was answered elsewhere, or taken back.',
          advice: 'Look at what the instance costs now.',
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

/** Deployments say 404 or, earlier, 409 of one that waits for no answer. */
function isOver(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'not_found' || error.status === 409)
}
