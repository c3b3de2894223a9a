import * as v from 'valibot'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { Submission } from '#renderer/components/answers/submission.svelte.ts'
import { number, readForm, typedNumber } from '#renderer/components/fields/readForm.ts'
import { rentalCost } from '#renderer/features/market/cost.ts'
import { RunDraft } from '#renderer/features/runs/runDrafts.svelte.ts'
import { stopperWords } from '#shared/automation/limit-words.ts'
import { stoppersOf } from '#shared/automation/limits-that-block.ts'
import type { RunRequest } from '#shared/automation/run.ts'
import { WatchRents, WatchRequest, type WatchView } from '#shared/automation/watch.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import { OfferFilter } from '#shared/market/offer-query.ts'
import type { OpenRequest } from '#shared/market/rent-request.ts'
import type { Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { LimitsForm } from '../rent/limitsForm.svelte.ts'
import { RentForm } from '../rent/rentForm.svelte.ts'
import { someMachine } from '../rent/rentSubject.ts'

/** The subject of a watch's dialog. */
export interface WatchSubject {
  search: WatchRequest['search']
  /** A suggested name. */
  name: string
  /** The watch to change; absent for a new one. */
  watch?: WatchView
  /** The offers that match now, as far as the page knows. */
  matching: readonly ListedOffer[]
}

/** A watch's form: its name and interval, and the rental it makes automatically, with limits. */
export class WatchForm {
  readonly #page: Page
  readonly #subject: WatchSubject
  readonly #untouched: string
  readonly #sending = new Submission()
  name = $state('')
  /** Minutes. */
  every = $state('5')
  /** Dollars per hour below which it notifies, empty for any price; what it rents has its own limit. */
  below = $state('')
  /** Whether it rents automatically. */
  rents = $state(false)
  machines = $state('1')
  readonly limits: LimitsForm
  /** The rental that it makes, with the fields of any rental. */
  readonly renting: RentForm
  #tried = $state(false)

  constructor(page: Page, subject: WatchSubject) {
    this.#page = page
    this.#subject = subject
    const { search, watch } = subject
    const { request, limits, most } = watch?.rents ?? {}
    const { priceTo } = search.filter
    const interruptible = search.query.type === 'bid'
    this.name = watch?.name ?? subject.name
    if (watch) this.every = String(watch.every)
    if (priceTo !== undefined) this.below = String(priceTo)
    this.rents = watch?.rents !== undefined
    if (most !== undefined) this.machines = String(most)
    this.limits = new LimitsForm(interruptible, {
      deadline: page.state?.settings.rentalDeadline,
      price: priceTo,
      ...limits,
    })
    this.renting = new RentForm(page, {
      offer: someMachine(watch?.best ?? subject.matching[0]?.offer ?? { id: 1 }),
      pricedDisk: search.query.storage,
      interruptible,
      request,
      otherwise: {
        check: () => this.#check(),
        send: async ({ offer: _later, ...wanted }, run) => {
          await this.#send(wanted, run)
          return undefined
        },
      },
      later: {
        bid: String(request?.bid ?? priceTo ?? ''),
        secrets: new Set(request?.env.filter(({ secret }) => secret).map(({ name }) => name)),
        registry: request?.registry,
      },
    })
    if (watch?.run) this.renting.run = new RunDraft(watch.run)
    this.#untouched = this.#typed()
  }

  readonly #own = $derived.by(() =>
    readForm(this.rents ? OwnAndRents : Own, {
      name: this.name,
      every: number(this.every),
      below: this.below.trim() === '' ? undefined : number(this.below),
      most: number(this.machines),
    }),
  )

  /** The errors in its own fields, after an attempt to save. */
  readonly errors: Partial<Record<'name' | 'every' | 'below' | 'most', string>> = $derived(
    (this.#tried && this.#own.errors) || {},
  )

  /** How many of the offers shown it would rent once saved, and the price of the cheapest. */
  readonly now: ReturnType<typeof wouldRent> = $derived.by(() => {
    if (!this.rents) return { many: 0 }
    const { storage, type } = this.#subject.search.query
    const interruptible = type === 'bid'
    return wouldRent(this.#subject.matching, {
      most: typedNumber(interruptible ? this.renting.draft.bid : this.limits.price),
      interruptible,
      pricedDisk: storage,
      disk: typedNumber(this.renting.draft.disk) ?? storage,
    })
  })

  /** Warnings about limits that would stop its rental at once: until then it rents nothing. */
  readonly stoppers: readonly string[] = $derived.by(() => {
    const { account, accountNow } = this.#page
    if (!this.rents || !account) return []
    return stoppersOf(account, { more: this.now.many > 0 ? (this.now.cheapest ?? 0) : 0 }, accountNow).map(
      stopperWords,
    )
  })

  get busy(): boolean {
    return this.#sending.busy || this.renting.sending
  }

  /** Why it was refused, where that concerns no field. */
  get problem(): Problem | undefined {
    return this.rents ? this.renting.problem : this.#sending.problem
  }

  get touched(): boolean {
    return this.#typed() !== this.#untouched
  }

  /** Saves it once. True when it is stored; false when something is wrong, shown in `errors` or `problem`. */
  save(): Promise<boolean> {
    if (this.rents) return this.renting.rent()
    return this.#sending.send(this.#check() && (() => this.#send()))
  }

  #check(): boolean {
    this.#tried = true
    const within = !this.rents || this.limits.limits() !== undefined
    return within && this.#own.value !== undefined
  }

  async #send(request?: OpenRequest, run?: RunRequest): Promise<void> {
    const own = this.#own.value
    const limits = this.limits.limits()
    if (!own) return
    const { name, every } = own
    const { search, watch } = this.#subject
    const most = 'most' in own ? own.most : undefined
    const watchRequest: WatchRequest = request
      ? {
          name,
          every,
          // Prices include the disk that is rented, not the one of the search.
          search: { ...search, query: { ...search.query, storage: request.disk } },
          rents: limits && most !== undefined ? { request, limits, most } : undefined,
        }
      : {
          name,
          every,
          search: {
            ...search,
            filter: { ...search.filter, priceTo: 'below' in own ? own.below : undefined },
          },
        }
    await this.#page.berth.saveWatch({ request: watchRequest, run, watch: watch?.id })
  }

  #typed(): string {
    const { name, every, below, rents, machines, renting, limits } = this
    const { attempts, ceiling, deadline, price } = limits
    return JSON.stringify({
      name,
      every,
      below,
      rents,
      machines,
      draft: renting.draft,
      run: renting.run && [renting.run.fields, renting.run.chosen],
      attempts,
      ceiling,
      deadline,
      price,
    })
  }
}

const nameAndTime = v.pick(WatchRequest, ['name', 'every']).entries
const Own = v.object({ ...nameAndTime, below: OfferFilter.entries.priceTo })
const OwnAndRents = v.object({ ...nameAndTime, most: WatchRents.entries.most })

/** The price limit and the disk of a watch. */
interface Terms {
  /** Dollars per hour: the highest price, or the highest bid. */
  most: number | undefined
  interruptible: boolean
  /** GB that the prices of the offers include, and GB that are rented. */
  pricedDisk: number
  disk: number
}

/** How many of these offers a watch would rent on these terms now, and the cheapest price of all on them. */
function wouldRent(
  offers: readonly ListedOffer[],
  { most, interruptible, pricedDisk, disk }: Terms,
): { many: number; cheapest?: Micros } {
  const prices = offers.flatMap(({ price, offer }) => {
    const bidRequest = interruptible
      ? (offer.minimumBid ?? price)
      : (rentalCost(offer, pricedDisk, disk, undefined)?.perHour ?? price)
    return bidRequest ?? []
  })
  if (prices.length === 0) return { many: 0 }
  const many = most === undefined ? 0 : prices.filter(price => price <= micros(most)).length
  return { many, cheapest: Math.min(...prices) }
}
