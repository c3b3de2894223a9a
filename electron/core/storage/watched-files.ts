import { BerthError } from '#contract/problem.ts'
import type { Files } from '#machine/machine.ts'

/** Reasons for the user why a file cannot be written. */
const reasons: Readonly<Record<string, { why: string; advice: string }>> = {
  ENOSPC: { why: 'the disk is full', advice: 'Free some space; Berth tries again.' },
  EDQUOT: {
    why: 'your disk quota is used up',
    advice: 'Free some space; Berth tries again.',
  },
  EROFS: { why: 'the disk is read-only', advice: 'Make it writable, or move Berth with BERTH_HOME.' },
  EACCES: {
    why: 'Berth has no write permission there',
    advice: 'Give yourself write permission for that folder.',
  },
  EPERM: {
    why: 'Berth has no write permission there',
    advice: 'Give yourself write permission for that folder.',
  },
}

/**
 * The same files, whose failed writes reject with a BerthError `not_written`. `heard` is called for the first failure,
 * and again only after a write has succeeded.
 */
export function watchedFiles(files: Files, heard: (failure: BerthError) => void): Files {
  let failing = false

  async function attempt(name: string, effect: () => Promise<void>): Promise<void> {
    try {
      await effect()
      failing = false
    } catch (error) {
      const failure = notWritten(name, error)
      if (!failing) {
        failing = true
        heard(failure)
      }
      throw failure
    }
  }

  return {
    path: name => files.path(name),
    read: name => files.read(name),
    write: (name, text) => attempt(name, () => files.write(name, text)),
    append: (name, content) => attempt(name, () => files.append(name, content)),
    readPart: (name, from, most) => files.readPart(name, from, most),
    list: folder => files.list(folder),
    delete: name => attempt(name, () => files.delete(name)),
  }
}

function notWritten(name: string, error: unknown): BerthError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const { why, advice } = reasons[code] ?? {
    why: code || 'the system refused',
    advice: 'Check the disk that Berth keeps its files on.',
  }
  return new BerthError({ code: 'not_written', message: `${name} couldn’t be saved: ${why}.`, advice })
}
