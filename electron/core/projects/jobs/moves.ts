import type { InstanceView } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import { mostOf } from '#contract/project/bounds.ts'
import type { AccountContext } from '#core/account-context.ts'
import { problemOf } from '#core/app/problems.ts'
import { spentOn } from '#core/renting/rental.ts'
import type { Rentals } from '#core/renting/rentals.ts'
import type { Collection } from '#core/storage/collection.ts'
import { jobDoneAlert, jobFailedAlert, keptAlert } from '../alerts.ts'
import type { Job } from '../model.ts'
import { keeping } from '../view.ts'
import { elsewhere, ended, failed } from './changes.ts'
import type { JobMove } from './decide.ts'
import type { JobEffects } from './effects.ts'

/** Performs the moves of jobs. Each rejects where it must be retried. */
export interface Moves {
  perform(job: Job, move: Exclude<JobMove, { do: 'wait' }>): Promise<void>
  /** Destroys the machines that a job left, and what was rented for a cancelled one. */
  cleanUp(job: Job): Promise<void>
  /** Fails the job, unless its step changed meanwhile, and alerts the user. */
  fail(job: Job, problem: Problem): Promise<void>
}

/** What moves work with, apart from the account. */
interface MoveParts {
  jobs: Collection<Job, string>
  effects: JobEffects
  attempts: Rentals
  viewOf(instance: number | undefined): InstanceView | undefined
}

export function createMoves(context: AccountContext, parts: MoveParts): Moves {
  const { account, activity, notifications, now } = context
  const { jobs, effects, attempts, viewOf } = parts
  const { clock } = context.machine

  async function perform(job: Job, move: Exclude<JobMove, { do: 'wait' }>): Promise<void> {
    const { id } = job
    switch (move.do) {
      case 'rent':
        return effects.rent(job)
      case 'start':
        await effects.start(job)
        await jobs.update(id, { starting: undefined })
        return
      case 'send':
        await effects.send(job)
        return reach(job, 'setup')
      case 'run setup':
        return effects.run(job, 'setupRun', job.spec.setup ?? '')
      case 'run command':
        // Before it, since after a kill the command that is there is only followed.
        await jobs.update(id, { startedAt: job.startedAt ?? now() })
        return effects.run(job, 'commandRun', job.spec.run)
      case 'bring':
        await bring(job, move.last)
        return
      case 'halt':
        await effects.end(job, 'stop')
        await jobs.update(id, { halting: undefined })
        return
      case 'expire':
        return expire(job, move.destroys)
      case 'end':
        await effects.end(job, job.spec.after ?? 'destroy')
        if (job.instance !== undefined) sayEnded(job, job.instance)
        return done(job)
      case 'move':
        return moveOn(job)
      case 'fail':
        return fail(job, move.problem)
      case 'step':
        return reach(job, move.step, {
          ...(move.instance === undefined ? {} : arrival(job, move.instance)),
          code: move.code ?? job.code,
          outcome: move.outcome ?? job.outcome,
        })
    }
  }

  async function bring(job: Job, last: boolean): Promise<void> {
    try {
      await effects.bring(job, last)
    } catch (error) {
      if (last && problemOf(error).code === 'results_changing')
        await jobs.update(job.id, current => ({
          ...current,
          changingSince: current.changingSince ?? clock.now() / 1000,
        }))
      throw error
    }
    await jobs.update(job.id, { checkpointAt: now(), ...(last ? { changingSince: undefined } : {}) })
    if (!last) return
    if (job.outcome) await fail(job, job.outcome.problem)
    else await reach(job, 'ending')
  }

  async function expire(job: Job, destroys: boolean): Promise<void> {
    if (destroys) await effects.end(job, 'destroy')
    const after = await jobs.update(job.id, current =>
      current.step === 'failed'
        ? { ...current, keptUntil: destroys ? undefined : now() + keeping(current).seconds }
        : current,
    )
    if (after?.step !== 'failed') return
    const facts = { destroyed: destroys, view: viewOf(after.instance), now: now() }
    notifications.tell(account, [keptAlert(account, after, facts)])
  }

  /** What changes with the machine that was found: the cost of earlier attempts counts for the job. */
  function arrival(job: Job, instance: number): Partial<Job> {
    const tried = attempts.find(job.attemptSeries)
    const view = viewOf(instance)
    return {
      instance,
      gpu: view?.gpu && { name: view.gpu.name, count: view.gpu.count },
      spentBefore: job.spentBefore + (tried ? spentOn(tried) : 0),
      most: mostOf(job.spec, job.stops, job.price ?? view?.pricePerHour),
    }
  }

  /** Enters a step and records the change at once, unless the job's step changed meanwhile, as by a cancellation. */
  async function reach(job: Job, step: Job['step'], change: Partial<Job> = {}): Promise<void> {
    await jobs.update(job.id, now => (now.step === job.step ? { ...now, ...change, step } : now))
  }

  async function fail(job: Job, problem: Problem): Promise<void> {
    const after = await jobs.update(job.id, current =>
      current.step === job.step ? { ...current, ...failed(current, problem, now()) } : current,
    )
    if (after?.step === 'failed')
      notifications.tell(account, [jobFailedAlert(account, after, viewOf(after.instance))])
  }

  async function done(job: Job): Promise<void> {
    const over = await jobs.update(job.id, current =>
      current.step === 'ending' ? { ...current, ...ended(current, 'done', now()) } : current,
    )
    if (over?.step === 'done') notifications.tell(account, [jobDoneAlert(account, over, now())])
  }

  function sayEnded({ name, spec }: Job, instance: number): void {
    const what = spec.after === 'stop' ? 'Stopped' : 'Destroyed'
    activity.add({ account, instance, kind: 'berth', text: `${what} #${instance}, as ${name} has ended` })
  }

  async function moveOn(job: Job): Promise<void> {
    await jobs.intend(job.id, elsewhere(job, `r${context.newId()}`, now()))
    activity.add({
      account,
      instance: job.instance,
      kind: 'berth',
      text: `${job.name} continues on another machine`,
      detail: 'Its machine was outbid, or has gone.',
    })
  }

  async function leave({ id }: Job, leaving: readonly number[]): Promise<void> {
    for (const instance of leaving) await effects.destroy(instance)
    await jobs.update(id, { leaving: undefined })
  }

  /** Undoes the rental of a cancelled job. Runs in the job's only loop, so after any request that was pending. */
  async function withdraw({ id, attemptSeries, instance }: Job): Promise<void> {
    const tried = attempts.find(attemptSeries)
    if (tried?.step === 'trying') await attempts.cancel(attemptSeries)
    const machine = instance ?? (tried?.step === 'ready' ? tried.instance : undefined)
    if (machine !== undefined) await effects.destroy(machine)
    await jobs.update(id, { withdrawing: undefined })
  }

  return {
    perform,
    async cleanUp(job) {
      if (job.leaving) await leave(job, job.leaving)
      if (job.withdrawing) await withdraw(job)
    },
    fail,
  }
}
