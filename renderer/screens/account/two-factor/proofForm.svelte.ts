import * as v from 'valibot'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import { focusFirstError } from '#renderer/components/answers/fieldErrors.svelte.ts'
import { wrongIn } from '#renderer/components/fields/readForm.ts'
import { BackupCode, PhoneNumber, type Proof, SixDigits } from '#shared/account/two-factor.ts'
import type { Problem } from '#shared/problem.ts'
import type { MethodChoice } from './words.ts'

/** Seconds of the account's time that a sent code is valid for (section 8). */
const codeLife = 600

/** Sends the code of a choice; `again` resends it, with its secret where that is known. */
export type SendCode = (choice: MethodChoice, again?: { secret?: string }) => Promise<{ secret: string }>

/** The input of a proof: way, code, and the code sent for it. Forgotten with its dialog. */
export class ProofForm {
  chosen = $state('')
  code = $state('')
  backupCode = $state('')
  /** Typed where the methods are unknown. */
  methodId = $state('')
  /** Likewise, for a text message; optional where the account has a number. */
  phone = $state('')
  tried = $state(false)
  busy = $state(false)
  problem: Problem | undefined = $state.raw()
  #sent: { choice: string; secret: string; at: number } | undefined = $state.raw()
  #locks: Readonly<Record<string, number>> = $state.raw({})
  readonly #page: Page
  readonly #choices: () => readonly MethodChoice[]
  readonly #sendCode: SendCode

  constructor(page: Page, choices: () => readonly MethodChoice[], sendCode?: SendCode) {
    this.#page = page
    this.#choices = choices
    this.#sendCode = sendCode ?? ((choice, again) => this.#sendAnywhere(choice, again))
  }

  readonly choices = $derived.by(() => this.#choices())
  readonly choice = $derived(this.choices.find(({ id }) => id === this.chosen) ?? this.choices[0])
  /** Seconds until the chosen method is free again; 0 when it is. */
  readonly lockedFor = $derived.by(() => {
    const { choice } = this
    if (!choice) return 0
    const until = Math.max(choice.lockedUntil ?? 0, this.#locks[choice.id] ?? 0)
    return this.#page.secondsUntil(until)
  })
  readonly needsSending = $derived(this.choice?.way === 'sms' || this.choice?.way === 'email')
  readonly #current = $derived(this.#sent?.choice === this.choice?.id ? this.#sent : undefined)
  /** Seconds that the code sent is still valid for; undefined while none was sent. */
  readonly validFor = $derived.by(() => this.#current && this.#page.secondsUntil(this.#current.at + codeLife))
  /** Whether its code cannot be entered yet, since none was sent. */
  readonly unsent = $derived(this.needsSending && this.#current === undefined)
  /** Whether no proof is possible now. */
  readonly waiting = $derived(this.lockedFor > 0 || this.unsent)
  readonly errors = $derived.by(() => {
    if (!this.tried) return {}
    if (this.choice?.way === 'backup') return { backupCode: wrongIn(BackupCode, this.backupCode) }
    return {
      code: wrongIn(SixDigits, this.code),
      phone: this.#phoneError(),
      methodId: this.#method() === null ? 'Enter a whole number.' : undefined,
    }
  })

  /** Sends a code; resends it while an earlier one is valid. */
  async send(): Promise<void> {
    const { choice } = this
    if (!choice) return
    if (this.#phoneError()) {
      this.tried = true
      return
    }
    const { secret } = this
    await this.#sendFor(choice, secret !== undefined && this.validFor ? { secret } : undefined)
  }

  /** Whether an earlier code is still open, whose secret only a resend gives. */
  readonly resendOffered = $derived(this.problem?.code === 'tfa_challenge_exists')

  async resend(): Promise<void> {
    if (this.choice) await this.#sendFor(this.choice, {})
  }

  async #sendFor(choice: MethodChoice, again: { secret?: string } | undefined): Promise<void> {
    this.problem = undefined
    try {
      const { secret } = await this.#sendCode(choice, again)
      this.#sent = { choice: choice.id, secret, at: this.#page.accountNow }
    } catch (error) {
      this.fail(error)
    }
  }

  #phoneError(): string | undefined {
    return this.phone.trim() === '' ? undefined : wrongIn(PhoneNumber, this.phone)
  }

  /** The secret of the code that was sent for the choice. */
  get secret(): string | undefined {
    return this.#current?.secret
  }

  /** The proof from the input; undefined while it is incomplete or invalid, with the errors shown. */
  proof(): Proof | undefined {
    this.tried = true
    this.problem = undefined
    const { choice } = this
    if (!choice || this.waiting || Object.values(this.errors).some(Boolean)) return undefined
    const method = this.#method() ?? undefined
    const one = method === undefined ? {} : { method }
    switch (choice.way) {
      case 'backup':
        return { with: 'backup', backupCode: this.backupCode }
      case 'totp':
        return { with: 'totp', code: this.code, ...one }
      case 'sms':
      case 'email': {
        const { secret } = this
        if (secret === undefined) return undefined
        return choice.way === 'sms'
          ? { with: 'sms', code: this.code, secret, ...one }
          : { with: 'email', code: this.code, secret }
      }
    }
  }

  /** Sends the proof, one at a time. A failure is shown, and then `refused` is called. */
  async prove(ask: (proof: Proof) => Promise<unknown>, refused?: () => unknown): Promise<void> {
    if (this.busy) return
    const proof = this.proof()
    if (!proof) return focusFirstError()
    this.busy = true
    try {
      await ask(proof)
    } catch (error) {
      this.fail(error)
      refused?.()
    } finally {
      this.busy = false
    }
  }

  /** Shows a failure, and notes the lock that came with it. */
  fail(error: unknown): void {
    const problem = answerProblem(error)
    this.problem = problem
    // The service's clock decides: the code has expired.
    if (problem.code === '2fa_expired' && this.#sent) this.#sent = { ...this.#sent, at: 0 }
    if (problem.lockedUntil !== undefined && this.choice)
      this.#locks = { ...this.#locks, [this.choice.id]: problem.lockedUntil }
  }

  /** The method's id: the choice's, or the typed one; undefined for none, null where the text is no id. */
  #method(): number | undefined | null {
    if (this.choice?.method !== undefined) return this.choice.method
    const typed = this.methodId.trim()
    if (typed === '' || this.choice?.way === 'email' || this.choice?.way === 'backup') return undefined
    const id = Number(typed)
    return Number.isSafeInteger(id) && id >= 1 ? id : null
  }

  #sendAnywhere(choice: MethodChoice, again: { secret?: string } | undefined): Promise<{ secret: string }> {
    const { berth } = this.#page
    if (choice.way === 'email') return berth.sendEmailCode(again ?? {})
    const method = this.#method()
    const phone = v.safeParse(PhoneNumber, this.phone)
    const request = {
      ...(typeof method === 'number' ? { method } : {}),
      ...(phone.success ? { phone: phone.output } : {}),
      ...again,
    }
    return again ? berth.resendSmsCode({ request }) : berth.sendSmsCode({ request })
  }
}
