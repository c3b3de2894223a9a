import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '#ports/log.ts'
import { createMask } from './mask.ts'
import { RotatingFile, type Rotation } from './rotating-file.ts'

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
export async function openLog(path: string, rotation: Rotation = usual): Promise<OpenLog> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = new RotatingFile(path, rotation)
  const mask = createMask()
  const recent = (await file.open()).slice(-remembered)

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
