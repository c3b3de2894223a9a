import { hasEnded, type LimitView } from '#shared/automation/limit.ts'
import { defaultWarning } from '#shared/automation/limit-defaults.ts'
import { isKeptByWatchdog, untoldWatchdogs } from '#shared/automation/limit-words.ts'
import { accountNow } from '#shared/derived.ts'
import { instanceName } from '#shared/format/name.ts'
import type { State } from '#shared/state.ts'
import { type CliCommand, findInstance, isoTime, polledState, print, stateOnce } from './call.ts'
import { usageFailure } from './failure.ts'
import { secondsOf } from './options.ts'

/** Milliseconds to wait for a watchdog to be told of a change. */
const forVisit = 3000

export const limit: CliCommand = {
  operands: 'INSTANCE [stop TIME | destroy TIME | rm LIMIT]',
  takes: [1, 3],
  summary: 'List an instance’s limits, let one stop or destroy it after a time such as 2h, or remove one',
  options: ['asleep', 'account', 'json'],
  async run(call) {
    const [word = '', verb, what] = call.operands
    const { account, instance } = findInstance(call, await polledState(call), word)
    const on = { account: account.id, instance: instance.id }
    if (verb === 'stop' || verb === 'destroy') {
      const seconds = secondsOf(verb, what)
      if (!seconds) throw usageFailure(`berth limit INSTANCE ${verb} takes a time such as 20m or 2h.`)
      const when = { kind: 'duration', seconds } as const
      const warning = Math.min(defaultWarning, seconds / 2)
      await call.connection.command('setLimit', {
        ...on,
        when,
        action: verb,
        asleep: call.given.asleep ?? false,
        warning,
        missed: 'act',
      })
    } else if (verb === 'rm' && what !== undefined)
      await call.connection.command('removeLimit', { account: account.id, limit: what })
    else if (verb !== undefined)
      throw usageFailure('berth limit takes INSTANCE, and stop TIME, destroy TIME or rm LIMIT.')
    const untoldIn = ({ accounts }: State) => {
      const after = accounts[account.id]
      return after ? untoldWatchdogs(after, accountNow(after.clock, Date.now()), instance.id) : []
    }
    // A visit to the watchdog may be under way.
    const within = verb === undefined || call.json ? 0 : forVisit
    const state = await stateOnce(call, now => untoldIn(now).length === 0, within)
    const { limits: all, watchdogs } = state.accounts[account.id] ?? account
    const limits = Object.values(all).filter(one => one.instance === instance.id && !hasEnded(one))
    const isWatched = (one: LimitView) => isKeptByWatchdog(one, watchdogs)
    if (call.json)
      print(call, { ...on, limits: limits.map(one => ({ ...limitJson(one), watched: isWatched(one) })) })
    else for (const { id, sentence } of limits) call.write(`${id}  ${sentence}\n`)
    if (limits.some(one => one.asleep && !isWatched(one)) && !call.json)
      call.say(
        'Its watchdog isn’t there yet: Berth installs it over SSH once the instance runs, and needs to be awake until then.',
      )
    if (!call.json) for (const line of untoldIn(state)) call.say(line)
    if (limits.length === 0 && !call.json) call.say(`${instanceName(instance)} has no limit.`)
    return undefined
  },
}

/** Scripts rely on these fields: they are added, never renamed. */
function limitJson({ id, action, sentence, dueAt }: LimitView) {
  return { id, action, sentence, at: dueAt === undefined ? null : isoTime(dueAt) }
}
