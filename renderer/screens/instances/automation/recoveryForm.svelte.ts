import { type FormErrors, number, readForm, typedNumber } from '#renderer/components/fields/readForm.ts'
import { RecoveryChoice, usualCeiling, usualRecovery } from '#shared/automation/recovery.ts'
import { rate } from '#shared/format/money.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { micros } from '#shared/spending/money.ts'

type Kind = RecoveryChoice['kind']

/** The input of the dialog for a recovery. */
export class RecoveryForm {
  kind: Kind = $state('tell')
  /** Dollars per hour. */
  ceiling = $state('')
  /** Minutes. */
  every = $state(String(usualRecovery.every / 60))
  attempts = $state(String(usualRecovery.limits.attempts))
  /** Dollars. */
  cost = $state(usualRecovery.limits.ceiling.toFixed(2))
  /** Minutes. */
  deadline = $state(String(usualRecovery.limits.deadline / 60))
  #tried = $state(false)
  readonly #instance: () => InstanceView

  constructor(choice: RecoveryChoice | undefined, latest: () => InstanceView) {
    this.#instance = latest
    const instance = latest()
    // Half as much again, within the bounds of a bid: a default that the user sees and can change.
    const bid = Math.max(instance.bid ?? 0, instance.minimumBid ?? 0) / 1_000_000
    this.ceiling = String(usualCeiling(bid))
    if (!choice || choice.kind === 'tell') return
    this.kind = choice.kind
    this.ceiling = String(choice.ceiling)
    this.every = String(choice.every / 60)
    if (choice.kind !== 'replace') return
    this.attempts = String(choice.limits.attempts)
    this.cost = String(choice.limits.ceiling)
    this.deadline = String(choice.limits.deadline / 60)
  }

  readonly #read = $derived.by(() => {
    const ceiling = number(this.ceiling)
    const every = number(this.every, 60)
    const limits = {
      attempts: number(this.attempts),
      ceiling: number(this.cost),
      deadline: number(this.deadline, 60),
    }
    return readForm(RecoveryChoice, {
      kind: this.kind,
      ...(this.kind === 'tell' ? {} : { ceiling, every }),
      ...(this.kind === 'replace' ? { limits } : {}),
    })
  })

  /** The message for a ceiling that is not above the bid and the lowest bid: no raise could have an effect. */
  readonly useless: string | undefined = $derived.by(() => {
    const ceiling = typedNumber(this.ceiling)
    const { bid = 0, minimumBid = 0 } = this.#instance()
    if (this.kind === 'tell' || ceiling === undefined || Number.isNaN(ceiling)) return undefined
    if (micros(ceiling) > Math.max(bid, minimumBid)) return undefined
    const [most, what] = bid > minimumBid ? [bid, 'the bid'] : [minimumBid, 'the lowest bid']
    return this.kind === 'raise'
      ? `That has no effect: ${what} is already ${rate(most)}. Give more than that.`
      : `Only a cheaper machine would match: ${what} here is ${rate(most)}.`
  })

  /** A message by field: `ceiling`, `every`, `limits.attempts`, `limits.ceiling` or `limits.deadline`. */
  readonly errors: FormErrors = $derived((this.#tried && this.#read.errors) || {})

  /** The choice; undefined while the input is wrong. From then on the errors are shown. */
  choice(): RecoveryChoice | undefined {
    this.#tried = true
    return this.kind === 'raise' && this.useless !== undefined ? undefined : this.#read.value
  }
}
