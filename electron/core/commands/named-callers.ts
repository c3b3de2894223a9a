import * as v from 'valibot'
import { type CommandName, commands } from '#contract/commands.ts'
import type { AccountId } from '#shared/ids.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { boundsOf, dearestOf } from '#shared/project/bounds.ts'
import { planCosts } from '#shared/project/plan-costs.ts'
import type { ProjectPlan } from '#shared/project/project.ts'
import { micros } from '#shared/spending/money.ts'
import {
  formOf,
  type Need,
  nothingPermitted,
  notPermitted,
  type Spender,
  spenderParts,
} from '#shared/spending/spender.ts'
import type { Session } from '../accounts/session.ts'
import type { Dispatch } from '../bridge/dispatcher.ts'
import type { Services } from './services.ts'

type ArgsOf<Name extends CommandName> = v.InferOutput<(typeof commands)[Name]['args']>

/** What a command of a named caller has to pass, besides its form. */
interface Rule<Args> {
  /** It may cost money, or ends something: `see` is enough for all others. */
  acts?: true
  /** Not for agents: what it does has no cap, or isn't only theirs. */
  scriptsOnly?: true
  /** Why nobody but the one who rented or began it may end it. */
  owned?: (on: Checked<Args>) => Problem | undefined
  /** Why an agent may not besides, where it's not all theirs. */
  refuses?: (on: Checked<Args>) => Problem | undefined
  /** What it may cost. */
  needs?: (on: Checked<Args>) => Promise<Need> | Need
  /** The volume that it would make. */
  makesVolume?: (args: Args) => boolean
  /** The line of Activity. */
  text?: (args: Args) => string
}

interface Checked<Args> {
  args: Args
  by: Spender
  isAgent: boolean
  session: Session
}

type Rules = { [Name in CommandName]?: Rule<ArgsOf<Name>> }

/** Milliseconds within which the same refusal is noted once in Activity: a program may ask in a loop. */
const notedEvery = 60_000

/**
 * The dispatcher for agents and scripts: their commands are those listed here, within what the user permits and within their
 * caps. You, without a name, pass. Spending commands of an account are checked one after another.
 */
export function gateNamedCallers(parts: Services, dispatch: Dispatch): Dispatch {
  const rules = rulesFor(parts, dispatch)
  const { activity, platform, store } = parts
  const noted = new Map<string, number>()
  let turn: Promise<unknown> = Promise.resolve()

  function noteRefusal(
    by: Spender,
    account: AccountId | undefined,
    { message, refusal, code }: Problem,
  ): void {
    const key = `${by}/${code}/${refusal?.limit}`
    const now = platform.clock.monotonic()
    if (now - (noted.get(key) ?? Number.NEGATIVE_INFINITY) < notedEvery) return
    noted.set(key, now)
    activity.add({ account, kind: 'error', by, text: `Refused: ${message}` })
  }

  async function pass<Args>(
    rule: Rule<Args>,
    on: Checked<Args>,
    go: () => Promise<unknown>,
  ): Promise<unknown> {
    const refused = rule.owned?.(on) ?? (on.isAgent ? rule.refuses?.(on) : undefined)
    if (refused) throw new BerthError(refused)
    if (rule.makesVolume?.(on.args)) throw new BerthError(noVolumes(on.by))
    if (!rule.needs) return go()
    const { ledger } = on.session.automations
    const checked = turn.then(async () => {
      const overCap = ledger.refusal(on.by, (await rule.needs?.(on)) ?? ledger.need())
      if (overCap) throw new BerthError(overCap)
      return go()
    })
    turn = checked.catch(() => undefined)
    return checked
  }

  return async (name, args, caller) => {
    const { by } = caller
    if (by === undefined) return dispatch(name, args, caller)
    const { kind = 'agent', name: who = 'it' } = spenderParts(by) ?? {}
    const isAgent = kind !== 'script'
    const form = formOf(store.get().settings.spenders, by)
    const known = isRuled(rules, name) ? name : undefined
    const rule = known && (rules[known] as Rule<{ account?: AccountId }> | undefined)
    let account: AccountId | undefined
    try {
      if (!rule || (isAgent && rule.scriptsOnly)) throw new BerthError(onlyYours(who))
      if (!form || form.may === 'nothing') throw new BerthError(nothingPermitted(who))
      if (rule.acts && form.may !== 'run') throw new BerthError(notPermitted(who, 'More than to look'))
      const checked = v.safeParse(commands[known ?? 'refresh'].args, args)
      // It is refused there, with the field at fault.
      if (!checked.success) return await dispatch(name, args, caller)
      const given = checked.output as { account?: AccountId }
      const session = parts.accounts.session(given.account)
      account = session.id
      const on = { args: given, by, isAgent, session }
      const answer = await pass(rule, on, () => dispatch(name, args, caller))
      if (rule.text) activity.add({ account, kind: 'user', by, text: rule.text(given) })
      return answer
    } catch (error) {
      if (error instanceof BerthError && error.problem.refusal) noteRefusal(by, account, error.problem)
      throw error
    }
  }
}

