import { refusal } from '../errors.ts'

/** The public deployment's documents name the limit of variables, but neither length: these are our own. */
const MOST_VARIABLES = 16
const LONGEST_NAME = 256
const LONGEST_VALUE = 16_384

/** The account's environment variables, which every container gets that is made from then on. */
export class EnvironmentVariables {
  readonly #values = new Map<string, string>()

  /** Names in the order they were added, with their values. */
  all(): ReadonlyMap<string, string> {
    return this.#values
  }

  /** Throws 400 `existing_key`, `max_secrets`, or as `nameOf` and `check` do. */
  add(text: string, value: string): void {
    const name = nameOf(text)
    checkValue(value)
    if (this.#values.has(name)) throw refusal(400, 'existing_key', `${name} already exists.`)
    if (this.#values.size >= MOST_VARIABLES) {
      const msg = `User has reached the limit of ${MOST_VARIABLES} environment variables.`
      throw refusal(400, 'max_secrets', msg)
    }
    this.#values.set(name, value)
  }

  /** Throws 400 `nonexistent_key`. */
  change(text: string, value: string): void {
    const name = this.#known(text)
    checkValue(value)
    this.#values.set(name, value)
  }

  /** Throws 400 `nonexistent_key`. */
  remove(text: string): void {
    this.#values.delete(this.#known(text))
  }

  #known(text: string): string {
    const name = nameOf(text)
    if (!this.#values.has(name)) throw refusal(400, 'nonexistent_key', 'Environment variable not found')
    return name
  }
}

/** A variable's name, in capitals as the service stores it. Throws 400. */
function nameOf(text: string): string {
  if (text === '') throw refusal(400, 'missing_input', "'key' required.")
  if (text.length > LONGEST_NAME) throw refusal(400, 'input_too_long', 'The key is too long.')
  if (!/^[a-zA-Z_]\w*$/.test(text))
    throw refusal(400, 'invalid_characters', 'The key has invalid characters.')
  return text.toUpperCase()
}

function checkValue(value: string): void {
  if (value === '') throw refusal(400, 'empty_input', 'The value is empty.')
  if (value.length > LONGEST_VALUE) throw refusal(400, 'input_too_long', 'The value is too long.')
}
