import { notFound, refusal } from '#simulator/errors.ts'
import type { WorldClock } from '../clock.ts'
import { Draw } from '../draw.ts'
import { publicTemplates, strangersTemplates } from './public-templates.ts'
import { hashOf, type Template, type TemplateContent } from './template.ts'

const DAY = 86_400_000

/** The templates of the service: a public catalogue, private ones of other people, and the account's own. */
export class Templates {
  readonly #clock: WorldClock
  readonly #userId: number
  readonly #all = new Map<number, Template>()
  #nextId: number

  constructor(seed: number, clock: WorldClock, userId: number) {
    const draw = new Draw(seed, 'templates')
    this.#clock = clock
    this.#userId = userId
    this.#nextId = draw.integer(60_000, 90_000)
    const house = draw.integer(10, 99)
    for (const { content, recommended, popularity } of publicTemplates) {
      this.#seed(draw, recommended ? house : draw.integer(1000, 99_999), content, recommended, popularity)
    }
    for (const content of strangersTemplates) this.#seed(draw, draw.integer(1000, 99_999), content, false, 3)
    this.#nextId = draw.integer(200_000, 290_000)
  }

  /** The templates that the account may see, oldest first. */
  visible(): Template[] {
    return [...this.#all.values()].filter(template => this.#sees(template))
  }

  /** The template with this `hash_id`, if the account may use it. */
  find(hashId: string): Template | undefined {
    return this.visible().find(template => template.hashId === hashId)
  }

  /** Counts an instance made from it; `at` is world milliseconds. */
  launched(hashId: string, at: number): void {
    const template = this.find(hashId)
    if (!template) return
    template.launches += 1
    template.lastLaunch = at
  }

  create(content: TemplateContent): Template {
    const now = this.#clock.now()
    return this.#add(this.#userId, now, content, { recommended: false, launches: 0, lastLaunch: now })
  }

  /** Changes the given fields, after which the old hash is unknown. Throws 404 `not_found`, 403 `forbidden`. */
  edit(hashId: string, changes: Partial<TemplateContent>): Template {
    const template = this.#own(this.find(hashId), `There is no template ${hashId}.`)
    template.content = { ...template.content, ...changes }
    template.edits += 1
    template.hashId = hashOf(template.id, template.edits, template.content)
    return template
  }

  /** Throws 404 `not_found`, 403 `forbidden`. */
  remove(id: number): void {
    const template = this.#all.get(id)
    const seen = template && this.#sees(template) ? template : undefined
    this.#all.delete(this.#own(seen, `There is no template ${id}.`).id)
  }

  #sees({ content, creatorId }: Template): boolean {
    return !content.private || creatorId === this.#userId
  }

  #own(template: Template | undefined, missing: string): Template {
    if (!template) throw notFound(missing)
    if (template.creatorId === this.#userId) return template
    throw refusal(403, 'forbidden', 'This template belongs to someone else.')
  }

  #seed(
    draw: Draw,
    creatorId: number,
    content: TemplateContent,
    recommended: boolean,
    popularity: number,
  ): void {
    const now = this.#clock.now()
    this.#nextId += draw.integer(1, 700)
    const launches = Math.round(popularity * draw.between(0.7, 1.4))
    const lastLaunch = now - Math.round((DAY * draw.between(0.2, 3)) / (1 + popularity / 100))
    this.#add(creatorId, now - Math.round(draw.between(20, 900) * DAY), content, {
      recommended,
      launches,
      lastLaunch,
    })
  }

  #add(
    creatorId: number,
    created: number,
    content: TemplateContent,
    use: Pick<Template, 'recommended' | 'launches' | 'lastLaunch'>,
  ): Template {
    const id = this.#nextId
    this.#nextId += 1
    const template = { id, creatorId, created, edits: 0, content, hashId: hashOf(id, 0, content), ...use }
    this.#all.set(id, template)
    return template
  }
}
