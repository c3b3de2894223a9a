import * as v from 'valibot'
import type { AccountContext } from '#core/account-context.ts'
import { absentUntil } from '#core/money/charges.ts'
import { type Document, openDocument } from '#core/storage/json-file.ts'

/** Seconds between requests. */
const askedEvery = 600

const Stored = v.object({
  /** Until when nothing is requested, since the service has no such list; epoch seconds. */
  absentUntil: v.optional(v.number()),
})

/** Reads a list of the service every ten minutes, and where the service has none only once in a while. */
export class RareReading {
  readonly #context: Pick<AccountContext, 'quitting' | 'now'>
  readonly #stored: Document<v.InferOutput<typeof Stored>>
  readonly #read: () => Promise<void>
  #askedAt: number | undefined
  #asking: Promise<void> | undefined

  /** `name` of the file that keeps whether the service has it. `read` may reject. */
  static async open(context: AccountContext, name: string, read: () => Promise<void>): Promise<RareReading> {
    return new RareReading(context, await openDocument(context, name, Stored, {}), read)
  }

  constructor(
    context: Pick<AccountContext, 'quitting' | 'now'>,
    stored: Document<v.InferOutput<typeof Stored>>,
    read: () => Promise<void>,
  ) {
    this.#context = context
    this.#stored = stored
    this.#read = read
  }

  /** `hasNews`: there is something that the last answer could not have. Gives whether it reads now. */
  onPoll(at: number, hasNews: boolean): boolean {
    const isOld = this.#askedAt === undefined || Math.abs(at - this.#askedAt) >= askedEvery
    if (this.#asking !== undefined || this.#context.quitting.aborted || !(isOld || hasNews)) return false
    if ((this.#stored.get().absentUntil ?? 0) > at) return false
    this.#askedAt = at
    this.#asking = this.#ask().finally(() => {
      this.#asking = undefined
    })
    return true
  }

  /** The next poll reads it. */
  resume(): void {
    this.#askedAt = undefined
  }

  async flush(): Promise<void> {
    await this.#asking
    await this.#stored.flush()
  }

  async #ask(): Promise<void> {
    const { quitting, now } = this.#context
    try {
      await this.#read()
    } catch (error) {
      const until = absentUntil(error, now())
      if (!quitting.aborted && until !== undefined) this.#stored.writeSoon(() => ({ absentUntil: until }))
    }
  }
}
