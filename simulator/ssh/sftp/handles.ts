import { closeSync } from 'node:fs'
import { FileError } from '../files/file-error.ts'

/** An open file or folder. */
export type Opened =
  | { kind: 'file'; descriptor: number; appends: boolean }
  | { kind: 'folder'; path: string; ahead: string[] }

/** The most that a client may have open at once. */
const most = 256

/** The open files and folders of one SFTP session, by the four bytes that name them. */
export class Handles {
  readonly #opened = new Map<number, Opened>()
  #last = 0

  /** Throws FileError `EMFILE` when there are too many. Call `makeRoom` before opening anything. */
  makeRoom(): void {
    if (this.#opened.size >= most) throw new FileError('EMFILE')
  }

  add(opened: Opened): Buffer {
    this.#last += 1
    this.#opened.set(this.#last, opened)
    const name = Buffer.alloc(4)
    name.writeUInt32BE(this.#last)
    return name
  }

  /** Throws FileError `EBADF` unless it is an open file. */
  file(name: Buffer): Extract<Opened, { kind: 'file' }> {
    const opened = this.#opened.get(numberOf(name))
    if (opened?.kind !== 'file') throw new FileError('EBADF')
    return opened
  }

  /** Throws FileError `EBADF` unless it is an open folder. */
  folder(name: Buffer): Extract<Opened, { kind: 'folder' }> {
    const opened = this.#opened.get(numberOf(name))
    if (opened?.kind !== 'folder') throw new FileError('EBADF')
    return opened
  }

  /** Throws FileError `EBADF` unless it is open. */
  close(name: Buffer): void {
    const opened = this.#opened.get(numberOf(name))
    if (opened === undefined) throw new FileError('EBADF')
    this.#opened.delete(numberOf(name))
    if (opened.kind === 'file') closeSync(opened.descriptor)
  }

  closeAll(): void {
    for (const opened of this.#opened.values()) {
      if (opened.kind === 'file') closeSync(opened.descriptor)
    }
    this.#opened.clear()
  }
}

function numberOf(name: Buffer): number {
  return name.length === 4 ? name.readUInt32BE() : 0
}
