import { notFound } from '../errors.ts'

/** The account's things of one kind, by ids that count up. */
export class Collection<Item extends { readonly id: number }> {
  protected readonly noun: string
  readonly #items = new Map<number, Item>()
  #nextId: number

  constructor(noun: string, firstId: number) {
    this.noun = noun
    this.#nextId = firstId
  }

  /** Oldest first. */
  list(): Item[] {
    return [...this.#items.values()]
  }

  find(id: number): Item | undefined {
    return this.#items.get(id)
  }

  /** Throws 404 `not_found`. */
  get(id: number): Item {
    const item = this.find(id)
    if (!item) throw notFound(`There is no ${this.noun} ${id}.`)
    return item
  }

  /** Removes one. Throws 404 `not_found`. */
  remove(id: number): void {
    this.#items.delete(this.get(id).id)
  }

  /** Adds what `make` gives for the next id. */
  protected add(make: (id: number) => Item): Item {
    const item = make(this.#nextId)
    this.#nextId += 1
    this.#items.set(item.id, item)
    return item
  }
}
