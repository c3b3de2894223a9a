import * as v from 'valibot'
import { sleep } from '#platform/tasks.ts'
import { ServiceError } from '#service/service-error.ts'
import { instanceName } from '#shared/format/name.ts'
import { duration } from '#shared/format/time.ts'
import { InstanceId } from '#shared/ids.ts'
import { type InstanceView, secondsToUndo, UndoableAction } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountContext, AccountPoll } from './account-context.ts'
import { needingPermission, problemOf } from './bridge/problems.ts'
import { openCollection } from './storage/collection.ts'

/** The user's actions on instances, sent at once or after a delay in which they can be undone. */
export type UndoableActions = Awaited<ReturnType<typeof openUndoableActions>>

/** `sendAt` in epoch milliseconds of this computer. */
const Waiting = v.object({ instance: InstanceId, action: UndoableAction, sendAt: v.number() })
type Waiting = v.InferOutput<typeof Waiting>

/** Milliseconds that the end of Berth waits for the service. */
const patience = 5000
/** Milliseconds by which an action is late that waited while this computer slept, or Berth didn't run. */
const lateBy = 60_000

const done = { stop: 'Stopped', start: 'Started', reboot: 'Restarted' } as const
const failed = { stop: 'Not stopped', start: 'Not started', reboot: 'Not restarted' } as const
const unsure = {
  stop: 'May have been stopped',
  start: 'May have been started',
  reboot: 'May have been restarted',
} as const

