import { Draw } from '../draw.ts'

/** Codes in one generation (section 8). */
const COUNT = 10
/** No 0, O, 1 or I: they are read from paper. */
const letters = [...'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'] as [string, ...string[]]

/** The account's backup codes: `XXXX-XXXX-XXXX`, each good once. */
export class BackupCodes {
  readonly #seed: number
  #generation = 0
  #left = new Set<string>()

  constructor(seed: number) {
    this.#seed = seed
  }

  get remaining(): number {
    return this.#left.size
  }

  /** Replaces all codes by new ones, and gives them. */
  generate(): string[] {
    const draw = new Draw(this.#seed, 'backup codes', this.#generation++)
    const group = () => Array.from({ length: 4 }, () => draw.pick(letters)).join('')
    this.#left = new Set()
    while (this.#left.size < COUNT) this.#left.add(`${group()}-${group()}-${group()}`)
    return [...this.#left]
  }

  /** Uses a code up; false when there is no such code, or none any more. */
  use(code: string): boolean {
    return this.#left.delete(code.trim().toUpperCase())
  }

  clear(): void {
    this.#left.clear()
  }
}
