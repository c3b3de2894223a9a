import type {
  instanceCommands,
  limitCommands,
  metricsCommands,
  recoveryCommands,
  watchdogCommands,
} from '#contract/commands/instances.ts'
import { fetchResult } from '#service/result.ts'
import { everything } from '#shared/automation/limits-that-block.ts'
import { money, rate } from '#shared/format/money.ts'
import { instanceName } from '#shared/format/name.ts'
import { counted, percent } from '#shared/format/size.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { problemWords } from '#shared/instance/machine-report.ts'
import type { InstanceMetrics } from '#shared/instance/metrics.ts'
import { type RentalView, rentedName } from '#shared/market/rental-view.ts'
import { BerthError } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { Prepaid } from '#shared/spending/prepaying.ts'
import type { Spender } from '#shared/spending/spender.ts'
import { firstLines, withoutEnd } from '#shared/text.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { findLog, followLog, logPlaces } from '#ssh/monitor/log.ts'
import { plainLastLine } from '#ssh/monitor/plain-output.ts'
import { type WatchedMetrics, watchMetrics } from '#ssh/monitor/watch-metrics.ts'
import type { Caller, HandlersOf } from '../bridge/dispatcher.ts'
import { lackedBy, needingPermission, problemOf } from '../bridge/problems.ts'
import { maskRecord } from '../instances/instance-view.ts'
import { markLabel, rentalOf } from '../instances/mark.ts'
import type { UndoableActions } from '../undoable-actions.ts'
import { noteUser, type OnInstance, type Services, targetOf } from './services.ts'

