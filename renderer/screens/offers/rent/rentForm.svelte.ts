import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import { FieldErrors } from '#renderer/components/answers/fieldErrors.svelte.ts'
import { withMost } from '#renderer/features/market/cost.ts'
import { marketOf } from '#renderer/features/market/market.svelte.ts'
import { draftFrom, emptyDraft, freshDraft } from '#renderer/features/market/rentDefaults.ts'
import { newVolume, noVolume, type RentDraft } from '#renderer/features/market/rentDraft.ts'
import { fieldOfPath, type RentErrors, readDraft, sentRows } from '#renderer/features/market/rentForm.ts'
import {
  type FilledField,
  type FilledValues,
  filledValues,
  overridden,
  type RentTemplate,
  rentTemplate,
  unmetConditions,
  withFilled,
  withLeftOut,
} from '#renderer/features/market/rentTemplate.ts'
import type { RunDraft } from '#renderer/features/runs/runDrafts.svelte.ts'
import { templatesView } from '#renderer/features/templates/templatesView.svelte.ts'
import { type Capabilities, describedCapabilities } from '#shared/account/capabilities.ts'
import { counted } from '#shared/format/size.ts'
import { soundsSecret } from '#shared/instance/secrets.ts'
import { type DockerOptions, portText } from '#shared/market/docker-options.ts'
import { readPastedOptions } from '#shared/market/pasted-options.ts'
import type { watchdogFrom } from '#shared/market/rent-request.ts'
import type { TemplateView } from '#shared/market/template.ts'
import type { Problem } from '#shared/problem.ts'
import { RentalPrice } from './rentalPrice.svelte.ts'
import type { RentSubject } from './rentSubject.ts'

/** The most machines that one click rents. */
const highestCount = 16

/** The name of one of several machines: `train-2`, or the name alone of a single one. */
export function numbered(label: string | undefined, index: number, count: number): string | undefined {
  return label === undefined || count < 2 ? label : `${label}-${index + 1}`
}

/** A rental's form, which keeps all input until it is rented or given up. */
export class RentForm {
  readonly subject: RentSubject
  readonly #page: Page
  /** The whole draft as it was first shown. */
  readonly #untouched: string
  /** The fields' values without a template. */
  readonly #fresh: FilledValues
  /** The values filled in last: a field that still has its own was not edited. */
  #defaults: FilledValues
  draft: RentDraft = $state(emptyDraft())
  /** Whether it is rented by a bid. */
  interruptible = $state(false)
  /** How many machines like this one are rented: each with its number in its name. */
  count = $state(1)
  /** The template to rent from, if any. */
  template: RentTemplate | undefined = $state.raw()
  /** True while sending, and permanently once accepted, so that a second Enter does nothing. */
  sending = $state(false)
  /** Why the rental was refused, where that concerns no field. */
  problem: Problem | undefined = $state.raw()
  /** The command to run on it, if one is filled in. */
  run: RunDraft | undefined = $state.raw()
  readonly price: RentalPrice
  readonly #fields = new FieldErrors(
    () => ('errors' in this.#read ? this.#read.errors : {}),
    field => this.#valueOf(field),
  )
  #lastKey = 0
  /** Those of `count` that were requested. */
  #begun = $state(0)
  /** How many will have been requested then. */
  #last = $state(0)

  constructor(page: Page, subject: RentSubject) {
    this.#page = page
    this.subject = subject
    this.price = new RentalPrice(page, this)
    const { offer, request, later } = subject
    this.interruptible = subject.interruptible
    const fresh = { ...freshDraft(page.account, offer), limits: [...marketOf(page).limits] }
    this.#fresh = filledValues(fresh)
    const draft = request ? draftFrom(request, offer) : fresh
    this.#defaults = filledValues(draft)
    this.draft = draft
    const bid = later?.bid ?? subject.bid
    if (bid !== undefined) this.draft.bid = bid
    this.#lastKey = this.draft.env.length
    if (subject.template) this.use(subject.template)
    if (subject.volume !== undefined) {
      const { mountPath } = newVolume('')
      this.draft.volume = { ...noVolume, mode: 'link', volume: String(subject.volume), mountPath }
    }
    this.#untouched = JSON.stringify(this.draft)
    if (request?.template) void this.#remember(request.template)
  }

