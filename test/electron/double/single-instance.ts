import { type FSWatcher, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The lock of the first process with a `userData` folder. Later ones leave their arguments there for the first. */
export class SingleInstance {
  readonly #onSecond: (argv: string[], folder: string) => void
  #watcher: FSWatcher | undefined
  #lock = ''

  constructor(onSecond: (argv: string[], folder: string) => void) {
    this.#onSecond = onSecond
  }

  get isFirst(): boolean {
    return this.#watcher !== undefined
  }

  request(userData: string): boolean {
    if (this.isFirst) return true
    mkdirSync(userData, { recursive: true })
    const lock = join(userData, 'single-instance')
    try {
      mkdirSync(lock)
    } catch {
      if (isAlive(readFirst(lock))) {
        // A name per process, so that simultaneous starts do not overwrite each other.
        const note = JSON.stringify({ argv: process.argv, folder: process.cwd() })
        writeFileSync(join(lock, `second-${process.pid}`), note)
        return false
      }
    }
    this.#lock = lock
    writeFileSync(join(lock, 'first'), String(process.pid))
    this.#watcher = watch(lock, (_event, name) => name?.startsWith('second-') && this.#read(join(lock, name)))
    this.#watcher.unref()
    return true
  }

  release(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    if (this.#lock !== '') rmSync(this.#lock, { recursive: true, force: true })
  }

  /** Ignores notes that are incomplete or already read. */
  #read(file: string): void {
    let note: { argv: string[]; folder: string }
    try {
      note = JSON.parse(readFileSync(file, 'utf8'))
      rmSync(file)
    } catch {
      return
    }
    this.#onSecond(note.argv, note.folder)
  }
}

function readFirst(lock: string): number {
  try {
    return Number(readFileSync(join(lock, 'first'), 'utf8'))
  } catch {
    return 0
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
