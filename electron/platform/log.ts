import { chmodSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ensureFolderSync } from './ensure-folder.ts'
import { createMask } from './mask.ts'
import { appendOwnFileSync, readOwnFileSync, toAppend, withOwnFile } from './own-file.ts'
import type { Log } from './platform.ts'

/** One megabyte, and three full files before it. */
const usual: Rotation = { largest: 1024 * 1024, kept: 3 }

/** Lines kept in memory, for diagnostics. */
const remembered = 200

/** Characters of a line; longer ones are cut. */
const longest = 4_000

export interface OpenLog extends Log {
  /** As `line`, but written on return: for a process that is about to end. */
  lastLine(text: string): void
  /** Resolves once all lines are written. */
  close(): Promise<void>
}

/** Opens a log of masked lines with their time, in a file that only the user can read. */
export function openLog(path: string, rotation: Rotation = usual): OpenLog {
  ensureFolderSync(dirname(path), 0o700)
  const file = new RotatingFile(path, rotation)
  const mask = createMask()
  const recent = file.open().slice(-remembered)

  /** Masked before it is cut: half a secret would not be recognised. */
  function written(text: string): string {
    const line = mask(text).replaceAll(/[\r\n]+/g, ' ')
    const whole = `${new Date().toISOString()} ${line.length > longest ? `${line.slice(0, longest)}…` : line}`
    recent.push(whole)
    if (recent.length > remembered) recent.shift()
    return whole
  }

  return {
    line: text => file.add(written(text)),
    lastLine: text => file.addNow(written(text)),
    learn: mask.learn,
    mask,
    recent: () => recent,
    close: () => file.flush(),
  }
}

/** The most bytes of a file, and how many full files are kept beside it: `….1` is the newest. */
interface Rotation {
  largest: number
  kept: number
}

/** A file to append lines to, readable by its user alone. Lines that cannot be written, as on a full disk, are lost. */
class RotatingFile {
  readonly #path: string
  readonly #rotation: Rotation
  #size = 0
  #waiting: string[] = []
  #writing: Promise<void> | undefined

  constructor(path: string, rotation: Rotation) {
    this.#path = path
    this.#rotation = rotation
  }

  /** Reads the size of an existing file; gives its last lines, up to 64 KB. */
  open(): string[] {
    try {
      this.#size = statSync(this.#path).size
      const text = readOwnFileSync(this.#path)
      // Only now: what is no file has been refused, and a folder could not be entered with that mode.
      chmodSync(this.#path, 0o600)
      return text
        .slice(-65_536)
        .split('\n')
        .slice(text.length > 65_536 ? 1 : 0, -1)
    } catch {
      return []
    }
  }

  add(line: string): void {
    // Bounded, since the disk may hang.
    if (this.#waiting.length < 10_000) this.#waiting.push(`${line}\n`)
    this.#writing ??= this.#write()
  }

  /** Writes the line before it returns: for a process that is about to end. */
  addNow(line: string): void {
    const lines = [...this.#waiting.splice(0), `${line}\n`].join('')
    try {
      appendOwnFileSync(this.#path, lines)
    } catch {
      // Lost, as above.
    }
  }

  /** Resolves once all added lines are written. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  async #write(): Promise<void> {
    // Waits a microtask, so that lines added together are written together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const text = this.#nextPart()
      const bytes = Buffer.byteLength(text)
      try {
        if (this.#size > 0 && this.#size + bytes > this.#rotation.largest) await this.#rotate()
        await withOwnFile(this.#path, toAppend, file => file.appendFile(text))
        this.#size += bytes
      } catch {
        // Lost, as above.
      }
    }
    this.#writing = undefined
  }

  /** The next lines, up to a quarter of a file's characters (a character has up to four bytes), and at least one. */
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