  /** Rents from a template, which fills in the fields that were not edited. Undefined rents without one. */
  use(template: TemplateView | undefined): void {
    const chosen = template && rentTemplate(template, this.#fresh)
    const now = chosen?.values?.fields ?? this.#fresh
    this.draft = withFilled(this.draft, this.#defaults, now)
    this.#defaults = now
    this.template = chosen
  }

  /** Rents from an unseen template by its hash; the service checks that it exists. */
  useHash(hash: string): void {
    this.use(undefined)
    this.template = { hash, name: hash }
  }

  /** Fields in which the draft overrides its template. */
  readonly overridden: readonly FilledField[] = $derived.by(() => overridden(this.draft, this.template))

  /** Resets a field to the template's value. */
  backTo(field: FilledField): void {
    const fields = this.template?.values?.fields
    if (fields) this.draft = { ...this.draft, [field]: structuredClone(fields[field]) }
  }

  /** The template's machine filters that this machine does not meet. */
  readonly unmet: readonly string[] = $derived.by(() =>
    this.template && !this.subject.later
      ? unmetConditions(this.template, this.subject.offer, this.interruptible ? 'bid' : 'on-demand')
      : [],
  )

  /** Looks up the template of a remembered rental by its hash, and fills in the fields that the rental left to it. */
  async #remember({ hash, name }: { hash: string; name: string }): Promise<void> {
    this.template = { hash, name }
    const templateList = await templatesView(this.#page)
      .find(hash)
      .catch(() => undefined)
    if (this.template?.hash !== hash || !templateList) return
    const template = rentTemplate(templateList, this.#fresh)
    this.#defaults = template.values?.fields ?? this.#fresh
    this.draft = withLeftOut(this.draft, this.subject.request, this.#defaults)
    this.template = template
  }

  /** `6 of 12` while several are requested. */
  get progress(): string | undefined {
    return this.#last > 1 ? `${Math.min(this.#begun + 1, this.#last)} of ${this.#last}` : undefined
  }

  get capabilities(): Capabilities {
    return this.#page.account?.capabilities ?? describedCapabilities
  }

  /** What decides from when a watchdog can keep its limits. A template's script is known once the template is. */
  get script(): Parameters<typeof watchdogFrom>[0] {
    const { access, onstart } = this.draft
    const isKnown = this.template?.values !== undefined || onstart.trim() !== ''
    return { access, template: this.template, onstart: isKnown ? onstart : undefined }
  }

  /** Whether this machine has no open ports, so that only the proxy reaches it. */
  get proxyOnly(): boolean {
    return this.subject.offer.directPorts === 0 && !this.subject.otherwise
  }

  /** Errors in the fields of the run, after an attempt to rent. */
  readonly runErrors = $derived.by(() => (this.#fields.tried ? this.run?.read.errors : undefined))

  readonly #read = $derived.by(() =>
    readDraft(
      { ...this.draft, direct: this.draft.direct && !this.proxyOnly },
      this.subject.offer,
      this.interruptible,
      this.template,
      this.subject.later,
      this.capabilities,
    ),
  )

  /** Whether the user may switch between the offer's on-demand price and a bid. */
  get maySwitch(): boolean {
    const { interruptible, otherwise, later, offer } = this.subject
    return !interruptible && !otherwise && !later && offer.minimumBid !== undefined
  }

  /** The most machines that can be rented together. */
  get mostAtOnce(): number {
    const { otherwise, later, replaces, alike = [] } = this.subject
    const only = otherwise || later || replaces !== undefined || this.draft.volume.mode !== 'none'
    return only ? 1 : Math.min(highestCount, alike.length + 1)
  }

  /** The errors to show, by field. */
  get errors(): Partial<RentErrors> {
    return this.#fields.shown
  }

  /** Whether the input is complete and valid. */
  get complete(): boolean {
    return 'request' in this.#read && this.#runIsComplete
  }

  get #runIsComplete(): boolean {
    return !this.run || (this.run.read.value !== undefined && this.draft.access !== 'none')
  }

  get touched(): boolean {
    return this.run !== undefined || JSON.stringify(this.draft) !== this.#untouched
  }

  leave(field: string): void {
    this.#fields.leave(field)
  }

  addVariable(): number {
    const key = ++this.#lastKey
    this.draft.env.push({ key, name: '', value: '', secret: false })
    return key
  }

  removeVariable(key: number): void {
    this.draft.env = this.draft.env.filter(row => row.key !== key)
  }

  /** Adds pasted options to rows and ports; gives those that need a value of the user's, and the unread pieces. */
  paste(text: string): Pick<DockerOptions, 'unset' | 'unread'> {
    const { variables, unset, ports, unread } = readPastedOptions(text)
    const before = sentRows(this.draft)
    const filled = (name: string) => before.find(row => row.name.trim() === name && row.value !== '')?.value
    const missing = unset.filter(({ name }) => filled(name) === undefined)
    const given = [...variables, ...missing.map(({ name }) => ({ name, value: '' }))]
    const rows = before.filter(row => !given.some(({ name }) => name === row.name.trim()))
    const added = given.map(({ name, value }) => ({
      key: ++this.#lastKey,
      name,
      value,
      secret: soundsSecret(name),
    }))
    this.draft.env = [...rows, ...added]
    const kept = this.draft.ports.split(/[\s,;]+/).filter(port => port !== '')
    this.draft.ports = [...new Set([...kept, ...ports.map(portText)])].join(', ')
    return { unset: missing, unread }
  }

  /** The rental, or the first of several. */
  rented: string | undefined

  /** Rents once. True when the intent is on disk; false when something is wrong, shown in `errors` or `problem`. */
  async rent(): Promise<boolean> {
    if (this.sending) return false
    this.#fields.tell()
    this.problem = undefined
    const may = this.subject.otherwise?.check() ?? true
    if ('errors' in this.#read || !may || !this.#runIsComplete) return false
    const run = this.run?.read.value
    const { request: read } = this.#read
    const request = read.limits ? { ...read, limits: withMost(read.limits, this.price.shown) } : read
    const account = this.#page.account?.id
    this.sending = true
    const begun = this.#begun
    const rows = sentRows(this.draft)
    try {
      const { otherwise, replaces, search } = this.subject
      if (otherwise) this.rented = await otherwise.send(request, run)
      else {
        const all = [request.offer, ...(this.subject.alike ?? []).map(({ id }) => id)]
        const count = Math.min(this.count, this.mostAtOnce)
        const [from, to] = [this.#begun, this.#begun + count]
        this.#last = to
        for (const offer of all.slice(from, to)) {
          const label = numbered(request.label, this.#begun, to)
          const rental = await this.#page.berth.rent({
            account,
            request: { ...request, offer, label },
            replaces,
            search,
            run,
          })
          this.rented ??= rental
          this.#begun += 1
          marketOf(this.#page).took(offer)
        }
        // As chosen: without SSH no watchdog keeps them, which is no choice for the next one.
        if (!this.subject.request) marketOf(this.#page).limits = $state.snapshot(this.draft.limits)
      }
      return true
    } catch (error) {
      this.sending = false
      const problem = answerProblem(error)
      // Those that were requested are under way: a second click must not rent them again.
      if (this.#begun > begun) {
        this.count -= this.#begun - begun
        this.problem = {
          ...problem,
          message: `${counted(this.#begun, 'machine')} will be there, and no other was requested: ${problem.message}`,
        }
      } else this.#refuse(problem, rows)
      return false
    }
  }

  #refuse(problem: Problem, rows: ReturnType<typeof sentRows>): void {
    const field = problem.field === undefined ? '' : fieldOfPath(problem.field, rows)
    if (field === '') this.problem = problem
    else this.#fields.refuse(field, problem)
  }

  /** A field's content, to notice a change after a refusal. */
  #valueOf(field: string): unknown {
    const [name, key] = field.split('.')
    if (name === 'env') return this.draft.env.filter(row => key === undefined || row.key === Number(key))
    return Object.entries(this.draft).find(([each]) => each === name)?.[1]
  }
}
