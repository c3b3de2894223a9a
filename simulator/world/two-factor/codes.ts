import { Secret, TOTP } from 'otpauth'
import { Draw, secret } from '../draw.ts'

/** Codes in one generation (section 8). */
const COUNT = 10
/** No 0, O, 1 or I: they are read from paper. */
const letters = [...'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'] as [string, ...string[]]

/** The account's backup codes: `XXXX-XXXX-XXXX`, each valid once. */
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

/** Bytes of a secret, as RFC 4226 recommends. */
const SECRET_BYTES = 20

/** Authenticator apps by RFC 6238: SHA-1, 6 digits, 30 seconds of real time. */
export class Authenticators {
  readonly #seed: number
  readonly #issued = new Set<string>()

  constructor(seed: number) {
    this.#seed = seed
  }

  /** Makes a new secret in base32, with its otpauth address for a QR code, which configures nothing yet. */
  setUp(account: string): { secret: string; uri: string } {
    const bytes = Buffer.from(secret(this.#seed, 'authenticator', this.#issued.size), 'hex')
    const totp = new TOTP({
      issuer: 'Simulated GPU Cloud',
      label: account,
      secret: new Secret({ buffer: new Uint8Array(bytes.subarray(0, SECRET_BYTES)).buffer }),
    })
    this.#issued.add(totp.secret.base32)
    return { secret: totp.secret.base32, uri: totp.toString() }
  }

  /** Whether `setUp` gave out this base32 secret. */
  issued(base32: string): boolean {
    return this.#issued.has(base32)
  }
}

/** Whether a code matches a base32 secret now, one step early or late. A code can be used again within its time. */
export function fitsNow(base32: string, code: string): boolean {
  return new TOTP({ secret: Secret.fromBase32(base32) }).validate({ token: code, window: 1 }) !== null
}
