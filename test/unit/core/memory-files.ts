import type { Files } from '#machine/machine.ts'

/** Files in memory that can refuse writes like a disk. */
export class MemoryFiles implements Files {
  readonly texts = new Map<string, string>()
  /** Files appended to as bytes. */
  readonly bytes = new Map<string, Buffer>()
  /** Every write that was begun, in order. */
  readonly writes: { name: string; text: string }[] = []
  /** The error code that writes fail with; undefined if they work. */
  refusing: string | undefined
  /** Writes wait for this, where set. */
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

  async append(name: string, content: string | Uint8Array): Promise<void> {
    this.#refuse()
    if (typeof content === 'string') this.texts.set(name, (this.texts.get(name) ?? '') + content)
    else this.bytes.set(name, Buffer.concat([this.bytes.get(name) ?? Buffer.alloc(0), content]))
  }

  async readPart(name: string, from: number, most: number): Promise<Buffer> {
    return (this.bytes.get(name) ?? Buffer.alloc(0)).subarray(from, from + most)
  }

  async list(folder: string): Promise<{ name: string; size: number }[]> {
    return [...this.bytes]
      .filter(([name]) => name.startsWith(`${folder}/`))
      .map(([name, { length }]) => ({ name: name.slice(folder.length + 1), size: length }))
  }

  async delete(name: string): Promise<void> {
    this.texts.delete(name)
    this.bytes.delete(name)
  }

  #refuse(): void {
    if (this.refusing !== undefined)
      throw Object.assign(new Error(`${this.refusing}: no`), { code: this.refusing })
  }
}
