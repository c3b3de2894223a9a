import { appendFileSync, readFileSync } from 'node:fs'
import { appendFile, chmod, rename, rm, stat } from 'node:fs/promises'

/** Bytes in a file before the next one begins, and how many full ones are kept beside it: `….1` is the newest. */
export interface Rotation {
  largest: number
  kept: number
}

/** A file that lines are added to, only its user's to read. What cannot be written, on a full disk say, is lost. */
export class RotatingFile {
  readonly #path: string
  readonly #rotation: Rotation
  #size = 0
  #waiting: string[] = []
  #writing: Promise<void> | undefined

  constructor(path: string, rotation: Rotation) {
    this.#path = path
    this.#rotation = rotation
  }

  /** Finds what is there already; gives its last lines, up to 64 KB of them. */
  async open(): Promise<string[]> {
    this.#size = await stat(this.#path).then(
      file => file.size,
      () => 0,
    )
    if (this.#size === 0) return []
    await chmod(this.#path, 0o600).catch(() => undefined)
    try {
      const text = readFileSync(this.#path, 'utf8')
      return text
        .slice(-65_536)
        .split('\n')
        .slice(text.length > 65_536 ? 1 : 0, -1)
    } catch {
      return []
    }
  }

  add(line: string): void {
    // A disk that hangs must not fill the memory.
    if (this.#waiting.length < 10_000) this.#waiting.push(`${line}\n`)
    this.#writing ??= this.#write()
  }

  /** Adds a line before it returns: for a process that is about to end. */
  addNow(line: string): void {
    const lines = [...this.#waiting.splice(0), `${line}\n`].join('')
    try {
      appendFileSync(this.#path, lines, { mode: 0o600 })
    } catch {
      // Lost, as above.
    }
  }

  /** Resolves when what was added is written. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  async #write(): Promise<void> {
    // Whatever is said in the same breath is written at once.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const text = this.#nextPart()
      const bytes = Buffer.byteLength(text)
      try {
        if (this.#size > 0 && this.#size + bytes > this.#rotation.largest) await this.#rotate()
        await appendFile(this.#path, text, { mode: 0o600 })
        this.#size += bytes
      } catch {
        // Lost, as above.
      }
    }
    this.#writing = undefined
  }

  /** As many lines as fit into one file, and at least one. */
  #nextPart(): string {
    let text = ''
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0] ?? ''
      if (text !== '' && text.length + next.length > this.#rotation.largest / 4) break
      text += next
      this.#waiting.shift()
    }
    return text
  }

  async #rotate(): Promise<void> {
    const { kept } = this.#rotation
    await rm(`${this.#path}.${kept}`, { force: true })
    for (let number = kept - 1; number >= 1; number--)
      await rename(`${this.#path}.${number}`, `${this.#path}.${number + 1}`).catch(() => undefined)
    await rename(this.#path, `${this.#path}.1`)
    this.#size = 0
  }
}
