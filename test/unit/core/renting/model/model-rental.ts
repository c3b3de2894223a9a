import type { Attempt } from '#core/renting/rental.ts'
import type { NewInstance } from '#service/new-instance.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'

type Step = Attempt['step']

/** Polls in a row without its instance after which it counts as gone. */
const enough = 2

/** Lists without it after which it may be requested again. */
const several = 3

/** Seconds after the user's click after which a Berth that begins, or gets another key, requests it no more. */
const tooOld = 900

const failures: readonly InstanceState[] = ['crashed', 'offline', 'silent', 'stopped']

/** A rental that the user requested, and all that is known of it from outside. */
export class ModelRental {
  /** Its id, which is its mark too. */
  readonly id: string
  readonly offer: number
  readonly secret: string
  /** Whether the user saw that it is on disk. */
  promised = false
  /** Whether the user has asked to cancel it, and whether that was accepted. */
  cancel: 'no' | 'asked' | 'accepted' = 'no'
  /** Requests to create it, and those that were plainly refused. */
  creates = 0
  refusals = 0
  /** The user rejected all candidates. */
  none = false
  /** Its instance was destroyed elsewhere. */
  taken = false
  /** A Berth began too late to request it. */
  old = false
  /**
   * Instances that are its own without a guess: the service or the user confirmed it, or the user saw them before
   * cancelling.
   */
  readonly told = new Set<number>()
  /** Lists since the last request to create it. */
  listsSince = 0
  /** Whether this process heard of its creation. */
  heard = false
  /** Its final step with an instance. */
  end: Step | undefined
  /** Polls in a row without its instance: those that certainly counted, and those that may have. */
  #absent = { certainly: 0, perhaps: 0 }

  readonly #startedAt: number

  constructor(id: string, offer: number, secret: string, startedAt: number) {
    this.id = id
    this.offer = offer
    this.secret = secret
    this.#startedAt = startedAt
  }

  /** Notes a request to create it. Gives the rules that breaks; `kept` is the rental on disk. */
  asked(offer: number, { env }: NewInstance, kept: Attempt | undefined): string[] {
    this.creates += 1
    const tooSoon = this.creates > 1 && this.listsSince < several
    this.listsSince = 0
    return [
      ...(offer === this.offer ? [] : [`${this.id} asks for ${offer}`]),
      ...(env?.['TOKEN'] === this.secret ? [] : [`${this.id} lacks its secret`]),
      ...((kept?.requestCount ?? 0) < this.creates ? [`${this.id} asks and has not written so`] : []),
      ...(tooSoon ? [`${this.id} asks again, blindly`] : []),
      ...(this.cancel === 'accepted' ? [`${this.id} asks and is not wanted`] : []),
    ]
  }

  /** Notes that a Berth begins at `now`, or gets another key. */
  begun(now: number): void {
    if (now - this.#startedAt > tooOld) this.old = true
  }

  /** Notes a kill. Gives what was wrongly forgotten; `kept` is the rental on disk. */
  killed(kept: Attempt | undefined): string[] {
    const isForgotten = this.promised && !kept
    const isWanted = this.cancel === 'accepted' && !kept?.unwanted && kept?.step !== 'cancelled'
    // The user has no answer yet: the disk decides.
    if (this.cancel === 'asked') this.cancel = kept?.unwanted ? 'accepted' : 'no'
    this.heard = false
    this.end = undefined
    this.#absent = { certainly: 0, perhaps: 0 }
    if (kept?.instance === undefined) this.told.clear()
    return [
      ...(isForgotten ? [`${this.id} was forgotten`] : []),
      ...(isWanted ? [`the end of ${this.id} was forgotten`] : []),
    ]
  }

  /** Notes a request to destroy its instance. Gives the rules that breaks. */
  destroys(instance: number, isGuess: boolean, kept: Attempt | undefined): string[] {
    return [
      ...(isGuess && !this.told.has(instance) ? [`destroys #${instance}, which was a guess`] : []),
      ...(this.cancel === 'no' ? [`destroys the wanted #${instance}`] : []),
      ...(kept?.unwanted ? [] : [`destroys #${instance} and has not written so`]),
    ]
  }

  /**
   * The steps that a poll may lead to. `certain`: nothing else was in progress when the answer came, so that it
   * counts.
   */
  after(step: Step, instance: InstanceView | undefined, isLate: boolean, certain: boolean): Step[] {
    const { certainly, perhaps } = this.#absent
    this.#absent = instance
      ? { certainly: 0, perhaps: 0 }
      : { certainly: certainly + (certain ? 1 : 0), perhaps: perhaps + 1 }
    if (step !== 'waiting' && step !== 'late') return [step]
    if (instance) return [stepOf(instance, isLate), ...(certain ? [] : [step])]
    if (this.#absent.certainly >= enough) return certain ? ['failed'] : ['failed', step]
    return this.#absent.perhaps >= enough ? ['failed', step] : [step]
  }
}

function stepOf({ state }: InstanceView, isLate: boolean): Step {
  if (state === 'running') return 'running'
  if (failures.includes(state)) return 'failed'
  return isLate ? 'late' : 'waiting'
}