export function instanceHandlers(parts: Services): HandlersOf<typeof instanceCommands> {
  /** Changes an instance, notes it in Activity, and polls; also where it may have been changed all the same. */
  async function change<Answer>(
    args: OnInstance,
    verb: string | ((answer: Answer | undefined) => string),
    act: (target: ReturnType<typeof targetOf>) => Promise<Answer>,
    by?: Spender,
  ) {
    const target = targetOf(parts, args)
    const done = (answer?: Answer) => (typeof verb === 'string' ? verb : verb(answer))
    const answer = await needingPermission('instance_write', act(target)).catch(error => {
      const problem = problemOf(error)
      if (problem.unsure) {
        const detail = [problem.message, problem.advice].filter(Boolean).join(' ')
        noteUser(parts, target.account, `May have been done: ${done()}`, target.instance, detail, by)
        void parts.accounts.session(target.account).poll()
      }
      throw error
    })
    noteUser(parts, target.account, done(answer), target.instance, undefined, by)
    await parts.accounts.session(target.account).poll()
  }

  /** Sends the user's action to an instance, through its account's actions. */
  async function act(
    args: OnInstance,
    tell: (actions: UndoableActions, instance: InstanceView) => Promise<void>,
  ): Promise<void> {
    const { account, instance } = targetOf(parts, args)
    await tell(parts.accounts.session(account).actions, instance)
  }

  /** Whoever starts an instance pays for it from then on. */
  const ledgerOf = ({ account }: OnInstance) => parts.accounts.session(account).automations.ledger

  /** Answers the increase shown to the user; a newer one has another id and stays open. */
  function answerIncrease({ increase: id, ...args }: OnInstance & { increase: number }, changes?: string[]) {
    const verb = changes ? 'Accepted the new prices of' : 'Refused the new prices of'
    return change(args, verb, ({ account, instance }) => {
      const shown = parts.store.get().accounts[account]?.priceIncreases[instance.id]
      const increase = shown?.id === id ? shown : { id, instance: instance.id }
      return parts.accounts.session(account).automations.priceIncreases.answer(increase, changes)
    })
  }

  return {
    actSoon: ({ action, ...args }, { by }) =>
      act(args, async (actions, instance) => {
        if (action === 'start') await ledgerOf(args).take(instance.id, by)
        return actions.sendSoon(instance, action)
      }),
    undoAction: ({ account, instance }) => parts.accounts.session(account).actions.undo(instance),
    stopInstance: args => act(args, (actions, instance) => actions.send(instance, 'stop')),
    startInstance: (args, { by }) =>
      act(args, async (actions, instance) => {
        await ledgerOf(args).take(instance.id, by)
        return actions.send(instance, 'start')
      }),
    async destroyInstance(args) {
      const { account, instance } = targetOf(parts, args)
      await parts.accounts.session(account).endings.request(instance.id, 'destroy')
    },
    renameInstance: ({ label, ...args }) =>
      change(args, `Renamed to “${label}”:`, ({ account, client, instance }) => {
        const record = parts.accounts.session(account).record(instance.id)
        const rental = rentalOf(record?.label, [])
        return client.instances.rename(instance.id, rental ? markLabel(label, rental) : label)
      }),
    reportMachine: ({ report, ...args }, { by }) =>
      change(
        args,
        `Reported the machine (${problemWords(report.problem)}) of`,
        ({ client, instance }) => {
          if (instance.machineId !== undefined)
            return client.instances.report(instance.id, instance.machineId, report)
          throw new BerthError({
            code: 'no_machine',
            message: 'The service doesn’t say which machine this is.',
          })
        },
        by,
      ),
    async prepayInstance({ amount, ...args }, { by }) {
      const takeBack = await ledgerOf(args).pay(by, micros(amount))
      let prepaid: Prepaid | undefined
      await change(
        args,
        (answer: Prepaid | undefined) =>
          `Prepaid ${money(micros(amount))}${answer ? ` at a discount of ${percent(answer.discount * 100)}` : ''} for`,
        async ({ client, instance }) => {
          prepaid = await client.instances.prepay(instance.id, amount)
          return prepaid
        },
        by,
      ).catch(async error => {
        if (!prepaid && !problemOf(error).unsure) await takeBack()
        throw error
      })
      return prepaid ?? { months: 0, discount: 0 }
    },
    async prepaidDeposit(args) {
      const { client, instance } = targetOf(parts, args)
      const { refundable, saved } = await needingPermission(
        'instance_read',
        client.instances.prepaid(instance.id),
      )
      return { refundable: micros(refundable), saved: micros(saved) }
    },
    async noteInstance({ note, tags, ...args }) {
      const { account, instance } = targetOf(parts, args)
      await parts.accounts.session(account).automations.notes.write(instance.id, { note, tags })
    },
    changeBid: ({ price, ...args }) =>
      change(args, `Bid ${rate(micros(price))} for`, async ({ account, client, instance }) => {
        await client.instances.changeBid(instance.id, price)
        const { rentals, automations } = parts.accounts.session(account)
        await rentals.noteBid(instance.id, price)
        await automations.limits.agreeAnew(instance.id)
      }),
    async acceptPriceIncrease({ changes, ...args }) {
      await answerIncrease(args, changes)
      await parts.accounts.session(targetOf(parts, args).account).automations.limits.agreeAnew(args.instance)
    },
    refusePriceIncrease: args => answerIncrease(args),
    async instanceRecord(args) {
      const { account, instance } = targetOf(parts, args)
      return maskRecord(parts.accounts.session(account).record(instance.id) ?? {})
    },
  }
}

