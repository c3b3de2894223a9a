import * as v from 'valibot'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import { wrongIn } from '#renderer/components/fields/readForm.ts'
import { MethodLabel, type NewMethod, PhoneNumber, SixDigits } from '#shared/account/two-factor.ts'
import type { Problem } from '#shared/problem.ts'

/** The form of a new method, with its authenticator secret or the code sent to its phone. */
export class NewMethodDraft {
  kind: 'totp' | 'sms' = $state('totp')
  label = $state('')
  code = $state('')
  phone = $state('')
  tried = $state(false)
  problem: Problem | undefined = $state.raw()
  /** The authenticator's secret and its otpauth address. */
  setup: { secret: string; uri: string } | undefined = $state.raw()
  /** The secret that goes back with the text message's code, and the number it went to. */
  sent: { secret: string; phone: string } | undefined = $state.raw()
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** Whether its code cannot be entered yet, since none was sent. */
  readonly unsent = $derived(this.kind === 'sms' && this.sent === undefined)
  readonly errors = $derived.by(() => ({
    label: wrongIn(MethodLabel, this.label),
    code: this.tried ? wrongIn(SixDigits, this.code) : undefined,
    phone:
      this.kind === 'sms' && (this.tried || this.problem?.field === 'phone')
        ? wrongIn(PhoneNumber, this.phone)
        : undefined,
  }))

  /** Asks for an authenticator's secret, once. */
  async setUp(): Promise<void> {
    if (this.setup) return
    await this.#attempt(async () => {
      this.setup = await this.#page.berth.setUpTotp({})
    })
  }

  /** Sends a code to the phone; `again` resends it. */
  async send(again = false): Promise<void> {
    const phone = v.safeParse(PhoneNumber, this.phone)
    if (!phone.success) {
      this.problem = { code: 'invalid_argument', message: '', field: 'phone' }
      return
    }
    const request = { phone: phone.output }
    await this.#attempt(async () => {
      const { secret } = await (again
        ? this.#page.berth.resendSmsCode({ request })
        : this.#page.berth.sendSmsCode({ request }))
      this.sent = { secret, phone: phone.output }
    })
  }

  /** Adds the method. Gives the backup codes that come with a first one; undefined where it was not added. */
  async add(): Promise<{ backupCodes?: readonly string[] } | undefined> {
    this.tried = true
    this.problem = undefined
    const { errors } = this
    if (errors.label || errors.code || errors.phone) return undefined
    const method = this.#method()
    if (!method) return undefined
    return this.#attempt(() => this.#page.berth.addMethod({ method }))
  }

  #method(): NewMethod | undefined {
    const label = this.label.trim()
    const rest = { code: this.code, ...(label ? { label } : {}) }
    if (this.kind === 'totp') return this.setup && { kind: 'totp', secret: this.setup.secret, ...rest }
    return this.sent && { kind: 'sms', secret: this.sent.secret, phone: this.sent.phone, ...rest }
  }

  async #attempt<Answer>(doing: () => Promise<Answer>): Promise<Answer | undefined> {
    this.problem = undefined
    try {
      return await doing()
    } catch (error) {
      this.problem = answerProblem(error)
      return undefined
    }
  }
}
