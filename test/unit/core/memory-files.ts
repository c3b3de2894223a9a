import type { Files } from '../../../electron/ports/files.ts'

/** Files in memory, which can refuse to be written like a disk. */
export class MemoryFiles implements Files {
  readonly texts = new Map<string, string>()
  /** Every write that was begun, in order. */
  readonly writes: { name: string; text: string }[] = []
  /** The code of the error that writing gives; undefined when it works. */
  refusing: string | undefined
  /** What a write waits for before it is done. */
  held: Promise<void> | undefined

  path(name: string): string {
    return `/memory/${name}`
  }

  async read(name: string): Promise<string | undefined> {
    return this.texts.get(name)
  }

  async write(name: string, text: string): Promise<void> {
    this.writes.push({ name, text })
    await this.held
    this.#refuse()
    this.texts.set(name, text)
  }

  async append(name: string, text: string): Promise<void> {
    this.#refuse()
    this.texts.set(name, (this.texts.get(name) ?? '') + text)
  }

  async delete(name: string): Promise<void> {
    this.texts.delete(name)
  }

  #refuse(): void {
    if (this.refusing !== undefined)
      throw Object.assign(new Error(`${this.refusing}: no`), { code: this.refusing })
  }
}