export function limitHandlers(parts: Services): HandlersOf<typeof limitCommands> {
  const { accounts, activity, store } = parts
  const limitsOf = (account: string | undefined) => accounts.session(account).automations.limits

  /** Throws where the instance to limit does not exist. */
  function check({ account, instance }: { account?: string; instance?: number }): void {
    if (instance !== undefined) targetOf(parts, { account, instance })
  }

  return {
    async setLimit({ account, limit, ...request }) {
      check({ account, instance: request.instance })
      return limitsOf(account).set(request, limit)
    },
    async previewLimit({ account, limit, ...request }) {
      check({ account, instance: request.instance })
      return limitsOf(account).preview(request, limit)
    },
    switchLimit: ({ account, limit, on }) => limitsOf(account).switch(limit, on),
    watchLimit: ({ account, limit, asleep }) => limitsOf(account).watch(limit, asleep),
    removeLimit: ({ account, limit }) => limitsOf(account).remove(limit),
    snoozeLimit: ({ account, limit, minutes }) => limitsOf(account).snooze(limit, minutes),
    async stopEverything({ account }) {
      const session = accounts.session(account)
      const view = store.get().accounts[session.id]
      if (!view) return { stopped: 0, cancelled: 0, failed: [] }
      const { instances, rentals, watches } = everything(view)
      const [stops, cancels] = await Promise.all([
        Promise.allSettled(instances.map(({ id }) => session.endings.request(id, 'stop'))),
        Promise.allSettled(rentals.map(({ id }) => session.rentals.cancel(id))),
        Promise.all(watches.map(({ id }) => session.automations.watches.pause(id, true))),
      ])
      const went = <Outcome extends PromiseSettledResult<unknown>>({ status }: Outcome) =>
        status === 'fulfilled'
      const failed = [
        ...instances.filter((_, index) => stops[index]?.status === 'rejected').map(instanceName),
        ...rentals.filter((_, index) => cancels[index]?.status === 'rejected').map(nameOf),
      ]
      const refused = [...stops, ...cancels].filter(outcome => outcome.status === 'rejected')
      const lacking = refused
        .map(({ reason }) => lackedBy(reason, 'instance_write') ?? problemOf(reason))
        .find(({ code }) => isLacking(code))
      const why = lacking ? ` ${lacking.message}` : ''
      const stopped = stops.filter(went).length
      const cancelled = cancels.filter(went).length
      const also = cancelled > 0 ? `, ${counted(cancelled, 'rental')} cancelled` : ''
      activity.add({
        account: session.id,
        kind: failed.length > 0 ? 'error' : 'user',
        text: `Stopping everything: ${counted(stopped, 'instance')}${also}`,
        detail: failed.length > 0 ? `Not stopped: ${failed.join(', ')}.${why}` : undefined,
      })
      await session.poll()
      return { stopped, cancelled, failed, lacking }
    },
  }
}

/** Whether the key may not do it, or needs a login. */
function isLacking(code: string): boolean {
  return code === 'unauthorized' || code === 'forbidden' || code === 'tfa_needed'
}

function nameOf(rental: RentalView): string {
  return `the rental of ${rental.label ?? rentedName(rental)}`
}

export function watchdogHandlers({ accounts }: Services): HandlersOf<typeof watchdogCommands> {
  const of = ({ account }: OnInstance) => accounts.session(account).automations.watchdogs

  return {
    checkWatchdog: args => of(args).visit(args.instance),
    adoptWatchdog: args => of(args).adopt(args.instance),
    watchdogLog: args => of(args).log(args.instance),
  }
}

const words = { tell: 'only tell', raise: 'raise the bid', replace: 'rent another' } as const

export function recoveryHandlers(parts: Services): HandlersOf<typeof recoveryCommands> {
  return {
    async chooseRecovery({ choice, ...args }) {
      const { account, instance } = targetOf(parts, args)
      if (choice.kind === 'raise') refuseUseless(instance, micros(choice.ceiling))
      await parts.accounts.session(account).automations.recoveries.choose(instance, choice)
      noteUser(parts, account, `Once outbid, ${words[choice.kind]}:`, instance)
    },
  }
}

/** Refuses a ceiling that the bid or the lowest bid has reached already. */
function refuseUseless({ bid = 0, minimumBid = 0 }: InstanceView, ceiling: Micros): void {
  const [most, what] = bid > minimumBid ? [bid, 'the bid'] : [minimumBid, 'the lowest bid']
  if (ceiling > most) return
  throw new BerthError({
    code: 'useless_ceiling',
    message: `That has no effect: ${what} is already ${rate(most)}.`,
    advice: 'Enter a higher amount.',
    field: 'choice.ceiling',
  })
}

/** More than Berth requests from the service. */
const mostLines = { lines: 5_000, length: 4_096 }

export function metricsHandlers(parts: Services): HandlersOf<typeof metricsCommands> {
  const { access, accounts, platform, store } = parts
  const { clock } = platform

  /** Opens a stream to the page over a lease, which is released when the stream ends. */
  async function stream(
    lease: SharedConnection,
    { streams }: Caller,
    open: () => Promise<WatchedMetrics>,
  ): Promise<number> {
    try {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'Only a page can watch metrics.' })
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