/** `started` is called with each instance that the user has started; `stopping` is awaited before one is stopped. */
export async function openUndoableActions(
  context: AccountContext,
  started: (instance: number) => Promise<void> = async () => undefined,
  stopping: (instance: number) => Promise<void> = async () => undefined,
) {
  const { account, activity, platform, store, quitting } = context
  const { clock } = platform
  /** The timers of waiting actions by instance; stored actions without one are from a Berth that was killed. */
  const timers = new Map<number, { cancel: () => void; resolve: (sent?: Promise<void>) => void }>()
  const sending = new Set<number>()
  const waiting = await openCollection(context, {
    name: 'undoable-actions',
    schema: Waiting,
    rescue: { instead: { sendAt: 0 }, keep: action => action },
    key: ({ instance }) => instance,
    view: all => ({
      undoable: Object.fromEntries(all.map(({ instance, action, sendAt }) => [instance, { action, sendAt }])),
    }),
  })
  const instances = () => store.get().accounts[account]?.instances ?? {}

  async function request({ id }: InstanceView, action: Exclude<UndoableAction, 'stop'>): Promise<string> {
    const { instances: service } = context.client()
    if (action === 'reboot') await service.reboot(id)
    const queued =
      action === 'start' && (await context.endings.startInstead(id, () => service.start(id))).queued
    // Its limit is not worth a failed start.
    if (action === 'start') await started(id).catch(() => undefined)
    return queued ? 'Start queued until a GPU is free:' : done[action]
  }

  function say(instance: InstanceView, verb: string): void {
    activity.add({ account, instance: instance.id, kind: 'user', text: `${verb} ${instanceName(instance)}` })
  }

  /** A stop is told in Activity once it is seen. */
  async function perform(instance: InstanceView, action: UndoableAction): Promise<void> {
    if (action === 'stop') {
      await stopping(instance.id)
      if (!quitting.aborted) await context.endings.request(instance.id, 'stop')
    } else say(instance, await needingPermission('instance_write', request(instance, action)))
  }

  function callOff(instance: number): void {
    const timer = timers.get(instance)
    timers.delete(instance)
    timer?.cancel()
    timer?.resolve()
  }

  /** Stored until it is answered: sending a stop twice after a kill does no harm. */
  async function sendWaiting({ instance: id, action, sendAt }: Waiting): Promise<void> {
    const instance = instances()[id]
    sending.add(id)
    const late = clock.now() - sendAt
    if (instance && late > lateBy) {
      const text = `Your ${action} of ${instanceName(instance)} comes ${duration(late / 1000)} late`
      const detail = 'This computer slept, or Berth didn’t run, before it was sent.'
      activity.add({ account, instance: id, kind: 'error', text, detail })
    }
    try {
      // A killed Berth may have sent the stop without recording it.
      if (instance && action === 'stop' && hasTrait(instance.state, 'halted')) say(instance, done.stop)
      else if (instance) await perform(instance, action)
      if (!quitting.aborted) await waiting.forget(id)
    } finally {
      sending.delete(id)
    }
    if (!quitting.aborted) void context.poll()
  }

  async function sayNot({ instance: id, action }: Waiting, problem: Problem): Promise<void> {
    const instance = instances()[id]
    const words = problem.unsure ? unsure : failed
    const text = `${words[action]}: ${instance ? instanceName(instance) : `#${id}`}`
    await waiting.forget(id)
    const detail = [problem.message, problem.advice].filter(Boolean).join(' ')
    activity.add({ account, instance: id, kind: 'error', text, detail })
    if (problem.unsure) void context.poll()
  }

  /** Handles an action of a Berth that was killed: only a stop is sent, since others cost or interrupt something. */
  async function goOn(item: Waiting): Promise<void> {
    if (item.action !== 'stop') return sayNot(item, unsent)
    try {
      await sendWaiting(item)
    } catch (error) {
      // The next poll tries again.
      if (quitting.aborted || (error instanceof ServiceError && error.ambiguous)) return
      await sayNot(item, problemOf(error))
    }
  }

  function fire(instance: number): Promise<void> {
    const timer = timers.get(instance)
    const item = waiting.find(instance)
    if (!timer || !item) return Promise.resolve()
    timers.delete(instance)
    timer.cancel()
    const sent = sendWaiting(item).catch(async error => {
      // Berth is ending: the next start handles it.
      if (quitting.aborted) return
      await sayNot(item, problemOf(error))
      throw error
    })
    timer.resolve(sent)
    return sent.catch(() => undefined)
  }

  async function send(instance: InstanceView, action: UndoableAction): Promise<void> {
    callOff(instance.id)
    if (waiting.find(instance.id)) await waiting.forget(instance.id)
    await perform(instance, action)
    await context.poll()
  }

  return {
    /** Sends now, and cancels an action that waits for the instance. */
    send,
    /**
     * Sends after five seconds, or at once where the action cannot be stored. Resolves once it was sent or undone, and
     * rejects where it was refused. Does nothing while another action waits for the instance.
     */
    async sendSoon(instance: InstanceView, action: UndoableAction): Promise<void> {
      const { id } = instance
      if (waiting.find(id)) return
      const item = { instance: id, action, sendAt: clock.now() + secondsToUndo * 1000 }
      const sent = new Promise<void>(resolve => {
        timers.set(id, { cancel: clock.after(secondsToUndo * 1000, () => void fire(id)), resolve })
      })
      try {
        await waiting.add(item)
      } catch {
        return send(instance, action)
      }
      return sent
    },
    /** Throws `not_undone` when nothing waits. */
    async undo(instance: number): Promise<void> {
      if (!timers.has(instance))
        throw new BerthError({
          code: 'not_undone',
          message: 'It was already sent.',
          advice: 'Do the opposite to reverse it.',
        })
      callOff(instance)
      await waiting.forget(instance)
    },
    /** Sends waiting stops before the computer sleeps, in which they would wait and cost. */
    sendStops(): void {
      for (const { instance, action } of waiting.all()) if (action === 'stop') void fire(instance)
    },
    /** Sends all waiting actions when Berth ends. At the next start, unanswered stops are sent again. */
    async sendAll(): Promise<void> {
      const all = [...timers.keys()].map(fire)
      if (all.length === 0) return
      await Promise.race([Promise.all(all), sleep(clock, patience)])
    },
    onPoll({ account: { instances: shown } }: AccountPoll): void {
      for (const item of waiting.all()) {
        const { instance } = item
        if (sending.has(instance)) continue
        if (!shown[instance]) {
          callOff(instance)
          void waiting.forget(instance)
        } else if (!timers.has(instance)) void goOn(item)
      }
    },
    resume: () => waiting.show(),
    flush: waiting.flush,
  }
}

const unsent = { code: 'not_sent', message: 'Berth quit before it was sent.' }
