import { instanceName, named } from '#shared/format/name.ts'
import { instanceStateWord } from '#shared/instance/instance-words.ts'
import { sharedHostKeyWords } from '#shared/instance/ssh-key.ts'
import { shortened } from '#shared/text.ts'
import type { EndingView } from '../shared/automation/ending.ts'
import { dueNext } from '../shared/automation/limit.ts'
import { isLongWait, waitingLine } from '../shared/automation/waiting.ts'
import { othersEnds } from '../shared/automation/watchdog.ts'
import { accountNow, knownCost, knownSpent, runningSince, spendOnceReady } from '../shared/derived.ts'
import { money } from '../shared/format/money.ts'
import { gpuWords } from '../shared/format/name.ts'
import { duration } from '../shared/format/time.ts'
import { isRenting } from '../shared/market/rental-view.ts'
import { costWords } from '../shared/spending/spend-words.ts'
import type { InstanceJson } from './answers.ts'
import {
  accountsOf,
  type Call,
  type CliCommand,
  cliDollars,
  type FoundInstance,
  isoTime,
  polledState,
  print,
  sayNoAccount,
  sayWhatIsOld,
  table,
  waitingJson,
} from './call.ts'
import { listRuns, saySweepWaits } from './project-runs.ts'

export const ps: CliCommand = {
  operands: '',
  takes: [0, 0],
  summary: 'List your instances, or the runs of a project',
  options: ['account', 'json', 'quiet', 'project'],
  async run(call) {
    if (call.project !== undefined) return listRuns(call, call.project)
    const state = await polledState(call)
    const accounts = accountsOf(call, state)
    const found = accounts.flatMap(account =>
      Object.values(account.instances).map(instance => ({ account, instance })),
    )
    if (call.quiet) call.write(found.map(({ instance }) => `${instance.id}\n`).join(''))
    else if (call.json)
      print(call, {
        accounts: accounts.map(accountJson),
        instances: found.map(instanceJson),
        waiting: accounts.flatMap(waitsJson),
      })
    else if (found.length > 0) call.write(listing(found))
    if (!call.quiet && !call.json) {
      saySharedKeys(call, found)
      sayWaits(call, accounts)
    }
    return accounts.length === 0 ? sayNoAccount(call, state) : sayWhatIsOld(call, accounts)
  },
}

type Account = FoundInstance['account']

function saySharedKeys(call: Call, found: readonly FoundInstance[]): void {
  const names = found.filter(sharesHostKey).map(({ instance }) => instanceName(instance))
  if (names.length > 0) call.say(`${named(names)}: ${sharedHostKeyWords}`)
}

/** What sweeps and runs in progress have waited for too long. */
function sayWaits(call: Call, accounts: readonly Account[]): void {
  for (const account of accounts) {
    saySweepWaits(call, account)
    const { runs, clock } = account
    const now = accountNow(clock, Date.now())
    for (const { name, step, instance, waiting } of Object.values(runs)) {
      if (!waiting || !isLongWait(waiting, now)) continue
      const where = instance === undefined ? step : `${step} on #${instance}`
      call.say(`${name}, ${where}: ${waitingLine(waiting, now)}`)
    }
  }
}

/** What each run in progress waits for, also if that began only now. */
export function waitsJson({ id: account, runs, rentals }: Pick<Account, 'id' | 'runs' | 'rentals'>) {
  return Object.values(runs).flatMap(({ id, name, step, instance, rental: rentalId = '', waiting }) => {
    if (!waiting) return []
    // It's paid for before the run has it.
    const rental = rentals[rentalId]
    const rented = rental && isRenting(rental) ? rental.instance : undefined
    return [{ account, run: id, name, step, instance: instance ?? rented ?? null, ...waitingJson(waiting) }]
  })
}

const sharesHostKey = ({ account, instance }: FoundInstance) => account.sharedHostKeys?.[instance.id] === true