function isRuled(rules: Rules, name: unknown): name is CommandName {
  return typeof name === 'string' && Object.hasOwn(rules, name)
}

function rulesFor(parts: Services, dispatch: Dispatch): Rules {
  const { projects, seenOffers } = parts
  const mayEnd = ({ args: { instance }, by, session }: Checked<{ instance: number }>) =>
    session.automations.ledger.owns(by, instance) ? undefined : notIts(by, `instance #${instance}`)
  const mayStop = ({ args: { instance }, by, session }: Checked<{ instance: number }>) =>
    session.automations.ledger.payer(instance) === by ? undefined : notIts(by, `instance #${instance}`)
  const mayTouchRun = ({ args: { run }, by, session }: Checked<{ run: string }>) =>
    session.automations.runs.get(run).project?.by === by ? undefined : notIts(by, 'that run')

  return {
    refresh: {},
    searchOffers: {},
    moneyHistory: {},
    planProject: {
      refuses: ({ args, by }) =>
        args.draft || args.run ? notIts(by, 'another file than the project’s') : undefined,
    },
    readRun: { refuses: mayTouchRun },
    readContainerLog: { scriptsOnly: true },
    followLog: { scriptsOnly: true },
    removeProject: { scriptsOnly: true, acts: true },
    rent: {
      acts: true,
      refuses: ({ args, by }) =>
        args.replaces !== undefined || args.run ? notIts(by, 'more than to rent a machine') : undefined,
      makesVolume: ({ request }) => request.volume?.create === true,
      needs({ args: { request }, by, session }) {
        const offer = seenOffers.get(session.id, request.offer, by)
        const price = request.bid === undefined ? offer?.price : micros(request.bid)
        return session.automations.ledger.need(price, boundsOf(request.limits ?? []))
      },
      text: ({ request }) => `Asked to rent offer ${request.offer}`,
    },
    cancelRental: {
      acts: true,
      owned: ({ args, by, session }) =>
        session.rentals.get(args.rental).by === by ? undefined : notIts(by, 'that rental'),
      text: () => 'Cancelled a rental',
    },
    runProject: {
      acts: true,
      refuses: ({ args, by }) =>
        args.draft || args.run || args.allow?.length || args.secretFiles.length > 0
          ? notIts(by, 'to allow a project more than you have')
          : undefined,
      async needs({ args, by, session }) {
        const { project, account, draft, run, change, offer, limits } = args
        const { ledger } = session.automations
        const asked = { account, project, draft, run, change, offer }
        // Its own terms count for nothing: what it costs is planned here.
        const plan = (await dispatch('planProject', asked, { by })) as ProjectPlan
        if (plan.volume && plan.volume.id === undefined) throw new BerthError(noVolumes(by))
        const costs = planCosts(plan, { limits, offer })
        const waiting = plan.waiting && offer === undefined ? 1 : (plan.sweep?.waiting.length ?? 0)
        const all = plan.nodes?.length ?? plan.sweep?.atOnce ?? 1
        const sum = plan.nodes ? plan.nodes.reduce((total, { price }) => total + price, 0) : costs?.sum
        // A machine that waits for the run is paid for already.
        const more = waiting > 0 && waiting === all ? 0 : sum
        const dearest = Math.max(costs?.price ?? 0, ...(plan.nodes ?? []).map(({ price }) => price))
        return ledger.need(
          more,
          { most: costs?.most, seconds: costs?.longest },
          all - waiting,
          costs && dearest,
        )
      },
      text: ({ project }) => `Asked to run ${projects.name(project)}`,
    },
    cancelRun: { acts: true, owned: mayTouchRun, text: () => 'Cancelled a run' },
    moveRun: {
      acts: true,
      owned: mayTouchRun,
      // The old machine runs on until the next one has the results.
      needs({ args: { run }, session }) {
        const { runs, ledger } = session.automations
        const { project } = runs.get(run)
        return ledger.need(project && dearestOf(project.spec, project.price), {})
      },
      text: () => 'Moved a run to another machine',
    },
    stopSweep: {
      acts: true,
      owned: ({ args, by, session }) =>
        session.automations.sweeps.payer(args.sweep) === by ? undefined : notIts(by, 'that sweep'),
      text: () => 'Stopped a sweep',
    },
    endWaiting: {
      acts: true,
      owned: mayEnd,
      text: ({ instance }) => `Asked to end #${instance}, which waits for a run`,
    },
    stopInstance: {
      acts: true,
      owned: mayStop,
      text: ({ instance }) => `Asked to stop #${instance}`,
    },
    destroyInstance: {
      acts: true,
      owned: mayEnd,
      text: ({ instance }) => `Asked to destroy #${instance}`,
    },
    // A limit more can only end it sooner; to change or remove one could let it cost longer.
    setLimit: {
      acts: true,
      scriptsOnly: true,
      owned({ args: { instance, limit, action }, ...on }) {
        if (instance === undefined || limit !== undefined)
          return notIts(on.by, limit === undefined ? 'a limit on the whole account' : 'to change a limit')
        const args = { instance }
        return action === 'destroy' ? mayEnd({ ...on, args }) : mayStop({ ...on, args })
      },
      text: ({ instance, action }) => `Set a limit that will ${action} #${instance}`,
    },
    // Its message goes to the host.
    reportMachine: {
      acts: true,
      scriptsOnly: true,
      owned: mayStop,
    },
    prepayInstance: {
      acts: true,
      scriptsOnly: true,
      owned: mayEnd,
      needs: ({ args: { amount } }) => ({ perHour: 0, machines: 0, today: micros(amount) }),
    },
    listVariables: { scriptsOnly: true },
    // A script that starts one of yours pays for it, and may stop it again.
    startInstance: {
      acts: true,
      owned: on =>
        on.session.automations.ledger.payer(on.args.instance) === undefined ? undefined : mayStop(on),
      refuses: mayEnd,
      text: ({ instance }) => `Asked to start #${instance}`,
    },
  }
}

function notIts(by: Spender, what: string): Problem {
  const { name = '' } = spenderParts(by) ?? {}
  return {
    ...notPermitted(name, what.charAt(0).toUpperCase() + what.slice(1), 'ownership'),
    advice: 'It may only use and end what it rented.',
  }
}

/** What no caps make its own, such as settings and what holds for all machines. */
function onlyYours(name: string): Problem {
  return { ...notPermitted(name, 'This'), advice: 'Only you may do it, without a name.' }
}

function noVolumes(by: Spender): Problem {
  const { name = '' } = spenderParts(by) ?? {}
  return {
    ...notPermitted(name, 'A new volume', 'volume'),
    advice: 'It would cost money until you delete it. Create it yourself first.',
  }
}
