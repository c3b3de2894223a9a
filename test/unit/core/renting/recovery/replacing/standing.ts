import type {
  RecoveryChoice,
  RecoveryStep,
  RecoveryView,
} from '../../../../../../electron/contract/automation/recovery.ts'
import type { InstanceView } from '../../../../../../electron/contract/instance/instance.ts'
import type { Failover } from '../../../../../../electron/core/renting/attempts/model.ts'
import type { World } from './world.ts'

type Kind = RecoveryChoice['kind']

/** What must hold in one Berth besides its requests: on its disk after every write, of its recoveries once it rests. */
export class Standing {
  readonly #world: World
  readonly #at: number
  /** What the user has chosen, by instance, once they were told so: several where more was asked for since. */
  readonly #choices = new Map<number, Set<Kind>>()
  /** The tries that there were when something else was chosen, by failover. */
  readonly #stopped = new Map<string, Set<string>>()
  /** Instances for which this process has taken another choice than to replace them. */
  #refused = new Set<number>()
  /** When the last look came in the middle of nothing, where nothing was asked for since. */
  #lookedAt: number | undefined
  /** Instances with a replacement at that look: once its end was seen, what follows comes with the next look. */
  #following = new Set<string>()

  constructor(world: World, at: number) {
    this.#world = world
    this.#at = at
  }

  restarted(): void {
    this.#lookedAt = undefined
    this.#refused = new Set()
  }

  onPoll(certain: boolean): void {
    this.#lookedAt = certain ? this.#world.now() : undefined
    const views = Object.entries(this.#world.berth(this.#at).automation.view())
    this.#following = new Set(views.flatMap(([key, { failover }]) => (failover ? key : [])))
  }

  choosing(instance: number, kind: Kind): void {
    this.#lookedAt = undefined
    this.#choices.get(instance)?.add(kind)
  }

  /** The user was told that it is chosen: what it is against has no further try. */
  chosen(instance: number, kind: Kind): void {
    const { automation, rentals } = this.#world.berth(this.#at)
    const view = automation.view()[instance]
    // Another choice has come after it.
    if (view?.choice.kind !== kind) return
    this.#choices.set(instance, new Set([kind]))
    if (kind === 'replace') {
      this.#refused.delete(instance)
      return
    }
    this.#refused.add(instance)
    const failover = this.#failoverOf(view)
    if (failover?.step !== 'trying') return
    if (!failover.unwanted) this.#wrong(`#${instance} is still being replaced, against the choice`)
    this.#stopped.set(failover.id, new Set(rentals.owned(failover.id).map(({ id }) => id)))
  }

  /** The user cancels a replacement, which ends it for good where they choose nothing after that. */
  cancelling(instance: number): void {
    this.#lookedAt = undefined
    this.#choices.get(instance)?.add('tell')
  }

  /** Whether a try was begun though its failover had been chosen against. */
  isAgainst(failover: string, rental: string): boolean {
    return this.#stopped.get(failover)?.has(rental) === false
  }

  /** What a kill leaves now: each replacement that goes on is the one that its recovery knows of. */
  written(name: string): void {
    if (!/(failovers|recoveries)\.json$/.test(name)) return
    for (const { id, step, unwanted, replaces = 0 } of this.#world.onDisk<Failover[]>(
      this.#at,
      'failovers',
      [],
    ))
      if (
        step === 'trying' &&
        !unwanted &&
        !this.#endsAgain(id) &&
        this.#world.recoveryOnDisk(this.#at, replaces)?.failover !== id
      )
        this.#wrong(`a kill leaves ${id} on disk, and nobody who follows it`)
  }

  /** Everything that follows from the last look has followed. */
  rests(): void {
    for (const [key, view] of Object.entries(this.#world.berth(this.#at).automation.view())) {
      const shown = this.#world.machines[this.#at]?.shown[key]
      const certain = shown !== undefined && this.#lookedAt === this.#world.now()
      const failover = this.#failoverOf(view)
      const goesOn = failover?.step === 'trying' && !failover.unwanted
      if (goesOn && view.choice.kind !== 'replace' && (certain || this.#refused.has(Number(key))))
        this.#wrong(`#${key} goes on being replaced, against the choice`)
      if (!certain) continue
      if (goesOn && shown.state === 'running') this.#wrong(`#${key} runs, and goes on being replaced`)
      if (this.#following.has(key) && view.failover === undefined && view.by === undefined) continue
      const expected = stepsOf(view, shown)
      if (!expected.includes(view.step))
        this.#wrong(`#${key}, ${shown.state}, is ${view.step}, not ${expected.join(' or ')}`)
    }
  }

  /** What is chosen in the end is what the user has chosen. */
  ends(): void {
    for (const [key, { choice }] of Object.entries(this.#world.berth(this.#at).automation.view())) {
      const chosen = this.#choices.get(Number(key))
      if (chosen && !chosen.has(choice.kind))
        this.#wrong(`#${key} is chosen to ${choice.kind}, not ${[...chosen].join(' or ')}`)
    }
  }

  /** It has come to an end that is not on disk yet, and comes to the same after a kill. */
  #endsAgain(failover: string): boolean {
    const step = this.#world.berths[this.#at]?.automation.failovers.find(failover)?.step
    return step === 'failed' || step === 'cancelled'
  }

  #failoverOf({ failover }: RecoveryView): Failover | undefined {
    return this.#world.berth(this.#at).automation.failovers.find(failover ?? '')
  }

  #wrong(text: string): void {
    this.#world.wrongs.push(`berth ${this.#at}: ${text}`)
  }
}

/** The steps that may be shown of a recovery whose instance was seen so. */
export function stepsOf(
  { by, failover, choice }: { by?: number | undefined; failover?: string; choice: RecoveryChoice },
  { state }: Pick<InstanceView, 'state'>,
): RecoveryStep[] {
  if (by !== undefined) return ['replaced']
  if (failover !== undefined) return ['replacing']
  return choice.kind === 'tell' || state !== 'outbid' ? ['watching'] : ['held', 'waiting']
}