function listing(found: readonly FoundInstance[]): string {
  const several = new Set(found.map(({ account }) => account.id)).size > 1
  const rows = found.map(({ account, instance }) => {
    const now = accountNow(account.clock, Date.now())
    const since = runningSince(instance)
    const spent = knownSpent(instance, now)
    return [
      String(instance.id),
      labelOf(instance),
      instanceStateWord(account, instance),
      gpuWords({ gpuCount: instance.gpu?.count, gpuName: instance.gpu?.name }),
      costWords(instance),
      spent === undefined ? '–' : `${instance.spent.seenFrom === undefined ? '' : '≈ '}${money(spent)}`,
      since === undefined ? '' : duration(now - since),
      stopWords(upcomingEnds(account, instance, now), now),
      ...(several ? [account.name] : []),
    ]
  })
  const heads = ['>ID', 'LABEL', 'STATE', 'GPU', '>COST', '>SPENT', '>UP', 'STOPS']
  return table(several ? [...heads, 'ACCOUNT'] : heads, rows)
}

/** All columns fit into a terminal, also with a long label; what reads a pipe gets all of it. */
function labelOf({ label = '' }: FoundInstance['instance']): string {
  return process.stdout.isTTY ? shortened(label, 24) : label
}

/** What ends an instance at a known moment, the next one first: its limits, and another Berth's watchdog. */
function upcomingEnds(account: Account, { id }: FoundInstance['instance'], now: number) {
  const limits = dueNext(account).flatMap(({ limit: { instance, action }, dueAt }) =>
    instance === id ? { action, at: dueAt } : [],
  )
  const others = othersEnds(account.watchdogs, now).filter(({ instance }) => instance === id)
  return [...limits, ...others].sort((a, b) => a.at - b.at)
}

/** `in 2 h`, or `destroyed in 2 h`. */
function stopWords([next]: ReturnType<typeof upcomingEnds>, now: number): string {
  if (!next) return ''
  const when = next.at <= now ? 'now' : `in ${duration(next.at - now)}`
  return next.action === 'destroy' ? `destroyed ${when}` : when
}

export function accountJson(account: Account) {
  const { id, name, demo, connection, credit, spendPerHour } = account
  return {
    id,
    name,
    demo,
    connection: connection.status,
    credit: credit === undefined ? null : cliDollars(credit),
    spendPerHour: cliDollars(spendPerHour),
    spendOnceReady: cliDollars(spendOnceReady(account)),
  }
}

/** A stop or destroy that no fresh reading shows yet. */
function endingJson(ending: EndingView | undefined) {
  if (!ending) return null
  const { action, phase, since, requests, problem } = ending
  return { action, phase, since: isoTime(since), requests, problem: problem ?? null }
}

/** Scripts rely on these fields: they are added, never renamed. */
export function instanceJson({ account, instance }: FoundInstance): InstanceJson {
  const now = accountNow(account.clock, Date.now())
  const since = runningSince(instance)
  const [cost, spent] = [knownCost(instance), knownSpent(instance, now)]
  const { id, label, state, gpu, gpuLoad, interruptible, pricePerHour, image, location } = instance
  return {
    account: account.id,
    id,
    label: label ?? null,
    state,
    gpu: gpu ? { name: gpu.name, count: gpu.count } : null,
    gpuLoad: gpuLoad ?? null,
    interruptible,
    bid: instance.bid === undefined ? null : cliDollars(instance.bid),
    ending: endingJson(account.endings[instance.id]),
    stops: upcomingEnds(account, instance, now).map(({ action, at }) => ({ action, at: isoTime(at) })),
    costPerHour: cost === undefined ? null : cliDollars(cost),
    pricePerHour: pricePerHour === undefined ? null : cliDollars(pricePerHour),
    spent: spent === undefined ? null : cliDollars(spent),
    runningSince: since === undefined ? null : isoTime(since),
    image: image ?? null,
    location: location ?? null,
    sharedHostKey: sharesHostKey({ account, instance }),
  }
}
